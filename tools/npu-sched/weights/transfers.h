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
 * How a walk decides about transfers where the DMA engine's queue is long.  The best strategy
 * depends on all later kernels.
 */
enum strategy {
	IN_PIECES, /* as many bytes as move while a kernel runs */
	NO_WAITS, /* as IN_ONE, but no transfer for which the next kernel would wait */
	IN_ONE, /* short transfers at once, though they outlast the running kernel */
	SCALES_ELSE, /* as IN_ONE, with the scales of weights that stay in place */
	SCALES_FIRST, /* as IN_ONE; scales alone wherever fetching the weights, too, is no faster */
	STRATEGIES
};

/* fetch.c: decides which weight slices are fetched when, as p->fitting says, and makes the
 * rectangles of their buffers.  Sets p->cycles, by the clock of the walk. */
void walk_transfers(struct sched *s, struct plan *p, enum strategy strategy);

/* pays.c: the value of the memory that slice i takes: the cycles that fetching it saves,
 * divided by its bytes and by the cycles from its first use to its last. */
double slice_worth(const struct plan *p, int i);

#endif
