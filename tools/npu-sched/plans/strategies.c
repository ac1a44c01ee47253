/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the strategy of transfers that suits a plan best. */
#include "../weights/transfers.h"

#include <string.h>

/* A strategy is walked only if it can save more than this share of all cycles. */
static const double WORTHWHILE = 0.02;

/* The decisions of the best walk so far. */
struct decided {
	struct weight_slice *slice;
	struct fetch *fetch;
	size_t n_fetches;
	double cycles;
	int64_t need;
};

static struct decided
keep_decided(struct arena *a, const struct plan *p)
{
	struct decided d = { .n_fetches = p->n_fetches, .cycles = p->cycles, .need = p->need };
	d.slice = anew(a, struct weight_slice, p->n_slices + 1);
	d.fetch = anew(a, struct fetch, p->n_fetches + 1);
	memcpy(d.slice, p->slice, p->n_slices * sizeof(*d.slice));
	if (d.n_fetches)
		memcpy(d.fetch, p->fetch, d.n_fetches * sizeof(*d.fetch));
	return d;
}

/* Restores decisions; the plan's arrays were never smaller. */
static void
take_decided(struct sched *s, struct plan *p, struct walking x, const struct decided *d)
{
	memcpy(p->slice, d->slice, p->n_slices * sizeof(*d->slice));
	if (d->n_fetches)
		memcpy(p->fetch, d->fetch, d->n_fetches * sizeof(*d->fetch));
	p->n_fetches = d->n_fetches;
	p->cycles = d->cycles;
	p->need = d->need;
	list_buffers(s, p, x.between);
}

/*
 * Walks with one strategy.  p->asked becomes the largest value of all walks, and so
 * holds for all strategies: under any higher limit each of them makes the same
 * decisions.
 */
static void
walk_strategy(struct sched *s, struct plan *p, struct walking x, double saves[STRATEGIES],
	 int64_t *asked)
{
	p->cached_bound = 0;
	walk_transfers(s, p, x, saves);
	*asked = p->asked > *asked ? p->asked : *asked;
	p->asked = *asked;
}

/* Replaces the result of the first strategy by that of the strategy with the lowest
 * plan_bound(); ties go to the first of these. */
static void
compare_strategies(struct sched *s, struct plan *p, struct walking x, const double saves[STRATEGIES],
	     int64_t asked)
{
	struct arena *a = arena_open();
	const double most = WORTHWHILE * p->cycles;
	double none[STRATEGIES], least = plan_bound(s, p);
	enum strategy best = IN_PIECES;
	struct decided kept = keep_decided(a, p);
	for (enum strategy i = IN_ONE; i < STRATEGIES; i++) {
		if (saves[i] <= most)
			continue;
		x.strategy = i;
		walk_strategy(s, p, x, none, &asked);
		double bound = plan_bound(s, p);
		if (bound >= least)
			continue;
		least = bound;
		best = i;
		kept = keep_decided(a, p);
	}
	if (x.strategy != best)
		take_decided(s, p, x, &kept);
	p->cached_bound = least;
	arena_close(a);
}

static void
walk_strategies(struct sched *s, struct plan *p, struct walking x)
{
	int64_t asked = 0;
	double saves[STRATEGIES];
	p->used_ahead = 0;
	walk_strategy(s, p, x, saves, &asked);
	for (enum strategy i = IN_ONE; i < STRATEGIES; i++)
		if (saves[i] > WORTHWHILE * p->cycles) {
			compare_strategies(s, p, x, saves, asked);
			return;
		}
}

void
plan_fetches(struct sched *s, struct plan *p, int64_t limit)
{
	walk_strategies(s, p, (struct walking){ .limit = limit });
}

void
plan_fetches_between(struct sched *s, struct plan *p, int64_t limit)
{
	walk_strategies(s, p, (struct walking){ .limit = limit, .between = true });
}
