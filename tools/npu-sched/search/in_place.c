/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights that are read in place although they would arrive in time.  Transfers are
 * decided from first to last, each as early as it can move and has room
 * (weights/fetch.c).  Where memory is scarce, a slice that saves little for the room that
 * it takes keeps out what would save more; where the memory of constants is what a plan
 * waits for, one that stays lets those behind it arrive in time.
 */
#include "../weights/transfers.h"
#include "search.h"

#include <math.h>
#include <stdlib.h>

/*
 * plan_clock refuses what takes less time than its weights keep the memory of constants
 * busy; with later transfers it takes more.  The first time ahead that gives a plan of
 * fewer cycles than `below`, if any does.
 */
static bool
fit_later(struct sched *s, struct plan *p, struct fitting f, double below)
{
	enum { TRIES = 12 };
	const double shorter = 0.8;
	f.ahead = below;
	for (int i = 0; i < TRIES; i++) {
		f.ahead *= shorter;
		if (plan_fit(s, p, f, below))
			return true;
	}
	return false;
}

/* the best of what was tried */
struct leaving {
	struct sched *s;
	struct plan *p;
	int64_t most; /* bytes */
	struct fitting best;
	double cycles;
	bool any;
};

/* p as f says, or with later transfers: is it faster? */
static bool
try_fitting(struct leaving *l, struct fitting f)
{
	struct plan *p = l->p;
	p->cycles = 0; /* if its bound alone shows that it is slower */
	bool faster = plan_fit(l->s, p, f, l->cycles);
	if (!faster && p->cycles == INFINITY)
		faster = fit_later(l->s, p, f, l->cycles);
	if (!faster || peak_of(l->s, p) > l->most)
		return false;
	l->best = p->fitting;
	l->cycles = p->cycles;
	l->any = true;
	return true;
}

/* qsort's order */
static int
compare_worths(const void *x, const void *y)
{
	const double *a = x, *b = y;
	return (*a > *b) - (*a < *b);
}

/* all slices stay that are not worth more than one of them: the least, two, three, ... */
static void
leave_least(struct leaving *l)
{
	enum { EACH = 16, /* then by a sixteenth more of them */
	       PATIENCE = 8 }; /* that make it no faster in a row */
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

/* slice by slice, round and round until none makes it faster */
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

bool
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

/* a point of x once more; what is faster in no more bytes is added.  false: an error */
static bool
leave_at(struct variant *x, struct front *f, struct point at)
{
	struct plan *p = make_again(&at.recipe);
	if (!p)
		return false;
	if (leave_in_place(x->s, p, at.sram)) {
		at.sram = peak_of(x->s, p);
		at.total = total_of(p);
		at.cycles = p->cycles;
		at.traits = plan_traits(x, p);
		at.recipe.fitting = p->fitting;
		front_add(f, &at);
	}
	plan_close(p);
	return true;
}

bool
leave_on_front(struct variant *x, struct front *f, const struct point *v, size_t n)
{
	bool ok = true, any = false;
	for (size_t i = 0; ok && i < n; i++) {
		if (v[i].recipe.variant != x)
			continue;
		ok = leave_at(x, f, v[i]);
		any = true;
	}
	if (any)
		variant_rest(x);
	return ok;
}
