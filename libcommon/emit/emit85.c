/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registers of a kernel on U85: ethosu-commands(7) 22 to 27.  The primitives of the
 * graph are those of the older generations; this file translates them to U85.
 */
#include "emit/regs.h"

#include "stream/op.h"

/* ---- operands ------------------------------------------------------------- */

static int
precision(int type)
{
	return graph_type_bytes(type) >> 1;
}

/* An operand of an elementwise operation, or the IFM: a feature map or the scalar. */
struct operand {
	const struct g_operand *o; /* for a scalar, only its type is used */
	const struct emit_fm *fm;
	int32_t zero;
	bool scalar;
	int chain; /* chain buffer that holds it; -1: none */
};

struct operand_regs {
	enum npu_reg precision, broadcast, zero;
	const struct fm_regs *fm;
};

enum { CHAINED = 2 << 14, NO_STORAGE = 3 << 14, SCALAR = 8 };

static void
put_operand(struct emitter *m, const struct g_op *op, const struct operand *x,
	    const struct operand_regs *r, bool elementwise)
{
	int type = x->o->type;
	int code = graph_type_signed(type) | precision(type) << 2;
	struct hwc s = x->o->shape, out = op->ofm.shape;
	if (x->scalar) {
		emit_reg(m, r->precision, code | NO_STORAGE);
		emit_reg1(m, NPU_OP_SCALAR, (int64_t)(uint32_t)op->scalar);
	} else if (x->chain >= 0) {
		emit_reg(m, r->precision, code | CHAINED);
		emit_reg(m, r->fm->region, x->chain);
	} else {
		emit_reg(m, r->precision,
			 code | (x->o->t->layout == LAYOUT_NHCWB16) << 6);
		emit_tiles(m, r->fm, x->fm);
		emit_strides(m, r->fm, x->fm);
	}
	if (elementwise)
		emit_reg(m, r->broadcast,
			 x->scalar ? SCALAR
				   : (s.h < out.h) | (s.w < out.w) << 1 |
					     (s.c < out.c) << 2);
	emit_reg(m, r->zero, x->zero);
}

static const struct operand_regs first_regs = {
	NPU_IFM_PRECISION, NPU_IFM_BROADCAST, NPU_IFM_ZERO_POINT, &emit_ifm_regs };
static const struct operand_regs second_regs = {
	NPU_IFM2_PRECISION, NPU_IFM2_BROADCAST, NPU_IFM2_ZERO_POINT,
	&emit_ifm2_regs };

/*
 * Writes the operands in the order in which the operation takes them: U85 has no bit that
 * swaps the operands.
 */
static void
put_operands(struct emitter *m, const struct emit_kernel *k)
{
	const struct g_op *op = k->op;
	bool elementwise = op_is_elementwise(op->kind);
	bool binary = op_is_binary(op->kind);
	struct operand a = { .o = &op->ifm, .fm = &k->ifm, .zero = op->ifm_zero,
			     .chain = op->chain == CHAIN_IFM ? k->chain_in : -1 };
	struct operand b = { .o = op->ifm2.t ? &op->ifm2 : &op->ifm,
			     .fm = &k->ifm2, .zero = op->ifm2_zero,
			     .scalar = !op->ifm2.t,
			     .chain = op->chain == CHAIN_IFM2 ? k->chain_in : -1 };
	if (binary && op->reversed) {
		struct operand t = a;
		a = b;
		b = t;
	}
	put_operand(m, op, &a, &first_regs, elementwise);
	emit_reg(m, NPU_IFM_DEPTH_M1, a.o->shape.c - 1);
	emit_reg(m, NPU_IFM_UPSCALE, op->upscale);
	if (binary || op->kind == OP_MATMUL)
		put_operand(m, op, &b, &second_regs, elementwise);
}

/* ---- scales (scales85.c) ------------------------------------------------ */

static void
put_scale(struct emitter *m, enum npu_reg reg, struct scale85 s)
{
	emit_scale_word(m, reg, (uint16_t)(s.shift | s.twice << 6 | s.round << 13),
			s.mult);
}

