/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers of weights. */
#ifndef NPU_SCHED_TRANSFERS_H
#define NPU_SCHED_TRANSFERS_H

#include "../network/plan.h"
#include "target/accel.h"

/*
 * Does the DMA engine queue more transfers than kernels can be in flight?  A short queue stalls
 * the front end as soon as transfers take longer than kernels.
 */
static inline bool
has_long_queue(const struct sched *s)
{
	return s->accel->max_dma > MAX_KERNELS;
}

/* fetch.c: decides which weight slices are fetched when, as the decisions about memory and
 * slices say, and makes the rectangles of their buffers.  Sets p->cycles, by the clock of the walk. */
void walk_transfers(struct sched *s, struct plan *p);

/* pays.c: the value of the memory that slice i takes: the cycles that fetching it saves,
 * divided by its bytes and by the cycles from its first use to its last. */
double slice_worth(const struct plan *p, int i);
/* Decides that slices stay in place if fetching them saves nothing, and no others.  Needs: costs of
 * kernels. */
void leave_useless(const struct sched *s, struct plan *p);

/* Plans of up to so many slices are tried with more decisions about single slices.  With more slices,
 * four networks take at most 1.1 % fewer cycles, and 1.3 times the time. */
enum { FEW_SLICES = 64 };
/* joint.c: decides which slices stay in place so that, without competition for memory, the plan takes
 * the fewest cycles.  A slice can be fetched if its buffer fits beside the feature maps within the
 * limit.  False: the plan has no slices, or too many.  Needs: bytes of feature maps (find_maps()),
 * costs of kernels. */
bool decide_jointly(struct sched *s, struct plan *p, int64_t limit);

#endif
