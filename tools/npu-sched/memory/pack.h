/* SPDX-License-Identifier: Apache-2.0 */
/* Rectangles of bytes by time steps, packed: what pack.c and place.c share. */
#ifndef SCHED_PACK_H
#define SCHED_PACK_H

#include "memory.h"

/* a group that is live with another, and what it bars from where that lies */
struct near {
	uint32_t group;
	int64_t lo, hi;
};

/* rectangles that keep their distances, placed as one */
struct group {
	int64_t bytes, lo, hi, crowd;
	bool fixed;
	int first; /* the rectangle that stands for it */
	struct near *near;
	size_t n_near;
};

struct span {
	int64_t lo, hi;
};

struct packing {
	struct arena *a;
	struct plan *p;
	size_t n_rects; /* of the plan, from the first on */
	struct group *group;
	uint32_t *of;	/* the group that a rectangle stands for */
	int64_t *at, *best_at; /* address of each group */
	uint32_t *cost, *best_cost; /* comparisons to find it */
	size_t *order, *best_order;
	size_t *rank;	      /* of each group: its place in order */
	int64_t *before;      /* the peak of the best order's groups before each place */
	size_t top;	      /* the first place in it that has the peak */
	/* of the exchange that is tried: groups that it may move, and those dropped again */
	uint32_t *moved, number;
	uint32_t *dropped;
	size_t n_dropped;
	struct span *barred;  /* scratch: addresses that neighbours bar */
	bool wide;	      /* they are sorted */
	size_t n, n_fixed;
	int64_t best, bound;
	int64_t promising; /* with a smaller limit no exchange is tried; 0: with any */
	uint64_t work, random;
};

static inline bool
is_placed(const struct rect *r, int place)
{
	return r->place == place && r->bytes;
}

/* the first so many rectangles of a plan that a place holds, and their bound; k.a is
 * open until the caller closes it */
struct packing packing_of(struct plan *p, size_t n_rects, int place);
/* leaves best, best_at: a peak above `most` is of no use, and then less work is spent on
 * it; `hurry`: nor is it on many groups that lie badly.  budget: comparisons */
void pack(struct packing *k, uint64_t budget, bool hurry, int64_t most);

#endif
