/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DIV of two 8-bit tensors through floats: DEQUANTIZE of each, DIV, QUANTIZE to 8
 * bits.  The result for bytes a and b is
 *
 *	(A[a] * M[b] + 2^(k - 1)) / 2^k + zero point
 *
 * A[a] is the float that DEQUANTIZE makes of a, in fixed point; the float is used
 * because it decides which quotients are halfway between two results.  The shift k
 * and a word M[b] for each b are chosen such that all 65536 results equal the
 * reference's: for one b, every a limits M[b] to an interval.  The quotient 0 / 0
 * is not a number, of which QUANTIZE makes the zero point, as of all M[b] times 0.
 */
#include "../part.h"

#include "base/fixed.h"
#include "graph/facts.h"
#include "kernels/kernels.h"

#include <math.h>

enum { BYTES = 256, PAIRS = BYTES * BYTES, DIVIDEND_BITS = 30, MAX_SHIFT = 50, LEAST_SHIFT = 8 };

struct ratio {
	int tensor[2]; /* dividend, divisor */
	int dequantize[2];   /* index of the DEQUANTIZE of each */
	int div;
	/* A and M of each byte, from the type's least value on */
	int32_t dividend[BYTES], mult[BYTES];
	int shift;
};

static int64_t
floor_div(int64_t a, int64_t b)
{
	int64_t q = a / b;
	return q - (a % b != 0 && (a < 0) != (b < 0));
}

/* finds M of one divisor; want: the results for each dividend */
static bool
find_mult(const struct ratio *r, const struct tfl_tensor *o, const int32_t *want,
	  int32_t *mult)
{
	struct g_range range = type_range(o->type);
	/* bounds of M, both inclusive, that results allow */
	int64_t lo = INT32_MIN, hi = INT32_MAX;
	int64_t one = INT64_C(1) << r->shift, zero = quant_zero(o);
	for (int i = 0; i < BYTES; i++) {
		/* least <= a * M < below; a saturated result gives one bound only */
		int64_t a = r->dividend[i], least = (want[i] - zero) * one - one / 2;
		int64_t below = least + one;
		bool from = want[i] > range.lo, to = want[i] < range.hi;
		if (a > 0) {
			lo = from ? max_i64(lo, floor_div(least - 1, a) + 1) : lo;
			hi = to ? min_i64(hi, floor_div(below - 1, a)) : hi;
		} else if (a < 0) { /* -below < -a * M <= -least */
			lo = to ? max_i64(lo, floor_div(-below, -a) + 1) : lo;
			hi = from ? min_i64(hi, floor_div(-least, -a)) : hi;
		} else if (want[i] != zero) {
			return false;
		}
	}
	*mult = (int32_t)(lo + (hi - lo) / 2);
	return lo <= hi;
}

/* the reference's results, all dividends of the first divisor first */
static bool
evaluate_quotients(const struct part *p, struct ratio *r, const struct tfl_op *op,
	 struct arena *a, int32_t *want)
{
	uint8_t bytes[BYTES], *y = anew(a, uint8_t, PAIRS);
	float real[2][BYTES], *in[2], *quotient = anew(a, float, PAIRS);
	for (int k = 0; k < 2; k++) {
		in[k] = anew(a, float, PAIRS);
		int64_t least = type_range(p->sg->tensor[r->tensor[k]].type).lo;
		for (int i = 0; i < BYTES; i++)
			bytes[i] = (uint8_t)(i + least);
		if (!part_evaluate(p, &p->sg->op[r->dequantize[k]], (void *const[]){ bytes },
				   real[k], BYTES))
			return false;
	}
	/* the dividends in fixed point, all with the same power of two */
	float most = 0;
	int exp;
	for (int i = 0; i < BYTES; i++)
		most = fmaxf(most, fabsf(real[0][i]));
	(void)frexpf(most, &exp);
	for (int i = 0; i < BYTES; i++)
		r->dividend[i] = (int32_t)lround(ldexp((double)real[0][i],
						       DIVIDEND_BITS - exp));
	for (int i = 0; i < PAIRS; i++) {
		in[0][i] = real[0][i % BYTES];
		in[1][i] = real[1][i / BYTES];
	}
	if (!part_evaluate(p, &p->sg->op[r->div], (void *const[]){ in[0], in[1] },
			   quotient, PAIRS) ||
	    !part_evaluate(p, op, (void *const[]){ quotient }, y, PAIRS))
		return false;
	struct tfl_tensor as = *part_out(p, op, 0);
	as.data = (struct bytes){ .p = y, .n = PAIRS };
	for (int i = 0; i < PAIRS; i++)
		want[i] = tensor_int(&as, i);
	return true;
}

