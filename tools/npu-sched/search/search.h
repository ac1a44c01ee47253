/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the search share.  The search's result is a front: plans by
 * the bytes of the limited memory and the cycles that they take, of which none is
 * better than another in both (npu-sched-search(7)).
 */
#ifndef NPU_SCHED_SEARCH_H
#define NPU_SCHED_SEARCH_H

#include "../cascades/cascades.h"
#include "../plans/fit.h"

#include <stdlib.h>

#include "base/fixed.h"
#include "base/hash_table.h"

/* all operations divided into cascades */
struct division {
	int *picked, n; /* as cascades_choose leaves them */
	bool slide; /* results may slide over operands: less, but harder to pack */
};

enum { ROOMS = 9 };

/* kernels and weight slices, whatever the limit: bytes for maps and a cut make
 * them.  Cycles are by sizes as estimated until the candidate is worked out. */
struct candidate {
	struct division division;
	enum cut cut;
	int64_t maps;	    /* that the division was made for */
	double estimate;    /* cycles, with room for all transfers */
	double lower_bound; /* no plan of these kernels takes fewer cycles */
	int64_t need;	    /* bytes with room for all transfers */
	int64_t least;	    /* bytes that its maps need at least */
	int64_t beside;	    /* and those that have left the NPU's SRAM */
	int64_t room[ROOMS]; /* for transfers, rising; for the front */
	double cycles[ROOMS]; /* as estimated then */
	size_t number;
	struct plan *plan;  /* with exact sizes; NULL: not yet */
	int64_t packed;	    /* the peak of its maps when packed alone; 0: not yet */
	int64_t tried;	    /* what transfers asked for that were tried last */
	int64_t next;	    /* transfers stay below it when it is tried next; or NEVER */
};

enum { NEVER = -1 };

/* a plan below its candidate's lower bound says that the search has left out others:
 * builds with CHECK_BOUNDS, as those with sanitizers are, stop there */
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
 * The network in one order, with one layout and area of each map and one objective
 * of blocks: what all plans that are made from it share.  Its records are copies:
 * the graph stays as it is until a plan is applied.
 */
struct variant {
	struct arena *a;
	struct sched *s;	   /* with copies of operations and tensors */
	bool copies;		   /* operations that the DMA engine does are there */
	bool reordered;		   /* operations, against the graph */
	int layout;		   /* as pack_shallow_maps takes it */
	const struct variant *like; /* whose costs hold where maps lie alike; or NULL */
	struct cascades *cascades; /* or NULL: closed */
	bool is_complete;	   /* all of them */
	size_t at_rest;		   /* so many are kept; 0: none, or it is awake */
	struct arena *list;	   /* of the candidates */
	struct candidate *v;
	size_t n, cap;
	/* divisions, by the bytes of maps, and packings of these: as long as the list is
	 * there, or, of all cascades, always */
	struct hash_table listed, lasting;
	struct hash_table known; /* of divisions and cuts that were listed for a front */
	/* how it was made, so that it is found again: of another one by letting maps leave */
	const struct variant *of;
	size_t spill;
	bool is_explored;
};

/* variant.c: a copy of s, in its order or the given one; variant_close: NULL is allowed */
struct variant *variant_open(const struct sched *s, const int *order);
void variant_close(struct variant *x);
/* cascades of single operations, then all; false: an operation has no block */
bool variant_begin(struct variant *x);
void variant_add_cascades(struct variant *x);
/* all, as they were where they are still there; false alike */
bool variant_wake(struct variant *x);
/* frees what can be made again */
void variant_rest(struct variant *x);
/* writes what the variant of a plan decides into the graph of s, and makes the plan
 * one of s */
void variant_adopt(struct sched *s, const struct variant *x, struct plan *p);

/* how a plan is made again from its variant */
struct recipe {
	struct variant *variant;
	struct division division;
	enum cut cut;
	struct fitting fitting;
};

/*
 * front.c: plans of which none is better in bytes and cycles both, by rising bytes;
 * and the lightest, which with an SRAM of the NPU's own need not be among them.
 */
struct traits { /* what a plan is known by, besides what it takes */
	bool copies, reordered;
	int layout, objective, left, striped, chained;
	int64_t fetched;
};

struct point {
	struct traits traits;
	bool left; /* it was tried with other weights in place */
	int64_t sram, total; /* peak of the limited place; of all places */
	double cycles;
	struct recipe recipe;
};

