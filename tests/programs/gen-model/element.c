/* SPDX-License-Identifier: Apache-2.0 */
/* Operators on one or two elements, and along axes. */
#include "gen.h"

#include "tflite/fields.h"

enum { /* of the union BuiltinOptions */
	SOFTMAX = 9, ADD = 11, MUL = 21, REDUCER = 27, SUB = 28, DIV = 29,
	ARG_MAX = 40, ARG_MIN = 57, GELU = 116, LEAKY_RELU = 75,
};
enum { SMALL_WORD = 20000 }; /* products of two stay within 32 bits */

static float
scale_of(struct gen *g, int t)
{
	return gen_t(g, t)->quant.scale[0];
}

static int
zero_of(struct gen *g, int t)
{
	return (int)gen_t(g, t)->quant.zero[0];
}

/* small values, as 32 bits wrap around in the reference and saturate on the NPU */
static int
words(struct gen *g, struct shape s)
{
	int32_t most = SMALL_WORD, least = -SMALL_WORD;
	int in = gen_tensor(g, TFL_INT32, s, 0, 0);
	int low = gen_tensor(g, TFL_INT32, s, 0, 0);
	int both = gen_tensor(g, TFL_INT32, s, 0, 0);
	int hi = gen_const(g, TFL_INT32, SHAPE(1), &most);
	int lo = gen_const(g, TFL_INT32, SHAPE(1), &least);
	gen_op1(g, TFL_MINIMUM, 2, (int[]){ in, hi }, low, 0, NULL, NULL);
	return gen_op1(g, TFL_MAXIMUM, 2, (int[]){ low, lo }, both, 0, NULL, NULL);
}

/* an operand: like another one if scales must be equal; sometimes constant */
static int
operand(struct gen *g, int type, struct shape s, int like)
{
	bool fixed = gen_chance(g, 20);
	if (type == TFL_INT32 && fixed)
		return gen_index(g, (int32_t)gen_range(g, 0, SMALL_WORD));
	if (fixed && gen_chance(g, 30)) /* one element for all */
		s = gen_chance(g, 50) ? (struct shape){ .rank = 0 } : SHAPE(1);
	if (type == TFL_INT32)
		return words(g, s);
	int t = like < 0 ? gen_random(g, type, s) : gen_like(g, like, s);
	if (!fixed)
		return t;
	if (gen_chance(g, 30)) { /* computed from a constant */
		int from = gen_noise(g, type, s, scale_of(g, t) / 2, zero_of(g, t));
		return gen_op1(g, TFL_QUANTIZE, 1, &from, t, 0, NULL, NULL);
	}
	g->n_tensors--;
	return gen_noise(g, type, s, scale_of(g, t), zero_of(g, t));
}

/* one operand has at most the result's shape; the other is sometimes smaller, too */
static void
shrink_shape(struct gen *g, struct shape *s, struct shape keep)
{
	for (int i = 0; i < s->rank; i++)
		if (keep.dim[i] == s->dim[i] && gen_chance(g, 50))
			s->dim[i] = 1;
}

static int
binary_result(struct gen *g, int code, const int in[2], struct shape s)
{
	int type = gen_t(g, in[0])->type;
	bool same = code == TFL_MAXIMUM || code == TFL_MINIMUM;
	if (type == TFL_INT32)
		return gen_tensor(g, type, s, 0, 0);
	if (same)
		return gen_like(g, in[0], s);
	int out = gen_random(g, type, s);
	float a = scale_of(g, in[0]), b = scale_of(g, in[1]);
	float full = type == TFL_INT16 ? 20000 : 80;
	float scale = code == TFL_MUL			  ? a * b * full
		      : code == TFL_SQUARED_DIFFERENCE ? 4 * (a + b) * (a + b) * full
		      : code == TFL_DIV		  ? a / b * full / 4
							  : a + b;
	gen_quant(g, out, scale * (float)gen_real(g, 0.5, 3), zero_of(g, out));
	return out;
}

