/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a walk over kernels and transfers, and the decisions that it makes. */
#ifndef SCHED_WALK_H
#define SCHED_WALK_H

#include "../costs/costs.h"
#include "../memory/memory.h"
#include "transfers.h"

struct walk {
	struct sched *s;
	struct plan *p;
	int64_t limit;
	struct usage *used; /* bytes of feature maps and buffers so far, at each kernel */
	struct gaps *gaps; /* NULL: only the sum of bytes decides */
	/* clocks in cycles: of the front end; NPU idle from; DMA engine idle from */
	double t, tk, td;
	double end[2];	  /* when the last two kernels end, the older first */
	double dma_end[DMA_QUEUE]; /* when the last transfers end, the oldest first */
	double flash; /* cycles for which the memory of constants has been busy so far */
	/* of each kernel: sum of cycles of the kernels before it, with weights fetched */
	double *begin;
	double *copied; /* of each copy: when it ends */
	struct cached_space {	/* cached result of sum_has_space() */
		int slice; /* -1: cache is empty */
		int64_t bytes; /* size of the slice's buffer */
		int from;    /* the buffer fits from this kernel on; -1: not computed */
		int none_at; /* the buffer does not fit at this kernel; -1: not computed */
		int64_t most; /* if the buffer fits: the most bytes in use at any kernel of
				 * its live range, without the buffer */
	} space;
	int next;	  /* first slice that is not fetched or skipped yet */
	int64_t sent;	  /* bytes of that slice sent so far */
	int node_start, node_end; /* kernels [start, end) of the node that is walked now */
};

/* pays.c: can it help to fetch the scales of a slice alone? */
bool may_be_apart(const struct walk *w, int slice);
/* The part of a slice to fetch from time t on, where its first kernel could begin at
 * `begin`. */
enum held goal_of(const struct walk *w, int slice, double t, double begin);
/* Do all uses of the slice end earlier if that part is fetched from time t on than if the slice
 * stays in place, and those of the next slice no later? */
bool fetching_pays(const struct walk *w, int slice, enum held held, double t, double begin);

#endif
