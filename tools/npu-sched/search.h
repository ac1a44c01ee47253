/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the search share. */
#ifndef NPU_SCHED_SEARCH_H
#define NPU_SCHED_SEARCH_H

#include "sched.h"

enum { NO_LIMIT_BYTES = 1 << 30, MAX_CANDIDATES = 256 };

struct policy {
	int64_t target; /* bytes of a slice to aim for; 0: weights are not cut */
	bool eager;	/* weights that are late are waited for, not read in place */
	bool slide;	/* results may slide over operands: less, but harder to pack */
};

/* how a plan is made, and what it promised with estimated sizes */
struct idea {
	int64_t maps, limit; /* bytes for maps, for all */
	struct policy policy;
	double cycles;
	int64_t need;
	size_t n_kernels, number;
};

struct search {
	struct sched *s;
	struct chains *chains;
	int64_t least;	/* bytes that feature maps need at least */
	int lower;	/* limits below the one asked for to search at most */
	int *order, *back; /* an order that needs less memory, and its inverse */
	bool other;	/* it is in force */
	struct idea v[MAX_CANDIDATES];
	size_t n;
};

/* bytes of the limited place */
static inline int64_t
peak_of(const struct sched *s, const struct plan *p)
{
	return p->peak[limited_place(s)];
}

/* fit.c: transfers and addresses below a limit; false where there are none */
bool plan_fit(struct sched *s, struct plan *p, int64_t limit);
/* without a limit: the least memory with which p stays about as fast */
void plan_trim(struct sched *s, struct plan *p);

/* ideas.c.  Leaves: candidates below a limit, best first; those alone whose maps
 * may take all of it, late weights read in place */
void list_plans(struct search *x, int64_t limit);
void list_full_plans(struct search *x, int64_t limit);
/* with exact sizes and addresses below the limit; NULL: there are none */
struct plan *realise(struct search *x, const struct idea *i, int64_t limit);
/* the fastest plan below a limit; NULL: there is none, or an error */
struct plan *search_fastest(struct search *x, int64_t limit);

/* smallest.c: --optimise=Size */
double weigh(int64_t bytes, double cycles);
struct plan *search_smallest(struct search *x);

#endif
