/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise operators of one tensor: nputools-lowering(7) 3.4, 3.9. */
#include "kernels/call.h"

#include <math.h>
#include <stdlib.h>

struct unary {
	const struct tfl_tensor *in, *out;
	struct affine q, q_out;
	struct range range; /* of the output type */
	int64_t n;
	int32_t *v; /* the input, later the output */
};

static bool
unary_prepare(struct call *c, unsigned types, struct unary *u)
{
	*u = (struct unary){ .in = call_in(c, 0), .out = call_out(c, 0) };
	if (!call_type(c, u->in, "input", types) ||
	    !call_same_type(c, u->in, u->out) ||
	    !call_same_count(c, u->in, u->out) ||
	    !call_affine(c, u->in, "input", &u->q) ||
	    !call_affine(c, u->out, "output", &u->q_out) ||
	    !call_range(c, TFL_ACT_NONE, u->out, u->q_out, &u->range))
		return false;
	u->n = c->check ? 0 : tfl_elements(u->in);
	u->v = call_widen(c, 0);
	return true;
}

static bool
unary_store(struct call *c, struct unary *u)
{
	for (int64_t i = 0; i < u->n; i++)
		u->v[i] = clamp_i32(u->v[i], u->range.lo, u->range.hi);
	call_narrow(c, 0, u->v);
	return true;
}

/* Adds the output's zero point without wrapping. */
static int32_t
plus_zero(const struct unary *u, int32_t v)
{
	return clamp_i32((int64_t)v + u->q_out.zero, INT32_MIN, INT32_MAX);
}

/* ABS of INT32 as in TFLite; TFLite Micro lacks it. */
static bool
magnitudes_of_words(struct call *c)
{
	const struct tfl_tensor *in = call_in(c, 0), *out = call_out(c, 0);
	if (!call_same_type(c, in, out) || !call_same_count(c, in, out))
		return false;
	if (in->quant.n_scale == 1 && out->quant.n_scale == 1 &&
	    in->quant.scale[0] != out->quant.scale[0])
		return call_err(c, "INT32 of different scales");
	if (c->check)
		return true;
	int32_t *v = call_widen(c, 0);
	for (int64_t i = 0; i < tfl_elements(in); i++)
		v[i] = v[i] < 0 ? (int32_t)(0 - (uint32_t)v[i]) : v[i];
	call_narrow(c, 0, v);
	return true;
}

bool
kernel_abs(struct call *c)
{
	struct unary u;
	struct fixed_mult m;
	if (call_in(c, 0) && call_in(c, 0)->type == TFL_INT32)
		return magnitudes_of_words(c);
	if (!unary_prepare(c, T_QUANT, &u) ||
	    !call_mult_of(c, (double)(u.q.scale / u.q_out.scale),
			  type_width(u.in->type), &m))
		return false;
	bool same = u.q.scale == u.q_out.scale;
	for (int64_t i = 0; i < u.n; i++) {
		int32_t v = abs(u.v[i] - u.q.zero);
		u.v[i] = plus_zero(&u, same ? v : fixed_mbqm(v, m));
	}
	return unary_store(c, &u);
}

/* NEG of INT32 as in TFLite; TFLite Micro has NEG of floats only. */
static bool
negate_words(struct call *c)
{
	const struct tfl_tensor *in = call_in(c, 0), *out = call_out(c, 0);
	if (!call_same_type(c, in, out) || !call_same_count(c, in, out))
		return false;
	if (c->check)
		return true;
	int32_t *v = call_widen(c, 0);
	for (int64_t i = 0; i < tfl_elements(in); i++)
		v[i] = (int32_t)(0 - (uint32_t)v[i]);
	call_narrow(c, 0, v);
	return true;
}

bool
kernel_neg(struct call *c)
{
	struct unary u;
	if (call_in(c, 0) && call_in(c, 0)->type == TFL_INT32)
		return negate_words(c);
	if (!unary_prepare(c, T_QUANT, &u))
		return false;
	for (int64_t i = 0; i < u.n; i++)
		u.v[i] = u.q.zero + u.q_out.zero - u.v[i];
	return unary_store(c, &u);
}

