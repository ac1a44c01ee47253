/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of a kernel on U55 and U65: ethosu-commands(7) 2 to 6. */
#include "emit/regs.h"

/* Precision code of a type: 0, 1, 2 for 8, 16, 32 bits. */
static int
precision(int type)
{
	return graph_type_bytes(type) >> 1;
}

static int
ifm_precision(const struct g_operand *o, int scale_mode, int round)
{
	return graph_type_signed(o->type) | precision(o->type) << 2 |
	       (o->t->layout == LAYOUT_NHCWB16) << 6 | scale_mode << 8 | round << 14;
}

static void
put_ifm(struct emitter *m, const struct g_op *op, const struct emit_fm *f)
{
	emit_tiles(m, &emit_ifm_regs, f);
	emit_reg(m, NPU_IFM_DEPTH_M1, op->ifm.shape.c - 1);
	emit_strides(m, &emit_ifm_regs, f);
	emit_reg(m, emit_ifm_regs.zero, op->ifm_zero);
	emit_reg(m, NPU_IFM_PRECISION,
		 ifm_precision(&op->ifm, G_HAS(op, G_OP_opa) ? op->scaled : 0,
			       op->ifm_round));
	emit_reg(m, NPU_IFM_UPSCALE, op->upscale);
}

static bool
has_global_scale(const struct g_op *op)
{
	return !op_has_weights(op->kind) && G_HAS(op, G_OP_scale);
}

static void
put_ofm(struct emitter *m, const struct g_op *op, const struct emit_fm *f)
{
	emit_tiles(m, &emit_ofm_regs, f);
	emit_reg(m, NPU_OFM_HEIGHT_M1, f->shape.h - 1);
	emit_reg(m, NPU_OFM_WIDTH_M1, f->shape.w - 1);
	emit_reg(m, NPU_OFM_DEPTH_M1, f->shape.c - 1);
	emit_strides(m, &emit_ofm_regs, f);
	emit_reg(m, emit_ofm_regs.zero, op->ofm_zero);
	emit_reg(m, NPU_OFM_PRECISION,
		 graph_type_signed(op->ofm.type) | precision(op->ofm.type) << 1 |
		     (op->ofm.t->layout == LAYOUT_NHCWB16) << 6 |
		     has_global_scale(op) << 8 | op->round << 14);
}

static bool
put_weights(struct emitter *m, const struct emit_kernel *k)
{
	const struct g_step *s = k->step;
	struct accesses *l = k->accesses;
	struct emit_piece p[2] = { { 0 } };
	for (int core = 0; core < m->accel->cores; core++)
		if (!emit_find_piece(m, s, core, &p[core]))
			return false;
	emit_reg(m, NPU_WEIGHT_REGION, p[0].region);
	emit_reg1(m, NPU_WEIGHT_BASE, p[0].weights.at);
	emit_reg1(m, NPU_WEIGHT_LENGTH, p[0].weights.bytes);
	if (m->accel->cores > 1) {
		emit_reg1(m, NPU_WEIGHT1_BASE, p[1].weights.at);
		emit_reg1(m, NPU_WEIGHT1_LENGTH, p[1].weights.bytes);
	}
	emit_reg(m, NPU_SCALE_REGION, p[0].scale_region);
	emit_reg1(m, NPU_SCALE_BASE, p[0].scales.at);
	emit_reg1(m, NPU_SCALE_LENGTH, p[0].scales.bytes);
	if (m->accel->cores > 1) {
		emit_reg1(m, NPU_SCALE1_BASE, p[1].scales.at);
		emit_reg1(m, NPU_SCALE1_LENGTH, p[1].scales.bytes);
	}
	for (int core = 0; core < m->accel->cores; core++) {
		const struct g_span *v = &p[core].scales, *w = &p[core].weights;
		access_add(l, p[core].scale_region, v->at, v->at + v->bytes, false);
		access_add(l, p[core].region, w->at, w->at + w->bytes, false);
	}
	return true;
}

