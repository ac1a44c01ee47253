/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared declarations of the search.  The result of the search is a front: plans by the bytes
 * of the limited memory area and by cycles, of which none is better than another in both
 * (npu-sched-search(7)).
 */
#ifndef NPU_SCHED_SEARCH_H
#define NPU_SCHED_SEARCH_H

#include "../cascades/cascades.h"
#include "../plans/evaluate.h"

#include <stdlib.h>

#include "base/hash_table.h"

/* Estimates of cycles may be too high by this factor, as sizes of weights are estimated. */
static const double INEXACT = 1.005;

/* Kernels and weight slices, independent of the limit: they follow from the bytes for
 * feature maps and from the cut.  Cycles are of estimated weight sizes. */
struct candidate {
	struct division division;
	enum cut cut;
	double estimate;    /* cycles with all transfers that the limit allows */
	double lower_bound; /* cycles: no plan of these kernels takes fewer, but for INEXACT */
	int64_t need;	    /* bytes of feature maps and these transfers */
	int64_t least;	    /* lower bound of the bytes of its feature maps */
	int64_t beside;	    /* the same of all that is stored elsewhere */
	struct plan *plan;  /* with exact sizes; NULL: not worked out */
	int64_t packed; /* peak of its feature maps, packed without buffers */
};

enum { NEVER = -1 };

/* With more rectangles than so many, buffers take addresses between feature maps that stay. */
enum { MANY_RECTS = 256 };

/* A plan below its candidate's lower bound shows that the search has wrongly dropped others.
 * Builds with CHECK_BOUNDS, as those with sanitizers are, abort on it. */
static inline void
check_bound(double bound, const struct candidate *c)
{
#ifdef CHECK_BOUNDS
	if (bound < c->lower_bound / INEXACT - 1)
		abort();
#else
	(void)bound;
	(void)c;
#endif
}

struct front;

/* The decisions of a variant, apart from the areas of feature maps. */
struct setting {
	bool copies;	/* the graph has the copies by the DMA engine */
	bool reordered; /* operations are not in the graph's order */
	enum dense dense;
};

/*
 * The network in one order, with one layout and area of each feature map, which all plans made
 * from it share.  Its records are copies: the graph does not change until a plan is applied.
 */
struct variant {
	struct arena *a;
	struct sched *s;	   /* with copies of operations and tensors */
	struct setting setting;
	struct cascades *cascades; /* NULL: closed; without a list: of cascades_open() */
	bool is_complete;	   /* cascades in stripes are listed, too */
	size_t at_rest;		   /* cascades that it has added to *s->at_rest */
	struct arena *list;	   /* arena of the candidates; NULL: no list */
	struct candidate *v;
	size_t n, cap;
	/* Cache of the packings of divisions, until the candidates are dropped. */
	struct hash_table listed;
	/* It was made from variant `of` by a spill of this set; NULL: from the graph. */
	const struct variant *of;
	uint64_t spill;
	bool may_have_points; /* points of this question or an earlier one may refer to it */
	struct front *front; /* of this variant alone; NULL: none */
};

/* variant.c: a copy of s, in its own order if `order` is NULL.  variant_close() accepts
 * NULL. */
struct variant *variant_open(const struct sched *s, const int *order);
void variant_close(struct variant *x);
/* Lists whole operations and chains.  False: an operation has no block. */
bool variant_begin(struct variant *x);
/* Lists all cascades, unless they are still listed.  False: an operation has no block. */
bool variant_wake(struct variant *x);
/* Frees candidates, and cascades unless there is capacity to keep them. */
void variant_rest(struct variant *x);
/* Writes the decisions of a plan's variant into the graph of s and moves the plan to
 * s->plan. */
void variant_adopt(struct sched *s, const struct variant *x, struct plan *p);

/* Cascades that variants keep while others are explored: each takes some 400 bytes. */
enum { MOST_CASCADES = 1 << 15 };

/*
 * front.c: plans of which none is better in both bytes and cycles, by rising bytes.  And the
 * lightest plan, which need not be among these if the NPU has an SRAM of its own.
 */
struct point {
	bool is_set;   /* set by front_add() */
	int64_t sram, total; /* bytes: peak of the limited area; all that is stored */
	double cycles;
	struct variant *variant;
	struct decisions decisions; /* make_plan() makes the plan of these */
};

