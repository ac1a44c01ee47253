/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds plans of variants to the front.  The most promising candidate of each is explored first,
 * then all others in one order, the most promising first.  Each that may improve the front is
 * worked out.  Its transfers are planned with less and less memory, from all that they ask for down
 * to none.
 */
#include "../weights/transfers.h"
#include "search.h"

#include "base/threads.h"

#include <math.h>

/* plans that cannot be better than a point of the front by this factor are not tried */
static const double WORTHWHILE = 1.001;

enum {
	CROWD = 8, /* candidates explored at once */
	/* candidates in a row without a faster answer, the first ones of variants included, after
	 * which all but these are left: for 29 of 565 points of fronts, the plan within the
	 * point's
	 * limit takes up to 3 % more or fewer cycles; with 16, one network is 26 % slower */
	PATIENCE = 48
};

/* A candidate, and a copy of the front to which its plans are added. */
struct exploring {
	struct variant *x;
	struct front *f, copy;
	struct candidate *c;
	/* of the plans with one kind of decisions about slices: */
	double fits; /* cycles of the fastest one that front_accepts() */
	struct point fastest; /* of those within front_within() */
	struct point jointly; /* the fastest one with joint decisions */
	const struct knobs *knobs;
};

/* Candidates that are explored at once. */
struct crowd {
	struct exploring v[CROWD];
	size_t n;
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

/* Adds the plan with transfers below a limit, and addresses, to the front.  bound: lower bound
 * of its cycles. */
static void
try_budget(struct exploring *e, int64_t budget, enum fit buffers, double bound)
{
	struct sched *s = e->x->s;
	struct plan *p = e->c->plan;
	decide_memory(p, (struct memory_decision){ .limit = budget, .buffers = buffers,
						   .outside = TRY });
	/* can addresses give a point, or one equal to a point of the front? */
	const double least = plan_fetches(s, p) * (1 - 3 * ROUNDING);
	if (!front_wants(e->f, p->need, p->need + e->c->beside, least))
		return;
	plan_addresses(s, p, front_most(e->f, bound, e->c->beside));
	const struct point found = { .sram = peak_of(s, p), .total = total_of(p),
				     .cycles = p->cycles, .variant = e->x,
				     .decisions = p->decided };
	if (front_accepts(e->f, &found))
		e->fits = fmin(e->fits, p->cycles);
	if (p->cycles == INFINITY)
		return;
	front_add(e->f, &found);
	if (p->n_slices <= FEW_SLICES && found.sram <= front_within(&e->f->question) &&
	    (!e->fastest.is_set || p->cycles < e->fastest.cycles))
		e->fastest = point_copy(p->a, &found);
}

/*
 * Tries transfers below a limit: with addresses for their buffers between the feature maps; and
 * by the sum of bytes, with all rectangles packed anew.  Packing takes long, so it is done on
 * few rungs and where it can help.  Returns the next rung with other transfers.
 */
static int64_t
try_budgets_at(struct exploring *e, int64_t budget)
{
	struct plan *p = e->c->plan;
	decide_memory(p, (struct memory_decision){ .limit = budget });
	const double bound = plan_fetches(e->x->s, p);
	check_bound(bound, e->c);
	const int64_t need = p->need;
	int64_t asked = min_i64(p->asked, budget);
	/* with fewer transfers a plan is hardly ever faster: once a plan is within the limit, no
	 * budgets are tried below the first one that cannot give a faster plan */
	if (asked <= 0 || (e->f->question.ask == ASK_FASTEST && bound >= e->fits))
		return NEVER;
	if (need <= budget && p->n_rects <= MANY_RECTS &&
	    may_improve_front(e, need, bound))
		try_budget(e, budget, SUMMED, bound);
	/* between the feature maps fewer transfers fit than by the sum, so the peak may keep a
	 * limit that the sum exceeds */
	if (e->c->packed <= budget &&
	    may_improve_front(e, min_i64(need, e->f->question.within), bound)) {
		try_budget(e, budget, BETWEEN, bound);
		asked = max_i64(asked, min_i64(p->asked, budget));
	}
	const int64_t step = rung_step(asked, e->knobs->rungs);
	return (asked - 1) / step * step;
}

/* Could a plan improve the front that is as fast as the estimate? */
static bool
is_promising(const struct exploring *e)
{
	return e->c->estimate <= front_nearest(e->f) &&
	       may_improve_front(e, e->c->least, e->c->estimate / INEXACT);
}

/* Tries limits down to none.  Joint decisions are tried with the first one. */
static void
descend_one(void *crowd, size_t i)
{
	struct exploring *e = &((struct crowd *)crowd)->v[i];
	const struct candidate *c = e->c;
	e->copy = front_copy(e->f, c->plan->a);
	e->f = &e->copy;
	/* of the limits that are not below the bytes that can be wanted, only the least can lead to
	 * a plan that is */
	const int64_t most = min_i64(front_within(&e->f->question),
				     front_most(e->f, c->lower_bound, c->beside));
	const int64_t step = rung_step(most, e->knobs->rungs);
	int64_t budget = most == NO_LIMIT_BYTES ? most : (most + step - 1) / step * step;
	if (budget >= c->least && decide_jointly(e->x->s, c->plan, budget)) {
		(void)try_budgets_at(e, budget);
		leave_useless(e->x->s, c->plan);
		e->jointly = e->fastest;
		e->fastest.is_set = false;
		e->fits = INFINITY;
	}
	while (budget >= c->least && may_reach_answer(e) && is_promising(e)) {
		int64_t next = try_budgets_at(e, budget);
		budget = budget > c->packed && next < c->packed ? c->packed : next;
	}
	try_budget(e, 0, BETWEEN, c->lower_bound); /* all weights read in place */
}

/* A candidate, and its variant. */
struct candidate_of {
	struct variant *x;
	struct candidate *c;
	size_t number; /* before sorting */
	bool is_first; /* the most promising one of its variant */
};

/*
 * For qsort: the first ones of all variants, then the most promising ones.  Estimates go by sums of
 * bytes; with addresses, a variant of a higher one may suit the limit better.  Size sorts by
 * estimates, too: by bytes, networks of a thousand operations take 1.6 times the time.
 */
static int
compare_candidates(const void *x, const void *y)
{
	const struct candidate_of *a = x, *b = y;
	if (a->is_first != b->is_first)
		return a->is_first ? -1 : 1;
	if (a->c->estimate != b->c->estimate)
		return a->c->estimate < b->c->estimate ? -1 : 1;
	if (a->c->need != b->c->need)
		return a->c->need < b->c->need ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

/* Explores all of the crowd, each with the front as it is now, and merges their fronts in their
 * order: threads do not show. */
static void
explore_crowd(struct crowd *l, struct front *f)
{
	/* a descent takes as long as the encoding of some thousand weights for each kernel */
	enum { WEIGHTS = 2000 };
	int64_t cost[ARRAY_LEN(l->v)];
	for (size_t i = 0; i < l->n; i++)
		cost[i] = WEIGHTS * (int64_t)l->v[i].c->plan->n_kernels;
	if (l->n)
		threads_for(l->v[0].x->s->o->jobs, l->n, cost, descend_one, l);
	for (size_t i = 0; i < l->n; i++) {
		front_merge(f, l->v[i].f);
		front_start_from(f, &l->v[i].fastest);
		front_start_from(f, &l->v[i].jointly);
		candidate_close(l->v[i].c);
	}
	l->n = 0;
}

bool
explore_lists(struct variant **v, size_t *n_lists, struct front *f, const struct knobs *knobs)
{
	struct arena *a = arena_open();
	const size_t n = *n_lists;
	size_t n_all = 0;
	for (size_t i = 0; i < n; i++)
		n_all += v[i]->n;
	struct candidate_of *all = anew(a, struct candidate_of, n_all + 1);
	n_all = 0;
	for (size_t i = 0; i < n; i++) {
		struct candidate_of *first = &all[n_all];
		for (size_t j = 0; j < v[i]->n; j++, n_all++) {
			all[n_all] = (struct candidate_of){ v[i], &v[i]->v[j], n_all, false };
			if (compare_candidates(&all[n_all], first) < 0)
				first = &all[n_all];
		}
		first->is_first = true;
	}
	if (n_all)
		qsort(all, n_all, sizeof(*all), compare_candidates);
	/* Candidates that may still be wanted join a crowd; until there is an answer, which excludes
	 * many others, each is explored alone. */
	struct crowd l = { .n = 0 };
	size_t idle = 0; /* candidates in a row without a faster answer */
	bool ok = true;
	for (size_t i = 0; ok && i < n_all && (all[i].is_first || idle < PATIENCE); i++) {
		struct exploring e = { .x = all[i].x, .f = f, .c = all[i].c, .knobs = knobs,
				       .fits = INFINITY };
		if (is_promising(&e)) {
			ok = work_out(e.x, e.c);
			if (ok && may_reach_answer(&e)) {
				pack_candidate(e.x, e.c);
				l.v[l.n++] = e;
			} else {
				candidate_close(e.c);
			}
		}
		if (l.n < (front_answer(f) ? CROWD : 1))
			continue;
		const double fewest = front_fewest(f);
		idle += l.n;
		explore_crowd(&l, f);
		idle = front_is_idle(f, fewest) ? idle : 0;
	}
	explore_crowd(&l, f);
	for (size_t i = 0; i < n; i++)
		variant_rest(v[i]);
	*n_lists = 0;
	arena_close(a);
	return ok;
}