/* RELU, RELU_N1_TO_1 and RELU_0_TO_1 rescale; their bounds are in output units. */
bool
kernel_relu(struct call *c)
{
	struct unary u;
	struct fixed_mult m;
	struct range r;
	if (!unary_prepare(c, T_QUANT, &u) ||
	    !call_mult_of(c, (double)(u.q.scale / u.q_out.scale),
			  type_width(u.in->type), &m) ||
	    !call_range(c,
			c->op->code == TFL_RELU ? TFL_ACT_RELU
						: TFL_ACT_RELU_N1_TO_1,
			u.out, u.q_out, &r))
		return false;
	if (c->op->code == TFL_RELU_0_TO_1 && r.lo < u.q_out.zero)
		r.lo = u.q_out.zero;
	u.range = r;
	for (int64_t i = 0; i < u.n; i++)
		u.v[i] = plus_zero(&u, fixed_mbqm(u.v[i] - u.q.zero, m));
	return unary_store(c, &u);
}

/* Clamps without rescaling, as TFLite Micro does (nputools-lowering(7) 3.4). */
bool
kernel_relu6(struct call *c)
{
	struct unary u;
	if (!unary_prepare(c, T_QUANT, &u) ||
	    !call_range(c, TFL_ACT_RELU6, u.in, u.q, &u.range))
		return false;
	return unary_store(c, &u);
}

bool
kernel_leaky_relu(struct call *c)
{
	struct unary u;
	struct fixed_mult same, below;
	float alpha = (float)TFL_OPT_FLOAT(c->op, LeakyReluOptions, alpha);
	if (!unary_prepare(c, T_QUANT, &u))
		return false;
	float m = u.q.scale * alpha / u.q_out.scale;
	int64_t most = type_width(u.in->type);
	if (!call_mult_of(c, (double)(u.q.scale / u.q_out.scale), most, &same) ||
	    !call_mult_of(c, (double)fabsf(m), most, &below))
		return false;
	for (int64_t i = 0; i < u.n; i++) {
		int32_t v = u.v[i] - u.q.zero;
		v = fixed_mbqm(v, v >= 0 ? same : below);
		if (m < 0 && u.v[i] < u.q.zero) /* call_mult_of() takes |m| */
			v = -v;
		u.v[i] = plus_zero(&u, v);
	}
	return unary_store(c, &u);
}

/* ---- HARD_SWISH, 16 bits inside ------------------------------------------ */

static int32_t
sat16(int32_t v)
{
	return clamp_i32(v, INT16_MIN, INT16_MAX);
}

static int32_t
srdhm16(int32_t a, int32_t b)
{
	int32_t p = a * b;
	if (a == INT16_MIN && b == INT16_MIN)
		return INT16_MAX;
	return (p + (p >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15);
}

static int32_t
mult16(int32_t m)
{
	return m > INT32_MAX - (1 << 15) ? INT16_MAX : (m + (1 << 15)) >> 16;
}

static int32_t
hard_swish(int32_t v, struct fixed_mult out, struct fixed_mult relu)
{
	int32_t wide = v * 128;
	int32_t pre = srdhm16(wide, mult16(out.mult));
	int32_t r = wide;
	if (relu.exp > 0)
		r = sat16(
		    (int32_t)fmin(fmax(ldexp(r, relu.exp - 1), -65536), 65536));
	r = srdhm16(r, mult16(relu.mult));
	if (relu.exp > 0)
		r = sat16(r * 2);
	else if (relu.exp < 0)
		r = fixed_rdpot(r, -relu.exp);
	r = (r + 32768) >> 1;
	int32_t y = sat16(r * pre / (1 << 15));
	return fixed_rdpot(y, -out.exp);
}

bool
kernel_hard_swish(struct call *c)
{
	struct unary u;
	struct fixed_mult out, relu;
	if (!unary_prepare(c, T_8, &u))
		return false;
	float hs = u.q.scale / 128;
	if (!call_mult(c, (double)(hs / u.q_out.scale), &out) ||
	    !call_mult(c, (double)(hs / (3.0f / 32768.0f)), &relu))
		return false;
	if (out.exp > 0)
		return call_err(c,
				"input scale is more than 128 times the output "
				"scale");
	for (int64_t i = 0; i < u.n; i++)
		u.v[i] =
		    plus_zero(&u, hard_swish(u.v[i] - u.q.zero, out, relu));
	return unary_store(c, &u);
}
