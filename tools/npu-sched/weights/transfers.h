/* SPDX-License-Identifier: Apache-2.0 */
/* Strategies of when weights move, for one division and its slices. */
#ifndef SCHED_TRANSFERS_H
#define SCHED_TRANSFERS_H

#include "../sched.h"

/*
 * How a walk decides about transfers.  Which strategy is best follows from all that
 * comes after, so those that make a difference are walked.
 */
enum strategy {
	IN_PIECES, /* as far as they move while a kernel runs */
	IN_ONE,	   /* short ones at once, although what runs ends before */
	NO_WAITS,  /* besides, nothing that the next kernel would have to wait for */
	SCALES_ELSE, /* as IN_ONE; scales alone of weights that stay in place */
	SCALES_FIRST, /* scales alone wherever that is no slower than all of it */
	STRATEGIES
};

/* the DMA engine's, so that there are other strategies: a shorter one holds up the front
 * end as soon as transfers take longer than kernels; with two in it none of 24 plans of
 * whole networks gained by another one */
static inline bool
has_long_queue(const struct sched *s)
{
	return s->accel->max_dma > MAX_KERNELS;
}

struct walking {
	int64_t limit;
	bool between; /* buffers lie between the maps, else the sum of bytes decides */
	enum strategy strategy;
};

/* fetch.c.  Leaves: p's transfers, buffers and cycles by the walk's own clock; saves:
 * cycles that other strategies may save, at most */
void walk_transfers(struct sched *s, struct plan *p, struct walking x,
		    double saves[STRATEGIES]);

/* buffers of the slices that are fetched, where a walk has put them */
void list_buffers(struct sched *s, struct plan *p, bool between);

/* pays.c: cycles that slice i saves if it is fetched, by its bytes and by the cycles from
 * its first use to its last: what the room that it takes is worth */
double slice_worth(const struct plan *p, int i);

#endif