static void
put_activation(struct emitter *m, const struct g_op *op, int slot)
{
	/* ethosu-commands(7) 3.3: a table with 32-bit results takes an 8-bit index */
	enum { TANH = 3, SIGMOID = 4, TABLE = 16, FORCE_INT8 = 3 << 12 };
	int f = op->act == G_ACT_TANH	   ? TANH
		: op->act == G_ACT_SIGMOID ? SIGMOID
		: op->act == G_ACT_LUT	   ? TABLE + slot
					   : 0;
	if (op->act == G_ACT_LUT && op->lut->bits == 32)
		f |= FORCE_INT8;
	emit_reg(m, NPU_ACTIVATION, f);
	emit_reg(m, NPU_ACTIVATION_MIN, op->clamp.lo);
	emit_reg(m, NPU_ACTIVATION_MAX, op->clamp.hi);
}

static void
put_block(struct emitter *m, const struct g_op *op, const struct shram_layout *l)
{
	emit_reg(m, NPU_OFM_BLK_HEIGHT_M1, op->block.h - 1);
	emit_reg(m, NPU_OFM_BLK_WIDTH_M1, op->block.w - 1);
	emit_reg(m, NPU_OFM_BLK_DEPTH_M1, op->block.c - 1);
	emit_reg(m, NPU_IFM_IB_END, G_HAS(op, G_OP_ib) ? op->ib : l->ib_end);
	emit_reg(m, NPU_AB_START, G_HAS(op, G_OP_ab) ? op->ab : l->ab_start);
	if (op->ifm2.t)
		emit_reg(m, NPU_IFM2_IB_START,
			 G_HAS(op, G_OP_ib2) ? op->ib2 : l->ib2_start);
	emit_reg(m, NPU_ACC_FORMAT, op->acc40 != 0);
}

static void
put_ifm2(struct emitter *m, const struct g_op *op, const struct emit_fm *f)
{
	if (!op->ifm2.t) {
		emit_reg(m, NPU_IFM2_ZERO_POINT, op->ifm2_zero);
		emit_reg(m, NPU_IFM2_PRECISION,
			 graph_type_signed(op->ifm.type) |
			     precision(op->ifm.type) << 2);
		emit_reg(m, NPU_IFM2_BROADCAST, 0x80 | (op->reversed != 0) << 6);
		emit_reg(m, NPU_IFM2_SCALAR, op->scalar);
		return;
	}
	struct hwc s = op->ifm2.shape, o = op->ofm.shape;
	emit_tiles(m, &emit_ifm2_regs, f);
	emit_strides(m, &emit_ifm2_regs, f);
	emit_reg(m, emit_ifm2_regs.zero, op->ifm2_zero);
	emit_reg(m, NPU_IFM2_PRECISION, ifm_precision(&op->ifm2, 0, 0));
	emit_reg(m, NPU_IFM2_BROADCAST,
		 (s.h < o.h) | (s.w < o.w) << 1 | (s.c < o.c) << 2 |
		     (op->reversed != 0) << 6);
}

static void
put_operand_scales(struct emitter *m, const struct g_op *op)
{
	if (G_HAS(op, G_OP_opa)) {
		emit_scale(m, NPU_OPA_SCALE, op->opa);
		emit_reg1(m, NPU_OPB_SCALE, op->opb);
	}
	if (has_global_scale(op))
		emit_scale(m, NPU_OFM_SCALE, op->scale);
}

bool
emit55_registers(struct emitter *m, const struct emit_kernel *k)
{
	const struct g_op *op = k->op;
	bool elementwise = op_is_elementwise(op->kind);
	if (elementwise)
		put_operand_scales(m, op);
	put_ifm(m, op, &k->ifm);
	if (!elementwise)
		emit_pads(m, k);
	put_ofm(m, op, &k->ofm);
	if (!elementwise)
		emit_window(m, op);
	if (op_has_weights(op->kind) && !put_weights(m, k))
		return false;
	put_activation(m, op, k->slot);
	put_block(m, op, k->layout);
	if (op_is_pool(op->kind))
		put_operand_scales(m, op);
	if (op_is_binary(op->kind))
		put_ifm2(m, op, &k->ifm2);
	return true;
}