/*
 * A question to the search.  Every question looks at the same plans, but for the layouts of
 * spills, and leaves out those that a lower bound excludes from its answer.  ASK_FASTEST also
 * leaves out some by their estimates: front_nearest(), and PATIENCE in explore.c.
 */
enum ask {
	ASK_FASTEST,	 /* the fewest cycles, then the fewest bytes of the limited area */
	ASK_SMALLEST,	 /* the fewest bytes of all that is stored, then the fewest cycles, among plans
			  * of at most question.cycles */
	ASK_LEAST_SRAM,	 /* the fewest bytes of the limited area */
	ASK_FAST_ENOUGH, /* the same, among plans of at most question.cycles */
	ASK_ALL,	 /* the Pareto front */
};

/*
 * Improvement makes a plan faster by at most this factor, and smaller by less than this share.
 * Plans that are as much slower than the answer, or as much larger than the limit, are kept until
 * they are improved.
 */
static const double IMPROVABLE = 1.10;
enum { IMPROVABLE_SHARE = 16 };

struct question {
	enum ask ask;
	int64_t within;	      /* bytes of the limited area */
	int64_t total_within; /* bytes of all that is stored */
	double cycles;	      /* of ASK_FAST_ENOUGH and ASK_SMALLEST */
	double slowest;	      /* of ASK_FASTEST: slower plans are not wanted; 0: all are */
	double improvable;    /* IMPROVABLE, or a smaller factor that saves time */
};

enum { STARTS = 9 }; /* with eight, the plan for the limit itself kept out a better one */

struct front {
	struct arena *a;
	struct question question;
	struct point *v; /* by rising bytes of the limited area and falling cycles */
	size_t n, cap;
	struct point best; /* of ASK_SMALLEST, in place of v; is_set: there is one */
	/* The fastest plan of all, once it is known.  Faster points are refused, as no limit and no
	 * goal gives a faster plan than Performance; and, but for spills, points that are as fast in
	 * fewer bytes. */
	struct point fastest;
	/* ASK_FASTEST: the fastest plans of as many candidates, by rising cycles.  Improvement starts
	 * from these, too, as it may make a slower plan the fastest one. */
	struct point start[STARTS];
	size_t n_starts;
	/* Plans that were candidates for this question, of all variants. */
	struct hash_table *seen;
};

/* Bytes of the limited area: no larger plan is kept. */
static inline int64_t
front_within(const struct question *q)
{
	return q->within == NO_LIMIT_BYTES ? q->within : q->within + q->within / IMPROVABLE_SHARE;
}

/* Does the question ask for the fastest plan of all, without a limit? */
static inline bool
is_unlimited(const struct front *f)
{
	return f->question.ask == ASK_FASTEST && f->question.within == NO_LIMIT_BYTES &&
	       f->question.total_within == INT64_MAX;
}

/* Removes all points but the fastest one of all, and sets the question. */
void front_open(struct front *f, struct question q);
/* The largest peak with which a plan of these cycles could be wanted; `beside`: its bytes in
 * the other memory area. */
int64_t front_most(const struct front *f, double cycles, int64_t beside);
/* The most cycles of a plan that can be the answer.  INFINITY: no limit. */
double front_fewest(const struct front *f);
/* The most cycles of a candidate's estimate with which it is explored.  INFINITY: no limit. */
double front_nearest(const struct front *f);
/* Is the answer no faster than when front_fewest() was `fewest`?  False: there is none, or speed
 * is not asked for. */
bool front_is_idle(const struct front *f, double fewest);
/* Could a plan with these lower bounds of bytes and cycles answer the question? */
bool front_wants(const struct front *f, int64_t sram, int64_t total, double cycles);
/* Could a candidate give the answer?  Its lower bounds hold for improved plans, too. */
bool front_may_reach(const struct front *f, int64_t sram, int64_t total, double lower_bound);
/* Is the point within the limits, and no faster than the fastest plan of all? */
bool front_accepts(const struct front *f, const struct point *p);
/* Adds a point if it is wanted; copies the lists of its decisions. */
void front_add(struct front *f, const struct point *p);
/* A copy with lists of its own. */
struct point point_copy(struct arena *a, const struct point *p);
/* Offers the fastest plan of a candidate as a start; it may be unset. */
void front_start_from(struct front *f, const struct point *p);
/* A copy to which points can be added while others read f. */
struct front front_copy(const struct front *f, struct arena *a);
/* Adds the points of another front. */
void front_merge(struct front *f, const struct front *from);
/* The fastest point within the limit; NULL: there is none. */
const struct point *front_fastest(const struct front *f);
void front_set_fastest(struct front *f, const struct point *p);
/* NULL: no plan answers the question.  ASK_ALL: the fastest plan. */
const struct point *front_answer(const struct front *f);

