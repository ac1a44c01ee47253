/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More room never costs cycles.  A search passes over what estimates more than its
 * best, or is bounded by more, by a factor: transfers choose greedily, and may come
 * out better than that, and better with less room than with more.  But a plan so
 * much better than what leads to it would be lost on searches with more room, which
 * may end with something in between.  So it is not taken: only what any search with
 * more room comes by, unless it has something better; and none that is faster than
 * the plan without a limit.
 *
 * Why that is enough: say a plan was taken below one limit, and a search below a
 * higher one ended with more cycles.  All the time its best had more.  It divided
 * operations alike, as what they are divided into and for which sizes is the same
 * for all limits, and listed the candidate: lower_bound and estimate are at most what its best
 * has, with the factor for the latter, wherever its room begins.  It followed the
 * candidate down: from where transfers are asked for to where they become others, the
 * bound at most its best, with the factor; so it came by the room of the plan, where
 * nothing depends on the limit, and took it or something better.  Where nothing is
 * taken there is the plan that needs least, which is in every search: least.c.
 */
#include "search.h"

/* among few weights one choice matters much, and all is tried soon; measured on
 * the models */
double
tolerance(const struct sched *s, int64_t limit)
{
	enum { FEW_WEIGHTS = 16, MANY_WEIGHTS = 40 };
	size_t n = s->g->n_weights;
	if (n > MANY_WEIGHTS)
		return limit < NO_LIMIT_BYTES ? 1.005 : 1.001;
	return n <= FEW_WEIGHTS ? 1.5 : 1.05;
}

double
tolerance_between(const struct sched *s, const struct candidate *i, int64_t limit)
{
	return i->next == i->packed ? tolerance(s, limit) : 1;
}

static double
bound_with(struct sched *s, struct plan *p, int64_t room)
{
	plan_fetches(s, p, room);
	return plan_bound(s, p);
}

/* with any room up to `from` and above `to`, is its bound at most that? */
static bool
is_bounded(struct sched *s, struct plan *p, int64_t from, int64_t to, double most)
{
	for (int64_t room = from; room > to;) {
		if (bound_with(s, p, room) > most)
			return false;
		room = p->asked ? round_limit(p->asked - 1, p, FINE) : to;
	}
	return true;
}

/* does a candidate estimate to take at most that, with i->next or more for transfers?
 * With more than little room it estimates no more than with that */
static bool
is_estimated(struct search *x, struct candidate *i, double most)
{
	struct sched *s = x->s;
	if (i->next >= i->little && i->with_little > 0 && i->with_little <= most)
		return true;
	struct plan *p = estimate_candidate(x, i);
	int64_t least = maps_least(s, p, limited_place(s));
	int64_t room = round_limit(i->next, p, FINE);
	if (i->with_little <= 0)
		i->with_little = bound_with(s, p, i->little);
	bool yes = is_bounded(s, p, i->with_little <= most ? i->little : NO_LIMIT_BYTES,
			      room - 1, most) &&
		   (least <= room || bound_with(s, p, least) <= most);
	plan_close(p);
	return yes;
}

/* is its bound at most that on the way down to i->next?  Searches come from little
 * room, where that is promising, or from all that there is */
static bool
is_reached(struct search *x, struct candidate *i, double most)
{
	struct sched *s = x->s;
	if (i->next < i->packed && bound_with(s, i->plan, i->packed) > most)
		return false;
	return (i->next <= i->little && i->with_little <= most &&
		is_bounded(s, i->plan, i->little, i->next, most)) ||
	       is_bounded(s, i->plan, NO_LIMIT_BYTES, i->next, most);
}

bool
is_nested(struct search *x, struct candidate *i, double least)
{
	double cycles = i->plan->cycles;
	double most = cycles * tolerance(x->s, NO_LIMIT_BYTES);
	double exact = i->plan->how == SUMMED ? 1
					     : tolerance_between(x->s, i, NO_LIMIT_BYTES);
	return cycles >= x->fastest && i->estimated_lower_bound <= cycles &&
	       i->lower_bound <= cycles && least <= cycles * exact &&
	       is_estimated(x, i, most) && is_reached(x, i, most);
}
