/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the weights of a decoded operation, on every generation. */
#ifndef STREAM_FILTERS_H
#define STREAM_FILTERS_H

#include "stream/op.h"
#include "stream/stream.h"
#include "weights/weights.h"

/*
 * Number of weight streams of op: one per core or decoder; the fast decoder reads one
 * stream.
 */
int npu_filter_streams(const struct npu_op *op, const struct accel *accel);

/* The order of stream k. */
struct weights_order npu_filter_order(const struct npu_op *op,
				      const struct accel *accel, int k);

/* Input channels of a filter. */
static inline int32_t
npu_filter_depth(const struct npu_op *op)
{
	return op->kind == NPU_DEPTHWISE ? 1 : op->ifm.shape.c;
}

/*
 * True if the block depth lets the order be walked: blocks that split the channels hold
 * whole microblocks (ethosu-memory(7) 8.1).
 */
bool npu_filter_order_ok(const struct weights_order *ord);

/*
 * Checks 2:4 sparsity (ethosu-weights(7) 23): of four neighbouring input channels at least
 * two weights are 0.  Returns the first filter with more than two non-zero weights of
 * four, or -1. w holds filters of `pitch` elements each, [kh][kw][i].
 */
int32_t npu_filter_not_sparse(const struct npu_op *op, const int16_t *w, int64_t pitch);

/*
 * Unpacks a scale record in the format of the generation and of op's accumulators.  Fails
 * if reserved bits are set.
 */
bool npu_scale_record(const struct npu_op *op, const struct accel *accel,
		      const uint8_t in[WEIGHTS_SCALE_SIZE], struct weights_scale *s,
		      struct err *e);

/* Depth of U85's IFM block (ethosu-memory(7) 28.2). */
int32_t npu_ifm_depth85(const struct npu_op *op, const struct accel *accel);

#endif
