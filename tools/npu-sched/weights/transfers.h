/* SPDX-License-Identifier: Apache-2.0 */
/* What the search knows of a walk over transfers. */
#ifndef SCHED_TRANSFERS_H
#define SCHED_TRANSFERS_H

#include "../sched.h"

/*
 * Does the DMA engine queue more transfers than kernels can be in flight?  A short queue stalls
 * the front end as soon as transfers take longer than kernels.
 */
static inline bool
has_long_queue(const struct sched *s)
{
	return s->accel->max_dma > MAX_KERNELS;
}

/* pays.c: the value of the memory that slice i takes: the cycles that fetching it saves,
 * divided by its bytes and by the cycles from its first use to its last. */
double slice_worth(const struct plan *p, int i);

#endif
