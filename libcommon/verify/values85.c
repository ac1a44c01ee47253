/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Register state at an operation of U85: rules 7 to 21, 56 and 57 (ethosu-commands(7) 23,
 * 26, 35; ethosu-memory(7) 25.2).
 */
#include "verify/rules.h"

#include "target/accel.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- rule 8: enumerations ----------------------------------------------- */

static void
check_fm_format(struct checker *c, const struct npu_fm *f, enum npu_reg precision,
	   const char *role)
{
	check_format(c, precision, role);
	WARN_IF(f->storage == NPU_TILES_3X1, c, 8,
		"%s: storage mode 1, three tiles in a column", role);
}

static void
check_enums(struct checker *c)
{
	const struct npu_op *op = &c->op;
	ERROR_IF(op->kind == NPU_ELEMENTWISE &&
		 is_undefined(c, NPU_FIELD_ELEMENTWISE_mode, op->mode), c, 8,
		 "elementwise mode %d is not defined", op->mode);
	ERROR_IF(op->kind == NPU_RESIZE && is_undefined(c, NPU_FIELD_RESIZE_mode, op->mode), c, 8,
		 "resize mode %d is not defined", op->mode);
	check_fm_format(c, &op->ifm, NPU_IFM_PRECISION, "IFM");
	check_fm_format(c, &op->ofm, NPU_OFM_PRECISION, "OFM");
	if (op->has_ifm2)
		check_fm_format(c, &op->ifm2, NPU_IFM2_PRECISION, "IFM2");
	ERROR_IF(is_undefined(c, NPU_FIELD_OFM_PRECISION_transpose, (int)op->transpose), c, 8,
		 "transpose code %d is not defined", (int)op->transpose);
	ERROR_IF(is_undefined(c, NPU_FIELD_ACC_FORMAT_format, op->acc_format), c, 8,
		 "accumulator format %d is not defined", op->acc_format);
	ERROR_IF(is_undefined(c, NPU_FIELD_ACC_FORMAT_input, (int)op->acc_input), c, 8,
		 "accumulator input %d is not defined", (int)op->acc_input);
	ERROR_IF(!op->ublock.c, c, 8, "%s has no microblock of %d x %d",
		 c->accel->name, op->ublock.h, op->ublock.w);
	ERROR_IF(is_undefined(c, NPU_FIELD_ACTIVATION_function, op->activation), c, 8,
		 "activation %d is not defined", op->activation);
	ERROR_IF(op->rounding == NPU_ROUND_UNDEFINED, c, 8, "the rounding mode is not defined");
	ERROR_IF(is_undefined(c, NPU_FIELD_IFM_UPSCALE_mode, (int)op->upscale), c, 8,
		 "upscale mode %d is not defined", (int)op->upscale);
	ERROR_IF(op->kind == NPU_ELEMENTWISE &&
		 (c->regs.value[NPU_IFM_BROADCAST] > 8 ||
		  (op->has_ifm2 && c->regs.value[NPU_IFM2_BROADCAST] > 8)), c, 8,
		 "a scalar cannot also be broadcast along an axis");
	ERROR_IF(op->ofm_mult >> 31, c, 3, "multiplier %" PRIu32
		 " has more than 31 bits", op->ofm_mult);
}

/* Types of a table's input, which is the OFM before the lookup, and of its output. */
static const struct table_type {
	int in, out; /* bits; negative: signed */
} table_types[32] = {
	[NPU_ACT85_U8_U8] = { 8, 8 },	  [NPU_ACT85_S8_S8] = { -8, -8 },
	[NPU_ACT85_S8_S16] = { -8, -16 }, [NPU_ACT85_S8_S32] = { -8, -32 },
	[NPU_ACT85_S16_S16] = { -16, -16 }, [NPU_ACT85_S16_S32] = { -16, -32 },
	[NPU_ACT85_TANH] = { -16, -16 },  [NPU_ACT85_SIGMOID] = { -16, -16 },
};

/* ---- rules 11, 12: zero points ------------------------------------------ */

static void
check_ifm_zero(struct checker *c, const struct npu_fm *f, const char *role)
{
	bool ok = f->zero == 0;
	if (f->bits == 8)
		ok = f->is_signed ? f->zero >= -128 && f->zero <= 127
				  : f->zero <= 255;
	else if (f->bits == 16 && !f->is_signed)
		ok |= f->zero == 32768;
	ERROR_IF(!ok, c, f->bits == 8 ? 12 : 11, "%s of %c%d cannot have the zero point %d",
		 role, f->is_signed ? 's' : 'u', f->bits, f->zero);
}

