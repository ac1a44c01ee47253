/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs: any operator, and behind it one that tfl-partition may join to it as a clamp, a
 * table or a rescale.
 */
#include "gen.h"

#include "tflite/fields.h"

#include <string.h>

enum { /* of the union BuiltinOptions */
	MUL = 21, LEAKY_RELU = 75, GELU = 116,
};

static float
scale_of(const struct gen *g, int t)
{
	return g->tensor[t].t.quant.n_scale ? g->tensor[t].t.quant.scale[0] : 0;
}

static int
zero_of(const struct gen *g, int t)
{
	return g->tensor[t].t.quant.n_zero ? (int)g->tensor[t].t.quant.zero[0] : 0;
}

/* the result has the input's quantization, so that the pair is one clamp */
static void
clamp(struct gen *g, int code, int in)
{
	gen_op1(g, code, 1, &in, gen_like(g, in, shape_of(g, in)), 0, NULL, NULL);
}

static void
rescaled(struct gen *g, int code, int in)
{
	int out = gen_random(g, gen_t(g, in)->type, shape_of(g, in));
	gen_quant(g, out, scale_of(g, in) * (float)gen_real(g, 0.3, 3), zero_of(g, out));
	gen_op1(g, code, 1, &in, out, 0, NULL, NULL);
}

static void
table(struct gen *g, int code, int in)
{
	int type = gen_t(g, in)->type, zero = type == TFL_INT8 ? -128 : 0;
	bool narrow = type != TFL_INT16;
	int out = gen_random(g, type, shape_of(g, in));
	int64_t approximate = gen_chance(g, 50);
	double alpha = gen_real(g, 0.01, 0.9);
	if (code == TFL_LOGISTIC)
		gen_quant(g, out, narrow ? 0x1p-8f : 0x1p-15f, zero);
	else if (code == TFL_TANH)
		gen_quant(g, out, narrow ? 0x1p-7f : 0x1p-15f, narrow ? zero + 128 : 0);
	if (code == TFL_LEAKY_RELU)
		gen_op(g, code, 1, &in, 1, &out, LEAKY_RELU, &fb_LeakyReluOptions, NULL,
		       &alpha);
	else if (code == TFL_GELU)
		gen_op1(g, code, 1, &in, out, GELU, &fb_GeluOptions, &approximate);
	else
		gen_op1(g, code, 1, &in, out, 0, NULL, NULL);
}

static void
quantize(struct gen *g, int to, int in)
{
	gen_op1(g, TFL_QUANTIZE, 1, &in, gen_random(g, to, shape_of(g, in)), 0, NULL, NULL);
}

static void
cast(struct gen *g, int to, int in)
{
	gen_op1(g, TFL_CAST, 1, &in, gen_tensor(g, to, shape_of(g, in), 0, 0), 0, NULL, NULL);
}

/* by one constant */
static void
multiply(struct gen *g, int code, int in)
{
	int by = gen_noise(g, gen_t(g, in)->type, SHAPE(1), (float)gen_real(g, 0.01, 0.1), 0);
	int out = gen_random(g, gen_t(g, in)->type, shape_of(g, in));
	gen_op1(g, code, 2, (int[]){ in, by }, out, MUL, &fb_MulOptions, (int64_t[]){ 0 });
}

/* types of the tensor in front: sets of bits by enum tfl_type */
enum {
	BYTES = 1 << TFL_INT8 | 1 << TFL_UINT8, MAPS = BYTES | 1 << TFL_INT16,
	INTEGERS = MAPS | 1 << TFL_INT32 | 1 << TFL_INT64,
};

static const struct follower {
	void (*run)(struct gen *g, int code, int in);
	int code, types;
} followers[] = {
	{ clamp, TFL_RELU, MAPS },	 { clamp, TFL_RELU6, MAPS },
	{ clamp, TFL_RELU_N1_TO_1, MAPS }, { clamp, TFL_RELU_0_TO_1, MAPS },
	{ rescaled, TFL_RELU, MAPS },	 { rescaled, TFL_RELU6, MAPS },
	{ rescaled, TFL_ABS, MAPS },	 { table, TFL_LOGISTIC, MAPS },
	{ table, TFL_TANH, MAPS },	 { table, TFL_HARD_SWISH, BYTES },
	{ table, TFL_LEAKY_RELU, MAPS }, { table, TFL_ELU, BYTES },
	{ table, TFL_GELU, BYTES },	 { table, TFL_EXP, MAPS },
	{ quantize, TFL_INT8, MAPS },	 { quantize, TFL_UINT8, MAPS },
	{ quantize, TFL_INT16, MAPS },	 { quantize, TFL_INT32, MAPS },
	{ multiply, TFL_MUL, MAPS },	 { cast, TFL_INT8, INTEGERS },
};

void
gen_pairs(struct gen *g, const struct draw *first)
{
	for (size_t i = 0; i < ARRAY_LEN(followers); i++) {
		const struct follower *f = &followers[i];
		g->op = (int)i + 1;
		g->n = 0;
		if (gen_given(g))
			continue;
		g->n = 1;
		first->run(g, first->code);
		const struct tflw_op *op = &g->op_at[g->n_ops - 1];
		int in = op->out[gen_choose(g, op->n_out)], type = gen_t(g, in)->type;
		bool quantized = type == TFL_INT32 || type == TFL_INT64 || scale_of(g, in) > 0;
		if (f->types & 1 << type && quantized)
			f->run(g, f->code, in);
	}
}
