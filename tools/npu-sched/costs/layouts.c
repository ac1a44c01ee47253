/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses bricks or NHWC for feature maps of which bricks would be partly padding.  Padding is
 * written and read like the rest; without it accesses are less regular.  Unless all are NHWC, each
 * feature map gets the layout in which the operations that touch it cost least, or hardly more,
 * with their previous blocks.  This is repeated until nothing changes.
 */
#include "costs.h"

#include "graph/facts.h"

#include <string.h>

enum { MAX_ROUNDS = 4 };

struct users {
	int *first, *op; /* users of tensor t: op[first[t]] ... op[first[t + 1] - 1] */
};

static void
count_touches(const struct sched *s, int *next, int *op)
{
	for (int i = 0; i < s->n_ops; i++) {
		const struct g_op *o = s->info[i].op;
		const struct g_tensor *t[3] = { o->ifm.t, o->ifm2.t, o->ofm.t };
		for (int k = 0; k < 3; k++) {
			bool again = k > 0 && (t[k] == t[0] || (k > 1 && t[k] == t[1]));
			if (!t[k] || again || !s->shallow[t[k]->rec.index])
				continue;
			if (op)
				op[next[t[k]->rec.index]] = i;
			next[t[k]->rec.index]++;
		}
	}
}

static struct users
find_users(const struct sched *s, struct arena *a)
{
	size_t n = s->g->n_tensors;
	struct users x = { .first = anew(a, int, n + 2) };
	int *next = x.first + 1;
	count_touches(s, next, NULL);
	for (size_t i = 1; i < n; i++)
		next[i] += next[i - 1];
	x.op = anew(a, int, (size_t)(n ? next[n - 1] : 0) + 1);
	memmove(next, x.first, n * sizeof(int));
	count_touches(s, next, x.op);
	return x;
}

/* Gives tensor t a layout.  Returns the cycles of its users, which run whole, with weights fetched
 * before. */
static double
touched_cost(struct sched *s, const struct users *x, int t, int layout)
{
	double sum = 0;
	s->g->tensors[t]->layout = layout;
	for (int i = x->first[t]; i < x->first[t + 1]; i++) {
		const struct g_op *op = s->info[x->op[i]].op;
		struct kernel k = { .op = x->op[i], .rows = { .hi = op->ofm.shape.h },
				    .depth = { .hi = op->ofm.shape.c } };
		const struct block_choice *b = whole_block(s, k.op);
		if (!b)
			continue;
		struct weights_size w = whole_size(s, k.op);
		struct perf_op p = kernel_op(s, &k, &b->fold, w.stream, w.scales, FETCHED);
		sum += cost_on(&s->machine, &p, b).total;
	}
	return sum;
}

/*
 * Is NHWC better where both layouts take as long?  If bricks are padded, NHWC is smaller.  Else
 * the layout of most neighbours is better: a result can be written over an operand of the same
 * layout.
 */
static bool
is_better_dense(const struct sched *s, const struct users *x, int t)
{
	int dense = 0;
	for (int i = x->first[t]; i < x->first[t + 1]; i++) {
		const struct g_op *o = s->info[x->op[i]].op;
		const struct g_tensor *with[3] = { o->ifm.t, o->ifm2.t, o->ofm.t };
		for (int k = 0; k < 3; k++)
			if (with[k] && with[k] != s->g->tensors[t] && !tensor_is_const(with[k]))
				dense += with[k]->layout == LAYOUT_NHWC ? 1 : -1;
	}
	return s->g->tensors[t]->hwc.c % BRICK || dense > 0;
}

/* Improves feature maps in one area, or in all (-1).  worth: cycles that NHWC may take for one of
 * bricks.  False: nothing changed. */
static bool
improve(struct sched *s, const struct users *x, int area, double worth)
{
	bool changed = false;
	for (int t = 0; t < (int)s->g->n_tensors; t++) {
		if (!s->shallow[t] || (area >= 0 && s->g->tensors[t]->area != area))
			continue;
		int before = s->g->tensors[t]->layout;
		double bricks = worth * touched_cost(s, x, t, LAYOUT_NHCWB16);
		double packed = touched_cost(s, x, t, LAYOUT_NHWC);
		bool dense = packed < bricks || (packed == bricks && is_better_dense(s, x, t));
		int now = dense ? LAYOUT_NHWC : LAYOUT_NHCWB16;
		s->g->tensors[t]->layout = now;
		changed |= now != before;
	}
	return changed;
}

/* Repeats improve() until nothing changes. */
static void
improve_all(struct sched *s, int area, double worth)
{
	struct arena *a = arena_open();
	find_works(s);
	/* blocks follow from the works, so they are chosen before layouts change */
	for (int i = 0; i < s->n_ops; i++)
		(void)whole_block(s, i);
	struct users x = find_users(s, a);
	for (int i = 0; i < MAX_ROUNDS && improve(s, &x, area, worth); i++)
		continue;
	arena_close(a);
}

void
pack_left_maps(struct sched *s)
{
	if (s->n_shallow)
		improve_all(s, PLACE_ARENA, 1);
}

void
pack_shallow_maps(struct sched *s, enum dense dense)
{
	const double cheap = 1.05;
	if (!s->n_shallow)
		return;
	for (size_t i = 0; i < s->g->n_tensors; i++)
		if (s->shallow[i])
			s->g->tensors[i]->layout =
			    dense == DENSE_NO_SLOWER ? LAYOUT_NHCWB16 : LAYOUT_NHWC;
	if (dense != DENSE_ALL)
		improve_all(s, -1, dense == DENSE_CHEAP ? cheap : 1);
}

bool
layouts_differ(const struct sched *a, const struct sched *b)
{
	for (size_t i = 0; i < a->g->n_tensors && i < b->g->n_tensors; i++) {
		const struct g_tensor *t = a->g->tensors[i], *u = b->g->tensors[i];
		if (t->area == u->area && t->layout != u->layout)
			return true;
	}
	return false;
}
