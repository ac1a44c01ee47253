/* SPDX-License-Identifier: Apache-2.0 */
/* Maps that may be copied by the DMA engine (copies.c); whether it pays is a cost. */
#ifndef NPU_SCHED_COPIES_H
#define NPU_SCHED_COPIES_H

#include "../sched.h"

/* what operations read or write, with a copy and without */
struct swap {
	struct g_operand *o;
	int copy;
};

struct moved {
	struct g_op *op; /* the copy */
	struct g_tensor *home, *fast;
	struct g_op *instead; /* the pool that does the same; then there is no tensor */
	bool pays;
};

struct copies {
	struct g_op **op; /* all of the graph, with all copies */
	size_t n_ops;
	struct moved *v;
	size_t n, cap;
	struct swap *swap;
	size_t n_swaps, cap_swaps;
};

#endif
