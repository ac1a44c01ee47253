/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the fastest plan within a limit.  Candidates are tried by rising estimate, each with
 * less and less memory for transfers as long as that is no slower, as transfers choose
 * greedily.  A candidate is dropped if its lower bound shows that it cannot be better, or if
 * its estimate is too high.
 */
#include "../weights/transfers.h"
#include "search.h"

#include "base/threads.h"

#include <math.h>
#include <string.h>

/* A candidate's plan, and how it was fitted below a limit. */
struct choice {
	const struct candidate *candidate; /* valid while its list is */
	struct plan *plan; /* set when the candidate is done */
	int64_t maps;	   /* bytes of feature maps for which its division was made */
	struct fitting fitting;
	double cycles;
};

/* Identifies a candidate in any list. */
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

/* Was no equal candidate worked out before?  Neighbouring sizes of feature maps mostly have the
 * same division. */
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
 * Candidates are worked out if their estimate exceeds the fastest plan by no more than this
 * factor, as sizes of weights are estimates, too, and transfers come late.
 */
static const double TOLERANCE = 1.01;

/* Two variants whose weights have equal sizes by estimate may differ by this factor when
 * encoded, so the slower one by estimate is tried, too. */
static const double INEXACTNESS = 1.005;

/* Fits a candidate below its next limit, and keeps it if it is the best.  Returns
 * plan.asked. */
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

/* Distance of successive limits as 1/n of a candidate's memory: if the lower bound at the first
 * one is no better than the fastest plan, and if only the plan is not. */
enum { BOUNDS_APART = 4, PLANS_APART = 16 };

/*
 * The next limit: just below the bytes for which transfers asked, so that they change; or the
 * peak of the packed feature maps, so that just these fit.
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
	int64_t near = i->least + i->least / 4; /* bytes that packing them takes */
	if ((i->packed || next < near) && candidate_packed(c->x, i) < i->next &&
	    i->packed > next)
		next = i->packed;
	return next < i->least ? NEVER : next;
}

/* Tries a candidate below its next limit.  Packing many buffers anew takes long, so the limits
 * for that are coarser. */
static void
visit(struct contest *c, struct candidate *i)
{
	struct sched *s = c->x->s;
	struct plan *p = i->plan;
	plan_fetches(s, p, i->next);
	double bound = plan_bound(s, p);
	check_bound(bound, i); /* apart from rounding */
	double was = c->best.cycles;
	int64_t asked = p->asked, most = asked;
	/* transfers by the sum of bytes would be the same */
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

/* candidates that are visited at a time, from the same best plan, with or without threads */
enum { AT_A_TIME = 2 };

struct round {
	struct contest c[AT_A_TIME]; /* one for each candidate, with the best so far */
	struct candidate *candidate[AT_A_TIME];
	int64_t cost[AT_A_TIME];
	size_t n;
};

/* Visits a candidate with less and less memory. */
static void
visit_all(void *ctx, size_t k)
{
	struct round *r = ctx;
	struct candidate *i = r->candidate[k];
	while (i->next != NEVER)
		visit(&r->c[k], i);
}

/* Closes the candidates' plans, except the best one. */
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
	/* as in estimates.c; a visit takes as long as some ten estimates */
	enum { WEIGHTS = 1000 };
	for (size_t k = 0; k < r->n; k++) {
		r->c[k] = *c;
		r->cost[k] = WEIGHTS * (int64_t)r->candidate[k]->plan->n_kernels;
	}
	threads_for(c->x->s->o->jobs, r->n, r->cost, visit_all, r);
	finish(c, r);
}

/* Tries the first candidate alone, as its result rules out most of the others.  Without a limit
 * tries each alone, as feature maps are packed only on demand.  False: an error. */
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

/* Tries all candidates that may be better than the best so far: by a thousandth, if that is of
 * this variant.  False: an error. */
static bool
try_listed(struct contest *c, struct sizing sizing)
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

/* The best plan, fitted again. */
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
 * Within a limit, more memory for feature maps leaves less for weights.  Where an estimate
 * takes several walks, one for each strategy of transfers, the best size of feature maps is
 * searched coarsely first, then in detail between its neighbours.
 */
struct plan *
search_fastest(struct variant *x, int64_t limit, double below, enum detail detail)
{
	enum { COARSE_STEPS = 4, FINE_STEPS = 16 };
	struct contest c = { .x = x, .a = arena_open(), .limit = limit, .best.cycles = below,
			     .tolerance = TOLERANCE };
	bool near = limit < NO_LIMIT_BYTES && detail == FINELY && has_long_queue(x->s);
	int steps = detail == COARSELY || near ? COARSE_STEPS : FINE_STEPS;
	bool ok = try_listed(&c, (struct sizing){ .steps = steps, .hi = INT64_MAX });
	if (ok && near && c.best.plan) {
		int64_t apart = c.best.maps / COARSE_STEPS;
		c.tolerance = 1;
		ok = try_listed(&c, (struct sizing){ .steps = FINE_STEPS,
						  .lo = c.best.maps - apart,
						  .hi = c.best.maps + apart });
	}
	arena_close(c.a);
	if (ok)
		return win(&c);
	plan_close(c.best.plan);
	return NULL;
}
