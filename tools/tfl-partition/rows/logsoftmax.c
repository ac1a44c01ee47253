/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LOG_SOFTMAX of int8: x - max - ln(sum of exp(x - max)), computed with the
 * reference's fixed-point functions.  The sum, its logarithm and the steps in
 * between are one word per row; four operations process every element.
 */
#include "../part.h"

#include "kernels/tables.h"

enum { SUM_BITS = 12, ROW_BITS = 5 }; /* integer bits of sums, of results */
enum { MAX_DEPTH = 2048 }; /* sums stay below 2^30, which leaves bits to shift */

const char *
read_log_softmax(const struct part *p, struct lop *o)
{
	const char *why = check_rows(p, o);
	o->own = anew(p->a, struct softmax_exp, 1);
	if (!why && tfl_hwc(o->ifm).c > MAX_DEPTH)
		return arena_printf(p->a, "rows of %d elements: at most %d",
				tfl_hwc(o->ifm).c, MAX_DEPTH);
	if (why || softmax_exp_prepare(o->own, quant_scale(o->ifm), 1))
		return why;
	return "the IFM's scale is too small";
}

/* a times a constant in Q0 */
static struct g_operand
times(struct part *p, struct g_operand a, int32_t q0)
{
	return word_mul_high(p->l, a, word_const(p->l, q0));
}

static struct g_operand
twice(struct part *p, struct g_operand a)
{
	return word_add(p->l, a, a);
}

/* (a + constant) / 2, halves up */
static struct g_operand
mean_with(struct part *p, struct g_operand a, int32_t c)
{
	struct g_operand y = word_new(p->l, a.shape);
	struct g_op *r = word_op_to(p->l, OP_ADD, a, word_const(p->l, c), y);
	op_scale(r, (struct npu_scale){ .mult = 1, .shift = 1 }, ROUND_TFL);
	return y;
}

/* the power for the shift that brings x to bit 30: (12 - 1 - shift) in Q6, plus extra */
static struct g_operand
power_of(struct part *p, struct g_operand shift, int32_t extra)
{
	enum { UNIT = 1 << 25 }; /* 1 in Q6 */
	struct g_operand v = word_mul(p->l, shift, word_const(p->l, UNIT));
	return word_sub(p->l, word_const(p->l, (SUM_BITS - 1) * UNIT + extra), v);
}

/* ln(x) in Q5 for x in Q12: the rational approximation of fixed_log_q12 */
static struct g_operand
word_log(struct part *p, struct g_operand x)
{
	const int32_t root4_half = 1805811301, ln_2 = 1488522236;
	const int32_t root_half = 1518500250; /* sqrt(1/2) in Q0 */
	const int32_t quarter = 1 << 23;      /* 1/4 in Q6 */
	/* x = r * 2^power with r near 2^(-1/4), as fixed_log_q12 reduces it */
	struct g_operand one = word_const(p->l, 1);
	struct g_operand left = word_sub(p->l, word_clz(p->l, x), one);
	struct g_operand ra = times(p, word_shl(p->l, x, left), root_half);
	struct g_operand pa = power_of(p, left, quarter);
	struct g_operand two = word_const(p->l, 2);
	struct g_operand left_b =
	    word_sub(p->l, word_clz(p->l, times(p, x, root_half)), two);
	struct g_operand rb = word_shl(p->l, x, left_b);
	struct g_operand pb = power_of(p, left_b, -quarter);
	/*
	 * Takes twice the lesser mantissa.  Twice the other one may exceed the
	 * word, but not both can: for x = u * 2^k, 1 <= u < 2, they are u * 2^29.5,
	 * and u * 2^29 where u * 2^29.5 is 2^30 or more, else u * 2^30.
	 */
	struct g_operand r = twice(p, word_min(p->l, ra, rb));
	struct g_operand power = word_max(p->l, pa, pb);

	struct g_operand mid = mean_with(p, r, root4_half);
	struct g_operand q =
	    twice(p, word_sub(p->l, r, word_const(p->l, root4_half)));
	struct g_operand q2 = word_mul_high(p->l, q, q);
	struct g_operand q3 = word_mul_high(p->l, q, q2);
	struct g_operand num = word_mul_high(p->l, q, r);
	num = word_add(p->l, num, times(p, q3, 117049297)); /* 11/240 * 2^(1/4) */
	struct g_operand inner = times(p, q2, 127690142); /* 1/20 * 2^(1/4) */
	inner = word_add(p->l, inner, q);
	/* 2^(3/4) - 2^(1/4) */
	inner = word_add(p->l, inner, word_const(p->l, 1057819769));
	struct g_operand den = word_mul_high(p->l, mid, inner);
	den = word_add(p->l, den, times(p, q, 638450708)); /* 1/4 * 2^(1/4) */
	struct g_operand inverse =
	    word_half_recip(p->l, mean_with(p, den, INT32_MAX));
	/*
	 * num / 64, halves rounded away from 0.  The operation multiplies -num by -2^31 and
	 * shifts right by 6 + 31.  TFL rounding with a shift beyond 31 first adds 2^30 with
	 * the sign of the product, which is half of what a unit of num contributes.  Only exact
	 * halves change by this: they are rounded away from 0.
	 */
	struct g_operand minus = word_sub(p->l, word_const(p->l, 0), num);
	struct g_operand part = word_new(p->l, num.shape);
	op_scale(word_op_to(p->l, OP_MUL, minus, word_const(p->l, INT32_MIN), part),
		 (struct npu_scale){ .mult = 1, .shift = 6 + 31 }, ROUND_TFL);
	/*
	 * num / 64 is far from the values for which this product differs from the
	 * reference's
	 */
	struct g_operand small = word_mul_halved(p->l, part, inverse);
	return twice(p, word_add(p->l, times(p, power, ln_2), small));
}

void
lower_log_softmax(struct part *p, const struct lop *o)
{
	const struct softmax_exp *s = o->own;
	int32_t exps[256], diffs[256];
	for (int i = 0; i < 256; i++) {
		int32_t e = softmax_exp(s, i - 255);
		exps[i] = e < 0 ? 0 : e;
		diffs[i] = e < 0 ? INT32_MIN : fixed_mbqm(i - 255, s->scale);
	}
	struct g_operand ofm = part_ofm(p, o->op->out[0]);
	struct g_operand x = low_view(p->l, part_ifm(p, o->op->in[0]), ofm.shape);
	struct g_operand max = row_maximum(p, x);
	struct g_operand e = row_lookup(p, x, max, exps);
	struct g_operand sum =
	    row_sum(p, word_shr(p->l, e, word_const(p->l, SUM_BITS)));
	/* halves of a negative number round down: subtract 1 first, then round up */
	struct g_operand one = word_const(p->l, 1);
	struct g_operand log = word_add(p->l, word_log(p, sum), one);
	struct g_operand d = row_lookup(p, x, max, diffs);
	struct g_op *r = word_op_to(p->l, OP_SUB, d, log, ofm);
	/* to the 4 fractional bits of the output, whose scale is 1/16 */
	op_scale(r, (struct npu_scale){ .mult = 1, .shift = 31 - ROW_BITS - 4 },
		 ROUND_TFL);
	r->ofm_zero = INT8_MAX;
}
