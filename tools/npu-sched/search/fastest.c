/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fastest plan below a limit.  A lower limit must not have a better one.
 * So nothing of what is tried depends on the limit but where it begins: candidates are
 * made for sizes of maps that all limits share, their transfers stay below rooms
 * that all limits share, and addresses follow from transfers alone.  A higher limit
 * finds all that a lower one does, and more.  What is left out can't be better, by
 * its lower_bound, or estimates too much more; see nested.c for that.
 */
#include "search.h"

#include <assert.h>
#include <math.h>

/* a candidate, and how it was brought below a limit */
struct choice {
	struct candidate *candidate;
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

/* no limit to try a candidate below */
enum { NEVER = -1 };

/* returns what its transfers asked for */
static int64_t
try_fit(struct contest *c, struct candidate *i, enum fit how, double least)
{
	struct sched *s = c->x->s;
	int64_t limit = i->next;
	bool faster = plan_fit(s, i->plan, limit, how, c->best.cycles);
	int64_t asked = i->plan->asked;
	if (!faster || peak_of(s, i->plan) > c->limit)
		return asked;
	double cycles = i->plan->cycles;
	if (c->limit == NO_LIMIT_BYTES || is_nested(c->x, i, least))
		c->best = (struct choice){ .candidate = i, .limit = limit, .how = how,
					   .cycles = cycles };
	return asked;
}

static bool
begin(struct contest *c, struct candidate *i)
{
	i->next = NEVER;
	if (i->estimated_lower_bound >= c->best.cycles ||
	    i->estimate >= c->best.cycles * c->tolerance)
		return true;
	if (!work_out(c->x, i))
		return false;
	i->next = round_limit(c->limit, i->plan, FINE);
	if (c->limit < NO_LIMIT_BYTES && candidate_packed(c->x, i) > i->next)
		i->next = i->packed > c->limit ? NEVER : i->packed;
	return true;
}

/*
 * The limit that follows: where transfers become others than below those that they
 * asked for, or where there is just room for the maps; or little, where searches
 * below it begin.  After more room than is of use: little, if that is promising.
 */
static int64_t
next_limit(const struct contest *c, struct candidate *i, int64_t asked, double least)
{
	if (i->lower_bound >= c->best.cycles)
		return NEVER;
	if (least >= c->best.cycles * c->tolerance) {
		bool promising = i->with_little < c->best.cycles * c->tolerance;
		return i->little < i->next && promising ? i->little : NEVER;
	}
	int64_t next = asked ? round_limit(asked - 1, i->plan, FINE) : NEVER;
	int64_t near = i->least + i->least / 4; /* what it takes to pack them */
	if ((i->packed || next < near) && candidate_packed(c->x, i) < i->next &&
	    i->packed > next)
		next = i->packed;
	if (c->limit < NO_LIMIT_BYTES && i->little < i->next && i->little > next)
		next = i->little;
	return next < i->least ? NEVER : next;
}

/* tries a candidate below its next limit.  To pack many buffers anew takes long: limits
 * for that are coarser */
static void
visit(struct contest *c, struct candidate *i)
{
	struct sched *s = c->x->s;
	struct plan *p = i->plan;
	plan_fetches(s, p, i->next);
	double least = plan_bound(s, p);
	assert(least > i->lower_bound - 1); /* rounding apart */
	int64_t asked = p->asked, most = asked;
	/* by the sum of bytes it is no news; with little room it may be nested now */
	bool tried = asked == i->tried && i->next != i->little;
	i->tried = asked;
	if (least < c->best.cycles * tolerance_between(s, i, c->limit) &&
	    candidate_packed(c->x, i) <= i->next) {
		int64_t between = try_fit(c, i, BETWEEN, least);
		most = between > asked ? between : asked;
	}
	if (least < c->best.cycles && !tried && round_limit(i->next, p, COARSE) >= asked)
		(void)try_fit(c, i, SUMMED, least);
	i->next = next_limit(c, i, most, least);
}

/* the plan that won, made again; the arena is its own */
static struct plan *
win(struct contest *c)
{
	struct candidate *i = c->best.candidate;
	if (!i)
		return NULL;
	struct plan *p = i->plan;
	(void)plan_fit(c->x->s, p, c->best.limit, c->best.how, INFINITY);
	p->cycles = c->best.cycles;
	i->plan = NULL;
	return p;
}

struct plan *
search_fastest(struct search *x, double below)
{
	enum { STEPS = 32 };
	struct contest c = { .x = x, .limit = x->limit,
			     .tolerance = tolerance(x->s, x->limit),
			     .best.cycles = below };
	list_candidates(x, x->limit, ROOM_OF_LIMIT, STEPS, below);
	for (size_t k = 0; k < x->n; k++) {
		if (!begin(&c, &x->v[k]))
			return NULL;
		while (x->v[k].next != NEVER)
			visit(&c, &x->v[k]);
		if (c.best.candidate != &x->v[k]) {
			plan_close(x->v[k].plan);
			x->v[k].plan = NULL;
		}
	}
	return win(&c);
}