static void
put_scales(struct emitter *m, const struct g_op *op)
{
	struct scales85 s = emit85_scales(op);
	if (s.operands) {
		put_scale(m, NPU_IFM_SCALE, s.a);
		put_scale(m, NPU_IFM2_SCALE, s.b);
	}
	put_scale(m, NPU_OFM_SCALE, s.ofm);
}

/* ---- RESIZE (ethosu-commands(7) 26.10) -------------------------------------- */

/* Packs the step of one element and that of a block, each as quotient and remainder by up. */
static void
put_step(struct emitter *m, enum npu_reg reg, int32_t up, int32_t down, int32_t block)
{
	int64_t all = (int64_t)(block - 1) * down;
	emit_scale_word(m, reg, (uint16_t)(down / up | all / up << 4),
			(uint32_t)(down % up | all % up << 16));
}

static void
put_resize(struct emitter *m, const struct g_op *op)
{
	struct yx read = op_sampled(op);
	emit_reg(m, NPU_IFM2_ZERO_POINT, 0);
	emit_reg(m, NPU_RESIZE_X_SCALE_N_M1, op->up.x - 1);
	emit_reg(m, NPU_RESIZE_Y_SCALE_N_M1, op->up.y - 1);
	put_step(m, NPU_RESIZE_X, op->up.x, op->down.x, op->block.w);
	put_step(m, NPU_RESIZE_Y, op->up.y, op->down.y, 1);
	emit_reg(m, NPU_RESIZE_X_OFFSET, op->first.hi & 0xfff);
	emit_reg(m, NPU_RESIZE_Y_OFFSET, op->first.lo & 0xfff);
	emit_reg(m, NPU_KERNEL_HEIGHT_M1, read.y - 1);
	emit_reg(m, NPU_KERNEL_WIDTH_M1, read.x - 1);
}

/* ---- output ----------------------------------------------------------------- */

/* U85 adds the zero point to 32-bit results, too; the older generations do not. */
static int32_t
ofm_zero(const struct g_op *op)
{
	bool table = op->act == G_ACT_LUT;
	return graph_type_bytes(op->ofm.type) == 4 && !table ? 0 : op->ofm_zero;
}

static void
put_ofm(struct emitter *m, const struct emit_kernel *k)
{
	/* bits of OFM_PRECISION: ethosu-commands(7) 23.1 */
	static const int orders[] = {
		[ORDER_HCW] = NPU_HCW << 11, [ORDER_REVERSE_H] = NPU_REVERSE_H << 9,
		[ORDER_REVERSE_W] = NPU_REVERSE_W << 9,
		[ORDER_REVERSE_C] = NPU_REVERSE_C << 9,
	};
	const struct g_op *op = k->op;
	struct hwc extent = k->ofm.shape;
	int type = op->ofm.type;
	if (op->order == ORDER_HCW) {
		extent.w = k->ofm.shape.c;
		extent.c = k->ofm.shape.w;
	}
	int how = graph_type_signed(type) | precision(type) << 1 |
		  !op_has_weights(op->kind) << 8 | orders[op->order];
	if (k->chain_out >= 0) {
		emit_reg(m, NPU_OFM_PRECISION, how | CHAINED);
		emit_reg(m, NPU_OFM_REGION, k->chain_out);
	} else {
		emit_reg(m, NPU_OFM_PRECISION,
			 how | (op->ofm.t->layout == LAYOUT_NHCWB16) << 6);
		emit_tiles(m, &emit_ofm_regs, &k->ofm);
		emit_strides(m, &emit_ofm_regs, &k->ofm);
	}
	emit_reg(m, NPU_OFM_HEIGHT_M1, extent.h - 1);
	emit_reg(m, NPU_OFM_WIDTH_M1, extent.w - 1);
	emit_reg(m, NPU_OFM_DEPTH_M1, extent.c - 1);
	emit_reg(m, NPU_OFM_ZERO_POINT, ofm_zero(op));
}

