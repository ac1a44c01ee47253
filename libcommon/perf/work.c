/* SPDX-License-Identifier: Apache-2.0 */
/* Describes the record of a kernel in the estimator's terms. */
#include "perf/work.h"

#include "emit/emit.h"
#include "stream/op.h"
#include "target/accel.h"

#include <assert.h>

enum mem_area
perf_region_area(const struct memory_system *m, int region)
{
	if (region == 0)
		return m->const_area;
	return region == 2 ? m->cache_area : m->arena_area;
}

static enum block_class
class_of(const struct npu_op *op)
{
	switch (op->kind) {
	case NPU_CONV:
		return op->weights_ifm2 ? BLOCK_MATMUL : BLOCK_CONV;
	case NPU_DEPTHWISE:
		return BLOCK_DEPTHWISE;
	case NPU_POOL:
		return op->mode == NPU_POOL_REDUCE_SUM ? BLOCK_REDUCE_SUM
						       : BLOCK_POOL;
	default:
		return BLOCK_ELEMENTWISE;
	}
}

static enum perf_func
func_of(const struct npu_op *op)
{
	if (op->kind == NPU_POOL)
		return op->mode == NPU_POOL_MAX ? PERF_MAXPOOL : PERF_OTHER;
	if (op->kind != NPU_ELEMENTWISE)
		return PERF_OTHER;
	if (op->mode == NPU_ELT_MUL)
		return PERF_MUL;
	return op->mode == NPU_ELT_ADD || op->mode == NPU_ELT_SUB ? PERF_ADD_SUB
								  : PERF_OTHER;
}

/* A ReLU is recognized by a clamp that is narrower than the output's type. */
static enum act_column
activation_of(const struct npu_op *op)
{
	if (op->activation >= NPU_ACT_TANH)
		return ACT_TABLE;
	if (op->ofm.bits > 16)
		return ACT_NONE; /* outputs of 32 bits are not clamped:
				  * ethosu-commands(7) 6.4 */
	int bits = op->ofm.bits;
	int32_t lo = op->ofm.is_signed ? -(1 << (bits - 1)) : 0;
	int32_t hi = (op->ofm.is_signed ? 1 << (bits - 1) : 1 << bits) - 1;
	return op->min > lo || op->max < hi ? ACT_RELU : ACT_NONE;
}

static struct perf_fm
fm_of(const struct perf_machine *m, const struct npu_fm *f)
{
	return (struct perf_fm){
		.shape = f->shape, .bits = f->bits, .nhcwb16 = f->bricks,
		.area = perf_region_area(m->memory, f->region),
	};
}

/*
 * Sets the members that only U85's registers determine, such as those of its output stage
 * (ethosu-timing(7) 21).
 */
