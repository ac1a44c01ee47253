/* SPDX-License-Identifier: Apache-2.0 */
/* LOGISTIC, TANH, EXP, LOG, ELU, RSQRT: nputools-lowering(7) 3.8, 5.4. */
#include "kernels/functions.h"
#include "kernels/tables.h"

#include <math.h>

struct lookup {
	const struct tfl_tensor *in, *out;
	struct affine q, q_out;
	int64_t n;
	int32_t *v; /* the input, later the output */
};

static bool
lookup_prepare(struct call *c, struct lookup *l)
{
	*l = (struct lookup){ .in = call_in(c, 0), .out = call_out(c, 0) };
	l->n = c->check ? 0 : tfl_elements(l->in);
	if (!call_type(c, l->in, "input", T_QUANT) ||
	    !call_same_type(c, l->in, l->out) ||
	    !call_same_count(c, l->in, l->out) ||
	    !call_affine(c, l->in, "input", &l->q) ||
	    !call_affine(c, l->out, "output", &l->q_out))
		return false;
	l->v = call_widen(c, 0);
	return true;
}

/* Replaces every value by its entry in a table of 256. */
static bool
by_table(struct call *c, struct lookup *l, const int32_t table[256])
{
	for (int64_t i = 0; i < l->n; i++)
		l->v[i] = table[l->v[i] & 0xff];
	call_narrow(c, 0, l->v);
	return true;
}

/* Applies a float function to an 8-bit type by a table, computed in float32. */
static bool
float_table(struct call *c, struct lookup *l, float (*f)(float))
{
	int32_t table[256];
	int32_t lo = type_min(l->in->type), hi = type_max(l->in->type);
	float inverse = 1 / l->q_out.scale;
	for (int32_t q = lo; q <= hi; q++) {
		float r =
		    roundf(f(l->q.scale * (float)(q - l->q.zero)) * inverse);
		double y = isnan(r) ? lo : (double)r + l->q_out.zero;
		table[q & 0xff] = (int32_t)fmin(fmax(y, lo), hi);
	}
	return by_table(c, l, table);
}

static bool
float_function(struct call *c, struct lookup *l, float (*f)(float))
{
	int16_t t[TABLE16];
	if (l->in->type != TFL_INT16)
		return float_table(c, l, f);
	table16_fill(t, l->q, l->q_out, f);
	for (int64_t i = 0; i < l->n; i++)
		l->v[i] = table16_lookup(t, l->v[i]);
	call_narrow(c, 0, l->v);
	return true;
}

/* ---- LOGISTIC, TANH ------------------------------------------------------ */

static float
sigmoid(float x)
{
	return 1 / (1 + expf(-x));
}

/*
 * Returns the function of one int8 value in fixed point.  Beyond radius the function is
 * constant.
 */
static int32_t
squash(int32_t v, bool tanh, struct fixed_mult m, double radius)
{
	if (v <= -radius)
		return INT8_MIN;
	if (v >= radius)
		return INT8_MAX;
	int32_t x = fixed_mbqm(v, m);
	int32_t y = tanh ? fixed_rdpot(fixed_tanh(x), 24)
			 : fixed_rdpot(fixed_logistic(x), 23) - 128;
	return clamp_i32(y, INT8_MIN, INT8_MAX);
}

bool
kernel_logistic_tanh(struct call *c)
{
	bool tanh = c->op->code == TFL_TANH;
	struct lookup l;
	struct fixed_mult m;
	int32_t table[256];
	if (!lookup_prepare(c, &l))
		return false;
	if (l.in->type == TFL_INT16) {
		struct sigmoid16 s;
		sigmoid16_prepare(&s, l.q.scale, tanh);
		for (int64_t i = 0; i < l.n; i++)
			l.v[i] = sigmoid16(&s, l.v[i]);
		call_narrow(c, 0, l.v);
		return true;
	}
	struct err other = { 0 };
	if (l.in->type == TFL_UINT8 || !kernel_takes_quantization(c->g, c->op, &other))
		return float_table(c, &l, tanh ? tanhf : sigmoid);
	if (!call_mult(c, (double)l.q.scale * 0x1p27, &m))
		return false;
	double radius = floor(ldexp(15, 27 - m.exp));
	for (int32_t q = INT8_MIN; q <= INT8_MAX; q++)
		table[q & 0xff] = squash(q - l.q.zero, tanh, m, radius);
	return by_table(c, &l, table);
}

/* ---- EXP, LOG, RSQRT ----------------------------------------------------- */

bool
kernel_exp(struct call *c)
{
	struct lookup l;
	return lookup_prepare(c, &l) && float_function(c, &l, expf);
}

/* Values with no logarithm give the lowest output. */
static float
log_or_least(float x)
{
	return x <= 0 ? -INFINITY : logf(x);
}

bool
kernel_log(struct call *c)
{
	struct lookup l;
	return lookup_prepare(c, &l) && float_function(c, &l, log_or_least);
}

static float
elu(float x)
{
	return x < 0 ? expf(x) - 1 : x;
}

bool
kernel_elu(struct call *c)
{
	struct lookup l;
	return lookup_prepare(c, &l) && call_type(c, l.in, "input", T_8) &&
	       float_table(c, &l, elu);
}

enum { RSQRT_SHIFT = 20 };

bool
kernel_rsqrt(struct call *c)
{
	struct lookup l;
	struct fixed_mult m;
	if (!lookup_prepare(c, &l) ||
	    !call_mult(c, (double)(1.0f / (sqrtf(l.q.scale) * l.q_out.scale)),
		       &m))
		return false;
	int32_t lo = type_min(l.out->type), hi = type_max(l.out->type);
	m.exp -= RSQRT_SHIFT;
	if (m.exp < -31)
		m = (struct fixed_mult){ 0 };
	for (int64_t i = 0; i < l.n; i++) {
		int32_t v = l.v[i] - l.q.zero;
		if (v < 0)
			return call_err(c, "element %lld is negative",
					(long long)i);
		struct fixed_mult root = fixed_inv_sqrt(v);
		root.exp += RSQRT_SHIFT;
		l.v[i] = v == 0 ? hi
				: clamp_i32((int64_t)fixed_mbqm(
						fixed_mbqm(1, root), m) +
						l.q_out.zero,
					    lo, hi);
	}
	call_narrow(c, 0, l.v);
	return true;
}

/* ---- GELU ------------------------------------------------------------------ */

/* x / 2 * erfc(-x / sqrt(2)): no cancellation far below 0 */
static float
gelu(float x)
{
	return 0.5f * x * erfcf(x * (float)-M_SQRT1_2);
}

static float
gelu_approximate(float x)
{
	const float root = (float)(M_2_SQRTPI * M_SQRT1_2); /* sqrt(2 / pi) */
	return 0.5f * x * (1 + tanhf(root * (x + 0.044715f * x * x * x)));
}

bool
kernel_gelu(struct call *c)
{
	struct lookup l;
	return lookup_prepare(c, &l) && call_type(c, l.in, "input", T_8) &&
	       float_table(c, &l, TFL_OPT(c->op, GeluOptions, approximate)
				      ? gelu_approximate
				      : gelu);
}
