/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds plans of one variant to the front.  Each candidate that may improve the front is worked
 * out.  Its transfers are planned with less and less memory, from all that they ask for down to
 * none.
 */
#include "search.h"

#include <math.h>

/* plans that exceed the front by less than this factor are tried on every rung */
static const double NEAR = 1.01;

/* plans that cannot be better than a point of the front by this factor are not tried */
static const double WORTHWHILE = 1.001;

/* estimates of cycles may be too high by this factor, as sizes of weights are estimated */
static const double INEXACT = 1.005;

/* Cached results of a candidate with transfers below a limit.  They do not depend on the
 * front: later questions use them again. */
struct budget_entry {
	int64_t budget;
	bool walked; /* bound, asked, need and n_rects are valid */
	double bound;
	int64_t asked, need;
	size_t n_rects;
	struct outcome {
		bool memo;
		double bound; /* of its transfers; 0: not computed */
		int64_t need;
		struct point point; /* without its recipe; cycles INFINITY: no plan */
		int64_t most, promising; /* of the fitting, of place_rects() */
	} with[FITS];
};

struct outcomes {
	double lower_bound;
	int64_t packed;
	/* least excess of packing anew over the sum of bytes, as a share of that; NAN: none
	 * yet */
	double loss;
	struct budget_entry *budget;
	size_t n, cap;
};

struct exploring {
	struct variant *x;
	struct front *f;
	struct candidate *c;
	struct outcomes *outcomes; /* cached results of c */
	const struct knobs *knobs;
	bool ok; /* no error so far */
};

/* Could the candidate improve the front with these lower bounds of bytes and cycles? */
static bool
may_improve_front(const struct exploring *e, int64_t bytes, double cycles)
{
	return front_wants(e->f, bytes, bytes + e->c->beside, cycles * WORTHWHILE);
}

/* Could a plan of the candidate be the answer? */
static bool
may_reach_answer(const struct exploring *e)
{
	const struct candidate *c = e->c;
	return front_may_reach(e->f, c->least, c->least + c->beside, c->lower_bound) &&
	       may_improve_front(e, c->least, c->lower_bound);
}

/* The ladder of budgets has `rungs` budgets to an octave and is the same for all networks.
 * The distance of the rungs just below `bytes`. */
static int64_t
rung_step(int64_t bytes, int rungs)
{
	int64_t octave = ALIGN * (int64_t)rungs;
	while (octave * 2 < bytes)
		octave *= 2;
	return octave / rungs;
}

static int64_t
rung_below(int64_t bytes, int rungs)
{
	const int64_t step = rung_step(bytes, rungs);
	return (bytes - 1) / step * step;
}

/* The lowest rung that is not below `bytes`. */
static int64_t
rung_above(int64_t bytes, int rungs)
{
	const int64_t step = rung_step(bytes, rungs);
	return (bytes + step - 1) / step * step;
}

/* Makes the candidate's plan, with its feature maps packed.  False: an error. */
static bool
open_plan(struct exploring *e)
{
	if (!e->c->plan)
		e->ok = work_out(e->x, e->c);
	if (e->ok)
		e->outcomes->packed = candidate_packed(e->x, e->c);
	return e->ok;
}

static struct budget_entry *
budget_entry(struct exploring *e, int64_t budget)
{
	struct outcomes *g = e->outcomes;
	for (size_t i = 0; i < g->n; i++)
		if (g->budget[i].budget == budget)
			return &g->budget[i];
	agrow(e->x->a, g->budget, g->n, &g->cap);
	g->budget[g->n] = (struct budget_entry){ .budget = budget };
	return &g->budget[g->n++];
}

/* Plans transfers below a limit by the sum of bytes, or takes cached results.  NULL: an
 * error. */
static const struct budget_entry *
walk_budget(struct exploring *e, int64_t budget)
{
	struct budget_entry *g = budget_entry(e, budget);
	if (g->walked)
		return g;
	if (!open_plan(e))
		return NULL;
	struct plan *p = e->c->plan;
	g->bound = plan_fetches(e->x->s, p, (struct fitting){ .limit = budget });
	check_bound(g->bound, e->c);
	g->asked = min_i64(p->asked, budget);
	g->need = p->need;
	g->n_rects = p->n_rects;
	g->walked = true;
	return g;
}

/* Would place_rects() do the same with another value of `most`? */
static bool
is_outcome_valid(const struct outcome *o, int64_t most)
{
	return o->memo && (most >= o->promising) == (o->most >= o->promising);
}

/* Could addresses for these transfers give a point, or one equal to a point of the front?  By
 * lower bounds of the transfers. */
static bool
may_add(const struct exploring *e, const struct outcome *o)
{
	const double cycles = o->bound * (1 - 3 * ROUNDING);
	return front_wants(e->f, o->need, o->need + e->c->beside, cycles);
}

static void
fit_budget(struct exploring *e, struct fitting fitting, struct outcome *o)
{
	struct sched *s = e->x->s;
	struct plan *p = e->c->plan;
	*o = (struct outcome){ .most = fitting.most };
	p->promising = 0;
	o->bound = plan_fetches(s, p, fitting);
	o->need = p->need;
	if (!may_add(e, o))
		return;
	plan_addresses(s, p);
	o->memo = true;
	o->point = (struct point){ .sram = peak_of(s, p), .total = total_of(p),
				   .cycles = p->cycles, .traits = plan_traits(e->x, p) };
	o->promising = p->promising;
	if (fitting.how == SUMMED && p->need > 0)
		e->outcomes->loss = fmin(e->outcomes->loss,
				      (double)(peak_of(s, p) - p->need) / (double)p->need);
}