/* ---- rules 13, 14: types ------------------------------------------------- */

static void
check_operands(struct checker *c)
{
	const struct npu_op *op = &c->op;
	const struct npu_fm *a = &op->ifm, *b = &op->ifm2;
	bool pairs = op->kind == NPU_ELEMENTWISE && op->has_ifm2;
	ERROR_IF((pairs || op->weights_ifm2) &&
		 (a->bits != b->bits || (pairs && a->is_signed != b->is_signed)),
		 c, 13, "IFM %c%d and IFM2 %c%d must have the same type", a->is_signed ? 's' : 'u',
		 a->bits, b->is_signed ? 's' : 'u', b->bits);
	ERROR_IF(op->ifm_scalar && op->ifm2_scalar, c, 14,
		 "both operands are the scalar, only one can be");
	if (!op->ifm_scalar && !op->ifm2_scalar)
		return;
	const struct npu_fm *f = op->ifm_scalar ? a : b;
	int64_t hi = f->is_signed ? ((int64_t)1 << (f->bits - 1)) - 1
				  : ((int64_t)1 << f->bits) - 1;
	int64_t lo = f->is_signed ? -hi - 1 : 0;
	WARN_IF(f->bits < 32 && (op->scalar < lo || op->scalar > hi), c, 14,
		"scalar %d is outside %" PRId64 " to %" PRId64, op->scalar, lo,
		hi);
}

/* ---- rules 15 to 17: scales ---------------------------------------------- */

static bool
is_one(uint32_t mult, int shift)
{
	return mult == 1 && shift == 0;
}

static void
check_scales(struct checker *c)
{
	const struct npu_op *op = &c->op;
	bool plain = is_elementwise(op, NPU_ELT_MUL) ||
		     is_elementwise(op, NPU_ELT85_DIV) || op->ifm.bits == 32;
	bool shifts = is_elementwise(op, NPU_ELT_SHR) ||
		      is_elementwise(op, NPU_ELT_SHL) ||
		      is_elementwise(op, NPU_ELT85_LSR) ||
		      is_elementwise(op, NPU_ELT85_DIV);
	bool scaled = op->kind == NPU_ELEMENTWISE && op->mode != NPU_ELT_LRELU;
	ERROR_IF(scaled && plain &&
		 (!is_one(op->opa_mult, op->opa_shift) ||
		  (op->has_ifm2 && !is_one(op->opb_mult, op->opb_shift))), c, 15,
		 "operands of %d bits cannot be scaled, by %" PRIu32 ">>%d and %" PRIu32 ">>%d",
		 op->ifm.bits, op->opa_mult, op->opa_shift, op->opb_mult,
		 op->opb_shift);
	ERROR_IF(shifts && !is_one(op->ofm_mult, op->ofm_shift), c, 16,
		 "the OFM of a shift or quotient cannot be scaled, by %" PRIu32 ">>%d",
		 op->ofm_mult, op->ofm_shift);
	WARN_IF(is_elementwise(op, NPU_ELT_MUL) && op->ifm.bits == 32 &&
		op->ofm_mult != 1 && op->ofm_mult != 1u << 30, c, 16,
		"products of 32 bits are only shifted, but the multiplier is %" PRIu32,
		op->ofm_mult);
	bool global = op->kind == NPU_ELEMENTWISE || op->kind == NPU_RESIZE ||
		      op->weights_ifm2;
	ERROR_IF(global && !op->global_scale, c, 17,
		 "OFM scale mode 0, the operation needs mode 1 (one scale for all "
		 "channels)");
	WARN_IF(!global && op->kind != NPU_POOL && op->global_scale, c, 17,
		"OFM scale mode 1: one scale for all channels, and no bias");
}

/* ---- rules 18 to 21: pools ----------------------------------------------- */

/* True if the scale is 1 / n as U85 computes it (ethosu-commands(7) 26.6). */
static bool
is_reciprocal(uint32_t mult, int shift, int64_t n)
{
	int k = 0;
	while ((n - 1) >> k)
		k++;
	uint64_t one = (UINT64_C(1) << (30 + k)) + (UINT64_C(1) << k);
	return shift == 30 + k && mult == one / (uint64_t)n;
}

