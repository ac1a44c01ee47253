/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of a kernel: an operation of the graph as the operation of the NPU that a decoder
 * will read from its stream.  The registers and the estimated cycles follow from the record.
 */
#include "emit/regs.h"

#include "graph/facts.h"

/* ---- feature maps ---------------------------------------------------------------- */

static struct npu_fm
fm_of(const struct memory_system *memory, const struct g_operand *o, struct hwc shape,
      int32_t zero, bool chained)
{
	return (struct npu_fm){
		.region = emit_region_of(memory, o->t),
		.shape = shape, .zero = zero, .bits = 8 * graph_type_bytes(o->type),
		.is_signed = graph_type_signed(o->type),
		.bricks = !chained && o->t->layout == LAYOUT_NHCWB16,
		.storage = chained ? NPU_CHAINED : NPU_TILES,
	};
}

static struct npu_axes
broadcast_axes(const struct g_operand *o, const struct g_op *op)
{
	const struct hwc all = op->ofm.shape, s = o->shape;
	return (struct npu_axes){ .h = s.h < all.h, .w = s.w < all.w, .c = s.c < all.c };
}

static struct hwc
broadcast_shape(struct hwc s, struct npu_axes axes)
{
	return (struct hwc){ .h = axes.h ? 1 : s.h, .w = axes.w ? 1 : s.w,
			     .c = axes.c ? 1 : s.c };
}

/* ---- U55 and U65 ------------------------------------------------------------------- */

static void
finish55(const struct g_op *op, int slot, struct npu_op *r)
{
	const bool sums = op->kind == OP_ADD || op->kind == OP_SUB;
	r->ifm2_first = op_is_binary(op->kind) && op->reversed;
	r->global_scale = !op_has_weights(op->kind) && G_HAS(op, G_OP_scale);
	r->rounding = (enum npu_rounding)op->round;
	r->ifm_rounding = (enum npu_rounding)op->ifm_round;
	r->acc_format = op->acc40 != 0;
	if (r->global_scale) {
		r->ofm_mult = op->scale.mult;
		r->ofm_shift = op->scale.shift;
	}
	if (G_HAS(op, G_OP_opa))
		r->operand_scale = op->scaled;
	if (sums && G_HAS(op, G_OP_opa)) {
		r->opa_mult = op->opa.mult;
		r->opa_shift = op->opa.shift;
		r->opb_mult = (uint32_t)op->opb;
	}
	if (op->act != G_ACT_LUT) {
		r->activation = op->act == G_ACT_TANH	   ? NPU_ACT_TANH
				: op->act == G_ACT_SIGMOID ? NPU_ACT_SIGMOID
							   : NPU_ACT_NONE;
		return;
	}
	/* ethosu-commands(7) 3.3: a table with 32-bit results takes an 8-bit index */
	enum { FORCE_INT8 = 3 };
	r->activation = NPU_ACT_TABLE0 + slot;
	r->clip_range = op->lut->bits == 32 ? FORCE_INT8 : 0;
	r->table = (struct npu_range){ .at = slot * LUT_SLOT_BYTES, .n = lut_bytes(op->lut) };
}

/* ---- U85 ----------------------------------------------------------------------------- */