static void
binary(struct gen *g, int code, const int in[2], int out)
{
	bool word = gen_t(g, out)->type == TFL_INT32;
	int64_t act = gen_chance(g, 30) && !word ? gen_range(g, 1, 3) : 0;
	int64_t v[] = { act, 1 };
	if (code == TFL_ADD)
		gen_op1(g, code, 2, in, out, ADD, &fb_AddOptions, v);
	else if (code == TFL_SUB)
		gen_op1(g, code, 2, in, out, SUB, &fb_SubOptions, v);
	else if (code == TFL_MUL)
		gen_op1(g, code, 2, in, out, MUL, &fb_MulOptions, v);
	else if (code == TFL_DIV)
		gen_op1(g, code, 2, in, out, DIV, &fb_DivOptions, v);
	else
		gen_op1(g, code, 2, in, out, 0, NULL, NULL);
}

static void
draw_binary(struct gen *g, int code)
{
	bool same = code == TFL_MAXIMUM || code == TFL_MINIMUM;
	int type = gen_chance(g, 10) ? TFL_INT32 : gen_type(g);
	int rank = (int)gen_range(g, 1, gen_chance(g, 10) ? 6 : 4);
	if (code == TFL_DIV && (type == TFL_INT16 || type == TFL_INT32))
		type = TFL_INT8;
	int in[2] = { -1, -1 };
	if (type != TFL_INT32)
		in[0] = gen_input(g, rank, type);
	struct shape s = in[0] < 0 ? gen_shape(g, rank, 1) : shape_of(g, in[0]);
	struct shape small = s;
	if (gen_chance(g, 40))
		shrink_shape(g, &small, s);
	if (type == TFL_INT32) {
		struct shape first = s;
		if (gen_chance(g, 15))
			shrink_shape(g, &first, small);
		in[0] = words(g, first);
	}
	in[1] = operand(g, type, small, same ? in[0] : -1);
	if (gen_chance(g, 30)) {
		int t = in[0];
		in[0] = in[1];
		in[1] = t;
	}
	binary(g, code, in, binary_result(g, code, in, s));
}

int
gen_binary(struct gen *g, int code, int x)
{
	struct shape s = shape_of(g, x), small = s;
	bool same = code == TFL_MAXIMUM || code == TFL_MINIMUM;
	if (gen_chance(g, 40))
		shrink_shape(g, &small, s);
	int in[2] = { x, operand(g, gen_t(g, x)->type, small, same ? x : -1) };
	if (gen_chance(g, 30)) {
		in[0] = in[1];
		in[1] = x;
	}
	int out = binary_result(g, code, in, s);
	binary(g, code, in, out);
	return out;
}

/* the reference has no roots of negative numbers */
static int
root_input(struct gen *g, int type)
{
	struct shape s = gen_shape(g, (int)gen_range(g, 1, 4), 1);
	int in = gen_random(g, type, s);
	if (type != TFL_INT16) {
		gen_quant(g, in, scale_of(g, in), type == TFL_INT8 ? -128 : 0);
		return in;
	}
	return gen_op1(g, TFL_ABS, 1, &in, gen_like(g, in, s), 0, NULL, NULL);
}

/* functions whose OFM has its own scale or a fixed one */
static void
draw_unary(struct gen *g, int code)
{
	int type = gen_type(g);
	if ((code == TFL_HARD_SWISH || code == TFL_ELU) && type == TFL_INT16)
		type = TFL_UINT8;
	if (code == TFL_NEG && gen_chance(g, 10)) {
		int word = words(g, gen_shape(g, (int)gen_range(g, 1, 4), 1));
		int minus = gen_like(g, word, shape_of(g, word));
		gen_op1(g, code, 1, &word, minus, 0, NULL, NULL);
		return;
	}
	int in = code == TFL_RSQRT
		     ? root_input(g, type)
		     : gen_input(g, (int)gen_range(g, 1, 4), type);
	int out = gen_random(g, type, shape_of(g, in));
	int zero = type == TFL_INT8 ? -128 : 0;
	bool narrow = type != TFL_INT16;
	if (code == TFL_LOGISTIC)
		gen_quant(g, out, narrow ? 0x1p-8f : 0x1p-15f, zero);
	else if (code == TFL_TANH)
		gen_quant(g, out, narrow ? 0x1p-7f : 0x1p-15f, narrow ? zero + 128 : 0);
	else if (code == TFL_RELU6 || code == TFL_RELU_N1_TO_1 ||
		 code == TFL_RELU_0_TO_1 || code == TFL_ABS || code == TFL_NEG)
		gen_quant(g, out, scale_of(g, in), zero_of(g, in));
	else if (code == TFL_RSQRT && !narrow)
		gen_quant(g, out, (float)gen_real(g, 0.5, 4) /
				      (30000 * __builtin_sqrtf(scale_of(g, in))), 0);
	gen_op1(g, code, 1, &in, out, 0, NULL, NULL);
}

