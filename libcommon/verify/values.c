/* SPDX-License-Identifier: Apache-2.0 */
/* Register state at an operation: rules 7 to 21. */
#include "verify/rules.h"

#include "target/accel.h"

#include <inttypes.h>

bool
check_written_registers(struct checker *c)
{
	for (int i = 0; i < c->op.n_missing; i++)
		ERROR(c, 7, "uses register %s, which nothing has written",
		      npu_registers[c->op.missing[i]].name);
	return !c->op.n_missing;
}

/* ---- rule 8: enumerations ----------------------------------------------- */

static void
check_enums(struct checker *c)
{
	const struct npu_op *op = &c->op;
	ERROR_IF(op->kind == NPU_POOL && is_undefined(c, NPU_FIELD_POOL_mode, op->mode), c, 8,
		 "pooling mode %d is not defined", op->mode);
	ERROR_IF(op->kind == NPU_ELEMENTWISE &&
		 is_undefined(c, NPU_FIELD_ELEMENTWISE_mode, op->mode), c, 8,
		 "elementwise mode %d is not defined", op->mode);
	ERROR_IF(op->ifm.bits > 32 || op->ofm.bits > 32, c, 8,
		 "precision code 3 is not defined (IFM %d, OFM %d bits)", op->ifm.bits,
		 op->ofm.bits);
	ERROR_IF(op->has_ifm2 && op->ifm2.bits > 32, c, 8,
		 "precision code 3 of IFM2 is not defined");
	ERROR_IF(is_undefined(c, NPU_FIELD_OFM_PRECISION_rounding, (int)op->rounding) ||
		 is_undefined(c, NPU_FIELD_IFM_PRECISION_rounding, (int)op->ifm_rounding), c, 8,
		 "rounding mode %d of the OFM or %d of the IFM is not defined",
		 (int)op->rounding,
		 (int)op->ifm_rounding);
	ERROR_IF(is_undefined(c, NPU_FIELD_IFM_PRECISION_scale_mode, op->operand_scale), c, 8,
		 "IFM scale mode %d is not defined", op->operand_scale);
	ERROR_IF(is_undefined(c, NPU_FIELD_IFM_UPSCALE_mode, (int)op->upscale), c, 8,
		 "upscale mode %d is not defined", (int)op->upscale);
	ERROR_IF(is_undefined(c, NPU_FIELD_ACC_FORMAT_format, op->acc_format), c, 8,
		 "ACC_FORMAT %d is not defined", op->acc_format);
	WARN_IF(op->acc_format == 2, c, 8, "ACC_FORMAT 2 selects floating point");
	ERROR_IF(is_undefined(c, NPU_FIELD_ACTIVATION_function, op->activation), c, 8,
		 "activation %d is not defined", op->activation);
	ERROR_IF(is_undefined(c, NPU_FIELD_ACTIVATION_clip_range, op->clip_range), c, 8,
		 "clip range %d is not defined", op->clip_range);
}

void
check_format(struct checker *c, enum npu_reg precision, const char *role)
{
	/* all precision registers have the format in the bits of IFM_PRECISION */
	unsigned format = npu_field_value(NPU_FIELD_IFM_PRECISION_format,
					  c->accel->generation, c->regs.value[precision]);
	ERROR_IF(is_undefined(c, NPU_FIELD_IFM_PRECISION_format, (int)format), c, 8,
		 "%s: format %u is not defined", role, format);
}

/* ---- rules 11, 12: zero points ------------------------------------------ */

static void
check_zero(struct checker *c, const struct npu_fm *f, const char *role)
{
	if (f->bits == 32) {
		ERROR_IF(f->zero, c, 11, "%s of 32 bits needs zero point 0, not %d",
			 role, f->zero);
	} else if (f->bits == 8) {
		int lo = f->is_signed ? -128 : 0, hi = f->is_signed ? 127 : 255;
		ERROR_IF(f->zero < lo || f->zero > hi, c, 12,
			 "%s: zero point %d is outside %d to %d", role, f->zero,
			 lo, hi);
	}
}