enum { MAX_ANCHORS = 2 };

struct front {
	struct arena *a;
	struct point *v;
	size_t n, cap;
	/* of all that was added, whether other points are better in bytes of the limited place
	 * and cycles or not; cycles 0: none */
	struct point smallest, lightest;
	struct rival rival;
	/* nothing is wanted but what takes less memory of all places together, or of as much
	 * fewer cycles, in at most so many bytes of the limited place; 0: anything is */
	int64_t smallest_within;
	int64_t most_total; /* what takes more bytes of all places is not wanted; 0: any */
	/* the fastest plans of all and within the profile's own limit: what is as small as
	 * either and takes no more cycles is not let in, so that no goal or limit gives a faster
	 * plan than Performance does.  The smallest plan may be as fast */
	struct anchor {
		int64_t sram;
		double cycles;
	} anchor[MAX_ANCHORS];
	int n_anchors;
	unsigned changes; /* points that were added so far */
};

/* what weighs bytes against cycles: the smallest is --optimise=Size */
double point_weight(int64_t bytes, double cycles);
/* the most bytes with which so many cycles would be better than what is there; beside:
 * those of other places */
int64_t front_most(const struct front *f, double cycles, int64_t beside);
/* could something of at least so many bytes and cycles be better than what is there? */
bool front_wants(const struct front *f, int64_t sram, int64_t total, double cycles);
/* adds it where it is wanted; the recipe's lists are copied */
void front_add(struct front *f, const struct point *p);
/* removes all points; the anchors stay */
void front_clear(struct front *f);
/* the fastest of at most so many bytes; NULL: there is none */
const struct point *front_fastest(const struct front *f, int64_t sram);
/* the one of the least memory, if that is at most so many bytes of the limited place */
const struct point *front_least(const struct front *f, int64_t sram);
/* the lightest of at most so many bytes */
const struct point *front_lightest(const struct front *f, int64_t sram);
/* the smallest that takes at most so many cycles */
const struct point *front_smallest(const struct front *f, double cycles);

/* candidates.c: what candidates are wanted: those that may take fewer cycles than
 * `below`, and that the front, if there is one, wants */
struct wanted {
	double below;
	int64_t limit; /* of all bytes */
	double estimated[2]; /* no division that is estimated at more, for that limit:
			      * without slides, and with them */
	const struct front *front;
};
/* sizes of maps: between two, from one to the next 1/steps more */
struct sizing {
	int steps;
	int64_t lo, hi;
};
/* all that are, by rising estimate */
void list_candidates(struct variant *x, struct sizing sizing, const struct wanted *w);
void drop_candidates(struct variant *x);
/* exact sizes; false: an error */
bool work_out(struct variant *x, struct candidate *c);
void candidate_close(struct candidate *c);
int64_t candidate_packed(struct variant *x, struct candidate *c);
/* the plan of a recipe once more; NULL: an error */
struct plan *make_again(const struct recipe *r);

/* what is known of a division with one cut of its weights, whatever the front is: all of
 * it may be asked for once more, coarsely and finely, for what is light and for all */
struct known {
	bool is_cut, is_bounded; /* ends; lower_bound, least, beside are there */
	uint64_t ends;		 /* hash of where weights are cut */
	double lower_bound;
	int64_t least, beside;
	struct estimates {
		int64_t need;
		double cycles[ROOMS]; /* as struct candidate's; 0: not yet */
	} estimates;
	struct given *given; /* explore.c: what candidates of it gave; NULL: not yet */
};
struct known *known_of(struct variant *x, const struct division *d, enum cut cut);

/* estimates.c: such a cut, and the candidate of it with its estimates, if it is wanted */
struct trial {
	struct plan *p;	     /* NULL: what is known is to do */
	struct known *known; /* NULL: nothing is kept */
	struct candidate candidate;
	bool is_wanted;
};
enum { TRIALS = 8 }; /* at most, at a time */
void estimate_trials(struct sched *s, struct trial *t, size_t n, const struct wanted *w);
/* one without a plan; false: it takes one */
bool estimate_known(struct trial *t, const struct wanted *w);
/* among few one choice matters much, and all can be tried */
bool has_few_weights(const struct sched *s);

/* candidates.c: limits for transfers are rounded down: the larger the plan the more coarsely */
enum grain { COARSE = 4, FINE = 16 };
int64_t round_limit(int64_t limit, const struct plan *p, enum grain grain);