/* Function code of the operation's table. */
static int
table_kind(const struct g_op *op)
{
	return op->act == G_ACT_TANH	   ? NPU_ACT85_TANH
	       : op->act == G_ACT_SIGMOID ? NPU_ACT85_SIGMOID
	       : op->lut->bits == 16
		   ? op->ofm.type == TFL_INT32 ? NPU_ACT85_S16_S32 : NPU_ACT85_S16_S16
	       : op->lut->bits == 32	   ? NPU_ACT85_S8_S32
	       : graph_type_signed(op->ofm.type) ? NPU_ACT85_S8_S8
						 : NPU_ACT85_U8_U8;
}

static void
put_activation(struct emitter *m, const struct g_op *op, int slot)
{
	enum { NO_CLAMP = 1 << 12 };
	bool words = graph_type_bytes(op->ofm.type) == 4;
	int f = words && !op_has_table(op) ? NO_CLAMP : 0;
	if (op_has_table(op)) {
		int unit = lut_bytes(op->lut) / LUT_SLOT_BYTES;
		f = table_kind(op) | slot / unit << 5;
	}
	emit_reg(m, NPU_ACTIVATION, f);
	emit_reg(m, NPU_ACTIVATION_MIN, op->clamp.lo);
	emit_reg(m, NPU_ACTIVATION_MAX, op->clamp.hi);
}

/* Code of a microblock in ACC_FORMAT, by its height and width. */
static int
microblock(struct hwc u)
{
	static const struct hwc of[] = {
		{ .h = 1, .w = 1 }, { .h = 1, .w = 2 }, { .h = 1, .w = 4 },
		{ .h = 2, .w = 2 }, { .h = 2, .w = 4 }, { .h = 4, .w = 4 },
	};
	for (size_t i = 0; i < ARRAY_LEN(of); i++)
		if (of[i].h == u.h && of[i].w == u.w)
			return (int)i;
	return 0;
}

static void
put_block(struct emitter *m, const struct emit_kernel *k)
{
	const struct g_op *op = k->op;
	const struct g_op *lead = k->lead;
	struct block_query q = op_block_query(lead, lead->ofm.shape.h);
	struct hwc u = block_ublock(m->accel, &q);
	/* npu-wenc packs the records of any operation with weights by acc40 */
	bool sums = lead->kind == OP_MATMUL || lead->kind == OP_RESIZE;
	bool wide = lead->acc40 && (op_has_weights(lead->kind) || sums);
	emit_reg(m, NPU_OFM_BLK_HEIGHT_M1, op->block.h - 1);
	emit_reg(m, NPU_OFM_BLK_WIDTH_M1, op->block.w - 1);
	emit_reg(m, NPU_OFM_BLK_DEPTH_M1, op->block.c - 1);
	emit_reg(m, NPU_ACC_FORMAT, wide | microblock(u) << 8);
}

/* ---- weights ------------------------------------------------------------------ */

static bool
put_weights(struct emitter *m, const struct emit_kernel *k)
{
	static const enum npu_reg base[] = { NPU_WEIGHT_BASE, NPU_WEIGHT1_BASE,
					     NPU_WEIGHT2_BASE, NPU_WEIGHT3_BASE };
	static const enum npu_reg length[] = {
		NPU_WEIGHT_LENGTH, NPU_WEIGHT1_LENGTH, NPU_WEIGHT2_LENGTH,
		NPU_WEIGHT3_LENGTH };
	struct emit_piece p;
	emit_reg(m, NPU_WEIGHT_FORMAT, (k->op->sparse != 0) << 4 | (k->op->fast != 0));
	for (int i = 0; i < m->accel->streams; i++) {
		if (i >= emit_streams(m->accel, k->op)) {
			emit_reg1(m, length[i], 0);
			continue;
		}
		if (!emit_find_piece(m, k->step, i, &p))
			return false;
		emit_reg(m, NPU_WEIGHT_REGION, p.region);
		emit_reg1(m, base[i], p.weights.at);
		emit_reg1(m, length[i], p.weights.bytes);
		access_add(k->accesses, p.region, p.weights.at,
			   p.weights.at + p.weights.bytes, false);
		if (i)
			continue;
		emit_reg(m, NPU_SCALE_REGION, p.scale_region);
		emit_reg1(m, NPU_SCALE_BASE, p.scales.at);
		emit_reg1(m, NPU_SCALE_LENGTH, p.scales.bytes);
		access_add(k->accesses, p.scale_region, p.scales.at,
			   p.scales.at + p.scales.bytes, false);
	}
	return true;
}

