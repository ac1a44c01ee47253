/* SPDX-License-Identifier: Apache-2.0 */
/* Operators on one or two elements, and along axes. */
#include "gen.h"

enum { /* of the union BuiltinOptions */
	SOFTMAX = 9, ADD = 11, MUL = 21, REDUCER = 27, SUB = 28, ARG_MAX = 40,
	ARG_MIN = 57, LEAKY_RELU = 75,
};

static struct tfl_quant
quant(struct gen *g, float scale, int zero)
{
	float *s = anew(g->a, float, 1);
	int64_t *z = anew(g->a, int64_t, 1);
	*s = scale;
	*z = zero;
	return (struct tfl_quant){ .scale = s, .zero = z, .n_scale = 1, .n_zero = 1 };
}

static void
draw_binary(struct gen *g, int code)
{
	bool same = code == TFL_MAXIMUM || code == TFL_MINIMUM;
	int type = gen_type(g), rank = (int)gen_range(g, 1, 4);
	if (code == TFL_SQUARED_DIFFERENCE)
		type = TFL_INT8;
	int in[2] = { gen_input(g, rank, type) };
	struct shape s = shape_of(g, in[0]), small = s;
	if (gen_chance(g, 40))
		for (int i = 0; i < rank; i++)
			if (gen_chance(g, 50))
				small.dim[i] = 1;
	in[1] = same ? gen_like(g, in[0], small) : gen_random(g, type, small);
	if (gen_chance(g, 20)) {
		struct tfl_quant q = gen_t(g, in[1])->quant;
		g->n_tensors--;
		in[1] = gen_noise(g, type, small, q.scale[0], (int)q.zero[0]);
	}
	if (gen_chance(g, 30)) {
		int t = in[0];
		in[0] = in[1];
		in[1] = t;
	}
	int out = same ? gen_like(g, in[0], s) : gen_random(g, type, s);
	float sa = gen_t(g, in[0])->quant.scale[0], sb = gen_t(g, in[1])->quant.scale[0];
	float fit = (float)gen_real(g, 0.5, 3);
	float full = type == TFL_INT16 ? 20000 : 80;
	float scale = code == TFL_MUL			  ? sa * sb * full
		      : code == TFL_SQUARED_DIFFERENCE ? 4 * (sa + sb) * (sa + sb) * full
							  : sa + sb;
	if (!same)
		gen_t(g, out)->quant = quant(g, scale * fit, (int)gen_t(g, out)->quant.zero[0]);
	int64_t act = gen_chance(g, 70) ? 0 : gen_range(g, 1, 3);
	int64_t v[] = { act, 1 };
	if (code == TFL_ADD)
		gen_op1(g, code, 2, in, out, ADD, &fb_AddOptions, v);
	else if (code == TFL_SUB)
		gen_op1(g, code, 2, in, out, SUB, &fb_SubOptions, v);
	else if (code == TFL_MUL)
		gen_op1(g, code, 2, in, out, MUL, &fb_MulOptions, v);
	else
		gen_op1(g, code, 2, in, out, 0, NULL, NULL);
}

/* functions whose OFM has a scale of its own or a fixed one */
static void
draw_unary(struct gen *g, int code)
{
	int type = gen_type(g);
	bool bytes = code == TFL_HARD_SWISH || code == TFL_EXP || code == TFL_RSQRT;
	if (bytes || (type == TFL_UINT8 && code != TFL_RELU))
		type = TFL_INT8;
	int in = gen_input(g, (int)gen_range(g, 1, 4), type);
	int out = gen_random(g, type, shape_of(g, in));
	struct tfl_quant *q = &gen_t(g, out)->quant;
	if (code == TFL_LOGISTIC)
		*q = type == TFL_INT8 ? quant(g, 0x1p-8f, -128) : quant(g, 0x1p-15f, 0);
	else if (code == TFL_TANH)
		*q = type == TFL_INT8 ? quant(g, 0x1p-7f, 0) : quant(g, 0x1p-15f, 0);
	else if (code == TFL_RELU6 || code == TFL_RELU_N1_TO_1 || code == TFL_ABS)
		*q = gen_t(g, in)->quant;
	else if (code == TFL_RSQRT) {
		struct tfl_quant *i = &gen_t(g, in)->quant;
		*i = quant(g, i->scale[0], -128);
	}
	gen_op1(g, code, 1, &in, out, 0, NULL, NULL);
}

static void
draw_leaky(struct gen *g, int code)
{
	int type = gen_chance(g, 80) ? TFL_INT8 : TFL_INT16;
	int in = gen_input(g, (int)gen_range(g, 1, 4), type);
	int out = gen_random(g, type, shape_of(g, in));
	double alpha = gen_real(g, 0.01, 0.9);
	gen_op(g, code, 1, &in, 1, &out, LEAKY_RELU, &fb_LeakyReluOptions, NULL,
	       &alpha);
}

