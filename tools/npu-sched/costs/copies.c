/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of copies by the DMA engine, and which of them pay. */
#include "../network/copies.h"
#include "costs.h"
#include "graph/facts.h"

#include "emit/emit.h"

#include <math.h>
#include <string.h>

int
copy_awaited(const struct sched *s, const struct plan *p, int kernel, const struct same_op *same)
{
	const struct kernel *k = &p->kernel[kernel];
	int last = -1;
	for (int op = k->op; op <= k->op + k->links; op++) {
		const struct op_info *f = &s->info[op];
		for (int operand = 0; operand < 2; operand++) {
			const int from = f->producer[operand];
			if (from < 0 || !op_is_transfer(s->info[from].op->kind))
				continue;
			/* the copy of the last rows that the kernel reads */
			int64_t rows = k->links ? INT64_MAX : emit_ifm_rows(f->op, k->rows).hi;
			int i = same->latest[from];
			while (i > last && p->kernel[i].rows.lo >= rows)
				i = same->before[i];
			last = i > last ? i : last;
		}
	}
	return last;
}

double
leading_copy(const struct sched *s, int op, int32_t rows)
{
	const struct op_info *f = &s->info[op];
	bool leads = op_is_transfer(f->op->kind) && (!op || f[-1].node != f->node) &&
		     op + 1 < s->n_ops && (f[1].producer[0] == op || f[1].producer[1] == op);
	return leads ? copy_transfer(s, f->op, rows) : 0;
}

enum { FEW_COPIES = 64 };

/*
 * Cycles of all operations that use tensor `now` of a copy: they run whole, with weights in
 * place or fetched, whichever is faster.  changed: `now` is not the tensor of find_works().  With
 * many copies, all other operations keep their works, which takes linear time; with few, works
 * that are alike are shared, which takes less memory.
 */
static double
cost_of_users(struct sched *s, const struct moved *m, struct g_tensor *now, bool changed)
{
	double sum = 0;
	bool many = s->copies->n > FEW_COPIES;
	if (!many)
		find_works(s);
	for (int i = 0; i < s->n_ops; i++) {
		struct op_info *f = &s->info[i];
		struct g_op *op = f->op;
		if (op == m->op || (op->ifm.t != now && op->ifm2.t != now && op->ofm.t != now))
			continue;
		const struct op_info before = *f;
		if (changed && many)
			renew_work(s, i);
		const struct cached_stripe_cost *b = op_cost(s, i, op->ofm.shape.h,
							     BLOCKS_FOR_FETCHED);
		sum += b ? fmin(b->cost[0], b->cost[1]) : INFINITY;
		f->alike = before.alike;
		memcpy(f->work, before.work, sizeof(f->work));
	}
	return sum;
}

static void
swap_to(const struct copies *c, size_t copy, struct g_tensor *t)
{
	for (size_t i = 0; i < c->n_swaps; i++)
		if (c->swap[i].copy == (int)copy)
			c->swap[i].o->t = t;
}

/*
 * Is a copy faster if it moves while kernels run?  Without stripes no kernel runs
 * beside the copy.  A copy that is no faster even if kernels run beside it is left out
 * of the search.
 */
static bool
pays(struct sched *s, struct copies *c, size_t i)
{
	const struct moved *m = &c->v[i];
	double fast = cost_of_users(s, m, m->fast, false);
	swap_to(c, i, m->home);
	double slow = cost_of_users(s, m, m->home, true);
	swap_to(c, i, m->fast);
	return fmax(fast, copy_transfer(s, m->op, m->home->hwc.h)) < slow;
}

/* Compares pools with the transfers that may replace them. */
static void
weigh_moves(struct sched *s, struct copies *c)
{
	use_copies(s, false);
	study_ops(s);
	find_works(s);
	for (size_t i = 0; i < c->n; i++) {
		struct moved *m = &c->v[i];
		int op = 0;
		while (op < s->n_ops && s->info[op].op != m->instead)
			op++;
		if (op == s->n_ops)
			continue;
		int32_t h = m->op->ofm.shape.h;
		const struct cached_stripe_cost *b = op_cost(s, op, h, BLOCKS_FOR_FETCHED);
		m->pays = b && copy_transfer(s, m->op, h) < b->cost[0];
	}
	use_copies(s, true);
	study_ops(s);
}

bool
weigh_copies(struct sched *s)
{
	struct copies *c = s->copies;
	bool any = false, moves = false, copies = false;
	for (size_t i = 0; i < c->n; i++) {
		moves |= c->v[i].instead != NULL;
		copies |= !c->v[i].instead;
	}
	if (moves)
		weigh_moves(s, c);
	if (copies)
		find_works(s);
	for (size_t i = 0; i < c->n; i++) {
		if (!c->v[i].instead)
			c->v[i].pays = pays(s, c, i);
		any |= c->v[i].pays;
	}
	return any;
}
