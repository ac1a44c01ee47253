/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic of 32-bit integers (words) by NPU operations, and the reference's
 * fixed-point functions made of it (nputools-lowering(7) 3.5).  Operations with 32-bit
 * operands apply only a shift, no multiplier (ethosu-commands(7) 6.3).  No result may
 * exceed 32 bits: U55 and U65 saturate, and the behaviour of U85 is undocumented (W2 in
 * ethosu-commands(7) 17).
 */
#include "lower/lower.h"

struct g_operand
word_const(struct lower *l, int32_t v)
{
	return low_const(l, TFL_INT32, (struct hwc){ .h = 1, .w = 1, .c = 1 }, &v);
}

static bool
covers(struct hwc a, struct hwc b)
{
	return a.h >= b.h && a.w >= b.w && a.c >= b.c;
}

struct g_op *
word_op_to(struct lower *l, enum g_op_kind kind, struct g_operand a,
	   struct g_operand b, struct g_operand ofm)
{
	bool swap = !covers(a.shape, b.shape);
	struct g_op *r = low_op(l, kind, swap ? b : a, ofm);
	op_ifm2(r, swap ? a : b, 0);
	if (swap)
		G_PUT(r, OP, reversed, 1);
	if (kind == OP_ADD || kind == OP_SUB || kind == OP_MUL)
		op_unscaled(r);
	return r;
}

struct g_operand
word_new(struct lower *l, struct hwc shape)
{
	return low_new(l, TFL_INT32, shape);
}

struct g_operand
word_widened(struct lower *l, struct g_operand v, int32_t zero)
{
	struct g_operand y = word_new(l, v.shape);
	(void)low_convert(l, v, zero, y);
	return y;
}

static struct g_operand
word_op(struct lower *l, enum g_op_kind kind, struct g_operand a,
	struct g_operand b, int shift)
{
	struct g_operand y =
	    word_new(l, covers(a.shape, b.shape) ? a.shape : b.shape);
	struct g_op *r = word_op_to(l, kind, a, b, y);
	if (shift)
		op_scale(r, (struct npu_scale){ .mult = 1, .shift = shift },
			 ROUND_TFL);
	return y;
}

#define WORD_OP(name, kind, shift)							\
	struct g_operand name(struct lower *l, struct g_operand a, struct g_operand b)	\
	{										\
		return word_op(l, kind, a, b, shift);					\
	}

WORD_OP(word_add, OP_ADD, 0)
WORD_OP(word_sub, OP_SUB, 0)
WORD_OP(word_mul, OP_MUL, 0)
WORD_OP(word_min, OP_MIN, 0)
WORD_OP(word_max, OP_MAX, 0)
WORD_OP(word_shl, OP_SHL, 0)
/* With shift 31 and a multiplier of 1, the NPU rounds as SRDHM does. */
WORD_OP(word_mul_high, OP_MUL, 31)
WORD_OP(word_mul_halved, OP_MUL, 30)

void
word_scale_to(struct lower *l, struct g_operand v, struct npu_scale s, int32_t zero,
	      struct g_operand ofm)
{
	if (s.shift < 31)
		v = word_shl(l, v, word_const(l, 31 - s.shift));
	struct g_op *r = word_op_to(l, OP_MUL, v, word_const(l, (int32_t)s.mult), ofm);
	op_scale(r, (struct npu_scale){ .mult = 1,
					.shift = s.shift < 31 ? 31 : s.shift },
		 ROUND_TFL);
	op_zeros(r, 0, zero);
}

/* Rounds halves up. */
struct g_operand
word_shr(struct lower *l, struct g_operand a, struct g_operand b)
{
	struct g_operand y = word_new(l, a.shape);
	word_op_to(l, OP_SHR, a, b, y)->round = ROUND_NATURAL;
	return y;
}

struct g_operand
word_floor(struct lower *l, struct g_operand v, int bits)
{
	struct g_operand half = word_const(l, 1 << (bits - 1));
	struct g_operand by = word_const(l, bits);
	return word_shr(l, word_sub(l, v, half), by);
}

struct g_operand
word_remainder(struct lower *l, struct g_operand v, struct g_operand high, int bits)
{
	struct g_operand unit = word_const(l, 1 << bits);
	return word_sub(l, v, word_mul(l, high, unit));
}

struct g_operand
word_clz(struct lower *l, struct g_operand a)
{
	struct g_operand y = word_new(l, a.shape);
	(void)low_op(l, OP_CLZ, a, y);
	return y;
}

struct g_operand
word_is_above(struct lower *l, struct g_operand v)
{
	struct g_operand zero = word_const(l, 0), one = word_const(l, 1);
	return word_min(l, word_max(l, v, zero), one);
}

struct g_operand
word_abs(struct lower *l, struct g_operand a)
{
	struct g_operand y = word_new(l, a.shape);
	op_unscaled(low_op(l, OP_ABS, a, y));
	return y;
}

/*
 * Newton's iteration in Q2 from 48/17 - 32/17 * half.  For all 2^30 operands the result
 * is at most 2^30, with either rounding of halves.  Constants are the first operand: an
 * IFM2 of a single word in slow memory would be waited for (ethosu-timing(7) 2.7).
 */
struct g_operand
word_half_recip(struct lower *l, struct g_operand half)
{
	struct g_operand one = word_const(l, 1 << 29), four = word_const(l, 4);
	struct g_operand y =
	    word_mul_high(l, word_const(l, -1010580540), half);
	y = word_add(l, word_const(l, 1515870810), y);
	for (int i = 0; i < 3; i++) {
		struct g_operand error =
		    word_sub(l, one, word_mul_high(l, y, half));
		struct g_operand step = word_mul_high(l, y, error);
		y = word_add(l, y, word_mul(l, four, step));
	}
	return y;
}

struct g_operand
word_doubled(struct lower *l, struct g_operand half)
{
	struct g_operand less = word_const(l, (1 << 30) - 1);
	return word_add(l, half, word_min(l, half, less));
}