/* one of the operators that are tables of their own */
static int
draw_table(struct gen *g, int in)
{
	static const int code[] = { TFL_LOGISTIC, TFL_TANH, TFL_HARD_SWISH, TFL_ELU };
	int k = (int)gen_choose(g, 4), type = gen_t(g, in)->type;
	int out = gen_random(g, type, shape_of(g, in));
	int zero = type == TFL_INT8 ? -128 : 0;
	if (k < 2)
		gen_quant(g, out, k ? 0x1p-7f : 0x1p-8f, k ? zero + 128 : zero);
	return gen_op1(g, code[k], 1, &in, out, 0, NULL, NULL);
}

/*
 * A sequence of operators that is a function of one tensor, as x * LOGISTIC(x), or
 * almost: sometimes another operator reads an intermediate result.
 */
static void
draw_function(struct gen *g, int code)
{
	enum { STEPS = 5 };
	static const int codes[] = { TFL_MUL, TFL_ADD, TFL_SUB };
	int type = gen_chance(g, 25) ? TFL_UINT8 : TFL_INT8, n = 0;
	int x[STEPS + 1];
	x[n++] = gen_input(g, (int)gen_range(g, 1, 4), type);
	for (int steps = (int)gen_range(g, 2, STEPS); n <= steps; n++) {
		int last = x[n - 1];
		if (gen_chance(g, 40)) {
			x[n] = draw_table(g, last);
			continue;
		}
		int binop = n == 2 ? code : codes[gen_choose(g, 3)];
		int in[2] = { last, x[gen_choose(g, n)] };
		if (gen_chance(g, 30)) {
			int zero = (int)gen_range(g, 0, 20);
			in[1] = gen_noise(g, type, SHAPE(1),
					  (float)gen_real(g, 0.01, 0.1), zero);
		}
		x[n] = binary_result(g, binop, in, shape_of(g, last));
		binary(g, binop, in, x[n]);
	}
}

void
gen_leaky(struct gen *g, int in, int odd)
{
	int type = gen_t(g, in)->type;
	int out = gen_chance(g, 30) ? gen_like(g, in, shape_of(g, in))
				    : gen_random(g, type, shape_of(g, in));
	double alpha = gen_chance(g, 5) ? 0 : gen_real(g, 0.01, 0.9);
	if (gen_chance(g, odd))
		alpha = gen_chance(g, 50) ? -alpha : gen_chance(g, 50) ? 1 : 1 + alpha;
	gen_op(g, TFL_LEAKY_RELU, 1, &in, 1, &out, LEAKY_RELU, &fb_LeakyReluOptions, NULL,
	       &alpha);
}

static void
draw_leaky(struct gen *g, int code)
{
	(void)code;
	gen_leaky(g, gen_any_input(g), 20);
}

void
gen_prelu(struct gen *g, int type, int slopes)
{
	int in = gen_input(g, 4, type);
	struct shape s = shape_of(g, in), as = SHAPE(1, 1, s.dim[3]);
	float scale = (float)(slopes == TFL_INT16 ? gen_real(g, 1e-5, 1e-4)
						  : gen_real(g, 1e-3, 2e-2));
	int zero = slopes == TFL_INT16 ? 0 : (int)gen_range(g, 0, 20);
	int alpha = gen_chance(g, 15) ? gen_tensor(g, slopes, as, scale, zero)
				      : gen_noise(g, slopes, as, scale, zero);
	gen_op1(g, TFL_PRELU, 2, (int[]){ in, alpha }, gen_random(g, type, s), 0,
		NULL, NULL);
}