enum detail { COARSELY, FINELY };

/*
 * Divisions, and spills' best ones, that are estimated at more than this factor of the
 * least are left out: plans within a limit are about as far apart as the estimates of
 * their divisions (of seven networks on ethos-u85-128, -512 and -2048, and of five on
 * ethos-u65-512, the fastest plan's was at most 0.6 % above the least).
 */
static const double ESTIMATES_APART = 1.02;
/* fastest.c: the fastest plan within a limit, if it takes fewer cycles than `below`;
 * NULL: there is none, or an error */
struct plan *search_fastest(struct variant *x, int64_t limit, double below,
			    enum detail detail);

/* in_place.c: other weights of p are read in place, where it takes fewer cycles then, in
 * at most so many bytes; false: p is as it was.  Needs: p as its fitting makes it */
bool leave_in_place(struct sched *s, struct plan *p, int64_t most);
/* adds the same of those of n points that x has made, in no more bytes; false: an error */
bool leave_on_front(struct variant *x, struct front *f, const struct point *v, size_t n);

/*
 * spill.c: which feature maps leave the NPU's SRAM.  There are orders in which
 * they may; a spill is how many of them do, the first one: none.
 */
struct spills {
	struct spill {
		int order;
		size_t n; /* the first n of it */
	} *v;
	size_t n;
	struct spill_order *order;
};
struct spills *spills_list(struct sched *s, const struct cascades *c, struct arena *a,
			   int steps);
/* for tensors that are all in the NPU's SRAM */
void spills_apply(struct sched *s, const struct spills *l, size_t spill);

/* shrink.c: without a limit.  The smallest of those of x's candidates that are as fast as
 * p, the fastest of them, with the least memory; p is closed where it is another */
struct plan *shrink(struct variant *x, struct plan *p);
/* may that, or p, need no more than so many bytes? */
bool may_shrink_to(const struct variant *x, const struct plan *p, int64_t bytes);

/* knobs.c: how densely the front is explored, by the size of the network and --effort */
struct knobs {
	int rungs, coarse_rungs; /* of the ladder of budgets, an octave */
	int steps, coarse_steps; /* as list_candidates takes them */
	int spills;		 /* variants that let maps leave the SRAM, for each order */
	double loss;		 /* by packing anew: of the least so far, what is expected again */
};
const struct knobs *search_knobs(const struct sched *s);
/* with an SRAM of the NPU's own: for the variant of the fastest plan within that; NULL:
 * it is explored as any other */
const struct knobs *anchor_knobs(const struct sched *s);

/* traits.c: what is known of a plan, and what a point changes against another one, as
 * text; NULL: it is the first */
struct traits plan_traits(const struct variant *x, const struct plan *p);
void put_change(struct text *t, const struct point *from, const struct point *to);

/* explore.c: plans of one variant for the front; false: an error */
bool explore(struct variant *x, struct front *f, const struct knobs *k,
	     enum detail detail);

/* no limit: NO_LIMIT_BYTES */
static inline int64_t
limit_of(int64_t bytes)
{
	return bytes && bytes < NO_LIMIT_BYTES ? bytes : NO_LIMIT_BYTES;
}

/* what the memory system itself says */
static inline int64_t
profile_limit(const struct sched *s)
{
	return limit_of(s->profile_bytes);
}

/* pick.c: what is asked for, of what the search found */
struct found {
	struct sched *s;
	struct plan *fastest; /* of all; NULL: there is none */
	struct variant *fastest_of;
	struct plan *within; /* the profile's own limit, where the fastest one is not */
	struct variant *within_of;
	struct front front; /* where it was explored */
};
/* what the search is for: a goal within whatever limit, or (the front, --explain and
 * --max-cycles) something else */
enum { GOAL_OTHER = -1 };
int asked_goal(const struct sched *s);
/* is it the fastest plan within that limit? */
bool is_limit_asked(const struct sched *s, int64_t limit);
/* is it one of those plans?  then the front is not asked for */
bool is_anchor_asked(const struct found *x, int64_t limit);
/* leaves s->front: from the least memory to the fastest plan */
void list_front(struct found *x);
/* leaves s->plan; false: an error, or nothing is small or fast enough */
bool take_found(struct found *x, int64_t limit);

#endif