/* ---- rules 13, 14: types ------------------------------------------------ */

static bool
is_u16(const struct npu_fm *f)
{
	return f->bits == 16 && !f->is_signed;
}

static void
check_eltwise_types(struct checker *c)
{
	const struct npu_op *op = &c->op;
	const struct npu_fm *i = &op->ifm, *o = &op->ofm;
	bool word_in = i->bits == 32 && i->is_signed;
	bool word_out = o->bits == 32 && o->is_signed;
	bool ok = !is_u16(i) && !is_u16(o) && (i->bits < 32 || word_in) &&
		  (o->bits < 32 || word_out);
	if (op->mode == NPU_ELT_SHL || op->mode == NPU_ELT_CLZ)
		ok = word_in && word_out;
	else if (op->mode == NPU_ELT_SHR)
		ok = word_in && !is_u16(o);
	ERROR_IF(!ok, c, 13, "the operation cannot have IFM %c%d and OFM %c%d",
		 i->is_signed ? 's' : 'u', i->bits, o->is_signed ? 's' : 'u', o->bits);
	if (!op->has_ifm2)
		return;
	ERROR_IF(op->ifm2.bits != i->bits || op->ifm2.is_signed != i->is_signed,
		 c, 13, "IFM %c%d and IFM2 %c%d must have the same type", i->is_signed ? 's' : 'u',
		 i->bits, op->ifm2.is_signed ? 's' : 'u', op->ifm2.bits);
	if (!op->ifm2_scalar)
		return;
	int lo = op->ifm2.is_signed ? -128 : 0;
	int hi = op->ifm2.is_signed ? 127 : 255;
	ERROR_IF(op->ifm2.bits > 16, c, 14, "a scalar IFM2 cannot have %d bits",
		 op->ifm2.bits);
	ERROR_IF(op->ifm2.bits == 8 && (op->scalar < lo || op->scalar > hi), c,
		 14, "scalar %d is outside %d to %d", op->scalar, lo, hi);
}

/* ---- all rules ---------------------------------------------------------- */

