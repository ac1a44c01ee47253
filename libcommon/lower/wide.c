/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scales sums of 16-bit products: T = 256 * H + L, with H and L of 32 bits, times m of
 * 15 bits, shifted right by s, halves rounded up.  Let T = 256 * h + r with 0 <= r <
 * 256.
 *
 * If s <= 28: T is 2^14 * u + t.  Values of u that saturate the result are clamped to
 * the saturation limit.  T then fits a word, and one product with a shift gives the
 * result.
 *
 * If s > 28:
 *
 *	(T * m + 2^(s-1)) >> s
 *	= (h * m + q + 2^(s-9)) >> (s-8)	q = r * m >> 8, below 2^15
 *	h = 65536 * a + b,  0 <= b < 65536:
 *	= (65536 * a * m + x + 2^(s-9)) >> (s-8)	x = b * m + q, below 2^31
 *	= (a * m + (x >> 16)), halves up, by s-24.
 */
#include "lower/matmul.h"

enum {
	DIGIT = 14,
	MOST_CUT = 2 * DIGIT,
	NOTHING = 62, /* a shift that makes 2^39 times 2^14 zero */
};

/* Returns high * 2^bits + low. */
static struct g_operand
join_digits(struct lower *l, struct g_operand high, int bits, struct g_operand low)
{
	struct g_operand unit = word_const(l, 1 << bits);
	return word_add(l, word_mul(l, high, unit), low);
}

/* Splits v into 256 * upper + lower, both of 16 bits; lower is -128 to 127. */
static void
split(struct lower *l, struct g_operand v, struct g_operand *upper,
      struct g_operand *lower)
{
	struct npu_scale by_256 = scale_one();
	by_256.shift += 8;
	*upper = low_new(l, TFL_INT16, v.shape);
	*lower = low_new(l, TFL_INT16, v.shape);
	/* rounding halves up leaves at least -128 in lower */
	op_scale(low_op(l, OP_AVGPOOL, v, *upper), by_256, ROUND_NATURAL);
	struct g_op *rest = low_op(l, OP_SUB, v, *lower);
	op_ifm2(rest, *upper, 0);
	op_unscaled(rest);
	G_PUT(rest, OP, opb, 256);
}

/* Returns T where the result does not saturate, and any saturating value elsewhere. */
static struct g_operand
saturated(struct lower *l, struct npu_scale s, struct g_operand h, struct g_operand r)
{
	struct g_operand u = word_floor(l, h, DIGIT - 8);
	struct g_operand t = join_digits(l, word_remainder(l, h, u, DIGIT - 8), 8, r);
	/* limit of u: from here on, 2^14 * u * m / 2^s is at least 2^15 */
	int32_t most = (int32_t)(((int64_t)2 << s.shift) / s.mult) + 2;
	struct g_operand least = word_const(l, -most);
	u = word_min(l, u, word_const(l, most));
	return join_digits(l, word_max(l, u, least), DIGIT, t);
}

/* Returns T * m / 2^24, rounded down. */
static struct g_operand
by_digits(struct lower *l, struct npu_scale s, struct g_operand h, struct g_operand r)
{
	struct g_operand m = word_const(l, (int32_t)s.mult);
	struct g_operand q = word_floor(l, word_mul(l, r, m), 8);
	struct g_operand a = word_floor(l, h, 16), b = word_remainder(l, h, a, 16);
	struct g_operand x = word_add(l, word_mul(l, b, m), q);
	x = word_floor(l, x, 16);
	return word_add(l, word_mul(l, a, m), x);
}

/* Writes (256 * high + low) * scale. */
static void
scale_wide(struct lower *l, struct low_end end, struct g_operand high, struct g_operand low,
	   struct g_operand ofm)
{
	struct npu_scale s = end.scale; /* the same factor with mult normalized to 15 bits */
	if (!s.mult)
		s = (struct npu_scale){ .mult = 1 << DIGIT, .shift = NOTHING };
	for (; s.mult < 1 << DIGIT; s.shift++)
		s.mult *= 2;
	struct g_operand carry = word_floor(l, low, 8);
	struct g_operand r = word_remainder(l, low, carry, 8);
	struct g_operand h = word_add(l, high, carry);
	bool small = s.shift <= MOST_CUT;
	struct g_operand v = small ? saturated(l, s, h, r) : by_digits(l, s, h, r);
	struct g_operand by = word_const(l, small ? (int32_t)s.mult : 1);
	struct g_op *op = word_op_to(l, OP_MUL, v, by, ofm);
	s = (struct npu_scale){ .mult = 1, .shift = s.shift - (small ? 0 : 24) };
	op_scale(op, s, ROUND_NATURAL);
	end.scaled = false; /* done */
	low_finish(&end, op);
}

/* Returns the half of an operand in the operand's dimensions. */
static struct nd
as_operand(struct g_operand half, const struct nd *v)
{
	int32_t dim[ND_MAX];
	for (int k = 0; k < v->rank; k++)
		dim[k] = (int32_t)v->dim[k];
	return nd_operand_of(half, v->rank, dim);
}

void
low_multiply_wide(struct lower *l, const struct low_matmul *m, const struct nd *out,
		  const struct low_end *end)
{
	/* split the smaller operand */
	bool of_a = nd_elements(&m->a) <= nd_elements(&m->b);
	const struct nd *v = of_a ? &m->a : &m->b;
	struct nd whole = *v, dest = *out;
	struct g_operand upper, lower, ofm;
	if (!nd_is_dense(v)) {
		whole = nd_new_like(l, v, v->type);
		nd_copy(l, v, &whole);
	}
	split(l, nd_to_operand(&whole), &upper, &lower);
	struct nd sums[2], half[2] = { as_operand(upper, v), as_operand(lower, v) };
	for (int k = 0; k < 2; k++) {
		struct low_matmul part = *m;
		*(of_a ? &part.a : &part.b) = half[k];
		part.fits = true;
		sums[k] = nd_new_like(l, out, TFL_INT32);
		low_matmul(l, &part, &sums[k], &low_plain);
	}
	if (!nd_operand(out, &ofm)) {
		dest = nd_new_like(l, out, out->type);
		ofm = nd_to_operand(&dest);
	}
	scale_wide(l, *end, nd_to_operand(&sums[0]), nd_to_operand(&sums[1]), ofm);
	if (dest.t != out->t)
		nd_copy(l, &dest, out);
}
