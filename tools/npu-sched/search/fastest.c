/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fastest plan within a limit: candidates by rising estimate, each with less
 * and less room for transfers as long as that is no slower, as they choose greedily.
 * What is left out can't be better, by its lower bound, or is estimated at too much
 * more.
 */
#include "../weights/transfers.h"
#include "search.h"

#include "base/threads.h"

#include <math.h>
#include <string.h>

/* a candidate's plan, and how it was brought below a limit */
struct choice {
	const struct candidate *candidate; /* while its list is there */
	struct plan *plan; /* from when its candidate is done */
	int64_t maps;	   /* that its division was made for */
	struct fitting fitting;
	double cycles;
};

/* what tells candidates apart, in whatever list they are */
struct mark {
	double estimate, lower_bound;
	int64_t least, need;
	enum cut cut;
};

struct contest {
	struct variant *x;
	int64_t limit;
	double tolerance;
	struct choice best;
	struct arena *a;
	struct mark *tried; /* candidates that were worked out */
	size_t n_tried, cap_tried;
};

static bool
is_same(const struct mark *a, const struct mark *b)
{
	return a->estimate == b->estimate && a->lower_bound == b->lower_bound &&
	       a->least == b->least && a->need == b->need && a->cut == b->cut;
}

/* a division for one size of maps is mostly one for others nearby, too */
static bool
is_new(struct contest *c, const struct candidate *i)
{
	const struct mark m = { i->estimate, i->lower_bound, i->least, i->need,
				i->cut };
	for (size_t k = 0; k < c->n_tried; k++)
		if (is_same(&c->tried[k], &m))
			return false;
	agrow(c->a, c->tried, c->n_tried, &c->cap_tried);
	c->tried[c->n_tried++] = m;
	return true;
}

/*
 * Candidates are worked out whose estimate exceeds the fastest plan by up to this factor,
 * as weights' sizes are estimates, too, and transfers come late.
 */
static const double TOLERANCE = 1.01;

/* two variants whose weights take as many bytes by estimate may differ by this factor when
 * these are encoded, so that the slower one by estimate is tried as well */
static const double INEXACTNESS = 1.005;

/* returns what its transfers asked for */
static int64_t
try_fit(struct contest *c, struct candidate *i, enum fit how)
{
	const struct fitting f = { .limit = i->next, .how = how, .care = TRY,
				   .most = c->limit };
	bool faster = plan_fit(c->x->s, i->plan, f, c->best.cycles);
	int64_t asked = i->plan->asked;
	if (faster && peak_of(c->x->s, i->plan) <= c->limit) {
		c->best.candidate = i;
		c->best.maps = i->maps;
		c->best.fitting = f;
		c->best.cycles = i->plan->cycles;
	}
	return asked;
}

static bool
begin(struct contest *c, struct candidate *i)
{
	i->next = NEVER;
	if (i->lower_bound >= c->best.cycles * INEXACTNESS ||
	    i->estimate >= c->best.cycles * c->tolerance || !is_new(c, i))
		return true;
	if (!work_out(c->x, i))
		return false;
	i->next = round_limit(c->limit, i->plan, FINE);
	if (c->limit < NO_LIMIT_BYTES && candidate_packed(c->x, i) > i->next)
		i->next = i->packed > c->limit ? NEVER : i->packed;
	return true;
}

/* the part of a candidate's memory between two limits for its transfers, where the bound
 * below the first is no better than the fastest plan, and where only the plan is not */
enum { BOUNDS_APART = 4, PLANS_APART = 16 };

/*
 * The limit that follows: where transfers become others than below those that they
 * asked for, or where there is just room for the maps.
 */
static int64_t
next_limit(const struct contest *c, struct candidate *i, int64_t asked, double bound,
	   bool better)
{
	if (i->lower_bound >= c->best.cycles)
		return NEVER;
	int64_t next = asked ? round_limit(asked - 1, i->plan, FINE) : NEVER;
	int apart = bound >= c->best.cycles ? BOUNDS_APART : PLANS_APART;
	int64_t far = i->next - (i->next - i->least) / apart;
	if (!better && asked && far < next)
		next = round_limit(far, i->plan, FINE);
	int64_t near = i->least + i->least / 4; /* what it takes to pack them */
	if ((i->packed || next < near) && candidate_packed(c->x, i) < i->next &&
	    i->packed > next)
		next = i->packed;
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
	bool tried = asked == i->tried;
	i->tried = asked;
	bool worth = bound < c->best.cycles;
	if (worth && candidate_packed(c->x, i) <= i->next) {
		int64_t between = try_fit(c, i, BETWEEN);
		most = between > asked ? between : asked;
	}
	if (worth && !tried && round_limit(i->next, p, COARSE) >= asked)
		(void)try_fit(c, i, SUMMED);
	i->next = next_limit(c, i, most, bound, c->best.cycles < was);
}