static void
describe85(const struct npu_op *op, struct perf_op *out)
{
	static const int in[] = {
		[NPU_ACT85_U8_U8] = 8,	  [NPU_ACT85_S8_S8] = 8,
		[NPU_ACT85_S8_S16] = 8,	  [NPU_ACT85_S8_S32] = 8,
		[NPU_ACT85_S16_S16] = 16, [NPU_ACT85_S16_S32] = 16,
		[NPU_ACT85_TANH] = 16,	  [NPU_ACT85_SIGMOID] = 16,
	};
	bool copies = op->kind == NPU_POOL && op->kernel_h == 1 &&
		      op->kernel_w == 1 &&
		      (op->mode == NPU_POOL_NONE || op->mode == NPU_POOL_SUM);
	out->stage = (struct perf_stage85){
		.bits = op->activation < (int)ARRAY_LEN(in) ? in[op->activation] : 0,
		.divides = op->kind == NPU_ELEMENTWISE && op->mode == NPU_ELT85_DIV,
		.resizes = op->kind == NPU_RESIZE,
		.blends = op->kind == NPU_RESIZE && op->mode == NPU_RESIZE_BILINEAR,
		.moves = op->transpose != NPU_HWC || op->reverse != NPU_FORWARD,
		.turns = op->transpose == NPU_WHC || op->transpose == NPU_WCH ||
			 op->transpose == NPU_CWH || op->reverse == NPU_REVERSE_W,
		.bare = copies && op->ofm_mult == 1 && op->ofm_shift == 0,
		.chained = op->ofm.storage == NPU_CHAINED,
		.from_chain = { op->ifm.storage == NPU_CHAINED,
				op->has_ifm2 && op->ifm2.storage == NPU_CHAINED },
		.no_output = op->acc_kept || !npu_fm_stored(&op->ofm),
	};
	out->stage.clamps = out->activation == ACT_RELU;
	out->activation = op->table.n ? ACT_TABLE : ACT_NONE;
	out->ofm.shape = op->extent;
	out->ublock = op->ublock;
	out->fast_weights = op->fast_weights;
	out->sparse_weights = op->sparse_weights;
	out->weight_bytes = npu_weight_bytes(op);
	if (op->kind == NPU_POOL && op->mode == NPU_POOL_NONE) {
		/* the operation reads only the initial values of its accumulators */
		out->ifm = out->ifm2;
		out->ifm2 = (struct perf_fm){ .bits = 0 };
	}
	if (op->ifm_scalar) {
		out->ifm.area = out->ifm2.area;
		out->ifm.shape = (struct hwc){ .h = 1, .w = 1, .c = 1 };
	}
	if (op->ifm2_scalar)
		out->ifm2.shape = (struct hwc){ .h = 1, .w = 1, .c = 1 };
	if (op->kind == NPU_RESIZE)
		out->ifm.shape.c = op->extent.c;
}

/* Per generation: adds the properties that the common registers do not have. */
static void (*const describe[GENERATIONS])(const struct npu_op *, struct perf_op *) = {
	[GEN_U85] = describe85,
};

void
perf_describe(const struct perf_machine *m, const struct npu_op *op, struct perf_op *out)
{
	*out = (struct perf_op){
		.class = class_of(op), .func = func_of(op),
		.activation = activation_of(op), .upscale = op->upscale,
		.ifm = fm_of(m, &op->ifm), .ofm = fm_of(m, &op->ofm),
		.kernel_h = op->kernel_h, .kernel_w = op->kernel_w,
		.stride_y = op->stride_y, .stride_x = op->stride_x,
		.dilation_y = op->dilation_y, .dilation_x = op->dilation_x,
		.block = op->block, .part_kernel = op->part_kernel,
		.acc40 = op->acc_format == 1,
		.has_bias = op->scales[0].n + op->scales[1].n > 0,
		.weight_bytes = op->weights[0].n + op->weights[1].n,
		.scale_bytes = op->scales[0].n + op->scales[1].n,
		.weight_area = perf_region_area(m->memory, op->weights[0].region),
		.scale_area = perf_region_area(m->memory, op->scales[0].region),
	};
	if (op->has_ifm2)
		out->ifm2 = fm_of(m, &op->ifm2);
	if (op->ifm2_scalar) /* a scalar is in a register; its region has no meaning */
		out->ifm2.area = out->ifm.area;
	if (describe[m->accel->generation])
		describe[m->accel->generation](op, out);
}

struct perf_op
perf_work_of(const struct perf_machine *m, const struct g_op *op, int links, struct g_range rows,
	     struct g_range depth)
{
	struct perf_op p;
	for (int i = 0; i <= links; i++) {
		const struct g_range all = { .hi = op[i].ofm.shape.h }, deep = { .hi = op[i].ofm.shape.c };
		struct perf_op next;
		struct npu_op r;
		emit_record(m->accel, m->memory, &op[i], i ? all : rows, i ? deep : depth, 0, &r);
		if (i < links)
			r.ofm.storage = NPU_CHAINED;
		perf_describe(m, &r, i ? &next : &p);
		const bool added = !i || perf_chain_add(m, &p, &next);
		assert(added);
	}
	return p;
}
