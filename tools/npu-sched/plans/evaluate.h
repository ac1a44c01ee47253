/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan costs, whose weights have been encoded, so that their sizes are exact. */
#ifndef NPU_SCHED_EVALUATE_H
#define NPU_SCHED_EVALUATE_H

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

/* Cycles come first, then bytes of the limited memory area. */
struct merit {
	double cycles;
	int64_t bytes;
};

static inline bool
is_better_merit(struct merit a, struct merit b)
{
	return a.cycles < b.cycles || (a.cycles == b.cycles && a.bytes < b.bytes);
}

/*
 * Plans transfers and assigns addresses as the plan decides, and returns what the plan costs, which
 * depends on nothing else; the plan keeps it, too.  If a lower bound shows that this is no better
 * than *than, the plan gets no addresses, and cycles are INFINITY.  NULL: any merit is wanted.
 */
struct merit evaluate(struct sched *s, struct plan *p, const struct merit *than);

/* The halves of evaluate().  The first one plans transfers, unless those of the plan are valid.  It
 * returns a lower bound of the cycles, and sets p->need to a lower bound of the bytes. */
double plan_fetches(struct sched *s, struct plan *p);
/* Sets p->cycles.  The caller cannot use a higher peak than `most`. */
void plan_addresses(struct sched *s, struct plan *p, int64_t most);

#endif
