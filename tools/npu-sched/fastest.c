/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fastest plan below a limit.  A lower limit must not have a better one.
 * So nothing of what is tried depends on the limit: ideas are made for sizes of
 * maps that all limits share, their transfers stay below bounds that all limits
 * share, addresses are chosen as if there was no limit.  A higher limit finds
 * all that a lower one does, and more.  What is left out can't be better, by its
 * floor, or promises too much more.
 */
#include "search.h"

#include <assert.h>
#include <math.h>

/* an idea, and how it was brought below a limit */
struct choice {
	struct idea *idea;
	int64_t limit; /* of transfers */
	enum fit how;
	double cycles;
};

struct contest {
	struct search *x;
	int64_t limit;
	double tolerance;
	struct choice best;
};

/*
 * Limits for transfers are multiples: of what a limit is so many times.  The more
 * units there are the longer each takes, and the less it matters.
 */
enum { COARSE = 4, FINE = 16 };

static int64_t
round_limit(int64_t limit, const struct plan *p, size_t units)
{
	enum { MOST = 4096, LEAST = 64 };
	int64_t step = 16, steps = (int64_t)(MOST / (1 + p->n_units / units));
	while (limit / step >= (steps > LEAST ? steps : LEAST))
		step *= 2;
	return limit / step * step;
}

static void
try_fit(struct contest *c, struct idea *i, enum fit how)
{
	struct sched *s = c->x->s;
	if (plan_fit(s, i->plan, i->next, how, c->best.cycles) &&
	    peak_of(s, i->plan) <= c->limit)
		c->best = (struct choice){ .idea = i, .limit = i->next, .how = how,
					   .cycles = i->plan->cycles };
}

/*
 * Transfers choose greedily, and may end up better with less room: so what costs
 * more than the best, by this factor, is tried with less, too.  Among few weights
 * one choice matters much, and all is tried soon; measured on the models.
 */
static double
tolerance(const struct sched *s, int64_t limit)
{
	enum { FEW_WEIGHTS = 16, MANY_WEIGHTS = 40 };
	size_t n = s->g->n_weights;
	if (n > MANY_WEIGHTS)
		return limit < NO_LIMIT_BYTES ? 1.005 : 1.001;
	return n <= FEW_WEIGHTS ? 1.5 : 1.05;
}

static bool
begin(struct contest *c, struct idea *i)
{
	if (i->floor >= c->best.cycles ||
	    i->promise >= c->best.cycles * c->tolerance)
		return true;
	if (!work_out(c->x, i))
		return false;
	i->next = round_limit(c->limit, i->plan, FINE);
	if (c->limit < NO_LIMIT_BYTES && idea_packed(c->x, i) > i->next)
		i->next = i->packed > c->limit ? 0 : i->packed;
	return true;
}

/*
 * Tries an idea below its next limit, and finds the one that follows: where
 * transfers become others.  To pack many buffers anew takes long: limits for that
 * are coarser.
 */
static void
visit(struct contest *c, struct idea *i)
{
	struct sched *s = c->x->s;
	struct plan *p = i->plan;
	plan_fetches(s, p, i->next);
	double least = plan_bound(s, p);
	assert(least > i->floor - 1); /* rounding apart */
	int64_t asked = p->asked, most = asked;
	bool tried = asked == i->tried; /* by the sum of bytes it is no news */
	i->tried = asked;
	if (least < c->best.cycles && idea_packed(c->x, i) <= i->next) {
		try_fit(c, i, BETWEEN);
		most = p->asked > asked ? p->asked : asked;
	}
	if (least < c->best.cycles && !tried && round_limit(i->next, p, COARSE) >= asked)
		try_fit(c, i, SUMMED);
	int64_t next = round_limit(most - 1, p, FINE);
	if (i->packed < i->next && i->packed > next)
		next = i->packed;
	if (least >= c->best.cycles * c->tolerance) /* or where it promised more */
		next = i->room < i->next ? i->room : 0;
	bool done = next < i->least || i->floor >= c->best.cycles;
	i->next = done ? 0 : next;
}

/* the plan that won, made again; the arena is its own */
static struct plan *
win(struct contest *c)
{
	struct idea *i = c->best.idea;
	if (!i)
		return NULL;
	struct plan *p = i->plan;
	(void)plan_fit(c->x->s, p, c->best.limit, c->best.how, INFINITY);
	i->plan = NULL;
	return p;
}

struct plan *
search_fastest(struct search *x, int64_t limit, double below)
{
	enum { STEPS = 32 };
	struct contest c = { .x = x, .limit = limit, .tolerance = tolerance(x->s, limit),
			     .best.cycles = below };
	list_ideas(x, limit, ROOM_OF_LIMIT, STEPS, below);
	for (size_t k = 0; k < x->n; k++) {
		if (!begin(&c, &x->v[k]))
			return NULL;
		while (x->v[k].next)
			visit(&c, &x->v[k]);
		if (c.best.idea != &x->v[k]) {
			plan_close(x->v[k].plan);
			x->v[k].plan = NULL;
		}
	}
	return win(&c);
}
