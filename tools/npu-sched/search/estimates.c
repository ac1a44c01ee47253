/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates cycles and bytes of candidates, with estimated sizes of weights.  An estimate only
 * reads the network and changes no plan but its own, so that threads can share the network.
 */
#include "../plans/clock.h"
#include "search.h"

#include "base/threads.h"

#include <math.h>

static bool
is_wanted(const struct wanted *w, const struct candidate *c, double cycles)
{
	return cycles <= w->estimate &&
	       front_wants(w->front, c->least, c->least + c->beside, cycles);
}

/* Finds the lower bounds of a trial's plan.  False: those of cycles exceed `below`, so that the
 * others are not needed. */
static bool
bound_trial(struct sched *s, const struct trial *t, double below)
{
	struct memo *k = t->memo;
	const struct plan *p = t->p;
	k->lower_bound = fmax(plan_lower_bound(s, p, below), t->candidate.lower_bound);
	if (k->lower_bound > below)
		return false;
	find_maps(s, t->p);
	k->least = k->beside = 0;
	for (size_t i = 0; i < p->n_kernels; i++)
		k->least = max_i64(k->least, p->map_bytes[i]);
	if (s->memory.spilling)
		k->beside = maps_least(s, p, PLACE_ARENA);
	return k->is_bounded = true;
}

/* Completes a trial by its plan, or by cached results.  False: these are lacking, and there is
 * no plan. */
static bool
complete(struct sched *s, struct trial *t, const struct wanted *w)
{
	struct memo *k = t->memo;
	struct candidate *c = &t->candidate;
	t->is_wanted = false;
	if (t->p && !bound_trial(s, t, w->lower_bound))
		return true;
	if (!k->is_bounded)
		return false;
	c->lower_bound = k->lower_bound;
	c->least = k->least;
	c->beside = k->beside;
	if (c->lower_bound > w->lower_bound || !is_wanted(w, c, c->lower_bound))
		return true;
	if (k->estimate == 0 && !t->p)
		return false;
	if (k->estimate == 0) {
		k->estimate = plan_fetches(s, t->p, (struct fitting){ .limit = NO_LIMIT_BYTES });
		k->need = t->p->need;
	}
	c->estimate = k->estimate;
	c->need = k->need;
	t->is_wanted = is_wanted(w, c, c->estimate);
	return true;
}

bool
estimate_by_memo(struct trial *t, const struct wanted *w)
{
	return complete(NULL, t, w);
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
	if (n->trial[i].p) /* else estimate_by_memo() has done it */
		(void)complete(n->s, &n->trial[i], n->wanted);
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
