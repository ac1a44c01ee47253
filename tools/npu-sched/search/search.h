/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared declarations of the search.  The result of the search is a front: plans by the bytes
 * of the limited memory area and by cycles, of which none is better than another in both
 * (npu-sched-search(7)).
 */
#ifndef NPU_SCHED_SEARCH_H
#define NPU_SCHED_SEARCH_H

#include "../cascades/cascades.h"
#include "../plans/fit.h"

#include <stdlib.h>

#include "base/fixed.h"
#include "base/hash_table.h"

/* A division of all operations into cascades. */
struct division {
	int *picked, n; /* as cascades_choose() returns them */
	bool slide; /* results may slide over operands: fewer bytes, but harder to pack */
};

enum { BUDGETS = 9 };

/* Kernels and weight slices, independent of the limit: they follow from the bytes for
 * feature maps and from the cut.  Cycles are of estimated weight sizes until work_out()
 * measures them. */
struct candidate {
	struct division division;
	enum cut cut;
	int64_t maps;	    /* bytes of feature maps for which the division was made */
	double estimate;    /* cycles with capacity for all transfers */
	double lower_bound; /* cycles: no plan of these kernels takes fewer */
	int64_t need;	    /* bytes of feature maps and all transfers */
	int64_t least;	    /* lower bound of the bytes of its feature maps */
	int64_t beside;	    /* the same of feature maps outside of the NPU's SRAM */
	int64_t budget[BUDGETS]; /* limits in bytes, rising; set for a front only */
	double cycles[BUDGETS]; /* estimates with these limits */
	size_t number;	/* position in the list, before sorting */
	struct plan *plan;  /* with exact sizes; NULL: not worked out */
	int64_t packed; /* peak of its feature maps, packed without buffers; 0: not packed */
	int64_t tried;	    /* plan.asked of the last visit */
	int64_t next;	    /* limit of the next visit, in bytes; or NEVER */
};

enum { NEVER = -1 };

/* A plan below its candidate's lower bound shows that the search has wrongly dropped others.
 * Builds with CHECK_BOUNDS, as those with sanitizers are, abort on it. */
static inline void
check_bound(double bound, const struct candidate *c)
{
#ifdef CHECK_BOUNDS
	if (bound < c->lower_bound - 1)
		abort();
#else
	(void)bound;
	(void)c;
#endif
}

/*
 * The network in one order, with one layout and area of each feature map and one objective of
 * blocks, which all plans made from it share.  Its records are copies: the graph does not
 * change until a plan is applied.
 */
struct variant {
	struct arena *a;
	struct sched *s;	   /* with copies of operations and tensors */
	bool copies;		   /* the graph has the copies by the DMA engine */
	bool reordered;		   /* operations are not in the graph's order */
	int layout;		   /* parameter of pack_shallow_maps() */
	const struct variant *like; /* source of take_costs(), or NULL */
	struct cascades *cascades; /* NULL: closed */
	bool is_complete;	   /* with cascades in stripes, none dropped */
	size_t at_rest;		   /* cascades that it has added to *s->at_rest */
	struct arena *list;	   /* arena of the candidates; NULL: no list */
	struct candidate *v;
	size_t n, cap;
	/* Caches of divisions, by bytes of feature maps, and of their packings: until the
	 * candidates are dropped, or, if the cascades are complete, as long as the variant
	 * lives. */
	struct hash_table listed, lasting;
	/* struct known of divisions and cuts that were listed for a front */
	struct hash_table memo;
	/* It was made from variant `of` by this spill; NULL: from the graph. */
	const struct variant *of;
	size_t spill;
	bool is_explored;
};

/* variant.c: a copy of s, in its own order if `order` is NULL.  variant_close() accepts
 * NULL. */
struct variant *variant_open(const struct sched *s, const int *order);
void variant_close(struct variant *x);
/* Lists whole operations and chains; then adds stripes.  False: an operation has no block. */
bool variant_begin(struct variant *x);
void variant_add_cascades(struct variant *x);
/* Lists all cascades, unless they are still listed.  False: an operation has no block. */
bool variant_wake(struct variant *x);
/* Frees candidates, and cascades unless there is capacity to keep them. */
void variant_rest(struct variant *x);
/* Writes the decisions of a plan's variant into the graph of s and moves the plan to
 * s->plan. */
void variant_adopt(struct sched *s, const struct variant *x, struct plan *p);

/* All that make_again() needs to make a plan again. */
struct recipe {
	struct variant *variant;
	struct division division;
	enum cut cut;
	struct fitting fitting;
};

/*
 * front.c: plans of which none is better in both bytes and cycles, by rising bytes.  And the
 * lightest plan, which need not be among these if the NPU has an SRAM of its own.
 */
