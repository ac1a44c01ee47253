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
put_target(const struct sched *s, struct plan_target *x)
{
	x->rec.word = s->accel->name;
	PLAN_PUT(x, TARGET, system, s->memory.system);
	PLAN_PUT(x, TARGET, memory, s->memory.mode);
	PLAN_PUT(x, TARGET, model, (int)s->o->model);
	PLAN_PUT(x, TARGET, level, s->o->level);
}

static void
put_network(const struct sched *s, struct plan_network *x)
{
	x->rec.word = s->alternative ? s->alternative->name : "whole";
	PLAN_PUT(x, NETWORK, ops, s->n_ops);
	if (!s->alternative || strcmp(s->alternative->name, "split") != 0)
		return;
	PLAN_PUT(x, NETWORK, ahead, s->alternative->sums.ahead);
	PLAN_PUT(x, NETWORK, columns, s->alternative->sums.columns);
}

static void
put_memory(const struct sched *s, struct plan_memory *x)
{
	const struct plan *p = s->plan;
	x->rec.word = place_names[limited_place(s)];
	x->decided = p->decided.memory;
	x->rec.has = PLAN_MEMORY_DECIDED;
	if (x->decided.limit >= NO_LIMIT_BYTES)
		PLAN_CLEAR(x, MEMORY, limit);
	if (x->decided.ahead <= 0)
		PLAN_CLEAR(x, MEMORY, ahead);
	if (!s->memory.spilling)
		PLAN_CLEAR(x, MEMORY, outside);
	PLAN_PUT(x, MEMORY, effort, p->effort);
	PLAN_PUT(x, MEMORY, slide, p->decided.slide);
}

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

/* Lists the decisions about weight slices, at the operations that are the first to use them. */
static void
put_slices(const struct sched *s, struct plan_op *op)
{
	for (size_t i = 0; i < s->plan->n_slices; i++) {
		const struct weight_slice *u = &s->plan->slice[i];
		struct plan_op *x = &op[u->op];
		if (!x->fetch.n) {
			const int n = slice_count(s->plan->cut_points[u->op]);
			PLAN_PUT(x, OP, fetch, (struct g_list){ .v = anew(s->a, int64_t, (size_t)n) });
		}
		x->fetch.v[x->fetch.n++] = !s->plan->decided.in_place[i];
	}
}

void
keep_plan(struct sched *s)
{
	struct plan_text p = { .n_ops = (size_t)s->n_ops };
	struct text t = { 0 };
	p.op = anew(s->a, struct plan_op, p.n_ops + 1);
	p.summary = arena_printf(s->a, "%" PRId64 " bytes of SRAM, %.0f cycles by --model",
				 peak_of(s, s->plan), s->plan->cycles);
	put_target(s, &p.target);
	put_network(s, &p.network);
	put_memory(s, &p.memory);
	for (int i = 0; i < s->n_ops; i++)
		put_op(s, i, &p.op[i]);
	put_slices(s, p.op);
	plan_print(&p, &t);
	s->plan_text = arena_strdup(s->a, text_str(&t));
	text_free(&t);
}
