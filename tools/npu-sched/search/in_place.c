/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights that are read in place although they would arrive in time.  Transfers are
 * decided from first to last, each as early as it can move (weights/fetch.c).  Where the
 * memory of constants is what a plan waits for, a slice that stays lets those behind it
 * arrive in time.  Among few weights such a choice matters, and each can be tried.
 */
#include "search.h"

#include <math.h>
#include <string.h>

/* slices of p that are tried */
static size_t
count_tried(const struct sched *s, const struct plan *p)
{
	if (!has_few_weights(s) || !weights_move(s))
		return 0;
	return p->n_slices < MOST_LEFT ? p->n_slices : MOST_LEFT;
}

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

/* p as f says, or with later transfers; p->fitting says how */
static bool
is_faster(struct sched *s, struct plan *p, struct fitting f, double below, int64_t most)
{
	p->cycles = 0; /* if its bound alone shows that it is slower */
	bool any = plan_fit(s, p, f, below);
	if (!any && p->cycles == INFINITY)
		any = fit_later(s, p, f, below);
	return any && peak_of(s, p) <= most;
}

bool
leave_in_place(struct sched *s, struct plan *p, int64_t most)
{
	const size_t n = count_tried(s, p);
	struct fitting best = p->fitting;
	double cycles = p->cycles;
	bool any = false;
	/* round and round, until no slice makes it faster */
	for (size_t i = 0, idle = 0; idle < n; i = (i + 1) % n, idle++) {
		struct fitting f = best;
		f.in_place ^= (uint64_t)1 << i;
		if (!is_faster(s, p, f, cycles, most))
			continue;
		best = p->fitting;
		cycles = p->cycles;
		any = true;
		idle = 0;
	}
	if (n)
		(void)plan_fit(s, p, best, INFINITY);
	return any;
}

/* a point of x once more; what is faster in no more bytes replaces it.  false: an error */
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
leave_on_front(struct variant *x, struct front *f)
{
	if (!has_few_weights(x->s))
		return true;
	struct arena *a = arena_open();
	const size_t n = f->n + 1;
	struct point *was = anew(a, struct point, n);
	memcpy(was + 1, f->v, f->n * sizeof(*was));
	was[0] = f->lightest;
	bool ok = true;
	for (size_t i = 0; ok && i < n; i++)
		if (was[i].recipe.variant == x)
			ok = leave_at(x, f, was[i]);
	variant_rest(x);
	arena_close(a);
	return ok;
}
