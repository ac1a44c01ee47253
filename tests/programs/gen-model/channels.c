/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks with channels of one value and channels that nothing reads: large biases saturate
 * some channels, and some rows and columns of weights are zero.
 */
#include "gen.h"

#include "base/little_endian.h"
#include "tflite/fields.h"

#include <string.h>

enum { /* of the union BuiltinOptions */
	CONV = 1, DEPTHWISE = 2, POOL = 5, FC = 8, CONCATENATION = 10, ADD = 11,
	MUL = 21, LEAKY_RELU = 75, NEAREST = 74,
	MOST = 40, /* channels that a convolution makes */
};

static int32_t
depth_of(struct gen *g, int map)
{
	return shape_of(g, map).dim[3];
}

/* a copy of a constant's bytes, which can be changed */
static uint8_t *
bytes_of(struct gen *g, int constant)
{
	struct bytes *b = &g->buffer[g->tensor[constant].buffer];
	uint8_t *v = anew(g->a, uint8_t, b->n);
	memcpy(v, b->p, b->n);
	b->p = v;
	return v;
}

/* for n channels, numbers from 0 to 9; all are 9 in the simplest model */
static int32_t *
fates(struct gen *g, int32_t n)
{
	int32_t *v = anew(g->a, int32_t, (size_t)n);
	gen_many(g, n, 0, 9, v);
	for (int32_t i = 0; i < n; i++)
		v[i] = 9 - v[i];
	return v;
}

/*
 * Fates of the rows: 0 to 2 a bias that saturates, or almost; 3 zeros.  Fates of the columns: 0
 * zeros.  axis: of the rows.
 */
static void
kill_channels(struct gen *g, int w, int bias, int32_t rows, int32_t columns, bool depthwise)
{
	struct shape s = shape_of(g, w);
	bool wide = gen_t(g, bias)->type == TFL_INT64;
	int32_t *row = fates(g, rows), *column = fates(g, columns);
	uint8_t *v = bytes_of(g, w), *b = bytes_of(g, bias);
	uint8_t zero = (uint8_t)gen_t(g, w)->quant.zero[0];
	int64_t n = shape_elements(s), each = depthwise ? 1 : n / rows;
	for (int64_t i = 0; i < n; i++) {
		int64_t o = depthwise ? i % rows : i / each;
		bool ignored = !depthwise && column[i % columns] == 0;
		if (row[o] == 3 || ignored)
			v[i] = zero;
	}
	for (int32_t o = 0; o < rows; o++) {
		static const int64_t biases[] = { -(1 << 25), -(1 << 19), 1 << 25 };
		if (row[o] > 2)
			continue;
		if (wide)
			store_le64(b + 8 * o, (uint64_t)(biases[row[o]] * 16));
		else
			store_le32(b + 4 * o, (uint32_t)biases[row[o]]);
	}
}

/* an OFM of another quantization than the IFM's, sometimes with the zero point at an end */
static int
result(struct gen *g, int in, struct shape s)
{
	int type = gen_t(g, in)->type, out = gen_random(g, type, s);
	int least = type == TFL_UINT8 ? 0 : -128;
	if (type != TFL_INT16 && gen_chance(g, 60))
		gen_quant(g, out, gen_t(g, out)->quant.scale[0], least);
	return out;
}

static int64_t
activation(struct gen *g)
{
	return gen_chance(g, 70) ? (gen_chance(g, 30) ? 3 : 1) : 0;
}

static int
conv(struct gen *g, int in, int32_t c, bool depthwise)
{
	struct shape i = shape_of(g, in), o = i;
	int32_t k = gen_chance(g, 50) ? 3 : 1, stride = gen_chance(g, 20) ? 2 : 1;
	bool valid = gen_chance(g, 30) && i.dim[1] >= k && i.dim[2] >= k;
	c = depthwise ? i.dim[3] : c;
	for (int d = 1; d < 3; d++)
		o.dim[d] = (i.dim[d] - (valid ? k - 1 : 0) + stride - 1) / stride;
	o.dim[3] = c;
	int w = gen_weights(g, in, depthwise ? SHAPE(1, k, k, c) : SHAPE(c, k, k, i.dim[3]),
			    depthwise ? 3 : 0, gen_chance(g, 60));
	int ports[] = { in, w, 0 };
	ports[2] = gen_bias(g, in, w, c);
	kill_channels(g, w, ports[2], c, i.dim[3], depthwise);
	int out = result(g, in, o);
	if (depthwise)
		return gen_op1(g, TFL_DEPTHWISE_CONV_2D, 3, ports, out, DEPTHWISE,
			       &fb_DepthwiseConv2DOptions,
			       (int64_t[]){ valid, stride, stride, 1, activation(g), 1, 1 });
	return gen_op1(g, TFL_CONV_2D, 3, ports, out, CONV, &fb_Conv2DOptions,
		       (int64_t[]){ valid, stride, stride, activation(g), 1, 1, 0 });
}

