/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates cycles of candidates within the limit of the question, with estimated sizes of
 * weights.  An estimate only reads the network and changes no plan but its own, so that threads
 * can share the network.
 */
#include "../weights/transfers.h"
#include "search.h"

#include "base/threads.h"

#include <math.h>

static bool
is_wanted(const struct wanted *w, const struct candidate *c, double cycles)
{
	return cycles <= w->estimate &&
	       front_wants(w->front, c->least, c->least + c->beside, cycles);
}

/* The bytes of a plan's feature maps where they are most. */
static int64_t
most_bytes(const struct plan *p)
{
	int64_t most = 0;
	for (size_t i = 0; i < p->n_kernels; i++)
		most = max_i64(most, p->map_bytes[i]);
	return most;
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
	struct candidate *c = &t->candidate;
	const int64_t limit = front_within(&n->wanted->front->question);
	if (!is_wanted(n->wanted, c, c->lower_bound))
		return;
	find_maps(n->s, t->p);
	c->least = most_bytes(t->p);
	decide_memory(t->p, (struct memory_decision){ .limit = limit });
	c->estimate = plan_fetches(n->s, t->p);
	c->need = t->p->need;
	if (decide_jointly(n->s, t->p, limit))
		c->estimate = fmin(c->estimate, plan_fetches(n->s, t->p));
	t->is_wanted = is_wanted(n->wanted, c, c->estimate);
}

void
estimate_trials(struct sched *s, struct trial *t, size_t n, const struct wanted *w)
{
	/* the walks of a kernel take as long as the encoding of a hundred weights */
	enum { WEIGHTS = 100 };
	struct estimation e = { .s = s, .trial = t, .wanted = w };
	int64_t cost[TRIALS];
	for (size_t i = 0; i < n; i++)
		cost[i] = WEIGHTS * (int64_t)t[i].p->n_kernels;
	threads_for(s->o->jobs, n, cost, estimate_trial, &e);
}
