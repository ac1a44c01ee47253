/* SPDX-License-Identifier: Apache-2.0 */
/* Operators with variables, and operators that run on the CPU between two regions. */
#include "gen.h"

#include "tflite/fields.h"

enum { /* of the union BuiltinOptions */
	SVDF = 6, L2_NORM = 12, LSTM = 71,
};
enum { GATES = 4, LSTM_INPUTS = 24 };

static int
variable(struct gen *g, int type, struct shape s, float scale, int zero)
{
	int t = gen_tensor(g, type, s, scale, zero);
	gen_t(g, t)->is_variable = true;
	g->is_const[t] = true; /* not an input of the model */
	return t;
}

static int
matrix(struct gen *g, int32_t rows, int32_t cols)
{
	return gen_noise(g, TFL_INT8, SHAPE(rows, cols),
			 (float)gen_real(g, 1e-3, 1e-2), 0);
}

/* inputs by position: nputools-tflite(5) 6.2; -1: absent */
static void
draw_lstm(struct gen *g, int code)
{
	int type = gen_chance(g, 40) ? TFL_INT16 : TFL_INT8;
	bool major = gen_chance(g, 40);
	struct shape s = SHAPE((int32_t)gen_range(g, 1, 4), (int32_t)gen_range(g, 1, 6),
			       (int32_t)gen_range(g, 1, 20));
	int32_t batch = s.dim[major], cells = (int32_t)gen_range(g, 1, 24);
	int in[LSTM_INPUTS];
	for (int i = 0; i < LSTM_INPUTS; i++)
		in[i] = -1;
	in[0] = gen_random(g, type, s);
	for (int i = 0; i < GATES; i++) {
		int32_t bias[24];
		gen_many(g, cells, -20000, 20000, bias);
		in[1 + i] = matrix(g, cells, s.dim[2]);
		in[5 + i] = matrix(g, cells, cells);
		in[12 + i] = gen_ints(g, cells, bias);
	}
	float scale = type == TFL_INT16 ? 0x1p-15f : (float)gen_real(g, 4e-3, 8e-3);
	int zero = type == TFL_INT16 ? 0 : (int)gen_range(g, 0, 20) - 10;
	in[18] = variable(g, type, SHAPE(batch, cells), scale, zero);
	in[19] = variable(g, TFL_INT16, SHAPE(batch, cells), 0x1p-11f, 0);
	struct shape o = s;
	o.dim[2] = cells;
	int out = gen_tensor(g, type, o, scale, zero);
	double clip = gen_chance(g, 30) ? gen_real(g, 0.1, 8) : 0;
	gen_op(g, code, LSTM_INPUTS, in, 1, &out, LSTM,
	       &fb_UnidirectionalSequenceLSTMOptions,
	       (int64_t[]){ 4 /* TANH */, 0, 0, major, 0, 0 },
	       (double[]){ 0, clip, 0, 0, 0, 0 });
	int mid[5];
	for (int i = 0; i < 5; i++) {
		mid[i] = gen_tensor(g, i == 4 ? type : TFL_INT16, SHAPE(1),
				    i == 4 ? scale : 0x1p-12f, i == 4 ? zero : 0);
		g->is_const[mid[i]] = true;
	}
	gen_mid(g, 5, mid);
}

static void
draw_svdf(struct gen *g, int code)
{
	int32_t batch = (int32_t)gen_range(g, 1, 2), units = (int32_t)gen_range(g, 1, 8),
		rank = (int32_t)gen_range(g, 1, 2), steps = (int32_t)gen_range(g, 1, 5);
	int in = gen_random(g, TFL_INT8, SHAPE(batch, (int32_t)gen_range(g, 1, 20)));
	int32_t filters = units * rank;
	int feature = matrix(g, filters, shape_of(g, in).dim[1]);
	int type = gen_chance(g, 50) ? TFL_INT8 : TFL_INT16, time;
	int32_t many[16 * 5];
	int16_t small[16 * 5];
	/* sums over the full range would wrap around in the reference */
	gen_many(g, filters * steps, -3000, 3000, many);
	for (int i = 0; i < filters * steps; i++)
		small[i] = (int16_t)many[i];
	if (type == TFL_INT8)
		time = gen_noise(g, type, SHAPE(filters, steps), 1e-2f, 0);
	else
		time = gen_const(g, type, SHAPE(filters, steps), small);
	if (type == TFL_INT16)
		gen_quant(g, time, 1e-4f, 0);
	int ports[] = { in, feature, time, -1,
			variable(g, type, SHAPE(batch, filters * steps),
				 type == TFL_INT8 ? 0.05f : 1e-3f,
				 type == TFL_INT8 ? (int)gen_range(g, -40, 40) : 0) };
	gen_op1(g, code, 5, ports, gen_random(g, TFL_INT8, SHAPE(batch, units)),
		SVDF, &fb_SVDFOptions, (int64_t[]){ rank, 0, 0 });
}

static void
draw_l2(struct gen *g, int code)
{
	int in = gen_input(g, (int)gen_range(g, 2, 4), TFL_INT8);
	int out = gen_tensor(g, TFL_INT8, shape_of(g, in), 0x1p-7f, 0);
	gen_op1(g, code, 1, &in, out, L2_NORM, &fb_L2NormOptions, NULL);
}

/* converts to float and back */
static void
draw_dequantize(struct gen *g, int code)
{
	int in = gen_any_input(g);
	struct shape s = shape_of(g, in);
	int real = gen_tensor(g, TFL_FLOAT32, s, 0, 0);
	gen_op1(g, code, 1, &in, real, 0, NULL, NULL);
	gen_op1(g, TFL_QUANTIZE, 1, &real, gen_random(g, gen_type(g), s), 0,
		NULL, NULL);
}

const struct draw memory_draws[] = {
	{ "UNIDIRECTIONAL_SEQUENCE_LSTM", draw_lstm, TFL_UNIDIRECTIONAL_SEQUENCE_LSTM },
	{ "SVDF", draw_svdf, TFL_SVDF },
	{ "L2_NORMALIZATION", draw_l2, TFL_L2_NORMALIZATION },
	{ "DEQUANTIZE", draw_dequantize, TFL_DEQUANTIZE },
	{ 0 },
};