static int
concat(struct gen *g, int map)
{
	struct shape s = shape_of(g, map);
	int parts[2];
	for (int k = 0; k < 2; k++) {
		int32_t c = gen_chance(g, 50) ? 16 : (int32_t)gen_range(g, 1, MOST);
		int w = gen_weights(g, map, SHAPE(c, 1, 1, s.dim[3]), 0, gen_chance(g, 60));
		int ports[] = { map, w, 0 };
		ports[2] = gen_bias(g, map, w, c);
		kill_channels(g, w, ports[2], c, s.dim[3], false);
		struct shape o = s;
		o.dim[3] = c;
		parts[k] = k ? gen_like(g, parts[0], o) : result(g, map, o);
		gen_op1(g, TFL_CONV_2D, 3, ports, parts[k], CONV, &fb_Conv2DOptions,
			(int64_t[]){ 0, 1, 1, activation(g), 1, 1, 0 });
	}
	s.dim[3] = depth_of(g, parts[0]) + depth_of(g, parts[1]);
	return gen_op1(g, TFL_CONCATENATION, 2, parts, gen_like(g, parts[0], s), CONCATENATION,
		       &fb_ConcatenationOptions, (int64_t[]){ 3, 0 });
}

static int
pooled(struct gen *g, int map)
{
	struct shape s = shape_of(g, map);
	bool average = gen_chance(g, 50);
	s.dim[1] = (s.dim[1] + 1) / 2;
	s.dim[2] = (s.dim[2] + 1) / 2;
	return gen_op1(g, average ? TFL_AVERAGE_POOL_2D : TFL_MAX_POOL_2D, 1, &map,
		       gen_like(g, map, s), POOL, &fb_Pool2DOptions,
		       (int64_t[]){ 0, 2, 2, gen_chance(g, 50) ? 3 : 2, 2, 0 });
}

static int
padded(struct gen *g, int map)
{
	struct shape s = shape_of(g, map);
	int32_t v[8] = { 0 };
	for (int k = 2; k < 8; k++) {
		v[k] = (int32_t)(k < 6 || gen_chance(g, 30) ? gen_range(g, 0, 2) : 0);
		s.dim[k / 2] += v[k];
	}
	int ports[] = { map, gen_const(g, TFL_INT32, SHAPE(4, 2), v) };
	return gen_op1(g, TFL_PAD, 2, ports, gen_like(g, map, s), 0, NULL, NULL);
}

static int
resized(struct gen *g, int map)
{
	struct shape s = shape_of(g, map);
	s.dim[1] *= 2;
	s.dim[2] *= 2;
	int ports[] = { map, gen_ints(g, 2, &s.dim[1]) };
	return gen_op1(g, TFL_RESIZE_NEAREST_NEIGHBOR, 2, ports, gen_like(g, map, s), NEAREST,
		       &fb_ResizeNearestNeighborOptions, (int64_t[]){ 0, 0 });
}

static int
elementwise(struct gen *g, int map)
{
	struct shape s = shape_of(g, map), one = SHAPE(1, 1, 1, s.dim[3]);
	int type = gen_t(g, map)->type, other, out = result(g, map, s);
	double alpha = 0.1;
	switch (gen_choose(g, 5)) {
	case 0:
		other = conv(g, map, s.dim[3], true);
		if (!memcmp(shape_of(g, other).dim, s.dim, sizeof(s.dim)))
			return gen_op1(g, TFL_ADD, 2, (int[]){ map, other }, out, ADD,
				       &fb_AddOptions, (int64_t[]){ activation(g), 0 });
		return other;
	case 1:
		other = gen_noise(g, type, one, (float)gen_real(g, 0.01, 0.1), 0);
		return gen_op1(g, TFL_MUL, 2, (int[]){ map, other }, out, MUL, &fb_MulOptions,
			       (int64_t[]){ 0 });
	case 2:
		other = gen_noise(g, type, one, (float)gen_real(g, 0.01, 0.1), 0);
		return gen_op1(g, TFL_ADD, 2, (int[]){ map, other }, out, ADD, &fb_AddOptions,
			       (int64_t[]){ 0, 0 });
	case 3:
		gen_op(g, TFL_LEAKY_RELU, 1, &map, 1, &out, LEAKY_RELU, &fb_LeakyReluOptions,
		       NULL, &alpha);
		return out;
	default:
		return gen_op1(g, TFL_MUL, 2, (int[]){ map, map }, out, MUL, &fb_MulOptions,
			       (int64_t[]){ 0 });
	}
}

