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

/* A plan whose decisions about slices change, one after another; the best of them so far. */
struct leaving {
	struct sched *s;
	struct plan *p;
	int64_t most; /* peak in bytes */
	struct fitting fitting;
	bool *best; /* of each slice: in_place */
	double cycles;
	bool any;
};

/* Keeps the decisions of p if they make the plan faster, else restores the best ones. */
static bool
keep_if_faster(struct leaving *l)
{
	struct plan *p = l->p;
	const bool faster = plan_fit(l->s, p, l->fitting, l->cycles) && peak_of(l->s, p) <= l->most;
	for (size_t i = 0; i < p->n_slices; i++)
		if (faster)
			l->best[i] = p->slice[i].in_place;
		else
			leave_slice(p, i, l->best[i]);
	l->cycles = faster ? p->cycles : l->cycles;
	l->any |= faster;
	return faster;
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
leave_least(struct leaving *l, struct arena *a)
{
	enum { EACH = 16, /* then a sixteenth more of them each time */
	       PATIENCE = 8 }; /* tries in a row that are no faster */
	struct plan *p = l->p;
	const size_t n = p->n_slices;
	double *worth = anew(a, double, n + 1);
	for (size_t i = 0; i < n; i++)
		worth[i] = slice_worth(p, (int)i);
	qsort(worth, n, sizeof(*worth), compare_worths);
	for (size_t i = 0, idle = 0; i < n && idle < PATIENCE; i += 1 + i / EACH) {
		for (size_t k = 0; k < n && worth[i] > 0; k++)
			leave_slice(p, k, slice_worth(p, (int)k) <= worth[i]);
		if (worth[i] > 0)
			idle = keep_if_faster(l) ? 0 : idle + 1;
	}
}

/* Slices are tried again after a change that makes the plan faster by this factor: with any gain,
 * mbv2_int8 on ethos-u85-256 takes 17 % more instructions for the same plan. */
static const double GAIN = 0.9998;

/* Inverts the decision for slice after slice, until none makes the plan faster. */
static void
leave_each(struct leaving *l)
{
	enum { MOST = 64 }; /* slices */
	const size_t n = l->p->n_slices < MOST ? l->p->n_slices : MOST;
	for (size_t i = 0, idle = 0; idle < n; i = (i + 1) % n, idle++) {
		const double enough = l->cycles * GAIN;
		leave_slice(l->p, i, !l->p->slice[i].in_place);
		if (keep_if_faster(l) && l->cycles < enough)
			idle = 0;
	}
}

/*
 * Tries lower limits for transfers, down to half of the bytes that they ask for.  Before each
 * kernel as many bytes are fetched as fit; with fewer, a transfer may be left out that delays
 * others.
 */
static bool
lower_limit(struct leaving *l)
{
	enum { TRIES = 8 };
	(void)plan_fit(l->s, l->p, l->fitting, INFINITY);
	const int64_t asked = l->p->asked;
	bool any = false;
	for (int i = 1; i <= TRIES && asked > 0; i++) {
		const struct fitting was = l->fitting;
		l->fitting.limit = asked * (2 * TRIES - i) / (2 * TRIES) / ALIGN * ALIGN;
		if (keep_if_faster(l))
			any = true;
		else
			l->fitting = was;
	}
	return any;
}

static bool
leave_in_place(struct sched *s, struct plan *p, int64_t most)
{
	struct leaving l = { .s = s, .p = p, .most = most, .fitting = p->fitting,
			     .cycles = p->cycles };
	if (!weights_move(s) || !p->n_slices)
		return false;
	struct arena *a = arena_open();
	l.best = anew(a, bool, p->n_slices);
	for (size_t i = 0; i < p->n_slices; i++)
		l.best[i] = p->slice[i].in_place;
	if (most < NO_LIMIT_BYTES)
		leave_least(&l, a);
	leave_each(&l);
	if (lower_limit(&l))
		leave_each(&l);
	(void)plan_fit(s, p, l.fitting, INFINITY);
	arena_close(a);
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
	bool is_wanted;
};

/* Could the point be the answer if it is improved as far as improvement goes? */
static bool
may_become_answer(const struct front *f, const struct point *p)
{
	const int64_t least = p->sram - p->sram / IMPROVABLE_SHARE;
	return is_unlimited(f) || front_may_reach(f, least, 0, p->cycles / IMPROVABLE);
}

static void
improve_one(void *ctx, size_t i)
{
	struct improving *m = &((struct improving *)ctx)[i];
	const bool unlimited = is_unlimited(m->f);
	const struct question *q = &m->f->question;
	if (!may_become_answer(m->f, m->at))
		return;
	struct sched *s = m->at->recipe.variant->s;
	/* the fastest plan may use all of the limit */
	const int64_t most = q->ask == ASK_FASTEST ? max_i64(m->at->sram, q->within) : m->at->sram;
	const bool faster = leave_in_place(s, m->p, most);
	m->is_wanted = (faster || unlimited) && front_wants(m->f, 0, 0, m->p->cycles);
	if (m->is_wanted && unlimited)
		plan_trim(s, m->p);
}

/* Adds the plan, which was made from a point, with its decisions.  A limit accepts any; a goal of
 * bytes relies on the bounds of improvements. */
static void
add_improved(struct front *f, const struct improving *m)
{
	struct variant *x = m->at->recipe.variant;
	struct point q = *m->at;
	q.recipe.decisions = plan_decisions(m->p->a, m->p);
	q.sram = peak_of(x->s, m->p);
	q.total = total_of(m->p);
	q.cycles = m->p->cycles;
	q.traits = plan_traits(x, m->p);
	if (f->question.ask == ASK_FASTEST || is_improvement(m->at, &q))
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
