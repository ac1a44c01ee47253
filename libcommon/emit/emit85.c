/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of a kernel on U85: ethosu-commands(7) 22 to 27. */
#include "emit/regs.h"

/* ---- operands ------------------------------------------------------------- */

enum { CHAINED = 2 << 14, NO_STORAGE = 3 << 14 };

struct operand_regs {
	enum npu_reg precision, broadcast, zero;
	const struct fm_regs *fm;
};

static void
put_operand(struct emitter *m, const struct npu_op *r, const struct npu_fm *f, struct npu_axes b,
	    const struct operand_regs *regs)
{
	enum { SCALAR = 8 };
	const int code = f->is_signed | emit_precision(f) << 2;
	const bool scalar = f->storage == NPU_STORED_NONE;
	if (scalar) {
		emit_reg(m, regs->precision, code | NO_STORAGE);
		emit_reg1(m, NPU_OP_SCALAR, (int64_t)(uint32_t)r->scalar);
	} else if (f->storage == NPU_CHAINED) {
		emit_reg(m, regs->precision, code | CHAINED);
		emit_reg(m, regs->fm->region, f->chain);
	} else {
		emit_reg(m, regs->precision, code | f->bricks << 6);
		emit_tiles(m, regs->fm, f);
		emit_strides(m, regs->fm, f);
	}
	if (r->kind == NPU_ELEMENTWISE)
		emit_reg(m, regs->broadcast, scalar ? SCALAR : b.h | b.w << 1 | b.c << 2);
	emit_reg(m, regs->zero, f->zero);
}

/* ---- scales ----------------------------------------------------------------- */

static void
put_scale(struct emitter *m, enum npu_reg reg, uint32_t mult, int shift, int twice,
	  enum npu_rounding rounding)
{
	static const int code[] = {
		[NPU_ROUND_DBL] = 0, [NPU_ROUND_NATURAL] = 1, [NPU_ROUND_DBL_ASYMMETRIC] = 2,
		[NPU_ROUND_SYMMETRIC] = 3, [NPU_ROUND_TRUNCATE] = 4,
		[NPU_ROUND_TRUNCATE_LOWER] = 5,
	};
	emit_scale_word(m, reg, (uint16_t)(shift | twice << 6 | code[rounding] << 13), mult);
}

/* ---- RESIZE (ethosu-commands(7) 26.10) -------------------------------------- */

/* Packs the step of one element and that of a block, each as quotient and remainder by n. */
static void
put_step(struct emitter *m, enum npu_reg reg, struct npu_resize_axis x, int32_t block)
{
	int64_t all = (int64_t)(block - 1) * x.d;
	emit_scale_word(m, reg, (uint16_t)(x.d / x.n | all / x.n << 4),
			(uint32_t)(x.d % x.n | all % x.n << 16));
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
		for (size_t k = 0; k < ARRAY_LEN(regs); k++)
			m->written[regs[k]] = false; /* the next write is emitted */
	}
}

/* ---- all registers ------------------------------------------------------------------ */

const char *
emit85_fault(const struct g_op *op)
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