/* candidates.c: lists candidates in x->v.  Each size of feature maps is larger than the one before by
 * 1/steps, and for a limit of a large network those by 1/COARSE_STEPS are tried, too; steps 0: the
 * limit of the question is the only one. */
void list_candidates(struct variant *x, int steps, const struct front *f);
void drop_candidates(struct variant *x);
/* Makes the candidate's plan, with exact weight sizes.  False: an error. */
bool work_out(struct variant *x, struct candidate *c);
void candidate_close(struct candidate *c);
/* Packs the feature maps of its plan, without buffers. */
void pack_candidate(struct variant *x, struct candidate *c);
/* The kernels of decisions, with exact weight sizes; NULL: an error.  Then transfers and addresses. */
struct plan *plan_kernels(struct variant *x, const struct decisions *d);
void fit_kernels(struct variant *x, struct plan *p, struct memory_decision m);
/* The plan of some decisions; NULL: an error. */
struct plan *make_plan(struct variant *x, const struct decisions *d);

/* improve.c: makes n points again, leaves weights in place and trims their memory where that is
 * better, and adds the results to f.  False: an error. */
bool improve_points(struct front *f, const struct point *v, size_t n);

/* duplicates.c: was a plan equal to p seen before?  Equal plans have equal kernels, sizes of
 * weights and of feature maps. */
bool is_duplicate(struct hash_table *seen, const struct sched *s, const struct plan *p);

/*
 * spill.c: which feature maps leave the NPU's SRAM.  Where most bytes are live, the largest one
 * leaves.  Bytes are those of whole feature maps, or the least that stripes need.  A spill is the
 * first feature maps of an order.
 */
enum spill_by { BY_MAPS = 1, BY_NEEDS = 2 };
struct spills {
	struct spill {
		const struct spill_order *order;
		size_t n; /* number of feature maps that leave */
		uint64_t set; /* hash of these */
		int64_t least; /* lower bound of the bytes of those that stay */
	} *v;
	size_t n;
};
/* In each order of `by`, bits of enum spill_by: the first feature map, a third more and one from
 * each spill to the next, and all.  Needs: all cascades are listed. */
struct spills *spills_list(struct sched *s, const struct cascades *c, struct arena *a, int by);
/* Moves feature maps, which need other layouts then.  Needs: all are in the NPU's SRAM. */
void spill_apply(struct sched *s, const struct spill *w);

/* knobs.c: how densely the front is explored, by the SRAM of the NPU and --effort. */
struct knobs {
	int rungs; /* budgets tried per octave */
	int steps; /* of list_candidates() */
};
enum { COARSE_STEPS = 8 }; /* of the rows for large networks, COARSE */
const struct knobs *search_knobs(const struct sched *s);
/* the number of weights in a graph */
int64_t count_weights(const struct graph *g);
/* Is less SRAM than that of the fastest plan sought on few rungs and sizes? */
bool is_large(const struct sched *s);

/* traits.c: properties of a plan that --front and --explain name; the text that says what a plan
 * changes against another one, NULL: it is the first. */
struct traits {
	const struct variant *variant;
	int in_place, left, striped, chained;
	int64_t fetched;
};
struct traits plan_traits(const struct variant *x, const struct plan *p);
void put_change(struct text *t, const struct traits *from, const struct traits *to);

/* explore.c.  Adds plans of all listed candidates of *n variants to the front, and drops the lists.
 * Leaves: *n, 0.  False: an error. */
bool explore_lists(struct variant **v, size_t *n, struct front *f, const struct knobs *k);

/* A limit in bytes, where 0 is NO_LIMIT_BYTES. */
static inline int64_t
limit_of(int64_t bytes)
{
	return bytes && bytes < NO_LIMIT_BYTES ? bytes : NO_LIMIT_BYTES;
}

#endif
