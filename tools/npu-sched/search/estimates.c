/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates cycles and bytes of candidates, with estimated sizes of weights.  An estimate only
 * reads the network and changes no plan but its own, so that threads can share the network.
 */
#include "../plans/clock.h"
#include "search.h"

#include "base/threads.h"

#include <math.h>

/* Limits between the bytes that feature maps need and the bytes that transfers ask for, which
 * may be many times as many: powers of that ratio. */
static const double budget_powers[BUDGETS - 1] = {
	0.04, 0.1, 0.17, 0.24, 0.34, 0.46, 0.63, 0.8 };

static bool
is_wanted(const struct wanted *w, const struct candidate *c, double cycles)
{
	return cycles <= w->estimate &&
	       front_wants(w->front, c->least, c->least + c->beside, cycles);
}

/* Makes the estimates of a trial by its plan, on demand. */
struct estimator {
	struct sched *s;
	struct plan *p; /* NULL: cached results only */
	const struct wanted *wanted;
	bool lacks; /* an estimate is not cached, and no plan can make it */
};

/* Cycles with transfers below a limit, cached in *memo; 0: not cached, and no plan.  *need,
 * unless NULL: bytes. */
static double
cycles_below(struct estimator *e, double *memo, int64_t budget, int64_t *need)
{
	if (*memo > 0)
		return *memo;
	e->lacks |= !e->p;
	if (!e->p)
		return 0;
	*memo = plan_fetches(e->s, e->p, (struct fitting){ .limit = budget });
	if (need && e->p->need > budget) /* just the feature maps fit */
		*memo = plan_fetches(e->s, e->p, (struct fitting){ .limit = e->p->need });
	if (need)
		*need = e->p->need;
	return *memo;
}

static void
list_budgets(struct candidate *c)
{
	double least = (double)max_i64(c->least, ALIGN);
	double much = fmax((double)c->need / least, 1.05);
	for (int i = 0; i < BUDGETS - 1; i++) {
		c->budget[i] = (int64_t)(least * pow(much, budget_powers[i]));
		c->cycles[i] = INFINITY;
	}
}

/* Estimates cycles for rising limits.  A lower limit never takes fewer cycles, except that
 * transfers choose greedily; so if one limit is not wanted, no lower one is.  Of the limits that
 * exceed that of the question, only the lowest is estimated. */
static void
estimate_budgets(struct estimator *e, struct estimates *k, struct candidate *c)
{
	const int64_t within = front_within(&e->wanted->front->question);
	bool wanted = true;
	list_budgets(c);
	for (int i = BUDGETS - 2; i >= 0 && wanted; i--) {
		if (i > 0 && c->budget[i - 1] > within)
			continue;
		c->cycles[i] = cycles_below(e, &k->cycles[i], c->budget[i], NULL);
		wanted = !e->lacks && is_wanted(e->wanted, c, c->cycles[i]);
	}
}

/* Lower bounds of the bytes of feature maps, in the limited area and in the other. */
static void
find_least(struct sched *s, const struct plan *p, struct memo *k)
{
	k->least = k->beside = 0;
	for (size_t i = 0; i < p->n_kernels; i++)
		k->least = p->map_bytes[i] > k->least ? p->map_bytes[i] : k->least;
	if (s->memory.spilling)
		k->beside = maps_least(s, p, PLACE_ARENA);
}

/* Estimates a candidate.  False: it is not wanted, or an estimate is lacking. */
static bool
estimate(struct estimator *e, struct estimates *k, struct candidate *c)
{
	const struct wanted *w = e->wanted;
	if (c->lower_bound > w->lower_bound || !is_wanted(w, c, c->lower_bound))
		return false;
	c->estimate = cycles_below(e, &k->cycles[BUDGETS - 1], NO_LIMIT_BYTES, &k->need);
	c->need = k->need;
	if (e->lacks || !is_wanted(w, c, c->estimate))
		return false;
	c->budget[BUDGETS - 1] = NO_LIMIT_BYTES;
	c->cycles[BUDGETS - 1] = c->estimate;
	estimate_budgets(e, k, c);
	return !e->lacks;
}

/* Finds the lower bound of a trial's plan, and its feature maps.  False: it is not wanted. */
static bool
bound_plan(struct sched *s, const struct trial *t, struct memo *k, double below)
{
	k->lower_bound = fmax(plan_lower_bound(s, t->p, below), t->candidate.lower_bound);
	if (k->lower_bound > below)
		return false;
	find_maps(s, t->p);
	find_least(s, t->p, k);
	return k->is_bounded = true;
}

/* Completes the candidate of a trial whose lower bound is cached. */
static void
find_wanted(struct estimator *e, struct trial *t, struct memo *k)
{
	t->candidate.lower_bound = k->lower_bound;
	t->candidate.least = k->least;
	t->candidate.beside = k->beside;
	t->is_wanted = estimate(e, &k->estimates, &t->candidate);
}

bool
estimate_by_memo(struct trial *t, const struct wanted *w)
{
	struct estimator e = { .wanted = w };
	if (t->memo->is_bounded)
		find_wanted(&e, t, t->memo);
	return t->memo->is_bounded && !e.lacks;
}

struct estimation {
	struct sched *s;
	struct trial *trial;
	const struct wanted *wanted;
};

static void
estimate_trial(void *ctx, size_t i)
{
	const struct estimation *n = ctx;
	struct trial *t = &n->trial[i];
	struct estimator e = { .s = n->s, .p = t->p, .wanted = n->wanted };
	struct memo own = { .cut_points = 0 }, *k = t->memo ? t->memo : &own;
	if (!t->p) /* estimate_by_memo() has done it */
		return;
	t->is_wanted = false;
	if (bound_plan(n->s, t, k, n->wanted->lower_bound))
		find_wanted(&e, t, k);
}

void
estimate_trials(struct sched *s, struct trial *t, size_t n, const struct wanted *w)
{
	/* the walks of a kernel take as long as the encoding of a hundred weights */
	enum { WEIGHTS = 100 };
	struct estimation e = { .s = s, .trial = t, .wanted = w };
	int64_t cost[TRIALS];
	for (size_t i = 0; i < n; i++)
		cost[i] = t[i].p ? WEIGHTS * (int64_t)t[i].p->n_kernels : 0;
	threads_for(s->o->jobs, n, cost, estimate_trial, &e);
}