static void
check_pool(struct checker *c)
{
	const struct npu_op *op = &c->op;
	bool empty = op->pad_top >= op->dilated_h ||
		     op->pad_bottom >= op->dilated_h ||
		     op->pad_left >= op->dilated_w ||
		     op->pad_right >= op->dilated_w;
	ERROR_IF(empty && !op->acc_kept && op->acc_input == NPU_ACC_RESET, c, 18,
		 "some windows contain only padding");

	bool large = op->kernel_h > 8 || op->kernel_w > 8;
	bool padded = op->pad_top || op->pad_bottom || op->pad_left ||
		      op->pad_right;
	bool average = op->mode == NPU_POOL_AVERAGE;
	ERROR_IF(average && large, c, 18,
		 "an average over %d x %d, the largest is 8 x 8", op->kernel_h,
		 op->kernel_w);
	int64_t taps = (int64_t)op->kernel_h * op->kernel_w;
	WARN_IF(average && !is_one(op->ofm_mult, op->ofm_shift) &&
		!(op->ofm_mult == 1u << 30 && op->ofm_shift == 30) &&
		!is_reciprocal(op->ofm_mult, op->ofm_shift, taps), c, 18,
		"an average ignores its scale %" PRIu32 ">>%d, 1 or 1/%" PRId64 " is usual",
		op->ofm_mult, op->ofm_shift, taps);
	WARN_IF(op->mode == NPU_POOL_SUM && large && padded, c, 18,
		"a sum over %d x %d with padding, at most 8 x 8 is usual",
		op->kernel_h, op->kernel_w);

	bool argmax_x = op->mode == NPU_POOL_ARGMAX_X;
	if (argmax_x || op->mode == NPU_POOL_ARGMAX_Y) {
		int along = argmax_x ? op->kernel_w : op->kernel_h;
		int across = argmax_x ? op->kernel_h : op->kernel_w;
		ERROR_IF(along > 32768 || across != 1, c, 18,
			 "argmax over %d x %d: one of these must be 1, the other at most 32768",
			 op->kernel_h, op->kernel_w);
		ERROR_IF(op->ofm.bits < 32, c, 18,
			 "argmax needs an OFM of at least 32 bits, not %d", op->ofm.bits);
		ERROR_IF(op->ofm_mult != 1 || op->ofm_shift != 16 ||
			 op->rounding != NPU_ROUND_TRUNCATE_LOWER, c, 18,
			 "argmax needs the scale 1>>16 and rounding down, not %" PRIu32 ">>%d",
			 op->ofm_mult, op->ofm_shift);
	}

	if (op->mode == NPU_POOL_REDUCE_SUM)
		ERROR_IF(op->extent.c != 1 || op->acc_format, c, 20,
			 "a sum over channels needs OFM depth 1 and accumulator format 0, not %d "
			 "and %d", op->extent.c,
			 op->acc_format);
	else if (op->mode != NPU_POOL_NONE)
		ERROR_IF(op->ifm.shape.c != op->extent.c, c, 21,
			 "IFM depth %d and OFM depth %d must be equal", op->ifm.shape.c,
			 op->extent.c);
}

/* ---- rule 56: transposed and reversed OFMs ------------------------------- */

static void
check_ofm_order(struct checker *c)
{
	const struct npu_op *op = &c->op;
	enum npu_transpose t = op->transpose;
	if (t == NPU_HWC && op->reverse == NPU_FORWARD)
		return;
	ERROR_IF(t != NPU_HWC && op->reverse != NPU_FORWARD, c, 56,
		 "the OFM is transposed and reversed, only one is possible");
	ERROR_IF(!npu_fm_stored(&op->ofm), c, 56,
		 "a transposed or reversed OFM must be in memory");
	ERROR_IF(op->kind == NPU_RESIZE, c, 56, "RESIZE cannot transpose or reverse its OFM");
	ERROR_IF(op->kind == NPU_ELEMENTWISE &&
		 (op->reverse != NPU_FORWARD || (t != NPU_HCW && t != NPU_CHW)),
		 c, 56, "an elementwise operation cannot have transpose %d and reverse %d", (int)t,
		 (int)op->reverse);
	ERROR_IF(op->reverse == NPU_REVERSE_C && op->block.c != 16, c, 56,
		 "channels are reversed in blocks of depth %d, which must be 16", op->block.c);
	if (!op->ofm.bricks)
		return;
	bool by_w = t == NPU_HCW || t == NPU_CHW;
	bool by_h = t == NPU_WCH || t == NPU_CWH;
	ERROR_IF((by_w && op->block.w % BRICK) || (by_h && op->block.h % BRICK),
		 c, 56, "block %dx%d is transposed to the depth of NHCWB16, and is no multiple of "
		 "16", op->block.h,
		 op->block.w);
}

