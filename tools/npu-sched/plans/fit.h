/* SPDX-License-Identifier: Apache-2.0 */
/* From a plan with exact sizes to transfers and addresses (fit.c), and what these take. */
#ifndef NPU_SCHED_FIT_H
#define NPU_SCHED_FIT_H

#include "../memory/memory.h"

/* bytes of the limited place, and of all */
static inline int64_t
peak_of(const struct sched *s, const struct plan *p)
{
	return p->peak[limited_place(s)];
}

static inline int64_t
total_of(const struct plan *p)
{
	return p->peak[PLACE_ARENA] + p->peak[PLACE_CACHE];
}

/*
 * fit.c: transfers below a limit, and addresses.  Sets p->cycles; false if there
 * are no fewer than `below`.  Nothing else has any influence.
 */
bool plan_fit(struct sched *s, struct plan *p, struct fitting f, double below);
/* its two halves: transfers, which give a bound of the cycles and, in p->need, of the
 * bytes; and addresses for them, which set p->cycles */
double plan_transfers(struct sched *s, struct plan *p, struct fitting f);
void plan_addresses(struct sched *s, struct plan *p);
/* without a limit: the least memory with which p stays about as fast */
void plan_trim(struct sched *s, struct plan *p);
/* may that be less than so many bytes, in so many cycles?  as far as its bound tells */
bool plan_may_trim(struct sched *s, struct plan *p, int64_t bytes, double cycles);

#endif
