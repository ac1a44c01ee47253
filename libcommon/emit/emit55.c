/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of a kernel on U55 and U65: ethosu-commands(7) 2 to 6. */
#include "emit/regs.h"

static int
ifm_precision(const struct npu_fm *f)
{
	return f->is_signed | emit_precision(f) << 2 | f->bricks << 6;
}

static void
put_scales(struct emitter *m, const struct npu_op *r)
{
	bool sums = r->kind == NPU_ELEMENTWISE &&
		    (r->mode == NPU_ELT_ADD || r->mode == NPU_ELT_SUB);
	if (sums) { /* a multiplier may be 0 */
		emit_scale_word(m, NPU_OPA_SCALE, (uint16_t)r->opa_shift, r->opa_mult);
		emit_reg1(m, NPU_OPB_SCALE, r->opb_mult);
	}
	if (r->global_scale)
		emit_scale_word(m, NPU_OFM_SCALE, (uint16_t)r->ofm_shift, r->ofm_mult);
}

void
emit55_registers(struct emitter *m, const struct npu_op *r)
{
	enum { SCALAR = 0x80 };
	const bool elementwise = r->kind == NPU_ELEMENTWISE;
	if (elementwise)
		put_scales(m, r);
	emit_tiles(m, &emit_ifm_regs, &r->ifm);
	emit_reg(m, NPU_IFM_DEPTH_M1, r->ifm.shape.c - 1);
	emit_strides(m, &emit_ifm_regs, &r->ifm);
	emit_reg(m, emit_ifm_regs.zero, r->ifm.zero);
	emit_reg(m, NPU_IFM_PRECISION,
		 ifm_precision(&r->ifm) | r->operand_scale << 8 | (int)r->ifm_rounding << 14);
	emit_reg(m, NPU_IFM_UPSCALE, (int)r->upscale);
	if (!elementwise)
		emit_pads(m, r);

	const struct npu_fm *f = &r->ofm;
	emit_tiles(m, &emit_ofm_regs, f);
	emit_reg(m, NPU_OFM_HEIGHT_M1, f->shape.h - 1);
	emit_reg(m, NPU_OFM_WIDTH_M1, f->shape.w - 1);
	emit_reg(m, NPU_OFM_DEPTH_M1, f->shape.c - 1);
	emit_strides(m, &emit_ofm_regs, f);
	emit_reg(m, emit_ofm_regs.zero, f->zero);
	emit_reg(m, NPU_OFM_PRECISION,
		 f->is_signed | emit_precision(f) << 1 | f->bricks << 6 | r->global_scale << 8 |
		     (int)r->rounding << 14);
	if (!elementwise)
		emit_window(m, r);

	if (r->kind == NPU_CONV || r->kind == NPU_DEPTHWISE) {
		const struct npu_range *w = r->weights, *v = r->scales;
		emit_reg(m, NPU_WEIGHT_REGION, w[0].region);
		emit_reg1(m, NPU_WEIGHT_BASE, w[0].at);
		emit_reg1(m, NPU_WEIGHT_LENGTH, w[0].n);
		if (r->cores > 1) {
			emit_reg1(m, NPU_WEIGHT1_BASE, w[1].at);
			emit_reg1(m, NPU_WEIGHT1_LENGTH, w[1].n);
		}
		emit_reg(m, NPU_SCALE_REGION, v[0].region);
		emit_reg1(m, NPU_SCALE_BASE, v[0].at);
		emit_reg1(m, NPU_SCALE_LENGTH, v[0].n);
		if (r->cores > 1) {
			emit_reg1(m, NPU_SCALE1_BASE, v[1].at);
			emit_reg1(m, NPU_SCALE1_LENGTH, v[1].n);
		}
	}

	emit_reg(m, NPU_ACTIVATION, r->activation | r->clip_range << 12);
	emit_reg(m, NPU_ACTIVATION_MIN, r->min);
	emit_reg(m, NPU_ACTIVATION_MAX, r->max);
	emit_block(m, r);
	emit_reg(m, NPU_IFM_IB_END, r->ib_end);
	emit_reg(m, NPU_AB_START, r->ab_start);
	if (r->has_ifm2 && !r->ifm2_scalar)
		emit_reg(m, NPU_IFM2_IB_START, r->ib2_start);
	emit_reg(m, NPU_ACC_FORMAT, r->acc_format);
	if (r->kind == NPU_POOL)
		put_scales(m, r);

	const struct npu_axes b = r->ifm2_broadcast;
	const int order = r->ifm2_first << 6;
	if (r->has_ifm2 && r->ifm2_scalar) {
		emit_reg(m, NPU_IFM2_ZERO_POINT, r->ifm2.zero);
		emit_reg(m, NPU_IFM2_PRECISION, ifm_precision(&r->ifm2));
		emit_reg(m, NPU_IFM2_BROADCAST, SCALAR | order);
		emit_reg(m, NPU_IFM2_SCALAR, r->scalar);
	} else if (r->has_ifm2) {
		emit_tiles(m, &emit_ifm2_regs, &r->ifm2);
		emit_strides(m, &emit_ifm2_regs, &r->ifm2);
		emit_reg(m, emit_ifm2_regs.zero, r->ifm2.zero);
		emit_reg(m, NPU_IFM2_PRECISION, ifm_precision(&r->ifm2));
		emit_reg(m, NPU_IFM2_BROADCAST, b.h | b.w << 1 | b.c << 2 | order);
	}
}