/* Adds the plan with transfers below a limit, and addresses, to the front. */
static void
try_budget(struct exploring *e, int64_t budget, enum fit how, double bound)
{
	const struct fitting fitting = { .limit = budget, .how = how,
		.most = front_most(e->f, bound, e->c->beside) };
	struct outcome *o = &budget_entry(e, budget)->with[how];
	if (!is_outcome_valid(o, fitting.most) && (o->bound == 0 || may_add(e, o))) {
		if (!open_plan(e))
			return;
		fit_budget(e, fitting, o);
	}
	if (!o->memo || o->point.cycles == INFINITY)
		return;
	struct point found = o->point;
	found.recipe = (struct recipe){ .variant = e->x, .division = e->c->division,
					.cut = e->c->cut, .fitting = fitting };
	front_add(e->f, &found);
}

/* The bytes that packing anew is expected to take: the sum, and some of the least loss so
 * far. */
static int64_t
packed_at_least(const struct exploring *e, int64_t need)
{
	double loss = isnan(e->outcomes->loss) ? 0 : e->outcomes->loss;
	return need + (int64_t)(e->knobs->loss * loss * (double)need);
}

enum { MANY_RECTS = 256 };

/*
 * Tries transfers below a limit: with addresses for their buffers between the feature maps; and
 * by the sum of bytes, with all rectangles packed anew.  Packing takes long, so it is done on
 * few rungs and where it can help.  Returns the next limit: the next rung where plans are near
 * the front, else one further down.
 */
static int64_t
try_budgets_at(struct exploring *e, int64_t budget)
{
	const struct budget_entry *g = walk_budget(e, budget);
	if (!g)
		return NEVER;
	const double bound = g->bound;
	const int64_t need = g->need, asked = g->asked;
	const size_t n_rects = g->n_rects;
	/* a plan with a lower budget may answer the question even if this one exceeds its limit */
	bool near = may_improve_front(e, min_i64(need, e->f->question.within), bound / NEAR);
	if (asked <= 0)
		return NEVER;
	int64_t next = rung_below(asked, near ? e->knobs->rungs : e->knobs->far_rungs);
	if (need <= budget && n_rects <= MANY_RECTS &&
	    may_improve_front(e, packed_at_least(e, need), bound))
		try_budget(e, budget, SUMMED, bound);
	if (e->outcomes->packed <= budget && may_improve_front(e, need, bound))
		try_budget(e, budget, BETWEEN, bound);
	return next;
}

/* Could a plan improve the front that is as fast as the estimate? */
static bool
is_promising(const struct exploring *e)
{
	return may_improve_front(e, e->c->least, e->c->estimate / INEXACT);
}

/* The next limit for transfers.  Of those that are not below the limit of the question only the
 * least can lead to a plan that is wanted. */
static int64_t
next_budget(const struct exploring *e, int64_t budget, int64_t next)
{
	const int64_t top = rung_above(front_within(&e->f->question), e->knobs->rungs);
	return budget > top ? top : next;
}

/* Tries limits from more memory than is useful down to none. */
static void
descend(struct exploring *e)
{
	struct candidate *c = e->c;
	if (!e->outcomes->packed && !open_plan(e))
		return;
	int64_t packed = e->outcomes->packed, budget = NO_LIMIT_BYTES;
	while (e->ok && budget >= c->least && may_reach_answer(e) && is_promising(e)) {
		int64_t next = next_budget(e, budget, try_budgets_at(e, budget));
		budget = budget > packed && next < packed ? packed : next;
	}
	/* all weights read in place */
	if (e->ok)
		try_budget(e, 0, BETWEEN, c->lower_bound);
}

/* The cached results of a candidate; NULL: an error. */
static struct outcomes *
outcomes_of(struct variant *x, struct candidate *c)
{
	struct outcomes **at = &memo_of(x, &c->division, c->cut)->outcomes;
	struct outcomes *g = *at;
	if (!g) {
		if (!work_out(x, c))
			return NULL;
		*at = g = anew(x->a, struct outcomes, 1);
		g->lower_bound = c->lower_bound;
		g->loss = NAN;
	}
	c->lower_bound = g->lower_bound;
	return g;
}

static bool
explore_candidate(struct exploring *e)
{
	struct candidate *c = e->c;
	if (!is_promising(e))
		return true;
	e->outcomes = outcomes_of(e->x, c);
	if (!e->outcomes)
		return false;
	if (may_reach_answer(e))
		descend(e);
	candidate_close(c);
	return e->ok;
}

static bool
explore_candidates(struct variant *x, struct front *f, const struct knobs *k)
{
	const struct wanted w = { .lower_bound = front_fewest(f),
				  .estimate = front_slowest(f), .front = f };
	bool ok = true;
	list_candidates(x, k->steps, &w);
	for (size_t i = 0; ok && i < x->n; i++) {
		struct exploring e = { .x = x, .f = f, .c = &x->v[i], .knobs = k, .ok = true };
		ok = explore_candidate(&e);
	}
	return ok;
}

/*
 * Stripes hardly take fewer cycles than whole operations: no measured network has gained 3 %.
 * Does no plan of x take few enough cycles?
 */
static bool
is_too_slow(const struct variant *x, const struct front *f)
{
	const double gain = 0.97;
	return !front_may_reach(f, 0, 0, gain * x->cascades->lower_bound);
}

enum explored
explore(struct variant *x, struct front *f, const struct knobs *k)
{
	enum explored r = EXPLORED;
	if (!x->is_complete && !variant_begin(x))
		r = UNFIT;
	else if (is_too_slow(x, f))
		r = TOO_SLOW;
	else if (!variant_wake(x) || !explore_candidates(x, f, k))
		r = FAILED;
	variant_rest(x);
	return r;
}
