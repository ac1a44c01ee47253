/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers of weights. */
#ifndef NPU_SCHED_TRANSFERS_H
#define NPU_SCHED_TRANSFERS_H

#include "../network/plan.h"

/*
 * Does the DMA engine queue more transfers than kernels can be in flight?  A short queue stalls
 * the front end as soon as transfers take longer than kernels.
 */
static inline bool
has_long_queue(const struct sched *s)
{
	return s->accel->max_dma > MAX_KERNELS;
}

/*
 * What a walk fetches where the DMA engine's queue is long.  The best strategy depends on all
 * later kernels.
 */
enum strategy {
	SCALES_FIRST, /* scales alone wherever fetching the weights, too, is no faster */
	SCALES_ELSE, /* the scales of weights that stay in place */
	NO_SCALES, /* weights with their scales */
	NO_WAITS, /* the same, but no transfer for which the next kernel would wait */
	STRATEGIES
};

/* fetch.c: decides which weight slices are fetched when, as p->fitting says, and makes the
 * rectangles of their buffers.  Sets p->cycles, by the clock of the walk.  SCALES_FIRST: returns
 * whether another strategy decides otherwise anywhere. */
bool walk_transfers(struct sched *s, struct plan *p, enum strategy strategy);

/* pays.c: the value of the memory that slice i takes: the cycles that fetching it saves,
 * divided by its bytes and by the cycles from its first use to its last. */
double slice_worth(const struct plan *p, int i);

#endif