static void
finish85(const struct g_op *op, int slot, struct npu_op *r)
{
	static const enum npu_reverse reverse[] = {
		[ORDER_REVERSE_H] = NPU_REVERSE_H, [ORDER_REVERSE_W] = NPU_REVERSE_W,
		[ORDER_REVERSE_C] = NPU_REVERSE_C,
	};
	const bool sums = op->kind == OP_MATMUL || op->kind == OP_RESIZE;
	const bool weights = op_has_weights(op->kind);
	const struct scales85 s = emit85_scales(op);
	r->global_scale = !weights;
	r->ofm_mult = s.ofm.mult;
	r->ofm_shift = s.ofm.shift;
	r->ofm_double = s.ofm.twice;
	r->rounding = s.ofm.round;
	if (s.operands) {
		r->opa_mult = s.a.mult;
		r->opa_shift = s.a.shift;
		r->opa_double = s.a.twice;
		r->ifm_rounding = s.a.round;
		r->opb_mult = s.b.mult;
		r->opb_shift = s.b.shift;
		r->opb_double = s.b.twice;
		r->ifm2_rounding = s.b.round;
	}
	if (op->order == ORDER_HCW)
		r->transpose = NPU_HCW;
	else
		r->reverse = reverse[op->order];
	/* U85 adds the zero point to 32-bit results, too; the older generations do not */
	if (r->ofm.bits == 32 && op->act != G_ACT_LUT)
		r->ofm.zero = 0;
	/* npu-wenc packs the records of any operation with weights by acc40 */
	r->acc_format = op->acc40 && (weights || sums);
	r->fast_weights = weights && op->fast;
	r->sparse_weights = weights && op->sparse;
	/* an average whose scale includes the division is a sum */
	if (op->kind == OP_AVGPOOL && !emit85_divides(op))
		r->mode = NPU_POOL_SUM;
	/* no bit swaps the operands: they are in the order in which the operation takes them */
	if (op_is_binary(op->kind) && op->reversed) {
		const struct npu_fm first = r->ifm2;
		const struct npu_axes axes = r->ifm2_broadcast;
		r->ifm2 = r->ifm;
		r->ifm2_broadcast = r->ifm_broadcast;
		r->ifm = first;
		r->ifm_broadcast = axes;
		r->ifm_scalar = r->ifm2_scalar;
		r->ifm2_scalar = false;
	}
	if (r->ifm_scalar)
		r->ifm.storage = NPU_STORED_NONE;
	if (r->ifm2_scalar)
		r->ifm2.storage = NPU_STORED_NONE;
	if (op_has_table(op)) {
		enum npu_act85 kind = op->act == G_ACT_TANH ? NPU_ACT85_TANH : NPU_ACT85_SIGMOID;
		if (op->act == G_ACT_LUT && op->lut->bits == 16)
			kind = op->ofm.type == TFL_INT32 ? NPU_ACT85_S16_S32 : NPU_ACT85_S16_S16;
		else if (op->act == G_ACT_LUT && op->lut->bits == 32)
			kind = NPU_ACT85_S8_S32;
		else if (op->act == G_ACT_LUT)
			kind = graph_type_signed(op->ofm.type) ? NPU_ACT85_S8_S8 : NPU_ACT85_U8_U8;
		r->activation = (int)kind;
		r->table = (struct npu_range){ .n = lut_bytes(op->lut),
					       .at = slot * LUT_SLOT_BYTES };
	} else if (r->ofm.bits == 32) {
		r->clip_range = 1; /* no clamp */
	}
}

/* ---- all --------------------------------------------------------------------------------- */

static void (*const finish[GENERATIONS])(const struct g_op *op, int slot, struct npu_op *r) = {
	[GEN_U55] = finish55, [GEN_U65] = finish55, [GEN_U85] = finish85,
};

static const struct {
	enum npu_op_kind kind;
	int mode;
} kinds[OP_KINDS] = {
	[OP_CONV] = { NPU_CONV, 0 }, [OP_FC] = { NPU_CONV, 0 }, [OP_MATMUL] = { NPU_CONV, 0 },
	[OP_DEPTHWISE] = { NPU_DEPTHWISE, 0 }, [OP_RESIZE] = { NPU_RESIZE, 0 },
#define POOL(op, mode) [OP_##op] = { NPU_POOL, NPU_POOL_##mode }
	POOL(MAXPOOL, MAX), POOL(AVGPOOL, AVERAGE), POOL(REDUCE_SUM, REDUCE_SUM),
	POOL(REORDER, SUM), POOL(ARGMAX, ARGMAX_X),
#define ELT(op, mode) [OP_##op] = { NPU_ELEMENTWISE, NPU_##mode }
	ELT(MUL, ELT_MUL), ELT(ADD, ELT_ADD), ELT(SUB, ELT_SUB), ELT(MIN, ELT_MIN),
	ELT(MAX, ELT_MAX), ELT(LRELU, ELT_LRELU), ELT(ABS, ELT_ABS), ELT(CLZ, ELT_CLZ),
	ELT(SHR, ELT_SHR), ELT(SHL, ELT_SHL), ELT(DIV, ELT85_DIV), ELT(EQUAL, ELT85_EQ),
	ELT(UNEQUAL, ELT85_NE), ELT(GREATER, ELT85_GT), ELT(NOT_LESS, ELT85_GE),
	ELT(AND, ELT85_AND), ELT(OR, ELT85_OR), ELT(AND_NOT, ELT85_AND_NOT),
	ELT(XOR, ELT85_XOR), ELT(LSR, ELT85_LSR),
};

