/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orders of weights, from decoded operations (ethosu-commands(7) 7;
 * ethosu-weights(7) 22).
 */
#include "stream/filters.h"

#include "target/accel.h"

static enum weights_traversal
traversal_of(const struct npu_op *op)
{
	if (op->kind == NPU_DEPTHWISE)
		return WEIGHTS_DEPTHWISE;
	return op->part_kernel ? WEIGHTS_PART_KERNEL : WEIGHTS_DEPTH_FIRST;
}

int32_t
npu_ifm_depth85(const struct npu_op *op, const struct accel *accel)
{
	bool all_channels = op->kind == NPU_CONV ||
			    (op->kind == NPU_POOL && op->mode == NPU_POOL_REDUCE_SUM);
	if (!all_channels)
		return op->block.c;
	if (op->kind == NPU_CONV && op->part_kernel && !op->weights_ifm2)
		return 16;
	bool deep_ublock = accel->macs <= 256 && op->ublock.c == 16;
	if (op->ifm.bits == 32 || (deep_ublock && !op->sparse_weights))
		return 32;
	return op->sparse_weights && op->ifm.bits == 8 ? 128 : 64;
}

static struct weights_order
order85(const struct npu_op *op, const struct accel *accel, int k)
{
	/* P of ethosu-weights(7) 22.1 */
	int32_t padding = accel->macs >= 1024				   ? 6
			  : accel->macs == 512 || op->ifm.bits == 16 ? 2
								     : 0;
	return (struct weights_order){
		.traversal = traversal_of(op), .block_depth = op->block.c,
		.ou = op->ublock.c, .ifm_bits = op->ifm.bits,
		.dilation_y = op->dilation_y, .dilation_x = op->dilation_x,
		.end = op->extent.c, .core = k, .cores = accel->streams,
		.quads = 1, .ifm_depth = npu_ifm_depth85(op, accel),
		.stride_y = op->stride_y, .stride_x = op->stride_x,
		.sparse = op->sparse_weights, .padding = padding,
	};
}

static struct weights_order
order55(const struct npu_op *op, const struct accel *accel, int k)
{
	return (struct weights_order){
		.traversal = traversal_of(op), .block_depth = op->block.c,
		.ou = accel->ublock.c, .ifm_bits = op->ifm.bits,
		.dilation_y = op->dilation_y, .dilation_x = op->dilation_x,
		.end = op->extent.c, .core = k, .cores = op->cores,
	};
}

static int
streams55(const struct npu_op *op, const struct accel *accel)
{
	(void)accel;
	return op->cores;
}

static int
streams85(const struct npu_op *op, const struct accel *accel)
{
	return op->fast_weights ? 1 : accel->streams;
}

static const struct filters {
	struct weights_order (*order)(const struct npu_op *op,
				      const struct accel *accel, int k);
	int (*streams)(const struct npu_op *op, const struct accel *accel);
} filters[GENERATIONS] = {
	[GEN_U55] = { order55, streams55 },
	[GEN_U65] = { order55, streams55 },
	[GEN_U85] = { order85, streams85 },
};

int
npu_filter_streams(const struct npu_op *op, const struct accel *accel)
{
	return filters[accel->generation].streams(op, accel);
}

struct weights_order
npu_filter_order(const struct npu_op *op, const struct accel *accel, int k)
{
	return filters[accel->generation].order(op, accel, k);
}

bool
npu_filter_order_ok(const struct weights_order *ord)
{
	int32_t channels = weights_order_channels(ord), depth = ord->block_depth;
	if (!ord->quads)
		depth = (depth + ord->cores - 1 - ord->core) / ord->cores;
	return ord->ou > 0 && depth > 0 &&
	       (channels <= depth || depth % ord->ou == 0);
}

int32_t
npu_filter_not_sparse(const struct npu_op *op, const int16_t *w, int64_t pitch)
{
	enum { GROUP = 4, MOST = 2 };
	int32_t depth = npu_filter_depth(op);
	int64_t taps = (int64_t)op->kernel_h * op->kernel_w;
	for (int32_t o = 0; o < op->extent.c; o++)
		for (int64_t k = 0, n = 0; k < taps * depth; k++) {
			n = k % depth % GROUP ? n : 0;
			n += w[o * pitch + k] != 0;
			if (n > MOST)
				return o;
		}
	return -1;
}

static bool
record55(const uint8_t *in, bool wide, struct weights_scale *s, struct err *e)
{
	(void)wide; /* records are the same for both accumulators */
	return weights_scale_unpack(in, s, e);
}

bool
npu_scale_record(const struct npu_op *op, const struct accel *accel,
		 const uint8_t in[WEIGHTS_SCALE_SIZE], struct weights_scale *s,
		 struct err *e)
{
	static bool (*const unpack[GENERATIONS])(const uint8_t *, bool,
						 struct weights_scale *,
						 struct err *) = {
		[GEN_U55] = record55, [GEN_U65] = record55,
		[GEN_U85] = weights_scale85_unpack,
	};
	return unpack[accel->generation](in, op->acc_format == 1, s, e);
}
