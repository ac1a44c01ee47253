/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elementwise FLOAT32 operators whose results IEEE 754 defines exactly: sums, products,
 * quotients, square roots, comparisons.  exp, log, sin and similar functions depend on
 * the math library; a kernel for them could not match another implementation.
 */
#include "kernels/call.h"

#include <math.h>
#include <string.h>

static float
unary(int code, float x)
{
	switch (code) {
	case TFL_SQRT: return sqrtf(x);
	case TFL_SQUARE: return x * x;
	case TFL_ABS: return fabsf(x);
	case TFL_NEG: return -x;
	case TFL_FLOOR: return floorf(x);
	case TFL_CEIL: return ceilf(x);
	case TFL_RELU: return x > 0 ? x : 0;
	default: return x;
	}
}

static float
binary(int code, float a, float b)
{
	switch (code) {
	case TFL_ADD: return a + b;
	case TFL_SUB: return a - b;
	case TFL_MUL: return a * b;
	case TFL_DIV: return a / b;
	case TFL_MAXIMUM: return a < b ? b : a;
	case TFL_MINIMUM: return b < a ? b : a;
	default: return a;
	}
}

struct limits {
	float lo, hi;
};

static bool
limits_of(struct call *c, struct limits *l)
{
	int64_t act = tfl_binary_activation(c->op);
	*l = (struct limits){ .lo = -INFINITY, .hi = INFINITY };
	if (act < 0 || act > TFL_ACT_RELU6)
		return call_err(c, "fused activation %lld is not supported",
				(long long)act);
	if (act != TFL_ACT_NONE)
		l->lo = act == TFL_ACT_RELU_N1_TO_1 ? -1 : 0;
	if (act == TFL_ACT_RELU6)
		l->hi = 6;
	if (act == TFL_ACT_RELU_N1_TO_1)
		l->hi = 1;
	return true;
}

/* a constant may have any address */
static float
load_float(const void *p, int64_t i)
{
	float v;
	memcpy(&v, (const uint8_t *)p + i * (int64_t)sizeof(v), sizeof(v));
	return v;
}

static bool
run_unary(struct call *c)
{
	const struct tfl_tensor *in = call_in(c, 0);
	if (!call_same_count(c, in, call_out(c, 0)))
		return false;
	float *y = c->io->out[0];
	int64_t n = c->check ? 0 : tfl_elements(in);
	for (int64_t i = 0; i < n; i++)
		y[i] = unary(c->op->code, load_float(c->io->in[0], i));
	return true;
}

/* Returns the input element from which element i of the output is computed. */
static int64_t
element(const struct tfl_tensor *t, const struct tfl_tensor *out, int64_t i)
{
	int64_t at = 0, stride = 1;
	for (int d = 1; d <= out->rank; d++) {
		int64_t n = out->dim[out->rank - d];
		int64_t own = d <= t->rank ? t->dim[t->rank - d] : 1;
		if (own != 1)
			at += i % n * stride;
		stride *= own;
		i /= n;
	}
	return at;
}

static bool
run_binary(struct call *c)
{
	const struct tfl_tensor *a = call_in(c, 0), *b = call_in(c, 1);
	const struct tfl_tensor *o = call_out(c, 0);
	struct limits l;
	if (!call_broadcast(c, a, b, o) || !limits_of(c, &l))
		return false;
	float *y = c->io->out[0];
	int64_t n = c->check ? 0 : tfl_elements(o);
	for (int64_t i = 0; i < n; i++) {
		float v = binary(c->op->code, load_float(c->io->in[0], element(a, o, i)),
				 load_float(c->io->in[1], element(b, o, i)));
		y[i] = v < l.lo ? l.lo : v > l.hi ? l.hi : v;
	}
	return true;
}

static bool
is_unary(int code)
{
	return code == TFL_SQRT || code == TFL_SQUARE || code == TFL_ABS ||
	       code == TFL_NEG || code == TFL_FLOOR || code == TFL_CEIL ||
	       code == TFL_RELU;
}

bool
call_is_float(const struct call *c)
{
	int code = c->op->code;
	bool is_binary = code == TFL_ADD || code == TFL_SUB || code == TFL_MUL ||
			 code == TFL_DIV || code == TFL_MAXIMUM || code == TFL_MINIMUM;
	int n = is_unary(code) ? 1 : is_binary ? 2 : 0;
	if (!n || c->op->n_in != n || c->op->n_out != 1)
		return false;
	for (int k = 0; k < n; k++)
		if (!call_in(c, k) || call_in(c, k)->type != TFL_FLOAT32)
			return false;
	return call_out(c, 0)->type == TFL_FLOAT32;
}

bool
kernel_float(struct call *c)
{
	if (!call_is_float(c))
		return call_err(c, "this operator is supported for FLOAT32 only");
	return is_unary(c->op->code) ? run_unary(c) : run_binary(c);
}
