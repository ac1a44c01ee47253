/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search: finds the fastest plan and, if that does not answer the request, the front of all
 * plans.  A memory limit, --optimise and --max-cycles only pick a point of the front
 * (npu-sched-search(7)).
 */
#include "run.h"

#include <math.h>

static bool
give_up(const struct search *x)
{
	return err_no(x->s->e, "%s: error: another variant of the graph has a better "
			       "plan", x->s->g->file);
}

static bool
search_all(struct search *x)
{
	struct sched *s = x->s;
	int64_t limit = limit_of(s->memory.cache_bytes);
	/* anchors of the original network hold for its rewrites: the plan of Size must not be
	 * faster */
	if (s->anchors.fastest == 0)
		search_anchors(x);
	if (s->e->status)
		return false;
	if (x->unfit && !x->found.fastest)
		return err_at(s->e, s->g->file, 0, "an operation has no block that "
			      "fits the SHRAM of %s", s->accel->name);
	if (is_hopeless(x))
		return give_up(x);
	if (!is_anchor_asked(&x->found, limit) && !explore_all(x, limit))
		return false;
	if (s->o->front || s->o->explain)
		list_front(&x->found);
	if (s->o->front)
		return true;
	if (s->incumbent.cycles > 0 && !x->found.front.n)
		return give_up(x);
	return take_found(&x->found, limit);
}

static bool
find_copies(struct search *x)
{
	x->may_copy = x->s->copies && weigh_copies(x->s);
	x->copies = true; /* use_copies() uses only those that pay from its next call on */
	return !x->s->e->status;
}

/* Finds orders of the graph with the copies that pay, and without any. */
static bool
find_orders(struct search *x)
{
	for (int copies = 0; copies < (x->may_copy ? 2 : 1); copies++) {
		set_copies(x, copies);
		x->order[copies] = find_order(x->s);
	}
	return !x->s->e->status;
}

bool
search_plan(struct sched *s)
{
	if (s->g->n_steps)
		return graph_err(s->g, s->g->steps[0], s->e,
		    "the graph is scheduled already; give npu-sched the output of "
		    "tfl-partition");
	struct search x = { .s = s, .copies = s->copies != NULL, .estimate = INFINITY,
			    .found.s = s };
	forget_blocks(s);
	progress_begin(&x.progress, "search");
	bool ok = measure_whole(s) && find_copies(&x) && (may_beat(&x) || give_up(&x)) &&
		  find_orders(&x) && search_all(&x);
	progress_end(&x.progress);
	plan_close(x.found.fastest);
	plan_close(x.found.within);
	while (x.n > 0)
		variant_close(x.variant[--x.n]);
	return ok;
}
