/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RSQRT of 16 bits, which no table of 512 segments can represent, and the square
 * root for other operators.  Both repeat the reference's iteration in 32 bits, step
 * by step (libcommon/kernels, fixed_inv_sqrt).
 */
#include "../part.h"

#include "base/fixed.h"

enum {
	TABLE_SHIFT = 20, /* fractional bits of the root */
	STEPS = 5,
	ONE_Q3 = 1 << 28,
	HALF_ROOT = 1518500250, /* sqrt(1/2) in Q0 */
	/* of roots: 1 / sqrt(1) has TABLE_SHIFT bits, and a word has 31 */
	MOST_LEFT = 31 - TABLE_SHIFT - 1,
};

bool
read_root(struct lop *o)
{
	struct npu_scale *s = &o->end.scale;
	float m = 1.0f / (__builtin_sqrtf(quant_scale_f32(o->ifm)) * quant_scale_f32(o->ofm));
	if (!npu_quantise((double)m, s))
		return false;
	s->shift += TABLE_SHIFT;
	/* the value used for the root of 0 must become the largest result */
	return s->shift >= 31 - MOST_LEFT && s->shift <= 62 &&
	       ((int64_t)INT32_MAX * s->mult >> s->shift) > UINT16_MAX;
}

struct g_operand
word_inverse_root(struct part *p, struct g_operand half)
{
	struct g_operand x = word_const(p->l, ONE_Q3);
	for (int i = 0; i < STEPS; i++) {
		struct g_operand cube =
		    word_mul_high(p->l, word_mul_high(p->l, x, x), x);
		struct g_operand x3 = word_mul(p->l, cube, word_const(p->l, 64));
		struct g_operand more =
		    word_mul_high(p->l, word_const(p->l, ONE_Q3 + ONE_Q3 / 2), x);
		x = word_sub(p->l, more, word_mul_high(p->l, half, x3));
		x = word_mul(p->l, word_const(p->l, 8), x);
	}
	return word_mul_high(p->l, word_const(p->l, HALF_ROOT), x);
}

struct g_operand
word_free_pairs(struct part *p, struct g_operand v)
{
	struct g_operand one = word_const(p->l, 1), two = word_const(p->l, 2);
	return word_shr(p->l, word_sub(p->l, word_clz(p->l, v), two), one);
}

void
lower_root(struct part *p, const struct lop *o)
{
	struct g_operand ofm = part_ofm(p, o->op->out[0]);
	struct g_operand x = low_view(p->l, part_ifm(p, o->op->in[0]), ofm.shape);
	struct g_operand v = word_widened(p->l, x, quant_zero(o->ifm));
	struct g_operand mult = word_const(p->l, (int32_t)o->end.scale.mult);
	/* a multiplier of 2^20 and more: the reference shifts the root, then rounds once */
	int shift = o->end.scale.shift, left = shift < 31 ? 31 - shift : 0;
	/* 1 / sqrt(v) with 20 fractional bits, shifted left; INT32_MAX for v = 0 */
	struct g_operand one = word_const(p->l, 1);
	struct g_operand pairs = word_free_pairs(p, v);
	struct g_operand four = word_const(p->l, 4);
	struct g_operand up = word_sub(p->l, word_add(p->l, pairs, pairs), four);
	struct g_operand inverse = word_inverse_root(p, word_shl(p->l, v, up));
	struct g_operand unit_shift = word_shl(p->l, one, word_add(p->l, word_const(p->l, 8), pairs));
	struct g_operand root = word_mul_high(p->l, unit_shift, inverse);
	if (left)
		root = word_shl(p->l, root, word_const(p->l, left));
	struct g_operand none = word_sub(p->l, one, word_min(p->l, v, one));
	root = word_max(p->l, root, word_mul(p->l, word_const(p->l, INT32_MAX), none));
	struct g_op *last = word_op_to(p->l, OP_MUL, root, mult, ofm);
	op_scale(last, (struct npu_scale){ .mult = 1, .shift = shift + left }, ROUND_TFL);
	op_zeros(last, 0, quant_zero(o->ofm));
}