/* ---- chains (ethosu-commands(7) 29) ------------------------------------------ */

/* The reference compiler writes these registers anew around every chained operation. */
static void
forget_fm_registers(struct emitter *m)
{
	static const struct fm_regs *const all[] = { &emit_ifm_regs, &emit_ifm2_regs,
						     &emit_ofm_regs };
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		const struct fm_regs *r = all[i];
		const enum npu_reg regs[] = {
			r->region, r->base0, r->base0 + 1, r->base0 + 2, r->base0 + 3,
			r->height0, r->height1, r->width0, r->stride_c, r->stride_y,
			r->stride_x };
		emit_forget(m, regs, ARRAY_LEN(regs));
	}
}

/* ---- all registers ------------------------------------------------------------------ */

static const char *
unsupported_reason(const struct g_op *op)
{
	bool large = op->kernel.y > 8 || op->kernel.x > 8;
	if (op->act != G_ACT_CLAMP && (!op->lut))
		return "TANH and LOGISTIC need a table on U85: lut=";
	if (op->kind == OP_AVGPOOL && emit85_divides(op) && large)
		return "averages with padding reach 8x8";
	if (op->ofm.view == VIEW_STRIDED && (op->ofm.stride[0] < 0 || op->ofm.stride[1] < 0))
		return "strides are never negative: order=";
	if (G_HAS(op, G_OP_opa) && op->ifm_round == ROUND_TRUNCATE)
		return "operands are not scaled towards zero";
	return NULL;
}

bool
emit85_registers(struct emitter *m, const struct emit_kernel *k)
{
	const struct g_op *op = k->op;
	const char *why = unsupported_reason(op);
	bool chained = k->chain_in >= 0 || k->chain_out >= 0;
	if (why)
		return graph_err(m->g, op, m->e, "o%d: %s", op->rec.id, why);
	if (chained)
		forget_fm_registers(m);
	put_operands(m, k);
	if (!op_is_elementwise(op->kind))
		emit_pads(m, k);
	if (op->kind == OP_RESIZE)
		put_resize(m, op);
	else if (!op_is_elementwise(op->kind))
		emit_window(m, op);
	put_scales(m, op);
	put_ofm(m, k);
	if (op_has_weights(op->kind) && !put_weights(m, k))
		return false;
	if (op->kind == OP_MATMUL) /* the filters are not encoded */
		emit_reg(m, NPU_WEIGHT_FORMAT, 0);
	put_activation(m, op, k->slot);
	put_block(m, k);
	if (chained)
		forget_fm_registers(m);
	return true;
}

enum npu_opcode
emit85_opcode(const struct g_op *op, int *mode)
{
	enum { FILTERS_IN_IFM2 = 1 };
	if (op->kind == OP_MATMUL) {
		*mode = FILTERS_IN_IFM2;
		return NPU_OP_CONV;
	}
	if (op->kind == OP_RESIZE) {
		bool bilinear = op->sample == SAMPLE_BILINEAR;
		*mode = bilinear ? NPU_RESIZE_BILINEAR : NPU_RESIZE_NEAREST;
		return NPU_OP_RESIZE;
	}
	if (op->kind == OP_ARGMAX) {
		*mode = NPU_POOL_ARGMAX_X;
		return NPU_OP_POOL;
	}
	if (op->kind == OP_REORDER) {
		*mode = NPU_POOL_SUM;
		return NPU_OP_POOL;
	}
	enum npu_opcode code = emit_opcode(op, mode);
	/* an average whose scale includes the division is a sum */
	if (op->kind == OP_AVGPOOL && !emit85_divides(op))
		*mode = NPU_POOL_SUM;
	return code;
}