void
check_values85(struct checker *c)
{
	const struct npu_op *op = &c->op;
	const struct npu_range *t = &op->table;
	check_enums(c);

	/* rules 10, 38: the clamp and the type of the table */
	const struct table_type *type = &table_types[op->activation];
	int bits = op->ofm.is_signed ? -op->ofm.bits : op->ofm.bits;
	ERROR_IF(op->clip_range == 0 && op->min > op->max &&
		 (op->ofm.bits <= 16 || t->n), c, 10,
		 "clamp minimum %d is above the maximum %d", op->min, op->max);
	WARN_IF(op->clip_range == 0 && op->ofm.bits > 16 && !t->n &&
		op->min > op->max, c, 10, "the clamp of a %d-bit OFM has a minimum above its "
		"maximum",
		op->ofm.bits);
	ERROR_IF(t->n && type->out != bits, c, 38,
		"table function %d has results of %c%d, but the OFM is %c%d",
		 op->activation, type->out < 0 ? 's' : 'u', abs(type->out),
		 bits < 0 ? 's' : 'u', abs(bits));

	/* rules 11, 12: zero points */
	int32_t z = op->ofm.zero;
	bool ok = op->ofm.is_signed ? z >= -128 && z <= 127
				    : z <= 255 || z == 32768;
	bool none = is_elementwise(op, NPU_ELT_CLZ) ||
		    is_elementwise(op, NPU_ELT_SHL) ||
		    is_elementwise(op, NPU_ELT85_DIV) || op->kind == NPU_RESIZE;
	bool any = op->ifm.zero || (op->has_ifm2 && op->ifm2.zero);
	bool null = is_pool(op, NPU_POOL_NONE);
	if (!null)
		check_ifm_zero(c, &op->ifm, "IFM");
	if (op->has_ifm2)
		check_ifm_zero(c, &op->ifm2, "IFM2");
	ERROR_IF(!ok, c, 12, "the OFM cannot have the zero point %d", z);
	ERROR_IF(none && any, c, 11, "the operands must have zero point 0, not %d and %d",
		 op->ifm.zero, op->has_ifm2 ? op->ifm2.zero : 0);
	WARN_IF(is_pool(op, NPU_POOL_AVERAGE) && any, c, 11,
		"an average of an IFM with zero point %d", op->ifm.zero);

	/* rules 13, 14: types */
	int most = 16;
	if (op->kind == NPU_ELEMENTWISE || is_pool(op, NPU_POOL_REDUCE_SUM) ||
	    is_pool(op, NPU_POOL_MAX) || is_pool(op, NPU_POOL_MIN))
		most = 32;
	ERROR_IF(!null && op->ifm.bits > most, c, 13, "IFM of %d bits",
		 op->ifm.bits);
	ERROR_IF(op->acc_input == NPU_ACC_IFM2 && op->kind != NPU_ELEMENTWISE &&
		 op->ifm2.bits != (op->acc_format == 1 ? 64 : 32), c, 13,
		 "accumulators cannot be loaded from an IFM2 of %d bits", op->ifm2.bits);
	ERROR_IF(null && op->acc_input != NPU_ACC_IFM2, c, 13,
		 "a pool of mode none needs accumulators from IFM2");
	bool wide = op->ofm.bits == 64 || (op->ifm.bits == 64 && !null);
	WARN_IF(wide && op->acc_format == 0 && op->kind != NPU_ELEMENTWISE &&
		!is_pool(op, NPU_POOL_REDUCE_SUM), c, 13,
		"64-bit feature maps with 32-bit accumulators");
	check_operands(c);

	check_scales(c);
	check_ofm_order(c);
	if (op->kind == NPU_POOL)
		check_pool(c);
	else if (op->kind == NPU_DEPTHWISE || op->kind == NPU_RESIZE)
		ERROR_IF(op->ifm.shape.c != op->extent.c, c, 21,
			 "IFM depth %d and OFM depth %d must be equal", op->ifm.shape.c,
			 op->extent.c);

	/* rule 38: the table has been uploaded; check_tables() checks the same for U55 and U65 */
	ERROR_IF(t->at + t->n > LUT_BYTES, c, 38, "the table at byte %" PRId64
		 " with %" PRId64 " bytes exceeds the tables", t->at, t->n);
	for (int64_t i = t->at; i < t->at + t->n && i < LUT_BYTES; i++)
		if (!c->table_valid[i]) {
			ERROR(c, 38, "byte %" PRId64 " of a table of %" PRId64
			      " bytes has not been loaded", i - t->at, t->n);
			break;
		}
}