void
emit85_registers(struct emitter *m, const struct npu_op *r)
{
	static const struct operand_regs first = {
		NPU_IFM_PRECISION, NPU_IFM_BROADCAST, NPU_IFM_ZERO_POINT, &emit_ifm_regs };
	static const struct operand_regs second = {
		NPU_IFM2_PRECISION, NPU_IFM2_BROADCAST, NPU_IFM2_ZERO_POINT, &emit_ifm2_regs };
	static const enum npu_reg base[] = { NPU_WEIGHT_BASE, NPU_WEIGHT1_BASE,
					     NPU_WEIGHT2_BASE, NPU_WEIGHT3_BASE };
	static const enum npu_reg length[] = {
		NPU_WEIGHT_LENGTH, NPU_WEIGHT1_LENGTH, NPU_WEIGHT2_LENGTH,
		NPU_WEIGHT3_LENGTH };
	static const struct hwc ublocks[] = { /* by their code in ACC_FORMAT */
		{ .h = 1, .w = 1 }, { .h = 1, .w = 2 }, { .h = 1, .w = 4 },
		{ .h = 2, .w = 2 }, { .h = 2, .w = 4 }, { .h = 4, .w = 4 },
	};
	const bool chained = r->ifm.storage == NPU_CHAINED || r->ifm2.storage == NPU_CHAINED ||
			     r->ofm.storage == NPU_CHAINED;
	if (chained)
		forget_fm_registers(m);

	put_operand(m, r, &r->ifm, r->ifm_broadcast, &first);
	emit_reg(m, NPU_IFM_DEPTH_M1, (r->ifm_scalar ? r->extent.c : r->ifm.shape.c) - 1);
	emit_reg(m, NPU_IFM_UPSCALE, (int)r->upscale);
	if (r->has_ifm2)
		put_operand(m, r, &r->ifm2, r->ifm2_broadcast, &second);
	if (r->kind != NPU_ELEMENTWISE)
		emit_pads(m, r);
	if (r->kind == NPU_RESIZE) { /* ethosu-commands(7) 26.10 */
		emit_reg(m, NPU_IFM2_ZERO_POINT, 0);
		emit_reg(m, NPU_RESIZE_X_SCALE_N_M1, r->resize_x.n - 1);
		emit_reg(m, NPU_RESIZE_Y_SCALE_N_M1, r->resize_y.n - 1);
		put_step(m, NPU_RESIZE_X, r->resize_x, r->block.w);
		put_step(m, NPU_RESIZE_Y, r->resize_y, 1);
		emit_reg(m, NPU_RESIZE_X_OFFSET, r->resize_x.offset & 0xfff);
		emit_reg(m, NPU_RESIZE_Y_OFFSET, r->resize_y.offset & 0xfff);
		emit_reg(m, NPU_KERNEL_HEIGHT_M1, r->ifm.shape.h - 1);
		emit_reg(m, NPU_KERNEL_WIDTH_M1, r->ifm.shape.w - 1);
	} else if (r->kind != NPU_ELEMENTWISE) {
		emit_window(m, r);
	}

	if (r->kind == NPU_ELEMENTWISE) {
		put_scale(m, NPU_IFM_SCALE, r->opa_mult, r->opa_shift, r->opa_double,
			  r->ifm_rounding);
		put_scale(m, NPU_IFM2_SCALE, r->opb_mult, r->opb_shift, r->opb_double,
			  r->ifm2_rounding);
	}
	put_scale(m, NPU_OFM_SCALE, r->ofm_mult, r->ofm_shift, r->ofm_double, r->rounding);

	const struct npu_fm *f = &r->ofm;
	/* bits of OFM_PRECISION: ethosu-commands(7) 23.1 */
	const int how = f->is_signed | emit_precision(f) << 1 | r->global_scale << 8 |
			(int)r->reverse << 9 | (int)r->transpose << 11;
	if (f->storage == NPU_CHAINED) {
		emit_reg(m, NPU_OFM_PRECISION, how | CHAINED);
		emit_reg(m, NPU_OFM_REGION, f->chain);
	} else {
		emit_reg(m, NPU_OFM_PRECISION, how | f->bricks << 6);
		emit_tiles(m, &emit_ofm_regs, f);
		emit_strides(m, &emit_ofm_regs, f);
	}
	emit_reg(m, NPU_OFM_HEIGHT_M1, r->extent.h - 1);
	emit_reg(m, NPU_OFM_WIDTH_M1, r->extent.w - 1);
	emit_reg(m, NPU_OFM_DEPTH_M1, r->extent.c - 1);
	emit_reg(m, NPU_OFM_ZERO_POINT, f->zero);

	if (r->kind == NPU_CONV || r->kind == NPU_DEPTHWISE) {
		/* with weights_ifm2, the filters are not encoded */
		const int n = r->weights_ifm2 ? 0 : m->accel->streams;
		emit_reg(m, NPU_WEIGHT_FORMAT, r->sparse_weights << 4 | r->fast_weights);
		for (int i = 0; i < n; i++) {
			if (i && r->fast_weights) {
				emit_reg1(m, length[i], 0);
				continue;
			}
			emit_reg(m, NPU_WEIGHT_REGION, r->weights[i].region);
			emit_reg1(m, base[i], r->weights[i].at);
			emit_reg1(m, length[i], r->weights[i].n);
			if (i)
				continue;
			emit_reg(m, NPU_SCALE_REGION, r->scales[0].region);
			emit_reg1(m, NPU_SCALE_BASE, r->scales[0].at);
			emit_reg1(m, NPU_SCALE_LENGTH, r->scales[0].n);
		}
	}

	const int number = r->table.n ? (int)(r->table.at / r->table.n) : 0;
	emit_reg(m, NPU_ACTIVATION, r->activation | number << 5 | r->clip_range << 12);
	emit_reg(m, NPU_ACTIVATION_MIN, r->min);
	emit_reg(m, NPU_ACTIVATION_MAX, r->max);
	emit_block(m, r);
	int code = 0;
	for (int i = 0; i < (int)ARRAY_LEN(ublocks); i++)
		if (ublocks[i].h == r->ublock.h && ublocks[i].w == r->ublock.w)
			code = i;
	emit_reg(m, NPU_ACC_FORMAT, r->acc_format | code << 8);
	if (chained)
		forget_fm_registers(m);
}
