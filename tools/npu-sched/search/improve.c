/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaves weights in place although they would arrive in time.  Transfers are decided from first
 * to last, each as early as it can move and fits (weights/fetch.c).  Where memory is scarce, a
 * slice that saves little for its bytes keeps out one that would save more.  Where a plan waits
 * for the memory of constants, a slice that stays in place lets later ones arrive in time.
 */
#include "../weights/transfers.h"
#include "search.h"

#include <math.h>
#include <stdlib.h>

/* The best fitting of those tried. */
struct leaving {
	struct sched *s;
	struct plan *p;
	int64_t most; /* peak in bytes */
	struct fitting best;
	double cycles;
	bool any;
};

/* Fits p by f.  True: p is faster, and this fitting is the best. */
static bool
try_fitting(struct leaving *l, struct fitting f)
{
	if (!plan_fit(l->s, l->p, f, l->cycles) || peak_of(l->s, l->p) > l->most)
		return false;
	l->best = f;
	l->cycles = l->p->cycles;
	l->any = true;
	return true;
}

/* for qsort */
static int
compare_worths(const void *x, const void *y)
{
	const double *a = x, *b = y;
	return (*a > *b) - (*a < *b);
}

/*
 * Tries plans in which some weight slices are read from slow memory, without a transfer
 * to a buffer: first the slice that saves the fewest cycles, then the two such slices, and
 * so on.
 */
static void
leave_least(struct leaving *l)
{
	enum { EACH = 16, /* then a sixteenth more of them each time */
	       PATIENCE = 8 }; /* tries in a row that are no faster */
	const struct fitting first = l->best;
	const size_t n = l->p->n_slices;
	struct arena *a = arena_open();
	double *worth = anew(a, double, n + 1);
	for (size_t i = 0; i < n; i++)
		worth[i] = slice_worth(l->p, (int)i);
	qsort(worth, n, sizeof(*worth), compare_worths);
	for (size_t i = 0, idle = 0; i < n && idle < PATIENCE; i += 1 + i / EACH) {
		struct fitting f = first;
		f.worth = worth[i];
		if (f.worth > first.worth)
			idle = try_fitting(l, f) ? 0 : idle + 1;
	}
	arena_close(a);
}

/* Inverts the decision for slice after slice, until none makes the plan faster. */
static void
leave_each(struct leaving *l)
{
	size_t n = l->p->n_slices < MOST_EXCEPTIONS ? l->p->n_slices : MOST_EXCEPTIONS;
	for (size_t i = 0, idle = 0; idle < n; i = (i + 1) % n, idle++) {
		struct fitting f = l->best;
		f.exceptions ^= (uint64_t)1 << i;
		if (try_fitting(l, f))
			idle = 0;
	}
}

static bool
leave_in_place(struct sched *s, struct plan *p, int64_t most)
{
	struct leaving l = { .s = s, .p = p, .most = most, .best = p->fitting,
			     .cycles = p->cycles };
	if (!weights_move(s) || !p->n_slices)
		return false;
	if (most < NO_LIMIT_BYTES)
		leave_least(&l);
	if (has_few_weights(s))
		leave_each(&l);
	(void)plan_fit(s, p, l.best, INFINITY);
	return l.any;
}

/* Is q better than p by no more than improvements may be? */
static bool
is_improvement(const struct point *p, const struct point *q)
{
	return q->cycles * IMPROVABLE >= p->cycles &&
	       q->sram + q->sram / IMPROVABLE_SHARE >= p->sram;
}

/* Adds p, which was made from a point, with its fitting. */
static void
add_improved(struct front *f, const struct point *from, struct plan *p, bool trim)
{
	struct variant *x = from->recipe.variant;
	struct point q = *from;
	if (!front_wants(f, 0, 0, p->cycles))
		return;
	q.recipe.fitting = p->fitting;
	q.recipe.trim = trim;
	if (trim)
		plan_trim(x->s, p);
	q.sram = peak_of(x->s, p);
	q.total = total_of(p);
	q.cycles = p->cycles;
	q.traits = plan_traits(x, p);
	if (is_unlimited(f) || is_improvement(from, &q))
		front_add(f, &q);
}

/* Makes a point again, and adds it with more weights in place; without a limit, also with the
 * least memory with which it stays as fast.  False: an error. */
static bool
improve(struct front *f, const struct point *at)
{
	const bool unlimited = is_unlimited(f);
	struct sched *s = at->recipe.variant->s;
	struct plan *p = make_again(&at->recipe);
	if (!p)
		return false;
	if (leave_in_place(s, p, unlimited ? NO_LIMIT_BYTES : at->sram) || unlimited)
		add_improved(f, at, p, unlimited);
	plan_close(p);
	return true;
}

bool
improve_points(struct front *f, const struct point *v, size_t n)
{
	bool ok = true;
	for (size_t i = 0; ok && i < n; i++) {
		ok = improve(f, &v[i]);
		variant_rest(v[i].recipe.variant);
	}
	return ok;
}