static int
unit(struct gen *g, int map)
{
	switch (gen_choose(g, 9)) {
	case 0:
	case 1:
		return conv(g, map, (int32_t)gen_range(g, 1, MOST), false);
	case 2:
		return conv(g, map, 0, true);
	case 3:
		return concat(g, map);
	case 4:
		return pooled(g, map);
	case 5:
		return padded(g, map);
	case 6:
		return shape_elements(shape_of(g, map)) < GEN_ELEMENTS / 8 ? resized(g, map) : map;
	default:
		return elementwise(g, map);
	}
}

/* a FULLY_CONNECTED on all elements of the map */
static void
connect(struct gen *g, int map)
{
	struct shape flat = SHAPE(1, (int32_t)shape_elements(shape_of(g, map)));
	int ports[] = { map, gen_ints(g, 2, flat.dim) };
	int in = gen_op1(g, TFL_RESHAPE, 2, ports, gen_like(g, map, flat), 0, NULL, NULL);
	int32_t o = (int32_t)gen_range(g, 1, 10);
	int w = gen_weights(g, in, SHAPE(o, flat.dim[1]), 0, false);
	int fc[] = { in, w, 0 };
	fc[2] = gen_bias(g, in, w, o);
	gen_op1(g, TFL_FULLY_CONNECTED, 3, fc, result(g, in, SHAPE(1, o)), FC,
		&fb_FullyConnectedOptions, (int64_t[]){ 0, 0, 0, 0, 0 });
}

static void
draw_channels(struct gen *g, int code)
{
	(void)code;
	struct shape s = SHAPE(1, (int32_t)gen_range(g, 1, 8), (int32_t)gen_range(g, 1, 8),
			       (int32_t)gen_range(g, 1, 20));
	int map = gen_random(g, gen_type(g), s);
	g->is_used[map] = true;
	map = conv(g, map, (int32_t)gen_range(g, 2, MOST), false);
	for (int64_t n = gen_range(g, 1, 4); n > 0; n--)
		map = unit(g, map);
	if (gen_chance(g, 30) && shape_elements(shape_of(g, map)) < 2000)
		connect(g, map);
	else if (gen_chance(g, 80))
		(void)conv(g, map, (int32_t)gen_range(g, 1, MOST), false);
}

/*
 * Convolutions that read a QUANTIZE between INT8 and UINT8.  Mostly only the zero point moves;
 * a near miss has another zero point, another scale, or a reader of another kind.
 */
static void
draw_quantized(struct gen *g, int code)
{
	bool narrow = gen_chance(g, 50);
	int from = narrow ? TFL_INT8 : TFL_UINT8, to = narrow ? TFL_UINT8 : TFL_INT8;
	int by = narrow ? 128 : -128;
	struct shape s = SHAPE(1, (int32_t)gen_range(g, 1, 12), (int32_t)gen_range(g, 1, 12),
			       (int32_t)gen_range(g, 1, 40));
	int in = gen_random(g, from, s);
	g->is_used[in] = true;
	if (gen_chance(g, 50))
		in = conv(g, in, (int32_t)gen_range(g, 1, MOST), gen_chance(g, 30));
	int zero = (int)gen_t(g, in)->quant.zero[0], out = gen_random(g, to, shape_of(g, in));
	float scale = gen_t(g, in)->quant.scale[0];
	if (gen_chance(g, 10))
		zero += zero > 0 ? -1 : 1;
	gen_quant(g, out, gen_chance(g, 10) ? scale * 1.5f : scale, zero + by);
	gen_op1(g, code, 1, &in, out, 0, NULL, NULL);
	for (int64_t n = gen_range(g, 1, 2); n > 0; n--)
		(void)conv(g, out, (int32_t)gen_range(g, 1, MOST), gen_chance(g, 30));
	if (gen_chance(g, 10))
		(void)pooled(g, out);
}

