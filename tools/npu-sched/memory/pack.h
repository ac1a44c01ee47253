/* SPDX-License-Identifier: Apache-2.0 */
/* Packing of rectangles of bytes and time steps: declarations of pack.c, place.c and boxes.c. */
#ifndef SCHED_PACK_H
#define SCHED_PACK_H

#include "memory.h"

/* A neighbour: a group that is live at the same time as another one.  At address x of the
 * neighbour, the other one may not have an address between x + lo and x + hi. */
struct near {
	uint32_t group;
	int64_t lo, hi;
};

/* Rectangles that keep their distances and are packed as one. */
struct group {
	int64_t bytes, lo, hi, crowd; /* crowd: most bytes live at a time step from lo to hi */
	bool fixed;
	int first; /* the rectangle that represents the group */
	struct near *near;
	size_t n_near;
};

struct span {
	int64_t lo, hi;
};

/* A rectangle with an address, while there are too many to list their interferences. */
struct packed_box {
	int64_t at, end; /* first byte, byte behind the last */
	int64_t lo, hi;	 /* time steps, inclusive */
};

struct packing {
	struct arena *a;
	struct plan *p;
	size_t n_rects; /* packs the first so many rectangles of the plan */
	struct group *group;
	uint32_t *of;	/* index of the group that a rectangle represents */
	int64_t *at, *best_at; /* address of each group */
	uint32_t *cost, *best_cost; /* comparisons to find that address */
	size_t *order, *best_order;
	size_t *rank;	      /* of each group: its position in order */
	int64_t *before;      /* peak of the groups before each position of the best order */
	size_t top;	      /* first position of the best order that has its peak */
	/* of the current exchange (`number`): groups that may move, groups that were dropped
	 * again */
	uint32_t *moved, number;
	uint32_t *dropped;
	size_t n_dropped;
	struct span *blocked_spans;  /* scratch: addresses blocked by neighbours */
	bool wide; /* more than MOST_PAIRS interferences: groups have no neighbours, but boxes */
	struct packed_box *box; /* of the groups with an address, sorted by address */
	size_t n_boxes;
	/* groups; those with an address from the graph come first in order */
	size_t n, n_fixed;
	int64_t best, bound;	/* best peak so far, lower bound */
	uint64_t work, random;
};

static inline bool
is_placed(const struct rect *r, int place)
{
	return r->place == place && r->bytes;
}

/* interference.c.  Rectangle i is live together with rectangles
 * with[first[i]] ... with[first[i + 1] - 1]. */
struct interferences {
	size_t *first;
	uint32_t *with;
};
struct interferences find_interferences(struct arena *a, const struct rect *rect, size_t n);
/* The number of pairs of rectangles that are live together. */
uint64_t count_interferences(const struct rect *rect, size_t n);
/* Lists of pairs take 60 bytes for a pair.  With more pairs, rectangles are compared when the
 * comparison is needed. */
enum { MOST_PAIRS = 1 << 20 };

/* pack.c.  Prepares to pack the first n_rects rectangles of a plan that are in a memory area; finds
 * their lower bound.  The caller closes k.a. */
struct packing packing_of(struct plan *p, size_t n_rects, int place);
/* Result: best, best_at.  A peak above `most` is useless: packing then saves work.  `hurry`:
 * also give up early on many groups that pack badly.  budget: comparisons. */
void pack(struct packing *k, uint64_t budget, bool hurry, int64_t most);

/* boxes.c: first fit in one pass over the boxes, which are sorted by address.  Puts the group
 * at the lowest address that the boxes leave free, and adds its boxes. */
void put_between_boxes(struct packing *k, size_t group);

#endif
