/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of one element, or of two elements. */
#include "real/real.h"

#include "tflite/fields.h"
#include "tflite/tflite.h"

#include <assert.h>
#include <math.h>

static double
gelu(double v, bool approximate)
{
	/* sqrt(2 / pi), and the cubic term of the approximation */
	double t = real_tanh(0.7978845608028654 * (v + 0.044715 * v * v * v));
	return 0.5 * v * (1 + (approximate ? t : real_erf(v * 0.7071067811865476)));
}

double
real_unary_value(const struct tfl_op *op, double v)
{
	switch (op->code) {
	case TFL_RELU:
		return real_clamp(v, TFL_ACT_RELU);
	case TFL_RELU6:
		return real_clamp(v, TFL_ACT_RELU6);
	case TFL_RELU_N1_TO_1:
		return real_clamp(v, TFL_ACT_RELU_N1_TO_1);
	case TFL_RELU_0_TO_1:
		return fmin(fmax(v, 0), 1);
	case TFL_LEAKY_RELU:
		return v < 0 ? v * TFL_OPT_FLOAT(op, LeakyReluOptions, alpha) : v;
	case TFL_HARD_SWISH:
		return v * fmin(fmax(v + 3, 0), 6) / 6;
	case TFL_LOGISTIC:
		return 1 / (1 + real_exp(-v));
	case TFL_TANH:
		return real_tanh(v);
	case TFL_EXP:
		return real_exp(v);
	case TFL_LOG:
		return real_log(v);
	case TFL_SQRT:
		return sqrt(v);
	case TFL_RSQRT:
		return 1 / sqrt(v);
	case TFL_ABS:
		return fabs(v);
	case TFL_NEG:
		return -v;
	case TFL_ELU:
		return v < 0 ? real_expm1(v) : v;
	case TFL_GELU:
		return gelu(v, TFL_OPT(op, GeluOptions, approximate));
	default:
		assert(op->code == TFL_QUANTIZE); /* else the operator has no formula */
		return v;
	}
}

void
real_unary(const struct real_op *o)
{
	const double *x = real_x(o, 0);
	double *y = real_y(o, 0);
	int64_t n = tfl_elements(real_out(o, 0));
	for (int64_t i = 0; i < n; i++)
		y[i] = real_unary_value(o->op, x[i]);
}

double
real_binary_value(int code, double a, double b)
{
	switch (code) {
	case TFL_ADD:
		return a + b;
	case TFL_SUB:
		return a - b;
	case TFL_MUL:
		return a * b;
	case TFL_DIV:
		return a / b;
	case TFL_MAXIMUM:
		return fmax(a, b);
	case TFL_MINIMUM:
		return fmin(a, b);
	case TFL_SQUARED_DIFFERENCE:
		return (a - b) * (a - b);
	default:
		assert(code == TFL_PRELU); /* else the operator has no formula */
		return a < 0 ? a * b : a;
	}
}

void
real_binary(const struct real_op *o)
{
	const struct tfl_tensor *out = real_out(o, 0), *s = real_in(o, 0);
	const struct tfl_tensor *t = real_in(o, 1);
	const double *a = real_x(o, 0), *b = real_x(o, 1);
	double *y = real_y(o, 0);
	int64_t n = tfl_elements(out), activation = tfl_binary_activation(o->op);
	int32_t depth = real_depth(out);
	bool same = tfl_elements(s) == n && t && tfl_elements(t) == n;
	/* along the last dimension, an operand has one value for all elements, or one for each */
	int step_a = same || real_depth(s) > 1, step_b = same || (t && real_depth(t) > 1);
	for (int64_t i = 0; b && i < n; i += depth) {
		const double *u = a + (same ? i : real_broadcast(s, out, i, 0));
		const double *v = b + (same ? i : real_broadcast(t, out, i, 0));
		for (int32_t c = 0; c < depth; c++)
			y[i + c] = real_clamp(real_binary_value(o->op->code, u[c * step_a],
								v[c * step_b]), activation);
	}
}