void
check_values(struct checker *c)
{
	const struct npu_op *op = &c->op;
	check_enums(c);
	check_format(c, NPU_IFM_PRECISION, "IFM_PRECISION");
	check_format(c, NPU_OFM_PRECISION, "OFM_PRECISION");
	if (op->has_ifm2)
		check_format(c, NPU_IFM2_PRECISION, "IFM2_PRECISION");

	/* rules 9, 10, 19: activation */
	bool table = npu_uses_table(op), wide = op->ofm.bits == 32;
	bool function = op->activation == NPU_ACT_TANH ||
			op->activation == NPU_ACT_SIGMOID;
	ERROR_IF(!table && op->clip_range, c, 9,
		 "clip range %d needs an activation table", op->clip_range);
	ERROR_IF(table && wide && (op->clip_range != 3 || op->min < -128 ||
				   op->max > 127), c, 9,
		 "a table with a 32-bit OFM needs clip range 3 and a clamp within -128 to "
		 "127, not clip range %d and %d to %d",
		 op->clip_range, op->min, op->max);
	ERROR_IF((table || !wide) && op->min > op->max, c, 10,
		 "clamp minimum %d is above the maximum %d", op->min, op->max);
	ERROR_IF(function && wide, c, 19, "TANH and SIGMOID cannot have a 32-bit OFM");
	WARN_IF(function && op->ofm.bits == 8, c, 19,
		"TANH or SIGMOID with an 8-bit OFM");

	/* rules 11, 12: zero points */
	check_zero(c, &op->ifm, "IFM");
	if (op->has_ifm2)
		check_zero(c, &op->ifm2, "IFM2");
	if (op->ofm.bits < 32) /* a 32-bit OFM ignores it, so that stale values are common */
		check_zero(c, &op->ofm, "OFM");

	/* rules 13, 14: types */
	bool filters = op->kind == NPU_CONV || op->kind == NPU_DEPTHWISE;
	if (op->kind == NPU_ELEMENTWISE)
		check_eltwise_types(c);
	else
		ERROR_IF((filters || (op->kind == NPU_POOL && !is_pool(op, NPU_POOL_REDUCE_SUM))) &&
			 op->ifm.bits > 16, c, 13,
			 "the IFM has %d bits, this operation takes at most 16", op->ifm.bits);

	/* rules 3, 15, 16: scales of the operands */
	bool adds = is_elementwise(op, NPU_ELT_ADD) ||
		    is_elementwise(op, NPU_ELT_SUB);
	ERROR_IF(op->kind == NPU_ELEMENTWISE && op->operand_scale &&
		 (!adds || op->ifm.bits == 32), c, 15,
		 "IFM scale mode %d with a %d-bit IFM: only ADD and SUB of 8 or 16 bits scale "
		 "operands", op->operand_scale,
		 op->ifm.bits);
	ERROR_IF(adds && op->ifm.bits == 32 &&
		 (op->operand_scale || op->opa_mult != 1 || op->opb_mult != 1),
		 c, 16, "32-bit operands need the scales 1 and 1 in mode 0, not %" PRIu32 " and %"
		 PRIu32 " in mode %d", op->opa_mult, op->opb_mult, op->operand_scale);
	ERROR_IF(adds && op->operand_scale == 0 &&
		 (op->opa_mult > 0xffff || op->opb_mult > 0xffff), c, 3,
		 "operand scales %" PRIu32 " and %" PRIu32 " have more than 16 bits",
		 op->opa_mult, op->opb_mult);

	/* rules 17, 18: the global scale; operations that do not want it ignore it */
	bool padded = op->pad_top || op->pad_left || op->pad_bottom ||
		      op->pad_right;
	bool average = is_pool(op, NPU_POOL_AVERAGE);
	bool wants = is_pool(op, NPU_POOL_REDUCE_SUM) || adds ||
		     is_elementwise(op, NPU_ELT_MUL) || is_elementwise(op, NPU_ELT_ABS) ||
		     is_elementwise(op, NPU_ELT_LRELU);
	ERROR_IF(wants && !op->global_scale, c, 17,
		 "OFM scale mode 0, the operation needs mode 1 (one scale for all "
		 "channels)");
	WARN_IF(op->kind == NPU_ELEMENTWISE && !wants && op->global_scale, c, 17,
		"OFM scale mode 1, but the operation ignores the scale");
	WARN_IF(filters && op->global_scale, c, 17,
		"OFM scale mode 1: one scale for all channels, and no bias");
	ERROR_IF(average && !padded && !op->global_scale, c, 18,
		 "an average without padding needs OFM scale mode 1");
	WARN_IF(average && padded && (op->kernel_h > 8 || op->kernel_w > 8), c,
		18, "an average over %d x %d with padding, at most 8 x 8 is usual", op->kernel_h,
		op->kernel_w);
	WARN_IF(average && !padded && op->global_scale && !op->ofm_mult, c, 18,
		"an average without padding has the multiplier 0");

	/* rules 20, 21: channels */
	if (is_pool(op, NPU_POOL_REDUCE_SUM)) {
		ERROR_IF(op->ofm.shape.c != 1, c, 20,
			 "a sum over channels needs OFM depth 1, not %d",
			 op->ofm.shape.c);
		ERROR_IF(op->ifm.bits == 32 && (op->ifm.bricks ||
						op->acc_format), c, 20,
			 "a sum over 32-bit channels needs NHWC and ACC_FORMAT 0, not %s and %d",
			 op->ifm.bricks ? "NHCWB16" : "NHWC", op->acc_format);
		WARN_IF(op->ifm.bricks && c->accel->cores > 1, c, 20,
			"a sum over channels of an IFM in NHCWB16, on two cores");
	} else if (op->kind == NPU_POOL || op->kind == NPU_DEPTHWISE) {
		ERROR_IF(op->ifm.shape.c != op->ofm.shape.c, c, 21,
			 "IFM depth %d and OFM depth %d must be equal", op->ifm.shape.c,
			 op->ofm.shape.c);
	}
}
