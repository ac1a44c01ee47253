/* SPDX-License-Identifier: Apache-2.0 */
/* The way to decide about transfers that suits a plan best. */
#include "../weights/transfers.h"

/* a way that cannot save more of all cycles is not walked */
static const double WORTHWHILE = 0.02;

/* p->asked: with no less each way would decide the same */
static void
walk_way(struct sched *s, struct plan *p, struct walking x, double saves[WAYS],
	 int64_t *asked)
{
	walk_transfers(s, p, x, saves);
	*asked = p->asked > *asked ? p->asked : *asked;
	p->asked = *asked;
}

/* the way with which the bound is lowest; of those the first */
static void
walk_ways(struct sched *s, struct plan *p, struct walking x)
{
	int64_t asked = 0;
	double saves[WAYS], none[WAYS], least = 0;
	enum transfers best = IN_PIECES;
	walk_way(s, p, x, saves, &asked);
	const double most = WORTHWHILE * p->cycles;
	for (enum transfers way = IN_ONE; way < WAYS; way++) {
		if (saves[way] <= most)
			continue;
		if (x.way == IN_PIECES)
			least = plan_bound(s, p);
		x.way = way;
		walk_way(s, p, x, none, &asked);
		double bound = plan_bound(s, p);
		if (bound < least) {
			least = bound;
			best = way;
		}
	}
	if (x.way != best) {
		x.way = best;
		walk_way(s, p, x, none, &asked);
	}
}

void
plan_fetches(struct sched *s, struct plan *p, int64_t limit)
{
	walk_ways(s, p, (struct walking){ .limit = limit });
}

void
plan_fetches_between(struct sched *s, struct plan *p, int64_t limit)
{
	walk_ways(s, p, (struct walking){ .limit = limit, .between = true });
}
