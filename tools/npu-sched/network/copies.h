/* SPDX-License-Identifier: Apache-2.0 */
/* Feature maps that the DMA engine may copy (copies.c).  costs/copies.c decides which copies
 * pay. */
#ifndef NPU_SCHED_COPIES_H
#define NPU_SCHED_COPIES_H

#include "../sched.h"

/* An operand of an operation that a copy switches to another tensor. */
struct swap {
	struct g_operand *o;
	int copy;
};

struct moved {
	struct g_op *op; /* the operation that copies */
	struct g_tensor *home, *fast;	/* outside and in the NPU's SRAM */
	struct g_op *instead; /* the pool that it may replace; then home and fast are NULL */
	bool pays;
};

struct copies {
	struct g_op **op; /* all operations of the graph and all copies */
	size_t n_ops;
	struct moved *v;
	size_t n, cap;
	struct swap *swap;
	size_t n_swaps, cap_swaps;
};

/* Switches the graph to the copies that pay, or to none.  s->info becomes invalid. */
void use_copies(struct sched *s, bool use);
/* Removes tensors of copies that the plan does not use from the graph. */
void drop_unused_copies(struct sched *s);

#endif
