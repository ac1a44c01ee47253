/* SPDX-License-Identifier: Apache-2.0 */
/* In which order the weights of a decoded operation come, on every generation. */
#ifndef STREAM_FILTERS_H
#define STREAM_FILTERS_H

#include "stream/stream.h"
#include "weights/weights.h"

/* streams that op's weights are in as they are read: of its cores or decoders;
 * the fast decoder has them in one */
int npu_filter_streams(const struct npu_op *op, const struct accel *accel);

/* of stream k of them */
struct weights_order npu_filter_order(const struct npu_op *op,
				      const struct accel *accel, int k);

/* input channels of a filter */
static inline int32_t
npu_filter_depth(const struct npu_op *op)
{
	return op->kind == NPU_DEPTHWISE ? 1 : op->ifm.shape.c;
}

/*
 * Is the block depth one that the order can be walked with?  (8.1: blocks
 * that split the channels hold whole microblocks)
 */
bool npu_filter_order_ok(const struct weights_order *ord);

/*
 * 2:4 (ethosu-weights(7) 23): of four neighbouring input channels two weights are 0.
 * The first filter that has more, or -1.  w: filters of `pitch` each, [kh][kw][i].
 */
int32_t npu_filter_unpaired(const struct npu_op *op, const int16_t *w, int64_t pitch);

/* a scale record, by the generation and op's accumulators; false: it has bits set that
 * are reserved */
bool npu_scale_record(const struct npu_op *op, const struct accel *accel,
		      const uint8_t in[WEIGHTS_SCALE_SIZE], struct weights_scale *s,
		      struct err *e);

/* depth of U85's IFM block (ethosu-memory(7) 28.2) */
int32_t npu_ifm_depth85(const struct npu_op *op, const struct accel *accel);

#endif
