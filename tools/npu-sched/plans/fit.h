/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transfers and addresses of a plan whose weights have been encoded, so that their
 * sizes are exact (fit.c); the bytes of a plan.
 */
#ifndef NPU_SCHED_FIT_H
#define NPU_SCHED_FIT_H

#include "../memory/memory.h"

/* Peak in bytes of the limited memory area; sum of all that is stored: the peaks of all areas,
 * weights, and the command stream. */
static inline int64_t
peak_of(const struct sched *s, const struct plan *p)
{
	return p->peak[limited_place(s)];
}

static inline int64_t
total_of(const struct plan *p)
{
	return p->peak[PLACE_ARENA] + p->peak[PLACE_CACHE] + p->stored +
	       FETCH_BYTES * (int64_t)p->n_fetches;
}

/* fit.c: decides which weight slices are fetched when.  SUMMED: by the sum of bytes.
 * BETWEEN: buffers get addresses between the feature maps, which stay where pack_maps() put
 * them.  Returns a lower bound of the cycles, and sets p->need to a lower bound of the bytes. */
double plan_fetches(struct sched *s, struct plan *p, struct fitting f);

/*
 * Plans transfers below a limit and assigns addresses.  Sets p->cycles.  False: p takes
 * `below` cycles or more.  The result depends on nothing else.
 */
bool plan_fit(struct sched *s, struct plan *p, struct fitting f, double below);
/* The second half of plan_fit(), behind plan_fetches(): sets p->cycles.  The caller cannot use a
 * higher peak than `most`. */
void plan_addresses(struct sched *s, struct plan *p, int64_t most);
/* Without a limit: finds the least memory with which p stays about as fast. */
void plan_trim(struct sched *s, struct plan *p);

#endif