static void
draw_prelu(struct gen *g, int code)
{
	(void)code;
	int type = gen_type(g);
	gen_prelu(g, type, type);
}

/* two classes have their own lowering */
static int
draw_pairs(struct gen *g, int type)
{
	struct shape s = gen_shape(g, (int)gen_range(g, 1, 4), 1);
	s.dim[s.rank - 1] = 2;
	return gen_random(g, type, s);
}

static void
draw_softmax(struct gen *g, int code)
{
	int type = code == TFL_SOFTMAX ? gen_type(g) : TFL_INT8, to = type;
	int in = gen_chance(g, 25) ? draw_pairs(g, type)
				   : gen_input(g, (int)gen_range(g, 1, 4), type);
	if (code == TFL_SOFTMAX && type == TFL_INT8 && gen_chance(g, 25))
		to = TFL_INT16;
	int out = gen_random(g, to, shape_of(g, in));
	double beta = gen_chance(g, 20) ? gen_real(g, 0.2, 3) : 1;
	if (code == TFL_LOG_SOFTMAX) {
		gen_quant(g, out, 16.0f / 256, 127);
		gen_op1(g, code, 1, &in, out, 0, NULL, NULL);
		return;
	}
	if (to == type)
		gen_quant(g, out, to == TFL_INT16 ? 0x1p-15f : 0x1p-8f,
			  to == TFL_INT8 ? -128 : 0);
	else
		gen_quant(g, out, 0x1p-16f, -32768);
	gen_op(g, code, 1, &in, 1, &out, SOFTMAX, &fb_SoftmaxOptions, NULL, &beta);
}

static void
draw_reduce(struct gen *g, int code)
{
	bool wide = code != TFL_MEAN && gen_chance(g, 10);
	int rank = (int)gen_range(g, 1, 4), n = 0;
	int in = wide ? words(g, gen_shape(g, rank, 1))
		      : gen_input(g, rank, gen_type(g));
	struct shape s = shape_of(g, in), out = { .rank = 0 };
	bool keep = s.rank == 1 || gen_chance(g, 50);
	int32_t axes[4];
	int sure = (int)gen_range(g, 0, s.rank - 1);
	for (int i = 0; i < s.rank; i++) {
		bool drop = i == sure || (gen_chance(g, 35) && n + 1 < s.rank - 1);
		if (drop)
			axes[n++] = gen_chance(g, 40) ? i - s.rank : i;
		if (!drop || keep)
			out.dim[out.rank++] = drop ? 1 : s.dim[i];
	}
	bool same = code == TFL_REDUCE_MAX || code == TFL_REDUCE_MIN || wide;
	int to = same ? gen_like(g, in, out)
		      : gen_random(g, gen_t(g, in)->type, out);
	if (!same) {
		double all = (double)shape_elements(s) / (double)shape_elements(out);
		double more = code == TFL_SUM ? __builtin_sqrt(all) : 1;
		gen_quant(g, to, (float)((double)scale_of(g, in) * more *
					 gen_real(g, 0.4, 2)), zero_of(g, to));
	}
	int64_t k = keep;
	int at = n == 1 ? gen_index(g, axes[0]) : gen_ints(g, n, axes);
	gen_op1(g, code, 2, (int[]){ in, at }, to, REDUCER,
		&fb_ReducerOptions, &k);
}

void
gen_arg(struct gen *g, int code, int type)
{
	int in = gen_input(g, (int)gen_range(g, 2, 4), type);
	struct shape s = shape_of(g, in), out = { .rank = s.rank - 1 };
	int32_t axis = gen_chance(g, 30) ? (int32_t)gen_range(g, 0, s.rank - 1)
					 : s.rank - 1;
	for (int i = 0, k = 0; i < s.rank; i++)
		if (i != axis)
			out.dim[k++] = s.dim[i];
	int64_t index = gen_chance(g, 30) ? TFL_INT64 : TFL_INT32;
	int to = gen_tensor(g, (int)index, out, 0, 0);
	gen_op1(g, code, 2, (int[]){ in, gen_index(g, axis) },
		to, code == TFL_ARG_MAX ? ARG_MAX : ARG_MIN,
		code == TFL_ARG_MAX ? &fb_ArgMaxOptions : &fb_ArgMinOptions, &index);
}