struct traits { /* properties that --front and --explain name */
	bool copies, reordered;
	int layout, objective, left, striped, chained;
	int64_t fetched;
};

struct point {
	struct traits traits;
	bool left; /* leave_on_front() has tried it */
	int64_t sram, total; /* peak in bytes: of the limited area, of all areas */
	double cycles;
	struct recipe recipe;
};

enum { MAX_ANCHORS = 2 };

struct front {
	struct arena *a;
	struct point *v;
	size_t n, cap;
	/* The smallest and the lightest of all points added, whether or not others are better
	 * in bytes of the limited area and cycles; cycles 0: none. */
	struct point smallest, lightest;
	struct incumbent incumbent;
	/* Not 0: only a plan is wanted that takes fewer bytes of all areas than `smallest`, or
	 * as many and fewer cycles, within so many bytes of the limited area. */
	int64_t smallest_within;
	int64_t most_total; /* bytes of all areas: larger plans are not wanted; 0: no limit */
	/* The fastest plans of all and within the profile's own limit.  A point is refused if
	 * it takes no more bytes and no more cycles than an anchor.  Therefore no goal and no
	 * limit gives a faster plan than Performance.  The smallest plan may be as fast as an
	 * anchor. */
	struct anchor {
		int64_t sram;
		double cycles;
	} anchor[MAX_ANCHORS];
	int n_anchors;
	unsigned changes; /* number of points added so far */
};

/* The weight of a plan: --optimise=Balanced minimizes it. */
double point_weight(int64_t bytes, double cycles);
/* The largest peak with which a plan of these cycles could improve the front; `beside`: its
 * bytes in the other memory area. */
int64_t front_most(const struct front *f, double cycles, int64_t beside);
/* Could a plan with these lower bounds of bytes and cycles improve the front? */
bool front_wants(const struct front *f, int64_t sram, int64_t total, double cycles);
/* Adds a point if it is wanted; copies the lists of its recipe. */
void front_add(struct front *f, const struct point *p);
/* Removes all points but not the anchors. */
void front_clear(struct front *f);
/* The fastest plan within `sram` bytes; this and the next three return NULL if none fits. */
const struct point *front_fastest(const struct front *f, int64_t sram);
/* The plan of the least memory of all areas, or else the first point. */
const struct point *front_least(const struct front *f, int64_t sram);
/* The lightest plan within `sram` bytes. */
const struct point *front_lightest(const struct front *f, int64_t sram);
/* The smallest plan of at most `cycles` cycles. */
const struct point *front_smallest(const struct front *f, double cycles);

/* candidates.c: the candidates to list: those that may take fewer than `below` cycles and,
 * unless `front` is NULL, may improve the front. */
struct wanted {
	double below;
	int64_t limit; /* bytes of feature maps and transfers */
	/* most cycles of a division_estimate() for that limit: without slides, with slides */
	double estimated[2];
	const struct front *front;
};
/* Sizes of feature maps from lo to hi bytes, each larger than the one before by 1/steps. */
struct sizing {
	int steps;
	int64_t lo, hi;
};
/* Lists these candidates in x->v, by rising estimate. */
void list_candidates(struct variant *x, struct sizing sizing, const struct wanted *w);
void drop_candidates(struct variant *x);
/* Makes the candidate's plan, with exact weight sizes.  False: an error. */
bool work_out(struct variant *x, struct candidate *c);
void candidate_close(struct candidate *c);
int64_t candidate_packed(struct variant *x, struct candidate *c);
/* Makes the plan of a recipe again; NULL: an error. */
struct plan *make_again(const struct recipe *r);

/* Cached results for a division with one cut of its weights.  They do not depend on the front:
 * they are used again by coarse and fine lists, for the smallest plan and for all plans. */
struct memo {
	bool is_cut, is_bounded; /* `ends` is valid; the next three are valid */
	uint64_t cut_points;		 /* hash of the channels at which weights are cut */
	double lower_bound;
	int64_t least, beside;
	struct estimates {
		int64_t need;
		double cycles[BUDGETS]; /* as in struct candidate; 0: not estimated */
	} estimates;
	struct outcomes *outcomes; /* explore.c: results of its candidates; NULL: none */
};
struct memo *memo_of(struct variant *x, const struct division *d, enum cut cut);

/* estimates.c: a division with one cut, and its candidate, whose estimates are to be found. */
struct trial {
	struct plan *p;	     /* NULL: cached results suffice */
	struct memo *memo; /* NULL: results are not cached */
	struct candidate candidate;
	bool is_wanted;
};
enum { TRIALS = 8 }; /* largest number estimated at a time */
void estimate_trials(struct sched *s, struct trial *t, size_t n, const struct wanted *w);
/* Estimates a trial from cached results.  False: the trial needs a plan. */
bool estimate_by_memo(struct trial *t, const struct wanted *w);
/* True for up to 16 weights records: one choice matters much, and all can be tried. */
bool has_few_weights(const struct sched *s);

