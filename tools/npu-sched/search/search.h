/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the search share. */
#ifndef NPU_SCHED_SEARCH_H
#define NPU_SCHED_SEARCH_H

#include "../sched.h"

struct policy {
	enum cut cut;
	bool eager;	/* weights that are late are waited for, not read in place */
};

/* all operations divided into cascades */
struct division {
	int *picked, n; /* as cascades_choose leaves them */
	bool slide; /* results may slide over operands: less, but harder to pack */
};

/*
 * Kernels and weight slices, whatever the limit: bytes for maps and a policy make them.
 * What it estimates is the least that it can cost with weights as estimated; below
 * the lower_bound are no cycles, whatever becomes of the weights.
 */
struct candidate {
	struct division division;
	struct policy policy;
	int64_t maps;
	double estimate, lower_bound;
	double estimated_lower_bound; /* of its division, and with sizes as estimated */
	int64_t little;	    /* room for transfers that is tried whatever the limit */
	double with_little; /* what it estimates then, as far as known; or 0 */
	int64_t need;
	size_t number;
	struct plan *plan; /* with exact sizes; NULL: not yet */
	int64_t least;	   /* bytes that its maps need at least */
	int64_t beside;	   /* and those that have left; for ROOM_OF_MAPS */
	int64_t packed;	   /* their peak when packed alone; 0: not yet */
	int64_t tried;	   /* what transfers asked for that were tried last */
	int64_t next;	   /* transfers stay below it when it is tried next; -1: never */
};

struct search {
	struct sched *s;
	struct cascades *cascades;
	int64_t limit;	/* bytes of the limited place */
	int64_t least;	/* peak of the plan that needs least, of those looked at */
	double fastest; /* cycles of the plan without a limit */
	double most; /* no plan that scores more is of use */
	bool unfit;  /* an operation has no block */
	int *order, *back; /* an order that needs less memory, and its inverse */
	bool other;	/* it is in force */
	struct arena *a; /* of the candidates */
	struct candidate *v;
	size_t n, cap;
};

/* bytes of the limited place */
static inline int64_t
peak_of(const struct sched *s, const struct plan *p)
{
	return p->peak[limited_place(s)];
}

/* is memory no object? */
static inline bool
is_unlimited(const struct search *x)
{
	return !x->s->o->size && x->limit == NO_LIMIT_BYTES;
}

static inline int64_t
smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* search.c: what plans are compared by; INFINITY: none */
double plan_score(const struct sched *s, const struct plan *p);

/*
 * fit.c: transfers below a limit, and addresses.  Sets p->cycles; false if there
 * are no fewer than `below`.  Nothing else has any influence.
 */
bool plan_fit(struct sched *s, struct plan *p, int64_t limit, enum fit how,
	      double below);
/* without a limit: the least memory with which p stays about as fast */
void plan_trim(struct sched *s, struct plan *p);

/* candidates.c.  Leaves: all candidates for maps in so many bytes and less, best first as
 * they estimate with transfers below the limit, or below what their maps may take;
 * steps: from one size to the next, 1/steps more.  Those that can't take fewer
 * cycles than `below` are left out.  The candidates for less are among those for more. */
enum room { ROOM_OF_LIMIT, ROOM_OF_MAPS };
void list_candidates(struct search *x, int64_t limit, enum room room, int steps,
		double below);
void drop_candidates(struct search *x);
/* exact sizes; false: an error */
bool work_out(struct search *x, struct candidate *i);
int64_t candidate_packed(struct search *x, struct candidate *i);
/* of all divisions the one whose maps can be packed best, weights whole, sizes
 * estimated; NULL: there is none.  There are no candidates then. */
struct plan *estimate_least(struct search *x);
/* a plan with the sizes estimated; the caller closes it */
struct plan *estimate_candidate(struct search *x, const struct candidate *i);
/* limits for transfers are rounded down: the larger the plan the more coarsely */
enum grain { COARSE = 4, FINE = 16 };
int64_t round_limit(int64_t limit, const struct plan *p, enum grain grain);

/* nested.c: does any search with more room come by a plan, unless it has a better
 * one?  i->plan has been brought below i->next; with that much room its bound was
 * `least`.  Leaves i->plan with other transfers. */
bool is_nested(struct search *x, struct candidate *i, double least);
/* searches try what exceeds their best by this factor, as a estimate or a bound */
double tolerance(const struct sched *s, int64_t limit);
/* the same of what they try with addresses between maps, by the bound without: it
 * tells least where there is room for nothing else */
double tolerance_between(const struct sched *s, const struct candidate *i, int64_t limit);
/* fastest.c: the fastest plan within x->limit, if it takes fewer cycles than
 * `below`; NULL: there is none, or an error */
struct plan *search_fastest(struct search *x, double below);

/* least.c: p, or the plan that needs least if it scores less than p and `below`;
 * x->least is what it needs, if that is news.  Needs all stripes below a limit. */
struct plan *search_least(struct search *x, struct plan *p, double below);

/* smallest.c: --optimise=Size: the plan of least weight within x->limit, if that
 * is below; the weight is that of all memory, whatever the limit is for */
double plan_weight(const struct plan *p);
struct plan *search_smallest(struct search *x, double below);

#endif