/* candidates that are visited at a time, from the same best plan: by threads, or not */
enum { AT_A_TIME = 2 };

struct round {
	struct contest c[AT_A_TIME]; /* with the best so far, each for itself */
	struct candidate *candidate[AT_A_TIME];
	int64_t cost[AT_A_TIME];
	size_t n;
};

/* with ever less room */
static void
visit_all(void *ctx, size_t k)
{
	struct round *r = ctx;
	struct candidate *i = r->candidate[k];
	while (i->next != NEVER)
		visit(&r->c[k], i);
}

/* the candidates' plans are closed but for the best one's */
static void
finish(struct contest *c, struct round *r)
{
	for (size_t k = 0; k < r->n; k++) {
		struct candidate *i = r->candidate[k];
		struct choice now = r->c[k].best;
		if (now.candidate == i && now.cycles < c->best.cycles) {
			plan_close(c->best.plan);
			c->best = now;
			c->best.plan = i->plan;
			c->best.candidate = NULL;
			i->plan = NULL;
		}
		candidate_close(i);
	}
	r->n = 0;
}

static void
run_round(struct contest *c, struct round *r)
{
	/* as in estimates.c; a visit is some ten estimates */
	enum { WEIGHTS = 1000 };
	for (size_t k = 0; k < r->n; k++) {
		r->c[k] = *c;
		r->cost[k] = WEIGHTS * (int64_t)r->candidate[k]->plan->n_kernels;
	}
	threads_for(c->x->s->o->jobs, r->n, r->cost, visit_all, r);
	finish(c, r);
}

/* the first one alone: what it gives spares most of the others.  Without a limit each, as
 * their maps are packed only where that is asked for.  false: an error */
static bool
try_candidates(struct contest *c)
{
	struct variant *x = c->x;
	const size_t at_a_time = c->limit < NO_LIMIT_BYTES ? AT_A_TIME : 1;
	struct round r = { .n = 0 };
	bool ok = true;
	for (size_t k = 0; k < x->n && ok; k++) {
		ok = begin(c, &x->v[k]);
		if (!x->v[k].plan)
			continue;
		r.candidate[r.n++] = &x->v[k];
		if (!ok)
			finish(c, &r);
		else if (r.n == at_a_time || !c->best.plan)
			run_round(c, &r);
	}
	if (ok)
		run_round(c, &r);
	return ok;
}

/* all that may be better than the best so far, by so much where that is this variant's;
 * false: an error */
static bool
try_all(struct contest *c, struct sizing sizing)
{
	const double worthwhile = c->best.plan ? 0.999 : INEXACTNESS;
	struct variant *x = c->x;
	struct wanted w = { .below = c->best.cycles * worthwhile, .limit = c->limit,
			    .estimated = { INFINITY, INFINITY } };
	for (int slide = 0; slide < 2 && c->limit < NO_LIMIT_BYTES; slide++)
		w.estimated[slide] = ESTIMATES_APART *
				     cascades_estimate(x->s, x->cascades, c->limit, slide);
	list_candidates(x, sizing, &w);
	return try_candidates(c);
}

/* the plan that won, made again */
static struct plan *
win(struct contest *c)
{
	struct plan *p = c->best.plan;
	if (!p)
		return NULL;
	(void)plan_fit(c->x->s, p, c->best.fitting, INFINITY);
	p->cycles = p->plain = c->best.cycles;
	if (has_few_weights(c->x->s))
		(void)leave_in_place(c->x->s, p, c->limit);
	return p;
}

/*
 * Within a limit more room for maps is less for weights.  Where an estimate
 * takes several walks, one for each strategy of transfers, the best size is
 * looked for coarsely first, then in detail between its neighbours.
 */
struct plan *
search_fastest(struct variant *x, int64_t limit, double below, enum detail detail)
{
	enum { COARSE_STEPS = 4, FINE_STEPS = 16 };
	struct contest c = { .x = x, .a = arena_open(), .limit = limit, .best.cycles = below,
			     .tolerance = TOLERANCE };
	bool near = limit < NO_LIMIT_BYTES && detail == FINELY && has_long_queue(x->s);
	int steps = detail == COARSELY || near ? COARSE_STEPS : FINE_STEPS;
	bool ok = try_all(&c, (struct sizing){ .steps = steps, .hi = INT64_MAX });
	if (ok && near && c.best.plan) {
		int64_t apart = c.best.maps / COARSE_STEPS;
		c.tolerance = 1;
		ok = try_all(&c, (struct sizing){ .steps = FINE_STEPS,
						  .lo = c.best.maps - apart,
						  .hi = c.best.maps + apart });
	}
	arena_close(c.a);
	if (ok)
		return win(&c);
	plan_close(c.best.plan);
	return NULL;
}
