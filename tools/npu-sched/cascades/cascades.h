/* SPDX-License-Identifier: Apache-2.0 */
/* Choices for a division of all operations into cascades. */
#ifndef NPU_SCHED_CASCADES_H
#define NPU_SCHED_CASCADES_H

#include "../sched.h"

/* when a tensor is in memory: operations and CPU nodes have a time step each */
struct live_range {
	int lo, hi;
	int64_t bytes;
	int producer; /* operation whose OFM it is, if that may roll; or -1 */
};

/* what fetching one operation's weights costs and saves */
struct saving {
	int64_t bytes;
	double cycles;
};

struct cascade_choice {
	struct cascade cascade;
	int64_t bytes;	 /* all feature maps live while it runs */
	int64_t slid;	 /* of them: saved by sliding its result over an operand */
	int64_t weights; /* to have them all in SRAM */
	struct saving *saving; /* of a striped cascade: the best first */
	int n_savings;
};

struct cascades {
	struct arena *a;
	struct cascade_choice *v;
	size_t n, cap;
	int *first_of; /* index of the first choice that ends at op i */
	struct live_range *live; /* of each tensor */
	size_t n_live;
	struct slides slides;
	int64_t cpu_bytes; /* live at the fullest CPU node */
	int64_t whole_peak;
	/* cycles of all divisions at least, whatever becomes of the weights; and of
	 * the fastest one with weights in place: those that are left out count, too */
	double lower_bound, in_place;
	int64_t *begun, *ended; /* bytes of lives from before, to before each time step */
};

static inline int
step_of(const struct sched *s, int op)
{
	return op + s->info[op].cpu_before;
}

#endif