/*
 * Convolutions, a LOGISTIC, and a QUANTIZE to the other type of 8 bits, which are one table.  A near
 * miss has a second reader of what the convolution makes, or of the LOGISTIC.
 */
static void
draw_tables(struct gen *g, int code)
{
	int type = gen_chance(g, 50) ? TFL_INT8 : TFL_UINT8;
	bool narrow = type == TFL_INT8;
	struct shape s = SHAPE(1, (int32_t)gen_range(g, 1, 12), (int32_t)gen_range(g, 1, 12),
			       (int32_t)gen_range(g, 1, 40));
	int map = gen_random(g, type, s);
	g->is_used[map] = true;
	for (int64_t n = gen_range(g, 1, 2); n > 0; n--)
		map = conv(g, map, (int32_t)gen_range(g, 1, MOST), gen_chance(g, 30));
	if (gen_chance(g, 10))
		(void)pooled(g, map);
	int curve = gen_random(g, type, shape_of(g, map));
	gen_quant(g, curve, 1.0f / 256, narrow ? -128 : 0);
	map = gen_op1(g, TFL_LOGISTIC, 1, &map, curve, 0, NULL, NULL);
	if (gen_chance(g, 10))
		(void)pooled(g, map);
	int out = gen_random(g, narrow ? TFL_UINT8 : TFL_INT8, shape_of(g, map));
	gen_quant(g, out, (gen_chance(g, 50) ? 1.0f : 1.5f) / 256, (int)gen_range(g, narrow ? 0 : -128, 20));
	gen_op1(g, code, 1, &map, out, 0, NULL, NULL);
}

/* PAD of channels, on either side */
static int
deepened(struct gen *g, int map)
{
	struct shape s = shape_of(g, map);
	int32_t v[8] = { 0 };
	v[7] = (int32_t)gen_range(g, 1, 20);
	v[6] = gen_chance(g, 20) ? (int32_t)gen_range(g, 1, 4) : 0;
	s.dim[3] += v[6] + v[7];
	int ports[] = { map, gen_const(g, TFL_INT32, SHAPE(4, 2), v) };
	return gen_op1(g, TFL_PAD, 2, ports, gen_like(g, map, s), 0, NULL, NULL);
}

/*
 * An elementwise operation on a map whose channels are put together.  A near miss has a second
 * reader of this map.
 */
static void
draw_pieces(struct gen *g, int code)
{
	(void)code;
	struct shape s = SHAPE(1, (int32_t)gen_range(g, 1, 8), (int32_t)gen_range(g, 1, 8),
			       (int32_t)gen_range(g, 1, 20));
	int in = gen_random(g, gen_type(g), s);
	g->is_used[in] = true;
	int map = conv(g, in, (int32_t)gen_range(g, 2, MOST), false);
	if (gen_chance(g, 30))
		map = pooled(g, map);
	int deep = gen_chance(g, 70) ? deepened(g, map) : concat(g, map);
	s = shape_of(g, deep);
	int w = gen_weights(g, map, SHAPE(s.dim[3], 1, 1, depth_of(g, map)), 0, gen_chance(g, 50));
	int ports[] = { map, w, 0 };
	ports[2] = gen_bias(g, map, w, s.dim[3]);
	int other = result(g, map, s), out;
	gen_op1(g, TFL_CONV_2D, 3, ports, other, CONV, &fb_Conv2DOptions,
		(int64_t[]){ 0, 1, 1, activation(g), 1, 1, 0 });
	int both[] = { other, deep };
	if (gen_chance(g, 50))
		both[0] = deep, both[1] = other;
	out = result(g, map, s);
	if (gen_chance(g, 70))
		gen_op1(g, TFL_ADD, 2, both, out, ADD, &fb_AddOptions, (int64_t[]){ activation(g), 0 });
	else
		gen_op1(g, TFL_MUL, 2, both, out, MUL, &fb_MulOptions, (int64_t[]){ activation(g) });
	if (gen_chance(g, 60))
		(void)conv(g, out, (int32_t)gen_range(g, 1, MOST), gen_chance(g, 50));
	if (gen_chance(g, 20))
		(void)conv(g, deep, (int32_t)gen_range(g, 1, MOST), false);
}

const struct draw channel_draws[] = {
	{ "CHANNELS", draw_channels, 0 },
	{ "QUANTIZE_CONV", draw_quantized, TFL_QUANTIZE },
	{ "TABLES", draw_tables, TFL_QUANTIZE },
	{ "PIECES", draw_pieces, 0 },
	{ 0 },
};