static void
draw_arg(struct gen *g, int code)
{
	gen_arg(g, code, gen_chance(g, 20) ? TFL_UINT8 : TFL_INT8);
}

static void
draw_gelu(struct gen *g, int code)
{
	int type = gen_chance(g, 20) ? TFL_UINT8 : TFL_INT8;
	int in = gen_input(g, (int)gen_range(g, 1, 4), type);
	int64_t approximate = gen_chance(g, 50);
	gen_op1(g, code, 1, &in, gen_random(g, type, shape_of(g, in)), GELU,
		&fb_GeluOptions, &approximate);
}

/* INT32 divided by constants other than -1, 0 and 1 */
static void
draw_quotient(struct gen *g, int code)
{
	int32_t by[8];
	struct shape s = gen_shape(g, (int)gen_range(g, 1, 4), 1);
	int32_t last = s.dim[s.rank - 1];
	int n = last <= 8 && gen_chance(g, 50) ? (int)last : 1;
	for (int i = 0; i < n; i++) {
		by[i] = (int32_t)gen_range(g, 2, gen_chance(g, 50) ? INT32_MAX : 300);
		by[i] = gen_chance(g, 30) ? -by[i] : by[i];
	}
	int in = gen_tensor(g, TFL_INT32, s, 0, 0);
	int at = n == 1 ? gen_index(g, by[0]) : gen_ints(g, n, by);
	gen_op1(g, code, 2, (int[]){ in, at }, gen_tensor(g, TFL_INT32, s, 0, 0), 0,
		NULL, NULL);
}

const struct draw element_draws[] = {
	{ "ADD", draw_binary, TFL_ADD },
	{ "SUB", draw_binary, TFL_SUB },
	{ "MUL", draw_binary, TFL_MUL },
	{ "DIV", draw_binary, TFL_DIV },
	{ "MAXIMUM", draw_binary, TFL_MAXIMUM },
	{ "MINIMUM", draw_binary, TFL_MINIMUM },
	{ "SQUARED_DIFFERENCE", draw_binary, TFL_SQUARED_DIFFERENCE },
	{ "FUNCTION", draw_function, TFL_MUL },
	{ "ABS", draw_unary, TFL_ABS },
	{ "NEG", draw_unary, TFL_NEG },
	{ "RELU", draw_unary, TFL_RELU },
	{ "RELU6", draw_unary, TFL_RELU6 },
	{ "RELU_N1_TO_1", draw_unary, TFL_RELU_N1_TO_1 },
	{ "RELU_0_TO_1", draw_unary, TFL_RELU_0_TO_1 },
	{ "LOGISTIC", draw_unary, TFL_LOGISTIC },
	{ "TANH", draw_unary, TFL_TANH },
	{ "HARD_SWISH", draw_unary, TFL_HARD_SWISH },
	{ "EXP", draw_unary, TFL_EXP },
	{ "LOG", draw_unary, TFL_LOG },
	{ "ELU", draw_unary, TFL_ELU },
	{ "RSQRT", draw_unary, TFL_RSQRT },
	{ "LEAKY_RELU", draw_leaky, TFL_LEAKY_RELU },
	{ "PRELU", draw_prelu, TFL_PRELU },
	{ "SOFTMAX", draw_softmax, TFL_SOFTMAX },
	{ "LOG_SOFTMAX", draw_softmax, TFL_LOG_SOFTMAX },
	{ "MEAN", draw_reduce, TFL_MEAN },
	{ "SUM", draw_reduce, TFL_SUM },
	{ "REDUCE_MAX", draw_reduce, TFL_REDUCE_MAX },
	{ "REDUCE_MIN", draw_reduce, TFL_REDUCE_MIN },
	{ "ARG_MAX", draw_arg, TFL_ARG_MAX },
	{ "ARG_MIN", draw_arg, TFL_ARG_MIN },
	{ 0 },
};

const struct draw later_element_draws[] = {
	{ "GELU", draw_gelu, TFL_GELU },
	{ "FLOOR_DIV", draw_quotient, TFL_FLOOR_DIV },
	{ 0 },
};
