/* SPDX-License-Identifier: Apache-2.0 */
/* npu-sched(1) for libnputools: the text of a graph in, a scheduled one out. */
#include "lib.h"

#include "graph/graph.h"
#include "npu-sched/network/plan.h"
#include "npu-sched/passes.h"
#include "npu-sched/stage.h"

/* front: the rows of --front --json instead of the graph */
static bool
schedule(struct call *c, struct text *in, struct text *out, bool front)
{
	const struct nputools_options *from = &c->o;
	struct options o = {
		.input = call_file(c, "part"), .accel = from->accelerator,
		.system = from->system_config, .mode = from->memory_mode,
		.part = from->part, .goal = (enum goal)from->optimise,
		.limited = from->arena_cache_size > 0,
		.within = from->within == 0 ? -1 : from->within < 0 ? 0 : from->within,
		.effort = from->effort, .level = from->level, .jobs = from->jobs,
		.allow_overflow = from->allow_overflow,
		.cache_bytes = from->arena_cache_size, .max_cycles = from->max_cycles,
		.yield_every = from->yield_every,
		.front = front, .json = front,
	};
	struct sched s = { .a = c->a, .o = &o, .e = &c->e };
	(void)text_str(in); /* a NUL follows the text of a file, too */
	bool ok = rewrite_off(from->no_rewrite, &o.rewrites.off, &c->e) && schedule_target(&s, &o) && schedule_text(&s, (uint8_t *)in->p, in->n);
	if (ok && front)
		print_front(&s, out);
	else if (ok)
		graph_print(s.g, out);
	if (ok && s.plan)
		c->needs = (struct part_needs){ .arena = s.plan->peak[PLACE_ARENA],
						.cache = s.plan->peak[PLACE_CACHE] };
	plan_close(s.plan);
	return ok;
}

bool
lib_npu_sched(struct call *c, struct text *in, struct text *out)
{
	return schedule(c, in, out, false);
}

bool
lib_npu_sched_front(struct call *c, struct text *in, struct text *out)
{
	return schedule(c, in, out, true);
}