/* finds the largest shift for which all words M exist */
static bool
find_words(struct ratio *r, const struct tfl_tensor *o, const int32_t *want)
{
	for (r->shift = MAX_SHIFT; r->shift >= LEAST_SHIFT; r->shift--) {
		int b = 0;
		while (b < BYTES && find_mult(r, o, want + b * BYTES, &r->mult[b]))
			b++;
		if (b == BYTES)
			return true;
	}
	return false;
}

/* an operand of DIV must be 8-bit values from a DEQUANTIZE that nobody else reads */
static bool
read_operand(const struct part *p, const struct tfl_op *div, int k, int64_t n,
	     struct ratio *r)
{
	const struct tfl_tensor *x = part_in(p, div, k);
	if (!x || x->type != TFL_FLOAT32 || x->producer < 0 ||
	    p->uses[div->in[k]] != 1 || tfl_elements(x) != n)
		return false;
	const struct tfl_op *dequantize = &p->sg->op[x->producer];
	if (dequantize->code != TFL_DEQUANTIZE || dequantize->n_in != 1 || dequantize->in[0] < 0)
		return false;
	r->dequantize[k] = x->producer;
	r->tensor[k] = dequantize->in[0];
	const struct tfl_tensor *root = part_in(p, dequantize, 0);
	return !root->data.p && tfl_elements(root) == n &&
	       !check_fm(p, root, "IFM", TYPE_8);
}

static bool
may_be_part(const struct part *p, int i)
{
	struct err e = { 0 };
	/* the evaluation ignores shapes, so check that they are valid */
	return !p->op[i].npu && may_join(p, i) && kernel_check(p->sg, &p->sg->op[i], &e);
}

static bool
read_shape(const struct part *p, int i, struct ratio *r)
{
	const struct tfl_op *op = &p->sg->op[i];
	if (op->code != TFL_QUANTIZE || op->n_in != 1 || op->n_out != 1 ||
	    check_fm(p, part_out(p, op, 0), "OFM", TYPE_8))
		return false;
	const struct tfl_tensor *x = part_in(p, op, 0);
	if (!x || x->producer < 0 || p->uses[op->in[0]] != 1)
		return false;
	const struct tfl_op *div = &p->sg->op[x->producer];
	r->div = x->producer;
	if (div->code != TFL_DIV || div->n_in != 2)
		return false;
	int64_t n = tfl_elements(part_out(p, op, 0));
	return tfl_elements(x) == n && read_operand(p, div, 0, n, r) &&
	       read_operand(p, div, 1, n, r) && may_be_part(p, i) && may_be_part(p, r->div) &&
	       may_be_part(p, r->dequantize[0]) && may_be_part(p, r->dequantize[1]);
}

bool
join_ratio(struct part *p, int i, struct join *j)
{
	const struct tfl_op *op = &p->sg->op[i];
	struct ratio *r = anew(p->a, struct ratio, 1);
	if (!read_shape(p, i, r))
		return false;
	struct arena *a = arena_open();
	int32_t *want = anew(a, int32_t, PAIRS);
	bool ok = evaluate_quotients(p, r, op, a, want) &&
		  find_words(r, part_out(p, op, 0), want);
	arena_close(a);
	if (!ok) {
		p->op[r->div].why = "no integer factors of the dividend give "
				    "all quotients of the float reference";
		return false;
	}
	p->op[i].ratio = r;
	*j = (struct join){ .as = AS_RATIO, .n = 3,
			    .op = { r->div, r->dequantize[0], r->dequantize[1] } };
	return true;
}

/* raises each DEQUANTIZE to its QUANTIZE's level, as nobody else sees the floats */
void
raise_ratios(struct part *p)
{
	for (int i = 0; i < p->sg->n_ops; i++) {
		const struct ratio *r = p->op[i].ratio;
		for (int k = 0; r && k < 2; k++)
			p->op[r->dequantize[k]].level = p->op[i].level;
	}
}

void
lower_ratio(struct part *p, int i)
{
	const struct tfl_op *op = &p->sg->op[i];
	const struct ratio *r = p->op[i].ratio;
	const struct tfl_tensor *o = part_out(p, op, 0);
	struct g_operand ofm = part_ofm(p, op->out[0]), dest = low_destination(p->l, ofm);
	struct g_operand v[2], word[2];
	for (int k = 0; k < 2; k++) {
		v[k] = low_view(p->l, part_ifm(p, r->tensor[k]), dest.shape);
		word[k] = word_new(p->l, dest.shape);
		part_table32(p, v[k], word[k], k ? r->mult : r->dividend);
	}
	struct g_op *last = word_op_to(p->l, OP_MUL, word[0], word[1], dest);
	op_scale(last, (struct npu_scale){ .mult = 1, .shift = r->shift }, ROUND_NATURAL);
	op_zeros(last, 0, quant_zero(o));
	op_clamp(last, type_range(o->type));
	low_deliver(p->l, dest, ofm);
}
