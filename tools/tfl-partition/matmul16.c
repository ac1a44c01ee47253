/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BATCH_MATMUL of int16.  The reference adds in 64 bits, multiplies by 15 bits m
 * and shifts right by s, halves up (fixed_mbqm64).  Here a is 256 * upper + lower,
 * and the sum T of products is 256 * H + L, both of 32 bits.  With 14 bits cut off,
 * T is 2^14 * u + t, and then
 *
 * - s <= 28: u beyond what saturates is cut back to it, so that T fits a word, and
 *   one product with a shift gives the result;
 * - s > 28: T * m / 2^28 is computed digit by digit of 14 bits, rounded down, which
 *   leaves what the last shift by s - 28 rounds as it is.
 */
#include "matmul.h"

enum {
	MAX_DEPTH = 510, /* sums of 2^22 each, and their carry, fit 32 bits */
	DIGIT = 14,
	TWO_DIGITS = 2 * DIGIT,
};

const char *
check_wide(const struct part *p, struct matmul *m, double ratio, bool native)
{
	if (m->zero_a || m->zero_b || m->zero_ofm)
		return "INT16 with a zero point";
	if (m->depth > MAX_DEPTH && !native)
		return part_say(p, "sums of %d products of 16 bits: at most %d",
				m->depth, (int)MAX_DEPTH);
	/* 2^30 each: the reference's result has 32 bits before it is clamped */
	if (ratio * m->depth >= 2)
		return "scaled sums may leave the range of int32, where the "
		       "reference wraps around";
	struct npu_scale s;
	if (!npu_quantise(ratio, &s) || s.mult < 1u << 30)
		return "the ratio of the scales can't be expressed";
	m->scale = npu_scale_reduce(s);
	return NULL;
}

/* high * 2^bits + low */
static struct g_operand
joined(struct part *p, struct g_operand high, int bits, struct g_operand low)
{
	struct g_operand unit = word_const(p->l, 1 << bits);
	return word_add(p->l, word_mul(p->l, high, unit), low);
}

static struct g_operand
halfwords(struct part *p, struct hwc shape)
{
	return operand_whole(low_tensor(p->l, TFL_INT16, shape, NULL));
}

/* v = 256 * upper + lower, lower from -128 to 127 */
static void
split(struct part *p, struct g_operand v, struct g_operand *upper,
      struct g_operand *lower)
{
	struct g_operand word = word_new(p->l, v.shape);
	struct g_op *wide = low_op(p->l, OP_ADD, v, word);
	op_scalar(wide, 0, 0);
	op_unscaled(wide);
	struct g_operand by = word_const(p->l, 8), unit = word_const(p->l, 256);
	struct g_operand zero = word_const(p->l, 0);
	struct g_operand high = word_shr(p->l, word, by);
	struct g_operand even = word_mul(p->l, high, unit);
	*upper = halfwords(p, v.shape);
	(void)word_op_to(p->l, OP_ADD, high, zero, *upper);
	*lower = halfwords(p, v.shape);
	(void)word_op_to(p->l, OP_SUB, word, even, *lower);
}

/* sums of products as words */
static struct g_operand
sums(struct part *p, const struct matmul *m, struct nd a, struct nd b)
{
	struct matmul words = *m;
	words.scale = (struct npu_scale){ .mult = 1 };
	words.clamp = type_range(TFL_INT32);
	struct g_operand y = word_new(p->l, tfl_hwc(m->ofm));
	struct nd out = nd_of(y, m->ofm);
	multiply_matrices(p, &words, a, b, &out);
	return y;
}

/* T from u and t where u is cut back to what saturates */
static struct g_operand
saturated(struct part *p, const struct matmul *m, struct g_operand u,
	  struct g_operand t)
{
	/* 2^14 * u * m / 2^s is 2^15 or more from here on */
	int32_t most = (int32_t)(((int64_t)2 << m->scale.shift) / m->scale.mult) + 2;
	struct g_operand least = word_const(p->l, -most);
	u = word_min(p->l, u, word_const(p->l, most));
	return joined(p, word_max(p->l, u, least), DIGIT, t);
}

/* T * m / 2^28, rounded down */
static struct g_operand
by_digits(struct part *p, const struct matmul *m, struct g_operand u,
	  struct g_operand t)
{
	struct g_operand mult = word_const(p->l, (int32_t)m->scale.mult);
	struct g_operand top = word_floor(p->l, u, DIGIT);
	struct g_operand middle = word_rest(p->l, u, top, DIGIT);
	struct g_operand carry = word_floor(p->l, word_mul(p->l, t, mult), DIGIT);
	middle = word_add(p->l, word_mul(p->l, middle, mult), carry);
	carry = word_floor(p->l, middle, DIGIT);
	return word_add(p->l, word_mul(p->l, top, mult), carry);
}

/* T = 256 * high + low, scaled */
static void
scale_sums(struct part *p, const struct matmul *m, struct g_operand high,
	   struct g_operand low, struct g_operand ofm)
{
	struct g_operand carry = word_floor(p->l, low, 8);
	struct g_operand least = word_rest(p->l, low, carry, 8);
	high = word_add(p->l, high, carry);
	struct g_operand u = word_floor(p->l, high, DIGIT - 8);
	struct g_operand t = joined(p, word_rest(p->l, high, u, DIGIT - 8), 8, least);
	bool small = m->scale.shift <= TWO_DIGITS;
	struct g_operand v = small ? saturated(p, m, u, t) : by_digits(p, m, u, t);
	int shift = m->scale.shift - (small ? 0 : TWO_DIGITS);
	struct g_operand by = word_const(p->l, small ? (int32_t)m->scale.mult : 1);
	op_scale(word_op_to(p->l, OP_MUL, v, by, ofm),
		 (struct npu_scale){ .mult = 1, .shift = shift }, ROUND_NATURAL);
}

bool
lower_wide(struct part *p, const struct tfl_op *op, const struct matmul *m)
{
	/* the smaller operand is the one that is split */
	bool first = tfl_elements(m->a) <= tfl_elements(m->b);
	const struct tfl_tensor *t = first ? m->a : m->b;
	struct nd other = nd_ifm(p, op->in[first]);
	struct g_operand upper, lower;
	struct g_operand whole = part_ifm(p, op->in[!first]);
	split(p, low_view(p->l, whole, tfl_hwc(t)), &upper, &lower);
	struct nd u = nd_of(upper, t), l = nd_of(lower, t);
	struct g_operand high = sums(p, m, first ? u : other, first ? other : u);
	struct g_operand low = sums(p, m, first ? l : other, first ? other : l);
	struct g_operand ofm = part_ofm(p, op->out[0]), room = low_room(p->l, ofm);
	scale_sums(p, m, high, low, low_view(p->l, room, high.shape));
	low_deliver(p->l, room, ofm);
	return true;
}
