/* SPDX-License-Identifier: Apache-2.0 */
/* Candidates for a division of all operations into chains. */
#ifndef NPU_SCHED_CHAINS_H
#define NPU_SCHED_CHAINS_H

#include "sched.h"

/* when a tensor is in memory: operations and CPU nodes have a moment each */
struct life {
	int lo, hi;
	int64_t bytes;
	int producer; /* operation whose OFM it is, if that may roll; or -1 */
};

/* what fetching one operation's weights costs and saves */
struct saving {
	int64_t bytes;
	double cycles;
};

struct candidate {
	struct chain chain;
	int64_t bytes;	 /* all feature maps live while it runs */
	int64_t slid;	 /* of them: saved by sliding its result over an operand */
	int64_t weights; /* to have them all in SRAM */
	struct saving *saving; /* of a banded chain: the best first */
	int n_savings;
};

struct chains {
	struct arena *a;
	struct candidate *v;
	size_t n, cap;
	int *first_of; /* index of the first candidate that ends at op i */
	struct life *life; /* of each tensor */
	size_t n_lives;
	struct slides slides;
	int64_t cpu_bytes; /* live at the fullest CPU node */
	int64_t whole_peak;
	/* cycles of all divisions at least, whatever becomes of the weights; and of
	 * the fastest one with weights in place: those that are left out count, too */
	double floor, in_place;
	int64_t *begun, *ended; /* bytes of lives from before, to before each moment */
};

static inline int
moment_of(const struct sched *s, int op)
{
	return op + s->info[op].cpu_before;
}

#endif
