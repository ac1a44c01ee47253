/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan that needs least: the maps packed as well as they can be, all weights
 * read in place.  It is in every search, whatever the limit, where it can be the
 * best: so there is a plan wherever there can be one, and none with more room is
 * slower.
 */
#include "search.h"

#include <math.h>

/* exact sizes and addresses; NULL: an error, or there is nothing to divide */
static struct plan *
least_plan(struct search *x)
{
	struct sched *s = x->s;
	struct plan *p = estimate_least(x);
	if (!p || !measure_slices(s, p))
		return plan_close(p), NULL;
	find_maps(s, p);
	(void)pack_maps(s, p);
	(void)plan_fit(s, p, 0, BETWEEN, INFINITY); /* no room for transfers */
	return p;
}

/*
 * Cycles that it takes at least.  Bytes of weights are as they were measured, or, for
 * blocks of another depth, a few in a hundred off.
 */
static double
least_cycles(const struct search *x)
{
	const double sure = 0.8;
	struct cascades_bound b = cascades_bound(x->cascades);
	return fmax(b.lower_bound, sure * b.in_place);
}

/* can it be better than a score? */
static bool
may_need_least(const struct search *x, double score)
{
	if (x->s->o->size)
		return score == INFINITY;
	return x->s->objective == BLOCKS_FOR_FETCHED && least_cycles(x) < score;
}

/* does any search below a limit come by it, unless it has a better one? */
static bool
is_least_nested(const struct search *x, const struct plan *p)
{
	return x->s->o->size ||
	       (p->cycles >= x->fastest && p->cycles >= least_cycles(x));
}

struct plan *
search_least(struct search *x, struct plan *p, double below)
{
	struct sched *s = x->s;
	below = p ? plan_score(s, p) : below;
	if (!may_need_least(x, below))
		return p;
	if (is_unlimited(x))
		(void)cascades_add(s, x->cascades, INFINITY, false);
	struct plan *q = least_plan(x);
	if (!q)
		return p;
	bool nested = is_least_nested(x, q);
	if (nested)
		x->least = smaller(x->least, peak_of(s, q));
	if ((!nested && !is_unlimited(x)) || peak_of(s, q) > x->limit ||
	    plan_score(s, q) >= below) {
		plan_close(q);
		return p;
	}
	plan_close(p);
	return q;
}