static void
draw_prelu(struct gen *g, int code)
{
	int in = gen_input(g, 4, TFL_INT8);
	struct shape s = shape_of(g, in);
	int alpha = gen_noise(g, TFL_INT8, SHAPE(1, 1, s.dim[3]),
			      (float)gen_real(g, 1e-3, 2e-2), (int)gen_range(g, -20, 20));
	gen_op1(g, code, 2, (int[]){ in, alpha }, gen_random(g, TFL_INT8, s), 0,
		NULL, NULL);
}

static void
draw_softmax(struct gen *g, int code)
{
	int type = code == TFL_SOFTMAX && gen_chance(g, 30) ? TFL_INT16 : TFL_INT8;
	int in = gen_input(g, (int)gen_range(g, 1, 4), type);
	int out = gen_random(g, type, shape_of(g, in));
	double beta = 1;
	if (code == TFL_LOG_SOFTMAX) {
		gen_t(g, out)->quant = quant(g, 16.0f / 256, 127);
		gen_op1(g, code, 1, &in, out, 0, NULL, NULL);
		return;
	}
	gen_t(g, out)->quant = type == TFL_INT8 ? quant(g, 0x1p-8f, -128)
						: quant(g, 0x1p-15f, 0);
	gen_op(g, code, 1, &in, 1, &out, SOFTMAX, &fb_SoftmaxOptions, NULL, &beta);
}

static void
draw_reduce(struct gen *g, int code)
{
	int type = gen_chance(g, 75) ? TFL_INT8 : TFL_INT16;
	int in = gen_input(g, (int)gen_range(g, 1, 4), type), n = 0;
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
	bool same = code == TFL_REDUCE_MAX || code == TFL_REDUCE_MIN;
	int to = same ? gen_like(g, in, out) : gen_random(g, type, out);
	if (!same) {
		double all = (double)shape_elements(s) / (double)shape_elements(out);
		double more = code == TFL_SUM ? __builtin_sqrt(all) : 1;
		gen_t(g, to)->quant =
		    quant(g, (float)((double)gen_t(g, in)->quant.scale[0] * more *
				     gen_real(g, 0.4, 2)),
			  (int)gen_t(g, to)->quant.zero[0]);
	}
	int64_t k = keep;
	gen_op1(g, code, 2, (int[]){ in, gen_ints(g, n, axes) }, to, REDUCER,
		&fb_ReducerOptions, &k);
}

static void
draw_arg(struct gen *g, int code)
{
	int in = gen_input(g, (int)gen_range(g, 2, 4), TFL_INT8);
	struct shape s = shape_of(g, in), out = { .rank = s.rank - 1 };
	int32_t axis = gen_chance(g, 70) ? s.rank - 1
					 : (int32_t)gen_range(g, 0, s.rank - 1);
	for (int i = 0, k = 0; i < s.rank; i++)
		if (i != axis)
			out.dim[k++] = s.dim[i];
	int64_t type = TFL_INT32;
	int to = gen_tensor(g, TFL_INT32, out, 0, 0);
	gen_op1(g, code, 2, (int[]){ in, gen_const(g, TFL_INT32, SHAPE(1), &axis) },
		to, code == TFL_ARG_MAX ? ARG_MAX : ARG_MIN,
		code == TFL_ARG_MAX ? &fb_ArgMaxOptions : &fb_ArgMinOptions, &type);
}

const struct draw element_draws[] = {
	{ "ADD", draw_binary, TFL_ADD },
	{ "SUB", draw_binary, TFL_SUB },
	{ "MUL", draw_binary, TFL_MUL },
	{ "MAXIMUM", draw_binary, TFL_MAXIMUM },
	{ "MINIMUM", draw_binary, TFL_MINIMUM },
	{ "SQUARED_DIFFERENCE", draw_binary, TFL_SQUARED_DIFFERENCE },
	{ "ABS", draw_unary, TFL_ABS },
	{ "RELU", draw_unary, TFL_RELU },
	{ "RELU6", draw_unary, TFL_RELU6 },
	{ "RELU_N1_TO_1", draw_unary, TFL_RELU_N1_TO_1 },
	{ "LOGISTIC", draw_unary, TFL_LOGISTIC },
	{ "TANH", draw_unary, TFL_TANH },
	{ "HARD_SWISH", draw_unary, TFL_HARD_SWISH },
	{ "EXP", draw_unary, TFL_EXP },
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
