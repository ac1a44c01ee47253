/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the channels of a graph's tensors: lanes.c, intervals.c. */
#ifndef REWRITE_CHANNELS_H
#define REWRITE_CHANNELS_H

#include "base/bytes.h"
#include "graph/records.h"

/* ---- lanes.c: which channels of its tensor an operand has ---------------------- */

/* Channel k of the operand is channel first + k % n of the tensor. */
struct lanes {
	int32_t first, n;
};
/* False: the channels of the operand are no channels of the tensor. */
bool lanes_of(const struct g_operand *o, struct lanes *l);
/*
 * True if channel k of the OFM depends on channel k of each operand alone.  An operand with
 * one channel is broadcast.
 */
bool op_is_channelwise(const struct g_op *op);
/* True if each tap of each window is an element of the IFM: no padding, no inserted zeros. */
bool op_has_full_windows(const struct g_op *op);

/* ---- intervals.c: the values that a channel can have ----------------------------- */

struct interval {
	int32_t lo, hi; /* lo > hi: nothing has been written */
};
struct intervals {
	struct interval **of; /* for each tensor, for each channel */
	/* for each operation with weights: no order of its sum leaves the accumulators */
	bool *fits;
};
bool intervals_find(struct arena *a, struct graph *g, struct intervals *out, struct err *e);

#endif
