/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaves weights in place although they would arrive in time.  Transfers are decided from first
 * to last, each as early as it can move and fits (weights/fetch.c).  Where memory is scarce, a
 * slice that saves little for its bytes keeps out one that would save more.  Where a plan waits
 * for the memory of constants, a slice that stays in place lets later ones arrive in time.
 */
#include "../weights/transfers.h"
#include "search.h"

#include "base/threads.h"

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
 * to a buffer: first the slice of the least slice_worth(), then the two least, and so on.
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

/* Slices are tried again after a change that makes the plan faster by this factor: with any gain,
 * mbv2_int8 on ethos-u85-256 takes 17 % more instructions for the same plan. */
static const double GAIN = 0.9998;

/* Inverts the decision for slice after slice, until none makes the plan faster. */
static void
leave_each(struct leaving *l)
{
	size_t n = l->p->n_slices < MOST_EXCEPTIONS ? l->p->n_slices : MOST_EXCEPTIONS;
	for (size_t i = 0, idle = 0; idle < n; i = (i + 1) % n, idle++) {
		struct fitting f = l->best;
		f.exceptions ^= (uint64_t)1 << i;
		const double enough = l->cycles * GAIN;
		if (try_fitting(l, f) && l->cycles < enough)
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

enum { CROWD = 8 }; /* points improved at once */

/* A point, and its plan with more weights in place; without a limit, with the least memory with
 * which it stays as fast. */
struct improving {
	const struct front *f;
	const struct point *at;
	struct plan *p;
	struct fitting fitting; /* before the memory is trimmed */
	bool is_wanted;
};

static void
improve_one(void *ctx, size_t i)
{
	struct improving *m = &((struct improving *)ctx)[i];
	const bool unlimited = is_unlimited(m->f);
	struct sched *s = m->at->recipe.variant->s;
	const bool faster =
	    leave_in_place(s, m->p, unlimited ? NO_LIMIT_BYTES : m->at->sram);
	m->fitting = m->p->fitting;
	m->is_wanted = (faster || unlimited) && front_wants(m->f, 0, 0, m->p->cycles);
	if (m->is_wanted && unlimited)
		plan_trim(s, m->p);
}

/* Adds the plan, which was made from a point, with its fitting. */
static void
add_improved(struct front *f, const struct improving *m)
{
	struct variant *x = m->at->recipe.variant;
	struct point q = *m->at;
	q.recipe.fitting = m->fitting;
	q.recipe.trim = is_unlimited(f);
	q.sram = peak_of(x->s, m->p);
	q.total = total_of(m->p);
	q.cycles = m->p->cycles;
	q.traits = plan_traits(x, m->p);
	if (is_unlimited(f) || is_improvement(m->at, &q))
		front_add(f, &q);
}

/* Improves the plans of a crowd with threads, and adds them in their order, so that threads do not
 * show. */
static void
improve_crowd(struct front *f, struct improving *m, size_t n)
{
	/* a plan is fitted many times, each as long as the encoding of some thousand weights for
	 * each kernel */
	enum { WEIGHTS = 20000 };
	int64_t cost[CROWD];
	for (size_t i = 0; i < n; i++)
		cost[i] = WEIGHTS * (int64_t)m[i].p->n_kernels;
	threads_for(m->at->recipe.variant->s->o->jobs, n, cost, improve_one, m);
	for (size_t i = 0; i < n; i++)
		if (m[i].is_wanted)
			add_improved(f, &m[i]);
}

/* Makes plans of some of n points again and improves them; returns their number.  0: an error. */
static size_t
improve_some(struct front *f, const struct point *v, size_t n)
{
	enum { MOST_KERNELS = 1 << 13 }; /* of all plans: limits their memory */
	struct improving m[CROWD];
	size_t made = 0, kernels = 0;
	bool ok = true;
	for (; ok && made < n && made < CROWD && kernels < MOST_KERNELS; made += ok) {
		m[made] = (struct improving){ .f = f, .at = &v[made],
					      .p = make_again(&v[made].recipe) };
		ok = m[made].p;
		kernels += ok ? m[made].p->n_kernels : 0;
	}
	if (ok)
		improve_crowd(f, m, made);
	for (size_t i = 0; i < made; i++) {
		plan_close(m[i].p);
		variant_rest(v[i].recipe.variant);
	}
	return ok ? made : 0;
}

bool
improve_points(struct front *f, const struct point *v, size_t n)
{
	size_t some = 1;
	for (size_t i = 0; some && i < n; i += some)
		some = improve_some(f, &v[i], n - i);
	return some;
}
