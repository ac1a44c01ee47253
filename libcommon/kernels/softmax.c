/* SPDX-License-Identifier: Apache-2.0 */
/* SOFTMAX and LOG_SOFTMAX along the last dimension: nputools-lowering(7) 3.6, 3.7.
 */
#include "kernels/functions.h"
#include "kernels/tables.h"

#include <math.h>

enum { SUM_BITS = 12 }; /* integer bits of sums */

struct softmax {
	const struct tfl_tensor *in, *out;
	struct affine q;
	int64_t rows, depth;
	struct softmax_exp exp;
	const int32_t *x;
	int32_t *e; /* exponentials of a row */
	int32_t *y;
};

static int32_t
row_max(const int32_t *x, int64_t n)
{
	int32_t max = x[0];
	for (int64_t i = 1; i < n; i++)
		max = x[i] > max ? x[i] : max;
	return max;
}

static bool
softmax_prepare(struct call *c, struct softmax *s)
{
	s->in = call_in(c, 0);
	s->out = call_out(c, 0);
	if (!call_type(c, s->in, "input", T_QUANT) ||
	    !call_same_shape(c, s->in, s->out) ||
	    !call_affine(c, s->in, "input", &s->q))
		return false;
	if (s->in->rank < 1)
		return call_mismatch(c, "input has rank 0");
	s->depth = s->in->dim[s->in->rank - 1];
	s->rows = s->depth && !c->check ? tfl_elements(s->in) / s->depth : 0;
	s->x = call_widen(c, 0);
	s->e = anew(c->a, int32_t, (size_t)s->depth);
	s->y = anew(c->a, int32_t, (size_t)(s->rows * s->depth));
	return true;
}

/* Prepares the multiplier of differences and the smallest difference that counts. */
static bool
prepare_8(struct call *c, struct softmax *s, double beta)
{
	if (!softmax_exp_prepare(&s->exp, (double)s->q.scale, beta))
		return call_err(c,
				"input scale times beta is %g, which is below "
				"2^-26",
				(double)s->q.scale * beta);
	return true;
}

/* Computes exp of every difference to the row's maximum; returns their sum in Q12. */
static int64_t
exponentials(struct softmax *s, const int32_t *x)
{
	int32_t max = row_max(x, s->depth);
	int64_t sum = 0;
	for (int64_t i = 0; i < s->depth; i++) {
		s->e[i] = softmax_exp(&s->exp, x[i] - max);
		if (s->e[i] >= 0)
			sum += fixed_rdpot(s->e[i], SUM_BITS);
	}
	return sum;
}

static bool
row_8(struct call *c, struct softmax *s, const int32_t *x, int32_t *y)
{
	int bits = s->out->type == TFL_INT16 ? 16 : 8;
	int32_t lo = type_min(s->out->type), hi = type_max(s->out->type);
	int64_t sum = exponentials(s, x);
	int lead = sum <= INT32_MAX ? __builtin_clz((uint32_t)sum) : 0;
	int shift = SUM_BITS - lead + 31 - bits;
	if (sum > INT32_MAX)
		return call_err(c,
				"a row's sum is beyond what the reference can "
				"express");
	/* TensorFlow Lite Micro stops here; each value is less than half a step */
	if (shift > 31) {
		for (int64_t i = 0; i < s->depth; i++)
			y[i] = lo;
		return true;
	}
	int32_t inverse =
	    fixed_recip((int32_t)(((uint32_t)sum << lead) - 0x80000000u));
	for (int64_t i = 0; i < s->depth; i++)
		y[i] =
		    s->e[i] < 0
			? lo
			: clamp_i32((int64_t)fixed_rdpot(
					fixed_srdhm(inverse, s->e[i]), shift) +
					lo,
				    lo, hi);
	return true;
}

/* ---- int16: two tables --------------------------------------------------- */

static float
inverse_of_one_plus(float x)
{
	return 1.0f / (1.0f + x);
}

struct softmax16 {
	int16_t exp[TABLE16], inverse[TABLE16];
	struct fixed_mult scale;
};

static bool
prepare_16(struct call *c, struct softmax *s, double beta, struct softmax16 *t)
{
	const struct affine out = { .scale = 2.0f / 65535.0f };
	table16_fill(
	    t->exp,
	    (struct affine){ .scale = 10.0f / 65535.0f, .zero = INT16_MAX },
	    out, expf);
	table16_fill(
	    t->inverse,
	    (struct affine){ .scale = 1.0f / 65535.0f, .zero = INT16_MIN }, out,
	    inverse_of_one_plus);
	return call_mult(c, (double)s->q.scale * beta / (10.0 / 65535.0),
			 &t->scale);
}

