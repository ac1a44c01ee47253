/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides 32-bit integers by computed divisors, rounding towards zero.  A and B are the
 * magnitudes.  If the dividend is negative, A is 1 less than its magnitude, as 2^31 is
 * not a word.
 *
 *	H = B << (h - 1)	h = CLZ B, so 2^30 <= H < 2^31
 *	R = about 2^60 / H	too small by less than 7 (divisor_of)
 *	t = (A * R >> 30 >> 31 - h) - 1, both rounded; 0 if that is negative
 *
 * R is 2^60 / H * r with 1 - 2^-26 < r <= 1.  Therefore t is between A / B * r - 1.75
 * and A / B - 0.25: t is at most the quotient, and A - t * B is at most 33.75 B.  A
 * second step of this kind leaves a remainder below 2 B, or at most 2 B with the 1 that
 * A may lack.  Two comparisons give the rest of the quotient.  If the divisor is -2^31,
 * A and B are both reduced by 1, which does not change the quotient.
 */
#include "lower/nd.h"

#include "lower/linux.h"

enum { MAX_EXTENT = 1 << 16 };

/* -1 if v is negative, else 0 */
static struct g_operand
sign_of(struct lower *l, struct g_operand v)
{
	struct g_operand zero = word_const(l, 0), minus = word_const(l, -1);
	return word_max(l, word_min(l, v, zero), minus);
}

/* v, or -1 - v if v is negative */
static struct g_operand
folded(struct lower *l, struct g_operand v)
{
	struct g_operand turned = word_sub(l, word_const(l, -1), v);
	return word_max(l, v, turned);
}

struct divisor {
	struct g_operand size, recip, shift;
};

/* Returns a part of the quotient, and reduces *rest by its product with the divisor. */
static struct g_operand
step(struct lower *l, const struct divisor *d, struct g_operand *rest)
{
	struct g_operand t = word_mul_halved(l, *rest, d->recip);
	t = word_shr(l, t, d->shift);
	t = word_sub(l, t, word_const(l, 1));
	t = word_max(l, t, word_const(l, 0));
	*rest = word_sub(l, *rest, word_mul(l, t, d->size));
	return t;
}

/* size has to be at least 1 */
static struct divisor
divisor_of(struct lower *l, struct g_operand size)
{
	struct divisor d = { .size = size };
	struct g_operand lead = word_clz(l, size);
	struct g_operand up = word_sub(l, lead, word_const(l, 1));
	/*
	 * For all 2^30 operands, word_half_recip is 2^60 / H plus -4 to 2 units, rounded
	 * down; therefore 3 less is 0 to 7 units below 2^60 / H.
	 */
	struct g_operand recip = word_half_recip(l, word_shl(l, size, up));
	d.recip = word_sub(l, recip, word_const(l, 3));
	d.shift = word_sub(l, word_const(l, 31), lead);
	return d;
}

/* Returns how often size is contained in rest (plus 1 if below is -1): 0 to 2. */
static struct g_operand
last_of(struct lower *l, struct g_operand rest, struct g_operand size,
	struct g_operand below)
{
	struct g_operand less = word_sub(l, size, word_const(l, 1));
	struct g_operand over = word_sub(l, word_sub(l, rest, less), below);
	/* clamp at 0, so that the next difference fits 32 bits */
	over = word_max(l, over, word_const(l, 0));
	struct g_operand once = word_min(l, over, word_const(l, 1));
	struct g_operand twice = word_is_above(l, word_sub(l, over, size));
	return word_add(l, once, twice);
}

void
word_divide_to(struct lower *l, struct g_operand a, struct g_operand b,
	       struct g_operand ofm)
{
	struct g_operand zero = word_const(l, 0), one = word_const(l, 1);
	struct g_operand a_sign = sign_of(l, a), b_sign = sign_of(l, b);
	/* 1 if b is -2^31, else 0 */
	struct g_operand below = word_min(l, b, zero);
	struct g_operand least = word_max(l, word_sub(l, word_const(l, -INT32_MAX), below), zero);
	struct g_operand size = folded(l, b);
	size = word_sub(l, word_sub(l, size, least), b_sign);
	size = word_max(l, size, one); /* division by 0 gives any value, but no shift out
					* of range */
	struct g_operand rest = word_sub(l, folded(l, a), least);
	rest = word_max(l, rest, zero);

	struct divisor d = divisor_of(l, size);
	struct g_operand first = step(l, &d, &rest);
	struct g_operand q = word_add(l, first, step(l, &d, &rest));
	struct g_operand last = last_of(l, rest, size, a_sign);

	/* 1, or -1 if the signs differ */
	struct g_operand differ = word_sub(l, a_sign, b_sign);
	differ = word_mul(l, differ, differ);
	struct g_operand sign = word_sub(l, one, word_add(l, differ, differ));
	q = word_mul(l, q, sign);
	(void)word_op_to(l, OP_ADD, q, word_mul(l, last, sign), ofm);
}

/* Converts dimensions to rows, columns and channels of an operation. */
static void
hwc_dims(const struct nd *v, int64_t dim[4])
{
	for (int i = 0; i < 4; i++)
		dim[i] = 1;
	for (int i = 0; i < v->rank; i++)
		dim[i + 3 < v->rank ? 1 : i + 4 - v->rank] *= v->dim[i];
}

const char *
nd_divide_check(const struct lower *l, const struct nd *out)
{
	int64_t dim[4];
	hwc_dims(out, dim);
	if (low_has(l, LACK_DIVISION))
		return NULL;
	for (int i = 1; i < 4; i++)
		if (dim[i] > MAX_EXTENT)
			return "rows, columns or channels of more than 65536";
	return NULL;
}

static bool
view_as_hwc(const struct nd *v, const int64_t dim[4], struct g_operand *o)
{
	struct nd r = *v;
	return nd_reshape(&r, dim, 4) && nd_operand(&r, o);
}

/* Returns an operand with the shape of the result, broadcast or copied if necessary. */
static struct g_operand
broadcast_operand(struct lower *l, const struct nd *v, const struct nd *out, const int64_t dim[4])
{
	struct g_operand o;
	struct nd r = *v;
	if (nd_elements(v) != nd_elements(out)) {
		r = nd_spread(l, v, out);
	} else if (!view_as_hwc(v, dim, &o)) {
		r = nd_new_like(l, v, v->type);
		nd_copy(l, v, &r);
	}
	(void)view_as_hwc(&r, dim, &o); /* new memory is linear */
	return o;
}

void
nd_divide(struct lower *l, const struct nd *a, const struct nd *b, const struct nd *out)
{
	int64_t dim[4];
	struct g_operand ofm;
	struct nd dest = *out;
	if (low_has(l, LACK_DIVISION)) {
		nd_binary(l, OP_DIV, a, 0, b, 0, out, &low_half_up);
		return;
	}
	hwc_dims(out, dim);
	struct g_operand x = broadcast_operand(l, a, out, dim);
	struct g_operand y = broadcast_operand(l, b, out, dim);
	if (!view_as_hwc(out, dim, &ofm)) {
		dest = nd_new_like(l, out, out->type);
		(void)view_as_hwc(&dest, dim, &ofm);
	}
	word_divide_to(l, x, y, ofm);
	if (dest.t != out->t)
		nd_copy(l, &dest, out);
}
