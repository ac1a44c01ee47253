/* SPDX-License-Identifier: Apache-2.0 */
/* Describes an operation of a graph in the estimator's terms. */
#include "perf/work.h"

#include "emit/emit.h"

enum mem_area
perf_area_of(const struct memory_system *m, const struct g_tensor *t)
{
	if (tensor_is_const(t) || t->area == PLACE_FLASH)
		return m->const_area;
	return t->area == PLACE_CACHE ? m->cache_area : m->arena_area;
}

static struct perf_fm
fm_of(const struct memory_system *m, const struct g_operand *o)
{
	if (!o->t)
		return (struct perf_fm){ .bits = 0 };
	return (struct perf_fm){
		.shape = o->shape, .bits = 8 * graph_type_bytes(o->type),
		.nhcwb16 = o->t->layout == LAYOUT_NHCWB16,
		.area = perf_area_of(m, o->t),
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

/* Rows or columns of the IFM that `ofm` rows or columns of the OFM read, without padding. */
static int32_t
extent(int32_t ofm, int stride, int kernel, int padding, bool upscaled)
{
	int32_t n = (ofm - 1) * stride + kernel - padding;
	return upscaled ? (n + 1) / 2 : n;
}

bool
perf_takes_ifm2_first(const struct g_op *op)
{
	return op_is_binary(op->kind) && op->reversed;
}

/* U85: puts the operands in the order in which they are read, and describes further work of the
 * output stage. */
static void
describe85(const struct g_op *op, struct perf_op *p)
{
	if (perf_takes_ifm2_first(op)) {
		struct perf_fm first = p->ifm2;
		p->ifm2 = p->ifm;
		p->ifm = first;
	}
	p->stage.clamps = p->activation == ACT_RELU; /* takes no time on U85 */
	if (p->stage.clamps)
		p->activation = ACT_NONE;
	if (op_has_table(op))
		p->stage.bits = op->lut->bits == 16 ? 16 : 8; /* of the table's input */
	p->stage.divides = op->kind == OP_DIV;
	p->stage.moves = op->kind == OP_REORDER;
	p->stage.turns = op->order == ORDER_REVERSE_W;
	p->stage.bare = op->kind == OP_REORDER && emit85_is_unscaled(op);
}

/* by generation: properties that not all generations have */
static void (*const describe[GENERATIONS])(const struct g_op *, struct perf_op *) = {
	[GEN_U85] = describe85,
};

/* A resize is costed by the work of the output stage only. */
static void
describe_resize(const struct g_op *op, struct perf_op *p)
{
	struct yx read = op_sampled(op);
	p->class = BLOCK_ELEMENTWISE;
	p->stage.resizes = true;
	p->stage.blends = op->sample == SAMPLE_BILINEAR;
	p->ifm.shape.h = read.y;
	p->ifm.shape.w = read.x;
}

struct perf_op
perf_work_of(const struct perf_machine *m, const struct g_op *op, struct g_range rows,
	     struct g_range depth)
{
	struct perf_op p = {
		.class = op_block_class(op->kind),
		.func = func_of(op->kind),
		.activation = op->act != G_ACT_CLAMP ? ACT_TABLE
			      : clamps(op)	     ? ACT_RELU
						     : ACT_NONE,
		.upscale = (enum upscale)op->upscale,
		.ifm = fm_of(m->memory, &op->ifm), .ifm2 = fm_of(m->memory, &op->ifm2),
		.ofm = fm_of(m->memory, &op->ofm),
		.kernel_h = op->kernel.y, .kernel_w = op->kernel.x,
		.stride_y = op->stride.y, .stride_x = op->stride.x,
		.dilation_y = op->dilation.y, .dilation_x = op->dilation.x,
		.part_kernel = op->traversal == PART_KERNEL,
		.acc40 = op->acc40 != 0, .sparse_weights = op->sparse != 0,
		.fast_weights = op->fast != 0,
	};
	struct emit_rows r = emit_ifm_rows(op, rows);
	p.ofm.shape.h = (int32_t)(rows.hi - rows.lo);
	p.ofm.shape.c = (int32_t)(depth.hi - depth.lo);
	if (op->kind == OP_REORDER) {
		p.ofm.shape.w = op_extent(op).w;
		p.ofm.shape.c = op_extent(op).c;
	}
	if (op_is_elementwise(op->kind)) {
		p.ifm.shape = p.ofm.shape;
	} else {
		struct yx size = op_dilated(op);
		bool up = op->upscale != UPSCALE_NONE;
		p.ifm.shape.h = extent(p.ofm.shape.h, op->stride.y, size.y,
				       r.pad_top + r.pad_bottom, up);
		p.ifm.shape.w = extent(p.ofm.shape.w, op->stride.x, size.x,
				       op->pad.left + op->pad.right, up);
	}
	if (op->kind == OP_DEPTHWISE)
		p.ifm.shape.c = p.ofm.shape.c;
	if (op->kind == OP_RESIZE)
		describe_resize(op, &p);
	if (op->ifm2.t && p.ifm2.shape.h > 1)
		p.ifm2.shape.h = p.ofm.shape.h;
	if (G_HAS(op, G_OP_scalar))
		p.ifm2 = (struct perf_fm){ .shape = { .h = 1, .w = 1, .c = 1 },
					    .bits = p.ifm.bits,
					    .area = p.ifm.area };
	if (describe[m->accel->generation])
		describe[m->accel->generation](op, &p);
	return p;
}