void
emit_record(const struct accel *accel, const struct memory_system *memory, const struct g_op *op,
	    struct g_range rows, struct g_range depth, int slot, struct npu_op *r)
{
	/* the results of a reorder are never cut in depth */
	const bool cut = op->kind != OP_REORDER;
	const struct hwc stored = {
		.h = (int32_t)(rows.hi - rows.lo), .w = op->ofm.shape.w,
		.c = cut ? (int32_t)(depth.hi - depth.lo) : op->ofm.shape.c };
	*r = (struct npu_op){ .kind = kinds[op->kind].kind, .mode = kinds[op->kind].mode,
			      .index = -1, .cores = accel->cores, .extent = stored,
			      .kernel_h = 1, .kernel_w = 1, .dilated_h = 1, .dilated_w = 1,
			      .stride_y = 1, .stride_x = 1, .dilation_y = 1, .dilation_x = 1,
			      .upscale = (enum upscale)op->upscale,
			      .weights_ifm2 = op->kind == OP_MATMUL,
			      .min = (int32_t)op->clamp.lo, .max = (int32_t)op->clamp.hi,
			      .block = op->block };
	if (op->order == ORDER_HCW) {
		r->extent.w = stored.c;
		r->extent.c = stored.w;
	}
	r->ofm = fm_of(memory, &op->ofm, stored, op->ofm_zero, false);
	r->ifm = fm_of(memory, &op->ifm, r->extent, op->ifm_zero, op->chain == CHAIN_IFM);
	if (r->kind == NPU_ELEMENTWISE) {
		r->ifm_up_h = r->extent.h;
		r->ifm_up_w = r->extent.w;
		r->ifm_broadcast = broadcast_axes(&op->ifm, op);
		r->ifm.shape = broadcast_shape(r->extent, r->ifm_broadcast);
	} else if (r->kind == NPU_RESIZE) {
		const struct yx read = op_sampled(op);
		r->mode = op->sample == SAMPLE_BILINEAR ? NPU_RESIZE_BILINEAR : NPU_RESIZE_NEAREST;
		r->ifm_up_h = read.y;
		r->ifm_up_w = read.x;
		r->ifm.shape = (struct hwc){ .h = read.y, .w = read.x, .c = op->ifm.shape.c };
		r->resize_y = (struct npu_resize_axis){ .n = op->up.y, .d = op->down.y,
							.offset = (int32_t)op->first.lo };
		r->resize_x = (struct npu_resize_axis){ .n = op->up.x, .d = op->down.x,
							.offset = (int32_t)op->first.hi };
	} else {
		const struct emit_rows in = emit_ifm_rows(op, rows);
		const struct yx k = op_dilated(op);
		const bool up = op->upscale != UPSCALE_NONE;
		r->kernel_h = op->kernel.y;
		r->kernel_w = op->kernel.x;
		r->dilated_h = k.y;
		r->dilated_w = k.x;
		r->stride_y = op->stride.y;
		r->stride_x = op->stride.x;
		r->dilation_y = op->dilation.y;
		r->dilation_x = op->dilation.x;
		r->part_kernel = op->traversal == PART_KERNEL;
		r->pad_top = in.pad_top;
		r->pad_left = op->pad.left;
		r->pad_bottom = in.pad_bottom;
		r->pad_right = op->pad.right;
		/*
		 * the rows and columns that are read, without padding, follow from those of the
		 * OFM: ethosu-memory(7) 5.4
		 */
		r->ifm_up_h = (r->extent.h - 1) * r->stride_y + k.y - (r->pad_top + r->pad_bottom);
		r->ifm_up_w = (r->extent.w - 1) * r->stride_x + k.x - (r->pad_left + r->pad_right);
		r->ifm.shape.h = (int32_t)(up ? (r->ifm_up_h + 1) / 2 : r->ifm_up_h);
		r->ifm.shape.w = (int32_t)(up ? (r->ifm_up_w + 1) / 2 : r->ifm_up_w);
		r->ifm.shape.c = op->kind == OP_DEPTHWISE ? r->extent.c : op->ifm.shape.c;
	}
	if (op->kind == OP_MATMUL) {
		const struct hwc filters = { .h = 1, .w = r->extent.c, .c = r->ifm.shape.c };
		r->has_ifm2 = true;
		r->ifm2 = fm_of(memory, &op->ifm2, filters, op->ifm2_zero,
				op->chain == CHAIN_IFM2);
	} else if (op_is_binary(op->kind)) {
		r->has_ifm2 = true;
		if (op->ifm2.t) {
			r->ifm2_broadcast = broadcast_axes(&op->ifm2, op);
			r->ifm2 = fm_of(memory, &op->ifm2, r->extent, op->ifm2_zero,
					op->chain == CHAIN_IFM2);
		} else {
			r->ifm2 = (struct npu_fm){ .zero = op->ifm2_zero, .bits = r->ifm.bits,
						   .is_signed = r->ifm.is_signed };
			r->ifm2_scalar = true;
			r->scalar = op->scalar;
			r->ifm2_broadcast = (struct npu_axes){ .h = true, .w = true, .c = true };
		}
		r->ifm2.shape = broadcast_shape(r->extent, r->ifm2_broadcast);
	}
	finish[accel->generation](op, slot, r);
	r->param = r->weights_ifm2 ? 1 : r->mode;
}
