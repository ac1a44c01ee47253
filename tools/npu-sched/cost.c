/* SPDX-License-Identifier: Apache-2.0 */
/* Operations in the estimator's terms. */
#include "sched.h"

enum mem_area
sched_area(const struct sched *s, const struct g_tensor *t)
{
	if (tensor_is_const(t) || t->area == PLACE_FLASH)
		return s->memory.const_area;
	return t->area == PLACE_CACHE ? s->memory.cache_area : s->memory.arena_area;
}

static struct perf_map
map_of(const struct sched *s, const struct g_operand *o)
{
	if (!o->t)
		return (struct perf_map){ .bits = 0 };
	return (struct perf_map){
		.shape = o->shape, .bits = 8 * graph_type_bytes(o->type),
		.nhcwb16 = o->t->layout == LAYOUT_NHCWB16,
		.area = sched_area(s, o->t),
	};
}

static enum perf_func
func_of(int kind)
{
	switch (kind) {
	case OP_MUL:
		return PERF_MUL;
	case OP_ADD: case OP_SUB:
		return PERF_ADD_SUB;
	case OP_MAXPOOL:
		return PERF_MAXPOOL;
	default:
		return PERF_OTHER;
	}
}

static bool
clamps(const struct g_op *op)
{
	int bits = 8 * graph_type_bytes(op->ofm.type);
	int64_t lo = graph_type_signed(op->ofm.type) ? -((int64_t)1 << (bits - 1)) : 0;
	int64_t hi = lo + ((int64_t)1 << bits) - 1;
	return bits < 32 && (op->clamp.lo > lo || op->clamp.hi < hi);
}

struct perf_op
sched_perf_op(const struct sched *s, const struct g_op *op, struct hwc block,
	      struct hwc ifm_block)
{
	struct perf_op p = {
		.class = op_block_class(op->kind),
		.func = func_of(op->kind),
		.activation = op->act != G_ACT_CLAMP ? ACT_TABLE
			      : clamps(op)	     ? ACT_RELU
						     : ACT_NONE,
		.upscale = (enum upscale)op->upscale,
		.ifm = map_of(s, &op->ifm), .ifm2 = map_of(s, &op->ifm2),
		.ofm = map_of(s, &op->ofm),
		.kernel_h = op->kernel.y, .kernel_w = op->kernel.x,
		.stride_y = op->stride.y, .stride_x = op->stride.x,
		.dilation_y = op->dilation.y, .dilation_x = op->dilation.x,
		.block = block, .ifm_block = ifm_block,
		.part_kernel = op->traversal == PART_KERNEL,
		.acc40 = op->acc40 != 0,
		.weight_area = s->memory.const_area,
		.scale_area = s->memory.const_area,
	};
	if (G_HAS(op, G_OP_scalar))
		p.ifm2 = (struct perf_map){ .shape = { .h = 1, .w = 1, .c = 1 },
					    .bits = p.ifm.bits };
	if (op->weights) {
		const int32_t *d = op->weights->shape.dim;
		/* before encoding: a byte a weight, which is near the truth */
		p.weight_bytes = (int64_t)d[0] * d[1] * d[2] * d[3];
		p.scale_bytes = round_up_i64(10 * (int64_t)d[0], 16);
		p.has_bias = true;
	}
	return p;
}
