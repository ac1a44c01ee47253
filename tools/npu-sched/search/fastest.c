/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fastest plan within a limit: candidates by rising estimate, each with less
 * and less room for transfers as long as that is no slower, as they choose greedily.
 * What is left out can't be better, by its lower bound, or is estimated at too much
 * more.
 */
#include "search.h"

#include <math.h>

/* a candidate, and how it was brought below a limit */
struct choice {
	struct candidate *candidate;
	struct fitting fitting;
	double cycles;
};

struct contest {
	struct variant *x;
	int64_t limit;
	double tolerance;
	struct choice best;
};

/* among many no single choice matters much */
static bool
has_many_weights(const struct sched *s)
{
	enum { MANY = 40 };
	return s->g->n_weights > MANY;
}

/* candidates are tried whose estimate exceeds the best by this factor.  Among few
 * weights one choice matters much, and all is tried soon; measured on the models */
static double
tolerance(const struct sched *s, int64_t limit)
{
	bool limited = limit < NO_LIMIT_BYTES;
	if (has_few_weights(s))
		return 1.5;
	if (!limited)
		return s->memory.spilling ? 1.01 : 1.001;
	return has_many_weights(s) ? 1.005 : 1.02;
}

/* returns what its transfers asked for */
static int64_t
try_fit(struct contest *c, struct candidate *i, enum fit how)
{
	const struct fitting f = { .limit = i->next, .how = how, .most = c->limit };
	bool faster = plan_fit(c->x->s, i->plan, f, c->best.cycles);
	int64_t asked = i->plan->asked;
	if (faster && peak_of(c->x->s, i->plan) <= c->limit)
		c->best = (struct choice){ .candidate = i, .fitting = f,
					   .cycles = i->plan->cycles };
	return asked;
}

static bool
begin(struct contest *c, struct candidate *i)
{
	i->next = NEVER;
	if (i->lower_bound >= c->best.cycles ||
	    i->estimate >= c->best.cycles * c->tolerance)
		return true;
	if (!work_out(c->x, i))
		return false;
	i->next = round_limit(c->limit, i->plan, FINE);
	if (c->limit < NO_LIMIT_BYTES && candidate_packed(c->x, i) > i->next)
		i->next = i->packed > c->limit ? NEVER : i->packed;
	return true;
}

/* of a candidate's room: limits of transfers that are tried where its bound, or its plan
 * with addresses, is no better; half as many each time that some in a row are not */
enum { VISITS_APART = 4, FITS_APART = 16, LEAST_APART = 2, IN_A_ROW = 3 };

static int
limits_apart(const struct contest *c, const struct candidate *i, double bound)
{
	int apart = bound >= c->best.cycles ? VISITS_APART : FITS_APART;
	int halvings = has_many_weights(c->x->s) ? i->failed / IN_A_ROW : 0;
	for (; halvings && apart > LEAST_APART; halvings--)
		apart /= 2;
	return apart;
}

/*
 * The limit that follows: where transfers become others than below those that they
 * asked for, or where there is just room for the maps.  After more room than is of
 * use: little, if that is promising.
 */
static int64_t
next_limit(const struct contest *c, struct candidate *i, int64_t asked, double bound,
	   bool better)
{
	if (i->lower_bound >= c->best.cycles)
		return NEVER;
	if (bound >= c->best.cycles * c->tolerance) {
		bool promising = i->with_little < c->best.cycles * c->tolerance;
		return i->little < i->next && promising ? i->little : NEVER;
	}
	int64_t next = asked ? round_limit(asked - 1, i->plan, FINE) : NEVER;
	i->failed = better ? 0 : i->failed + 1;
	/* where it is no better, what is near is hardly */
	int64_t far = i->next - (i->next - i->least) / limits_apart(c, i, bound);
	if (!better && asked && far < next)
		next = round_limit(far, i->plan, FINE);
	int64_t near = i->least + i->least / 4; /* what it takes to pack them */
	if ((i->packed || next < near) && candidate_packed(c->x, i) < i->next &&
	    i->packed > next)
		next = i->packed;
	if (c->limit < NO_LIMIT_BYTES && i->little < i->next && i->little > next)
		next = i->little;
	return next < i->least ? NEVER : next;
}

/* tries a candidate below its next limit.  To pack many buffers anew takes long:
 * limits for that are coarser */
static void
visit(struct contest *c, struct candidate *i)
{
	struct sched *s = c->x->s;
	struct plan *p = i->plan;
	plan_fetches(s, p, i->next);
	double bound = plan_bound(s, p);
	check_bound(bound, i); /* rounding apart */
	double was = c->best.cycles;
	int64_t asked = p->asked, most = asked;
	/* by the sum of bytes it is no news */
	bool tried = asked == i->tried && i->next != i->little;
	i->tried = asked;
	if (bound < c->best.cycles && candidate_packed(c->x, i) <= i->next) {
		int64_t between = try_fit(c, i, BETWEEN);
		most = between > asked ? between : asked;
	}
	if (bound < c->best.cycles && !tried && round_limit(i->next, p, COARSE) >= asked)
		(void)try_fit(c, i, SUMMED);
	i->next = next_limit(c, i, most, bound, c->best.cycles < was);
}

/* all weights read in place: transfers that come when nothing is lost by them may hold
 * up what comes next */
static void
visit_without(struct contest *c, struct candidate *i)
{
	struct sched *s = c->x->s;
	plan_fetches(s, i->plan, 0);
	if (plan_bound(s, i->plan) >= c->best.cycles || candidate_packed(c->x, i) > c->limit)
		return;
	i->next = 0;
	(void)try_fit(c, i, BETWEEN);
}

/* the plan that won, made again */
static struct plan *
win(struct contest *c)
{
	struct candidate *i = c->best.candidate;
	if (!i)
		return NULL;
	struct plan *p = i->plan;
	(void)plan_fit(c->x->s, p, c->best.fitting, INFINITY);
	p->cycles = c->best.cycles;
	i->plan = NULL;
	return p;
}

struct plan *
search_fastest(struct variant *x, int64_t limit, double below, enum detail detail)
{
	const int steps[] = { [COARSELY] = 4, [FINELY] = 16 };
	struct contest c = { .x = x, .limit = limit, .tolerance = tolerance(x->s, limit),
			     .best.cycles = below };
	struct wanted w = { .below = below, .limit = limit };
	list_candidates(x, steps[detail], &w);
	for (size_t k = 0; k < x->n; k++) {
		if (!begin(&c, &x->v[k]))
			return NULL;
		while (x->v[k].next != NEVER)
			visit(&c, &x->v[k]);
		if (x->v[k].plan)
			visit_without(&c, &x->v[k]);
		if (c.best.candidate != &x->v[k])
			candidate_close(&x->v[k]);
	}
	return win(&c);
}