static bool
row_16(struct call *c, struct softmax *s, const struct softmax16 *t,
       const int32_t *x, int32_t *y)
{
	int32_t max = row_max(x, s->depth);
	int64_t sum = 0;
	for (int64_t i = 0; i < s->depth; i++) {
		int32_t d = clamp_i32(
		    (int64_t)fixed_mbqm(x[i] - max, t->scale) + INT16_MAX,
		    INT16_MIN, INT16_MAX);
		s->e[i] = table16_lookup(t->exp, d);
		sum += s->e[i];
	}
	if (sum < 1 || sum > INT32_MAX)
		return call_err(c,
				"a row's sum is beyond what the reference can "
				"express");
	int lead = __builtin_clz((uint32_t)sum);
	int32_t u = (int32_t)(((sum << (lead - 1)) + (1 << 13)) >> 14);
	int32_t v = clamp_i32((int64_t)u - 98304, INT16_MIN, INT16_MAX);
	int32_t inverse = table16_lookup(t->inverse, v);
	int shift = 31 - lead;
	int64_t half = shift ? (int64_t)1 << (shift - 1) : 0;
	for (int64_t i = 0; i < s->depth; i++)
		y[i] = clamp_i32(((int64_t)s->e[i] * inverse + half) >> shift,
				 0, INT16_MAX);
	return true;
}

bool
kernel_softmax(struct call *c)
{
	struct softmax s = { 0 };
	struct softmax16 t;
	double beta = TFL_OPT_FLOAT(c->op, SoftmaxOptions, beta);
	if (!softmax_prepare(c, &s))
		return false;
	bool wide = s.in->type == TFL_INT16;
	if (!(s.in->type == s.out->type ||
	      (s.in->type == TFL_INT8 && s.out->type == TFL_INT16)))
		return call_same_type(c, s.in, s.out);
	if (!isfinite(beta) || beta < 0)
		return call_err(c, "beta is %g", beta);
	if (wide ? !prepare_16(c, &s, beta, &t) : !prepare_8(c, &s, beta))
		return false;
	for (int64_t r = 0; r < s.rows; r++) {
		const int32_t *x = s.x + r * s.depth;
		int32_t *y = s.y + r * s.depth;
		if (wide ? !row_16(c, &s, &t, x, y) : !row_8(c, &s, x, y))
			return false;
	}
	call_narrow(c, 0, s.y);
	return true;
}

/* ---- LOG_SOFTMAX --------------------------------------------------------- */

/*
 * x - max - ln(sum exp(x - max)).  Output scale and zero point are 1/16 and 127 by
 * definition: Q5 differences are converted to 4 fractional bits.
 */
static bool
log_row(struct call *c, struct softmax *s, struct fixed_mult back,
	const int32_t *x, int32_t *y)
{
	int64_t sum = exponentials(s, x);
	if (sum > INT32_MAX)
		return call_err(c,
				"a row's sum is beyond what the reference can "
				"express");
	int32_t max = row_max(x, s->depth), log = fixed_log_q12((int32_t)sum);
	int32_t limit = fixed_mbqm((int32_t)((int64_t)log + INT32_MIN), back);
	if (limit < s->exp.diff_min - 1)
		limit = s->exp.diff_min - 1;
	for (int64_t i = 0; i < s->depth; i++) {
		int32_t d = x[i] - max;
		y[i] = INT8_MIN;
		if (d <= limit)
			continue;
		int64_t v = (int64_t)fixed_mbqm(d, s->exp.scale) - log;
		y[i] = clamp_i32((int64_t)fixed_rdpot((int32_t)v, 22) + 127,
				 INT8_MIN, INT8_MAX);
	}
	return true;
}

bool
kernel_log_softmax(struct call *c)
{
	struct softmax s = { 0 };
	if (!softmax_prepare(c, &s) || !call_same_type(c, s.in, s.out) ||
	    !call_type(c, s.in, "input", T_I8) || !prepare_8(c, &s, 1.0))
		return false;
	struct fixed_mult back =
	    fixed_quantize(ldexp(1, 31 - s.exp.scale.exp) / (double)s.exp.scale.mult);
	if (back.exp > 0)
		return call_err(c, "input scale is too small");
	for (int64_t r = 0; r < s.rows; r++)
		if (!log_row(c, &s, back, s.x + r * s.depth, s.y + r * s.depth))
			return false;
	call_narrow(c, 0, s.y);
	return true;
}
