/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic of 32-bit integers as NPU operations, and the fixed-point
 * functions of the reference made of it (spec/operators.md 3.5).  Operations
 * with 32-bit operands apply no multiplier, only a shift, and saturate
 * (spec/command-stream.md 6.3, 6.4).
 */
#include "part.h"

struct g_operand
word_const(struct part *p, int32_t v)
{
	return part_const(p, TFL_INT32, (struct hwc){ .h = 1, .w = 1, .c = 1 }, &v);
}

static bool
covers(struct hwc a, struct hwc b)
{
	return a.h >= b.h && a.w >= b.w && a.c >= b.c;
}

struct g_op *
word_op_to(struct part *p, enum g_op_kind kind, struct g_operand a,
	   struct g_operand b, struct g_operand ofm)
{
	bool swap = !covers(a.shape, b.shape);
	struct g_op *r = part_op(p, kind, swap ? b : a, ofm);
	op_ifm2(r, swap ? a : b, 0);
	if (swap)
		G_PUT(r, OP, reversed, 1);
	if (kind == OP_ADD || kind == OP_SUB || kind == OP_MUL)
		op_unscaled(r);
	return r;
}

struct g_operand
word_new(struct part *p, struct hwc shape)
{
	return operand_whole(part_new_tensor(p, TFL_INT32, shape, NULL));
}

static struct g_operand
word_op(struct part *p, enum g_op_kind kind, struct g_operand a,
	struct g_operand b, int shift)
{
	struct g_operand y =
	    word_new(p, covers(a.shape, b.shape) ? a.shape : b.shape);
	struct g_op *r = word_op_to(p, kind, a, b, y);
	if (shift)
		op_scale(r, (struct npu_scale){ .mult = 1, .shift = shift },
			 ROUND_TFL);
	return y;
}

struct g_operand
word_add(struct part *p, struct g_operand a, struct g_operand b)
{
	return word_op(p, OP_ADD, a, b, 0);
}

struct g_operand
word_sub(struct part *p, struct g_operand a, struct g_operand b)
{
	return word_op(p, OP_SUB, a, b, 0);
}

struct g_operand
word_mul(struct part *p, struct g_operand a, struct g_operand b)
{
	return word_op(p, OP_MUL, a, b, 0);
}

/* with shift 31, and a multiplier of 1, the rounding is SRDHM's */
struct g_operand
word_mul_high(struct part *p, struct g_operand a, struct g_operand b)
{
	return word_op(p, OP_MUL, a, b, 31);
}

struct g_operand
word_min(struct part *p, struct g_operand a, struct g_operand b)
{
	return word_op(p, OP_MIN, a, b, 0);
}

struct g_operand
word_max(struct part *p, struct g_operand a, struct g_operand b)
{
	return word_op(p, OP_MAX, a, b, 0);
}

struct g_operand
word_shl(struct part *p, struct g_operand a, struct g_operand b)
{
	return word_op(p, OP_SHL, a, b, 0);
}

void
word_scale_to(struct part *p, struct g_operand v, struct npu_scale s, int32_t zero,
	      struct g_operand ofm)
{
	if (s.shift < 31)
		v = word_shl(p, v, word_const(p, 31 - s.shift));
	struct g_op *r = word_op_to(p, OP_MUL, v, word_const(p, (int32_t)s.mult), ofm);
	op_scale(r, (struct npu_scale){ .mult = 1,
					.shift = s.shift < 31 ? 31 : s.shift },
		 ROUND_TFL);
	op_zeros(r, 0, zero);
}

/* halves go up */
struct g_operand
word_shr(struct part *p, struct g_operand a, struct g_operand b)
{
	struct g_operand y = word_new(p, a.shape);
	word_op_to(p, OP_SHR, a, b, y)->round = ROUND_NATURAL;
	return y;
}

struct g_operand
word_clz(struct part *p, struct g_operand a)
{
	struct g_operand y = word_new(p, a.shape);
	(void)part_op(p, OP_CLZ, a, y);
	return y;
}

struct g_operand
word_abs(struct part *p, struct g_operand a)
{
	struct g_operand y = word_new(p, a.shape);
	op_unscaled(part_op(p, OP_ABS, a, y));
	return y;
}

/*
 * 1 / (1 + x) in Q0, given half = (1 + x) / 2 in Q0: Newton's iteration in Q2
 * from 48/17 - 32/17 * half.  Constants come first: as IFM2 a single word out of
 * slow memory is waited for (spec/performance-model.md 2.7).
 */
struct g_operand
word_recip(struct part *p, struct g_operand half)
{
	struct g_operand one = word_const(p, 1 << 29), four = word_const(p, 4);
	struct g_operand y =
	    word_mul_high(p, word_const(p, -1010580540), half);
	y = word_add(p, word_const(p, 1515870810), y);
	for (int i = 0; i < 3; i++) {
		struct g_operand error =
		    word_sub(p, one, word_mul_high(p, y, half));
		struct g_operand step = word_mul_high(p, y, error);
		y = word_add(p, y, word_mul(p, four, step));
	}
	return word_add(p, y, y);
}
