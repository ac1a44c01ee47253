/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models for which compilers are known to differ (nputools-differences(7)) and that other draws
 * reach by chance only: types that few converters write, rounding that shows in one value of
 * thousands, and operators that a compiler joins.
 */
#include "gen.h"

#include "tflite/fields.h"

enum { LEAKY_RELU = 75 }; /* of the union BuiltinOptions */

/* up to 20,000 values, mostly of 16 bits: a wrong rounding needs many of them */
static int
many_values(struct gen *g)
{
	int type = gen_chance(g, 25) ? TFL_INT8 : TFL_INT16;
	int32_t n = (int32_t)gen_range(g, 1, GEN_ELEMENTS);
	if (gen_chance(g, 50))
		return gen_random(g, type, SHAPE(n));
	int32_t c = (int32_t)gen_range(g, 1, 64);
	return gen_random(g, type, SHAPE(1, 1 + (n - 1) / c, c));
}

/* the OFM mostly has another scale than the IFM */
static void
draw_rescaled(struct gen *g, int code)
{
	int in = many_values(g), out = gen_like(g, in, shape_of(g, in));
	const struct tfl_quant *q = &gen_t(g, in)->quant;
	int zero = gen_t(g, in)->type == TFL_INT8 ? (int)gen_range(g, -128, 127) : 0;
	if (gen_chance(g, 70))
		gen_quant(g, out, q->scale[0] * (float)gen_real(g, 0.3, 3), zero);
	gen_op1(g, code, 1, &in, out, 0, NULL, NULL);
}

/*
 * Layers whose slope is a short fraction and whose OFM mostly has the IFM's scale: some products
 * are halfway between two values, and the last bit of a multiplier decides.
 */
static void
draw_layers(struct gen *g, int code)
{
	for (int n = (int)gen_range(g, 1, 12); n > 0; n--) {
		int32_t size = (int32_t)gen_range(g, 1, 2000);
		int type = gen_chance(g, 50) ? TFL_INT16 : TFL_INT8;
		int in = gen_random(g, type, SHAPE(size));
		int out = gen_chance(g, 20) ? gen_random(g, type, SHAPE(size))
					    : gen_like(g, in, SHAPE(size));
		double slope = gen_chance(g, 30) ? (double)gen_range(g, 1, 15) / 10
						 : (double)gen_range(g, 1, 31) / 16;
		slope = gen_chance(g, 20) ? -slope : slope;
		gen_op(g, code, 1, &in, 1, &out, LEAKY_RELU, &fb_LeakyReluOptions, NULL, &slope);
	}
}

static void
draw_leaky_values(struct gen *g, int code)
{
	if (gen_chance(g, 70))
		draw_layers(g, code);
	else
		gen_leaky(g, many_values(g), 70);
}

static void
draw_binary_values(struct gen *g, int code)
{
	(void)gen_binary(g, code, many_values(g));
}

/* slopes of 8 bits, as TensorFlow's converter writes them, or of 16 */
static void
draw_prelu_words(struct gen *g, int code)
{
	(void)code;
	gen_prelu(g, TFL_INT16, gen_chance(g, 60) ? TFL_INT8 : TFL_INT16);
}

static void
draw_arg_words(struct gen *g, int code)
{
	gen_arg(g, code, TFL_INT16);
}

/* reciprocal roots of 16 bits: a table of hundreds of values, between which a compiler draws lines */
static void
draw_roots(struct gen *g, int code)
{
	struct shape s = SHAPE((int32_t)gen_range(g, 1, GEN_ELEMENTS));
	int in = gen_random(g, TFL_INT16, s), root = gen_like(g, in, s);
	int out = gen_random(g, TFL_INT16, s);
	float most = 30000 * __builtin_sqrtf(gen_t(g, in)->quant.scale[0]);
	gen_quant(g, out, (float)gen_real(g, 0.5, 4) / most, 0);
	/* the reference has no roots of negative numbers */
	gen_op1(g, TFL_ABS, 1, &in, root, 0, NULL, NULL);
	gen_op1(g, code, 1, &root, out, 0, NULL, NULL);
}

/* Ethos-U85 chains a convolution and element-wise operators */
static void
draw_chain(struct gen *g, int code)
{
	static const int codes[] = { TFL_ADD, TFL_SUB, TFL_MUL, TFL_MAXIMUM, TFL_MINIMUM,
				     TFL_SQUARED_DIFFERENCE };
	int x = gen_named(g, code == TFL_CONV_2D ? "CONV_2D" : "DEPTHWISE_CONV_2D");
	int n = (int)gen_range(g, 1, 4);
	for (int i = 0; i < n && gen_t(g, x)->quant.n_scale == 1; i++)
		x = gen_binary(g, codes[gen_choose(g, (int64_t)ARRAY_LEN(codes))], x);
}

/* an operator whose result is written in the order of another one */
static void
draw_reversed(struct gen *g, int code)
{
	(void)code;
	static const char *const name[] = { "CONV_2D", "DEPTHWISE_CONV_2D", "MAX_POOL_2D", "ADD",
					    "AVERAGE_POOL_2D" };
	int x = gen_named(g, name[gen_choose(g, (int64_t)ARRAY_LEN(name))]);
	struct shape s = shape_of(g, x);
	int32_t axis = s.rank - 1;
	if (gen_chance(g, 50))
		axis = (int32_t)gen_range(g, 0, s.rank - 1);
	gen_op1(g, TFL_REVERSE_V2, 2, (int[]){ x, gen_ints(g, 1, &axis) }, gen_like(g, x, s), 0,
		NULL, NULL);
}

const struct draw edge_draws[] = {
	{ "ABS_RESCALED", draw_rescaled, TFL_ABS },
	{ "RELU6_RESCALED", draw_rescaled, TFL_RELU6 },
	{ "LEAKY_RELU_VALUES", draw_leaky_values, TFL_LEAKY_RELU },
	{ "ADD_VALUES", draw_binary_values, TFL_ADD },
	{ "SUB_VALUES", draw_binary_values, TFL_SUB },
	{ "MUL_VALUES", draw_binary_values, TFL_MUL },
	{ "PRELU_INT16", draw_prelu_words, TFL_PRELU },
	{ "ARG_MAX_INT16", draw_arg_words, TFL_ARG_MAX },
	{ "ARG_MIN_INT16", draw_arg_words, TFL_ARG_MIN },
	{ "RSQRT_INT16", draw_roots, TFL_RSQRT },
	{ "CHAIN", draw_chain, TFL_CONV_2D },
	{ "CHAIN_DEPTHWISE", draw_chain, TFL_DEPTHWISE_CONV_2D },
	{ "REVERSED", draw_reversed, TFL_REVERSE_V2 },
	{ 0 },
};