/* candidates.c: rounds a limit for transfers down: the more slices, the more coarsely. */
enum grain { COARSE = 4, FINE = 16 };
int64_t round_limit(int64_t limit, const struct plan *p, enum grain grain);

enum detail { COARSELY, FINELY };

/*
 * A division is dropped if its estimate exceeds the least one by more than this factor, and a
 * spill if that of its best division does.  Plans within a limit are about as far apart as the
 * estimates of their divisions (of seven networks on ethos-u85-128, -512 and -2048, and of five
 * on ethos-u65-512, the fastest plan's was at most 0.6 % above the least).
 */
static const double ESTIMATES_APART = 1.02;
/* fastest.c: the fastest plan of x within a limit, if it takes fewer than `below` cycles.  The
 * caller closes it.  NULL: none was found, or an error. */
struct plan *search_fastest(struct variant *x, int64_t limit, double below,
			    enum detail detail);

/* in_place.c: lets more weights of p stay in place if p then takes fewer cycles in at most
 * `most` bytes.  False: p did not change.  Needs: p as its fitting makes it. */
bool leave_in_place(struct sched *s, struct plan *p, int64_t most);
/* Does so with those of n points that were made from x, and adds the results to f.  False: an
 * error. */
bool leave_on_front(struct variant *x, struct front *f, const struct point *v, size_t n);

/*
 * spill.c: which feature maps leave the NPU's SRAM.  In each of a few orders, a spill is the
 * number of feature maps that leave.  The first spill of the list is empty.
 */
struct spills {
	struct spill {
		int order;
		size_t n; /* number of feature maps that leave */
	} *v;
	size_t n;
	struct spill_order *order;
};
struct spills *spills_list(struct sched *s, const struct cascades *c, struct arena *a,
			   int steps);
/* Moves feature maps.  Needs: all are in the NPU's SRAM. */
void spills_apply(struct sched *s, const struct spills *l, size_t spill);

/* shrink.c: without a limit, the plan of least memory among p, the fastest, and x's candidates
 * that are as fast.  Closes p if it returns another plan. */
struct plan *shrink(struct variant *x, struct plan *p);
/* Could that plan need at most `bytes`? */
bool may_shrink_to(const struct variant *x, const struct plan *p, int64_t bytes);

/* knobs.c: how densely the front is explored, by size of the network and --effort. */
struct knobs {
	int rungs, coarse_rungs; /* budgets tried per octave */
	int steps, coarse_steps; /* as in struct sizing */
	int spills;		 /* variants with a spill, for each order of feature maps */
	double loss; /* share of the least loss by packing anew that is expected again */
};
const struct knobs *search_knobs(const struct sched *s);
/* With an SRAM of the NPU's own: for the variant of the fastest plan within the profile's
 * limit.  NULL: that variant is explored as any other. */
const struct knobs *anchor_knobs(const struct sched *s);

/* traits.c: properties of a plan; the text that says what a point changes against another one,
 * NULL: it is the first. */
struct traits plan_traits(const struct variant *x, const struct plan *p);
void put_change(struct text *t, const struct point *from, const struct point *to);

/* explore.c: adds plans of one variant to the front.  False: an error. */
bool explore(struct variant *x, struct front *f, const struct knobs *k,
	     enum detail detail);

/* A limit in bytes, where 0 is NO_LIMIT_BYTES. */
static inline int64_t
limit_of(int64_t bytes)
{
	return bytes && bytes < NO_LIMIT_BYTES ? bytes : NO_LIMIT_BYTES;
}

/* The limit of the memory profile itself. */
static inline int64_t
profile_limit(const struct sched *s)
{
	return limit_of(s->profile_bytes);
}

/* pick.c: the results of a search, from which the requested plan is picked. */
struct found {
	struct sched *s;
	struct plan *fastest; /* of all; NULL: none */
	struct variant *fastest_of;
	/* the fastest within the profile's own limit, unless `fastest` is */
	struct plan *within;
	struct variant *within_of;
	struct front front; /* empty unless explored */
};
/* The request: enum goal, within any limit, or GOAL_OTHER for --front, --explain and
 * --max-cycles. */
enum { GOAL_OTHER = -1 };
int asked_goal(const struct sched *s);
/* Is the fastest plan within this limit requested? */
bool is_limit_asked(const struct sched *s, int64_t limit);
/* Is one of x's fastest plans requested?  Then no front is needed. */
bool is_anchor_asked(const struct found *x, int64_t limit);
/* Result: s->front, from the least memory to the fastest plan. */
void list_front(struct found *x);
/* Result: s->plan.  False: an error, or no plan is small or fast enough. */
bool take_found(struct found *x, int64_t limit);

#endif
