/* SPDX-License-Identifier: Apache-2.0 */
/* --optimise=Size: little memory at a fair price in cycles. */
#include "search.h"

#include <math.h>
#include <stdlib.h>

/* cycles against bytes */
static const double EXPONENT = 0.64;

/*
 * What weighs bytes against cycles.  A tenth less SRAM is worth 18 % more time,
 * so feature maps shrink as far as stripes go at a fair price, and not down the
 * cliff behind.
 */
static double
weigh(int64_t bytes, double cycles)
{
	return (double)bytes * pow(cycles, EXPONENT);
}

double
plan_weight(const struct plan *p)
{
	return weigh(p->peak[PLACE_ARENA] + p->peak[PLACE_CACHE], p->cycles);
}

/* what estimates a little too much weight may come out with less */
static const double LITTLE = 1.05;

/* the best plan by weight so far */
struct lightest {
	struct candidate *candidate;
	int64_t room; /* for transfers */
	enum fit how;
	double weight;
};

static void
try_weight(struct search *x, struct candidate *i, int64_t room, int64_t limit,
	   struct lightest *best)
{
	struct sched *s = x->s;
	for (enum fit how = SUMMED; how <= BETWEEN && room <= limit; how++) {
		double below = pow(best->weight / (double)(i->least + i->beside),
				   1 / EXPONENT);
		if (!plan_fit(s, i->plan, room, how, below) ||
		    peak_of(s, i->plan) > limit)
			continue;
		double w = plan_weight(i->plan);
		if (w < best->weight)
			*best = (struct lightest){ i, room, how, w };
	}
}

static double
estimated(const struct candidate *i)
{
	return weigh(i->need + i->beside, i->estimate);
}

/* qsort's order */
static int
compare_weights(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;
	double wa = estimated(a), wb = estimated(b);
	if (wa != wb)
		return wa < wb ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

static void
try_rooms(struct search *x, struct candidate *i, int64_t limit, struct lightest *best)
{
	try_weight(x, i, candidate_packed(x, i), limit, best);
	/* a little more room may hold what saves many cycles */
	for (int64_t room = i->maps; room <= i->maps + i->maps / 4;
	     room += i->maps / 16 + 1)
		try_weight(x, i, room, limit, best);
}

/* the plan of least weight, exact sizes and addresses included; it ends when
 * several candidates in a row brought nothing better */
struct plan *
search_smallest(struct search *x, double below)
{
	enum { STEPS = 16, PATIENCE = 4 };
	struct sched *s = x->s;
	struct lightest best = { .weight = below };
	/* what may take a little more than there is may come out with less */
	int64_t most = cascades_whole_peak(x->cascades), more = x->limit + x->limit / 8;
	list_candidates(x, most < more ? most : more, ROOM_OF_MAPS, STEPS, INFINITY);
	if (x->n)
		qsort(x->v, x->n, sizeof(*x->v), compare_weights);
	int dull = 0;
	for (size_t k = 0; k < x->n && dull < PATIENCE * s->o->effort; k++) {
		struct candidate *i = &x->v[k];
		if (estimated(i) >= best.weight * LITTLE)
			break;
		if (!work_out(x, i))
			return NULL;
		try_rooms(x, i, x->limit, &best);
		dull += best.weight < INFINITY;
		if (best.candidate == i) {
			dull = 0;
		} else {
			plan_close(i->plan);
			i->plan = NULL;
		}
	}
	if (!best.candidate)
		return NULL;
	struct plan *p = best.candidate->plan;
	(void)plan_fit(s, p, best.room, best.how, INFINITY);
	best.candidate->plan = NULL;
	return p;
}
