/* SPDX-License-Identifier: Apache-2.0 */
/* The text of the chosen plan, for --keep-plan.  Needs: layouts and areas of the plan's variant. */
#include "../costs/costs.h"
#include "../network/plan_text.h"
#include "../passes.h"
#include "../split/split.h"
#include "evaluate.h"

#include "base/text.h"
#include "rewrite/rewrite.h"
#include "target/accel.h"

#include <inttypes.h>
#include <string.h>

static void
put_op(const struct sched *s, int i, struct plan_op *x)
{
	const struct plan *p = s->plan;
	const struct g_op *op = s->info[i].op;
	const struct decision *d = &p->decided.op[i];
	x->rec.id = op->rec.id;
	x->decided = *d;
	PLAN_PUT(x, OP, kind, op->kind);
	PLAN_PUT(x, OP, ofm, op->ofm.shape);
	if (d->joins)
		PLAN_SET(x, OP, joins);
	if (i + 1 == s->n_ops || !d[1].joins) {
		if (d->rows)
			PLAN_SET(x, OP, rows);
		if (d->objective != BLOCKS_FOR_FETCHED)
			PLAN_SET(x, OP, objective);
	}
	if (p->cut_points[i].n)
		PLAN_SET(x, OP, cut);
	if (op->fast)
		PLAN_PUT(x, OP, fast, 1);
	PLAN_PUT(x, OP, layout, op->ofm.t->layout);
	if (s->memory.spilling)
		PLAN_PUT(x, OP, area, op->ofm.t->area);
	if (op->name)
		PLAN_PUT(x, OP, name, op->name);
}

void
keep_plan(struct sched *s)
{
	const struct plan *plan = s->plan;
	const struct alternative *rewrite = s->alternative; /* NULL: the network as it is */
	struct plan_text p = { .n_ops = (size_t)s->n_ops };
	struct plan_target *target = &p.target;
	struct plan_network *network = &p.network;
	struct plan_memory *memory = &p.memory;
	struct text t = { 0 };
	p.op = anew(s->a, struct plan_op, p.n_ops + 1);
	p.summary = arena_printf(s->a, "%" PRId64 " bytes of SRAM, %.0f cycles by --model",
				 peak_of(s, plan), plan->cycles);
	target->rec.word = s->accel->name;
	PLAN_PUT(target, TARGET, system, s->memory.system);
	PLAN_PUT(target, TARGET, memory, s->memory.mode);
	PLAN_PUT(target, TARGET, model, (int)s->o->model);
	PLAN_PUT(target, TARGET, level, s->o->level);
	network->rec.word = rewrite ? rewrite->name : "whole";
	PLAN_PUT(network, NETWORK, ops, s->n_ops);
	if (rewrite && !strcmp(rewrite->name, "split")) {
		PLAN_PUT(network, NETWORK, ahead, rewrite->sums.ahead);
		PLAN_PUT(network, NETWORK, columns, rewrite->sums.columns);
	}
	memory->rec.word = place_names[limited_place(s)];
	memory->decided = plan->decided.memory;
	memory->rec.has = PLAN_MEMORY_DECIDED;
	if (memory->decided.limit >= NO_LIMIT_BYTES)
		PLAN_CLEAR(memory, MEMORY, limit);
	if (memory->decided.ahead <= 0)
		PLAN_CLEAR(memory, MEMORY, ahead);
	if (!s->memory.spilling)
		PLAN_CLEAR(memory, MEMORY, outside);
	PLAN_PUT(memory, MEMORY, effort, plan->effort);
	PLAN_PUT(memory, MEMORY, slide, plan->decided.slide);
	for (int i = 0; i < s->n_ops; i++)
		put_op(s, i, &p.op[i]);
	/* the decisions about weight slices, at the operations that are the first to use them */
	for (size_t i = 0; i < plan->n_slices; i++) {
		const struct weight_slice *u = &plan->slice[i];
		struct plan_op *x = &p.op[u->op];
		if (!x->fetch.n) {
			const int n = slice_count(plan->cut_points[u->op]);
			PLAN_PUT(x, OP, fetch, (struct g_list){ .v = anew(s->a, int64_t, (size_t)n) });
		}
		x->fetch.v[x->fetch.n++] = !plan->decided.in_place[i];
	}
	plan_print(&p, &t);
	s->plan_text = arena_strdup(s->a, text_str(&t));
	text_free(&t);
}
