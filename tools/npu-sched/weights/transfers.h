/* SPDX-License-Identifier: Apache-2.0 */
/* Strategies for the times at which weights of one division and cut are fetched. */
#ifndef SCHED_TRANSFERS_H
#define SCHED_TRANSFERS_H

#include "../sched.h"

/*
 * How a walk over the kernels decides about transfers.  The best strategy depends on all later
 * kernels, so every strategy that makes a difference is walked.
 */
enum strategy {
	IN_PIECES, /* as many bytes as move while a kernel runs */
	IN_ONE,	   /* short transfers at once, though they outlast the running kernel */
	NO_WAITS,  /* as IN_ONE, but no transfer for which the next kernel would wait */
	SCALES_ELSE, /* as IN_ONE, with the scales of weights that stay in place */
	SCALES_FIRST, /* scales alone wherever fetching the weights, too, is no faster */
	STRATEGIES
};

/*
 * True if the DMA engine queues more transfers than kernels can be in flight.  Only then are
 * other strategies tried: a short queue stalls the front end as soon as transfers take longer
 * than kernels.  With a queue of two, none of 24 plans of whole networks gained by another
 * strategy.
 */
static inline bool
has_long_queue(const struct sched *s)
{
	return s->accel->max_dma > MAX_KERNELS;
}

struct walking {
	int64_t limit;
	/* buffers get addresses between the feature maps; else the sum of bytes decides */
	bool between;
	enum strategy strategy;
};

/* fetch.c.  Result: p's transfers, buffers, and cycles by the clock of the walk.  saves: for
 * each strategy, the most cycles that it could save. */
void walk_transfers(struct sched *s, struct plan *p, struct walking x,
		    double saves[STRATEGIES]);

/* Makes the rectangles of the buffers, with the addresses that the walk assigned. */
void list_buffers(struct sched *s, struct plan *p, bool between);

/* pays.c: the value of the memory that slice i takes: the cycles that fetching it saves,
 * divided by its bytes and by the cycles from its first use to its last. */
double slice_worth(const struct plan *p, int i);

#endif
