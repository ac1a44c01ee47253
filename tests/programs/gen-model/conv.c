/* SPDX-License-Identifier: Apache-2.0 */
/* Operators with weights or windows. */
#include "gen.h"

#include "tflite/fields.h"

#include <string.h>

enum { /* of the union BuiltinOptions */
	CONV = 1, DEPTHWISE = 2, POOL = 5, FC = 8, BILINEAR = 15,
	TRANSPOSE_CONV = 49, NEAREST = 74, BATCH_MATMUL = 101,
};

/* a fused activation: usually none */
static int64_t
activation(struct gen *g)
{
	return gen_chance(g, 40) ? gen_range(g, 1, 3) : 0;
}

/* keeps the upper half of each INT8 and packs two of them into a byte */
static void
pack(struct gen *g, int weights)
{
	struct bytes *b = &g->buffer[g->tensor[weights].buffer];
	uint8_t *v = anew(g->a, uint8_t, (b->n + 1) / 2);
	for (size_t i = 0; i < b->n; i++)
		v[i / 2] |= (uint8_t)(i & 1 ? b->p[i] & 0xf0 : b->p[i] >> 4);
	*b = (struct bytes){ .p = v, .n = (b->n + 1) / 2 };
	gen_t(g, weights)->type = TFL_INT4;
}

int
gen_weights(struct gen *g, int ifm, struct shape s, int axis, bool per_channel)
{
	bool u8 = gen_t(g, ifm)->type == TFL_UINT8;
	int n = per_channel && !u8 ? s.dim[axis] : 1;
	int zero = u8 ? (int)gen_range(g, 0, 255) : 0;
	if (!u8 && gen_chance(g, 5))
		zero = ((int)gen_range(g, 0, 30) - 15) / (g->int4 ? 2 : 1);
	int w = gen_noise(g, u8 ? TFL_UINT8 : TFL_INT8, s,
			  (float)gen_real(g, 1e-3, 0.05), zero);
	struct tfl_tensor *t = gen_t(g, w);
	float *scale = anew(g->a, float, (size_t)n);
	int64_t *zeros = anew(g->a, int64_t, (size_t)n);
	int32_t *less = anew(g->a, int32_t, (size_t)n);
	if (n > 1)
		gen_many(g, n, 0, 800, less);
	for (int i = 0; i < n; i++) {
		scale[i] = t->quant.scale[0] * (1 - (float)less[i] / 1000);
		zeros[i] = zero;
	}
	t->quant = (struct tfl_quant){ .scale = scale, .zero = zeros,
				       .n_scale = n, .n_zero = n,
				       .axis = axis };
	if (g->int4 && !u8)
		pack(g, w);
	return w;
}

int
gen_bias(struct gen *g, int ifm, int w, int n)
{
	bool wide = gen_t(g, ifm)->type == TFL_INT16;
	int32_t *v = anew(g->a, int32_t, (size_t)n);
	int64_t *v64 = anew(g->a, int64_t, (size_t)n);
	gen_many(g, n, -20000, 20000, v);
	for (int i = 0; i < n; i++)
		v64[i] = v[i];
	int b = wide ? gen_const(g, TFL_INT64, SHAPE(n), v64)
		     : gen_const(g, TFL_INT32, SHAPE(n), v);
	struct tfl_quant q = gen_t(g, w)->quant;
	float *scale = anew(g->a, float, (size_t)q.n_scale);
	int64_t *zero = anew(g->a, int64_t, (size_t)q.n_scale);
	for (int i = 0; i < (int)q.n_scale; i++)
		scale[i] = q.scale[i] * gen_t(g, ifm)->quant.scale[0];
	q.scale = scale;
	q.zero = zero;
	q.n_zero = q.n_scale;
	q.axis = 0;
	gen_t(g, b)->quant = q;
	return b;
}

/* an OFM whose scale uses its range: the sum has n products */
static int
result(struct gen *g, int ifm, int w, struct shape s, int64_t n)
{
	int type = gen_t(g, ifm)->type;
	double unit = (double)gen_t(g, ifm)->quant.scale[0] *
		      (double)gen_t(g, w)->quant.scale[0];
	double spread = 74.0 * (type == TFL_INT16 ? 19000 : 74) *
			__builtin_sqrt((double)n);
	double range = type == TFL_INT16 ? 16000 : 60;
	int out = gen_random(g, type, s);
	gen_quant(g, out, (float)(unit * spread / range * gen_real(g, 0.5, 2)),
		  (int)gen_t(g, out)->quant.zero[0]);
	return out;
}

struct axis {
	int32_t in, k, stride, dilation, out;
};

static int32_t
extent(int32_t in, int32_t k, int32_t stride, int32_t dilation, bool valid)
{
	int32_t kd = (k - 1) * dilation + 1;
	return valid ? (in - kd) / stride + 1 : (in + stride - 1) / stride;
}

/* a window over in; a VALID one fits */
static struct axis
window(struct gen *g, int32_t in, bool valid, int32_t most)
{
	struct axis a = { .in = in, .k = (int32_t)gen_range(g, 1, most) };
	a.stride = (int32_t)gen_range(g, 1, gen_chance(g, 20) ? 5 : 3);
	a.dilation = (int32_t)(gen_chance(g, 25) ? gen_range(g, 2, 4) : 1);
	if (a.stride > 1)
		a.dilation = 1;
	while (valid && (a.k - 1) * a.dilation + 1 > in) {
		if (a.dilation > 1)
			a.dilation--;
		else
			a.k--;
	}
	a.out = extent(in, a.k, a.stride, a.dilation, valid);
	return a;
}

static int32_t
large_kernel(struct gen *g)
{
	return (int32_t)(gen_chance(g, 8) ? 300 : gen_chance(g, 20) ? 9 : 4);
}

/* a PAD of rows and columns: together with a VALID window behind it, one operation */
static int
padded(struct gen *g, int in)
{
	int32_t v[8] = { 0 };
	struct shape s = shape_of(g, in);
	for (int i = 2; i < 6; i++) {
		v[i] = (int32_t)gen_range(g, 0, 3);
		s.dim[i / 2] += v[i];
	}
	int table = gen_const(g, TFL_INT32, SHAPE(4, 2), v);
	return gen_op1(g, TFL_PAD, 2, (int[]){ in, table }, gen_like(g, in, s), 0,
		       NULL, NULL);
}

static void
draw_conv(struct gen *g, int code)
{
	int in = gen_input(g, 4, gen_type(g));
	bool valid = gen_chance(g, 50), depthwise = code == TFL_DEPTHWISE_CONV_2D;
	if (valid && gen_chance(g, 40))
		in = padded(g, in);
	struct shape s = shape_of(g, in);
	struct axis y = window(g, s.dim[1], valid, large_kernel(g));
	struct axis x = window(g, s.dim[2], valid, large_kernel(g));
	int32_t groups = 1, mult = 1, o;
	if (depthwise)
		mult = (int32_t)(gen_chance(g, 30) ? gen_range(g, 2, 4) : 1);
	else if (s.dim[3] % 2 == 0 && gen_chance(g, 15))
		groups = 2;
	o = depthwise ? s.dim[3] * mult : groups * (int32_t)gen_range(g, 1, 24);
	struct shape ws = depthwise ? SHAPE(1, y.k, x.k, o)
				    : SHAPE(o, y.k, x.k, s.dim[3] / groups);
	int w = gen_weights(g, in, ws, depthwise ? 3 : 0, gen_chance(g, 60));
	int ports[] = { in, w, gen_chance(g, 10) ? -1 : gen_bias(g, in, w, o) };
	int64_t n = (int64_t)y.k * x.k * (depthwise ? 1 : ws.dim[3]);
	int out = result(g, in, w, SHAPE(s.dim[0], y.out, x.out, o), n);
	if (depthwise)
		gen_op1(g, code, 3, ports, out, DEPTHWISE,
			&fb_DepthwiseConv2DOptions,
			(int64_t[]){ valid, x.stride, y.stride, mult,
				     activation(g), x.dilation, y.dilation });
	else
		gen_op1(g, code, 3, ports, out, CONV, &fb_Conv2DOptions,
			(int64_t[]){ valid, x.stride, y.stride, activation(g),
				     x.dilation, y.dilation, 0 });
}

static void
draw_fc(struct gen *g, int code)
{
	int rank = (int)(gen_chance(g, 30) ? gen_range(g, 3, 4) : 2);
	int in = gen_input(g, rank, gen_type(g));
	struct shape s = shape_of(g, in), out = s;
	int32_t i = s.dim[rank - 1], o = (int32_t)gen_range(g, 1, 40);
	bool keep = rank > 2 && gen_chance(g, 50);
	struct shape ws = gen_chance(g, 10) ? SHAPE(o, 1, i) : SHAPE(o, i);
	int w;
	if (gen_chance(g, 15) && gen_t(g, in)->type != TFL_INT16)
		w = gen_random(g, gen_t(g, in)->type, ws); /* computed */
	else
		w = gen_weights(g, in, ws, 0, gen_chance(g, 30));
	int ports[] = { in, w, gen_chance(g, 10) ? -1 : gen_bias(g, in, w, o) };
	out.dim[rank - 1] = o;
	if (!keep)
		out = SHAPE((int32_t)(shape_elements(s) / i), o);
	int64_t act = activation(g);
	gen_op1(g, code, 3, ports, result(g, in, w, out, i), FC,
		&fb_FullyConnectedOptions, (int64_t[]){ act, 0, keep, 0, 0 });
}

static void
draw_transpose_conv(struct gen *g, int code)
{
	int in = gen_input(g, 4, gen_type(g));
	struct shape s = shape_of(g, in);
	bool valid = gen_chance(g, 50);
	int32_t k[2] = { 0 }, st[2] = { 0 }, o = (int32_t)gen_range(g, 1, 16);
	struct shape out = s;
	bool oblong = gen_chance(g, 30);
	for (int i = 0; i < 2; i++) {
		k[i] = i && !oblong ? k[0] : (int32_t)gen_range(g, 1, 5);
		st[i] = i && !oblong ? st[0]
				    : (int32_t)gen_range(g, 1, gen_chance(g, 20) ? 3 : 2);
		int32_t more = k[i] > st[i] ? k[i] - st[i] : 0;
		out.dim[1 + i] = s.dim[1 + i] * st[i] + (valid ? more : 0);
	}
	out.dim[3] = o;
	int w = gen_weights(g, in, SHAPE(o, k[0], k[1], s.dim[3]), 0, gen_chance(g, 60));
	int ports[] = { gen_ints(g, 4, out.dim), w, in,
			gen_chance(g, 10) ? -1 : gen_bias(g, in, w, o) };
	int64_t n = (int64_t)k[0] * k[1] * s.dim[3] / (st[0] * st[1]) + 1;
	gen_op1(g, code, 4, ports, result(g, in, w, out, n), TRANSPOSE_CONV,
		&fb_TransposeConvOptions,
		(int64_t[]){ valid, st[1], st[0], 0, 0 });
}

static void
draw_matmul(struct gen *g, int code)
{
	int type = gen_chance(g, 20) ? TFL_INT16 : TFL_INT8;
	int rank = (int)gen_range(g, 2, 4);
	int32_t b1 = (int32_t)gen_range(g, 1, 3), m = (int32_t)gen_range(g, 1, 12),
		k = (int32_t)gen_range(g, 1, 24), n = (int32_t)gen_range(g, 1, 12);
	bool tx = gen_chance(g, 30), ty = gen_chance(g, 40);
	struct shape a = { .rank = rank }, b = { .rank = rank }, o = { .rank = rank };
	for (int i = 0; i + 2 < rank; i++)
		a.dim[i] = b.dim[i] = o.dim[i] = i + 3 == rank ? b1 : 1;
	a.dim[rank - 2] = tx ? k : m;
	a.dim[rank - 1] = tx ? m : k;
	b.dim[rank - 2] = ty ? n : k;
	b.dim[rank - 1] = ty ? k : n;
	o.dim[rank - 2] = m;
	o.dim[rank - 1] = n;
	int in[] = { gen_random(g, type, a), gen_random(g, type, b) };
	int out = result(g, in[0], in[1], o, k);
	if (type == TFL_INT16)
		gen_quant(g, out, gen_t(g, out)->quant.scale[0] * 256, 0);
	gen_op1(g, code, 2, in, out, BATCH_MATMUL, &fb_BatchMatMulOptions,
		(int64_t[]){ tx, ty, 0 });
}

static void
draw_pool(struct gen *g, int code)
{
	int in = gen_input(g, 4, gen_type(g));
	struct shape s = shape_of(g, in);
	bool valid = gen_chance(g, 50);
	int32_t most = (int32_t)(gen_chance(g, 20) ? 20 : 5);
	struct axis y = window(g, s.dim[1], valid, most);
	struct axis x = window(g, s.dim[2], valid, most);
	y.out = extent(s.dim[1], y.k, y.stride, 1, valid);
	x.out = extent(s.dim[2], x.k, x.stride, 1, valid);
	int out = gen_like(g, in, SHAPE(s.dim[0], y.out, x.out, s.dim[3]));
	gen_op1(g, code, 1, &in, out, POOL, &fb_Pool2DOptions,
		(int64_t[]){ valid, x.stride, y.stride, x.k, y.k, activation(g) });
}

static void
draw_resize(struct gen *g, int code)
{
	int in = gen_input(g, 4, gen_type(g));
	struct shape s = shape_of(g, in), out = s;
	int32_t f = (int32_t)(gen_chance(g, 30) ? gen_range(g, 1, 5)
						: 1 << gen_range(g, 1, 3));
	bool align = gen_chance(g, 30), half = !align && gen_chance(g, 40);
	for (int i = 1; i < 3; i++) {
		out.dim[i] = align && s.dim[i] > 1 ? (s.dim[i] - 1) * f + 1
						   : s.dim[i] * f;
		if (gen_chance(g, 10))
			out.dim[i] = (int32_t)gen_range(g, 1, 30);
	}
	while (shape_elements(out) > 4 * GEN_ELEMENTS)
		out.dim[1] = out.dim[2] = (out.dim[1] + 1) / 2;
	int ports[] = { in, gen_ints(g, 2, &out.dim[1]) };
	if (code == TFL_RESIZE_BILINEAR)
		gen_op1(g, code, 2, ports, gen_like(g, in, out), BILINEAR,
			&fb_ResizeBilinearOptions, (int64_t[]){ 0, 0, align, half });
	else
		gen_op1(g, code, 2, ports, gen_like(g, in, out), NEAREST,
			&fb_ResizeNearestNeighborOptions,
			(int64_t[]){ align, half });
}

const struct draw conv_draws[] = {
	{ "CONV_2D", draw_conv, TFL_CONV_2D },
	{ "DEPTHWISE_CONV_2D", draw_conv, TFL_DEPTHWISE_CONV_2D },
	{ "FULLY_CONNECTED", draw_fc, TFL_FULLY_CONNECTED },
	{ "TRANSPOSE_CONV", draw_transpose_conv, TFL_TRANSPOSE_CONV },
	{ "BATCH_MATMUL", draw_matmul, TFL_BATCH_MATMUL },
	{ "AVERAGE_POOL_2D", draw_pool, TFL_AVERAGE_POOL_2D },
	{ "MAX_POOL_2D", draw_pool, TFL_MAX_POOL_2D },
	{ "RESIZE_BILINEAR", draw_resize, TFL_RESIZE_BILINEAR },
	{ "RESIZE_NEAREST_NEIGHBOR", draw_resize, TFL_RESIZE_NEAREST_NEIGHBOR },
	{ 0 },
};

/*
 * A convolution of an image of few channels, whose columns can become channels; some are near
 * misses by a dilation or an odd width.  Another convolution may make the image.
 */
static void
draw_window(struct gen *g, int code)
{
	int32_t c = (int32_t)gen_range(g, 1, gen_chance(g, 20) ? 20 : 4);
	struct shape s = SHAPE(1, (int32_t)gen_range(g, 1, 24), (int32_t)gen_range(g, 4, 40), c);
	int type = gen_type(g), in = gen_random(g, type, s);
	bool valid = gen_chance(g, 50);
	if (gen_chance(g, 30)) {
		int w = gen_weights(g, in, SHAPE(c, 1, 1, c), 0, false);
		int made = result(g, in, w, s, c);
		gen_op1(g, code, 3, (int[]){ in, w, gen_bias(g, in, w, c) }, made, CONV,
			&fb_Conv2DOptions, (int64_t[]){ 0, 1, 1, 0, 1, 1, 0 });
		in = made;
	}
	if (valid && gen_chance(g, 40))
		in = padded(g, in);
	s = shape_of(g, in);
	struct axis y = window(g, s.dim[1], valid, 4), x = window(g, s.dim[2], valid, 10);
	int32_t o = (int32_t)gen_range(g, 1, 24);
	int w = gen_weights(g, in, SHAPE(o, y.k, x.k, c), 0, gen_chance(g, 60));
	int out = result(g, in, w, SHAPE(1, y.out, x.out, o), (int64_t)y.k * x.k * c);
	gen_op1(g, code, 3, (int[]){ in, w, gen_bias(g, in, w, o) }, out, CONV, &fb_Conv2DOptions,
		(int64_t[]){ valid, x.stride, y.stride, activation(g), x.dilation, y.dilation, 0 });
}

/* between sizes of any ratio: their centers and corners are other pixels */
static void
draw_resize_ratio(struct gen *g, int code)
{
	int in = gen_input(g, 4, gen_type(g));
	struct shape out = shape_of(g, in);
	int64_t align = gen_chance(g, 25), half = !align && gen_chance(g, 40);
	for (int i = 1; i < 3; i++)
		out.dim[i] = (int32_t)gen_range(g, 1, 30);
	int ports[] = { in, gen_ints(g, 2, &out.dim[1]) };
	bool linear = code == TFL_RESIZE_BILINEAR;
	gen_op1(g, code, 2, ports, gen_like(g, in, out), linear ? BILINEAR : NEAREST,
		linear ? &fb_ResizeBilinearOptions : &fb_ResizeNearestNeighborOptions,
		linear ? (int64_t[]){ 0, 0, align, half } : (int64_t[]){ align, half });
}

const struct draw window_draws[] = {
	{ "CONV_2D_WINDOW", draw_window, TFL_CONV_2D },
	{ "RESIZE_BILINEAR_RATIO", draw_resize_ratio, TFL_RESIZE_BILINEAR },
	{ "RESIZE_NEAREST_RATIO", draw_resize_ratio, TFL_RESIZE_NEAREST_NEIGHBOR },
	{ 0 },
};

static void
draw_int4(struct gen *g, int code)
{
	g->int4 = true;
	if (code == TFL_FULLY_CONNECTED)
		draw_fc(g, code);
	else
		draw_conv(g, code);
}

const struct draw int4_draws[] = {
	{ "CONV_2D_INT4", draw_int4, TFL_CONV_2D },
	{ "DEPTHWISE_CONV_2D_INT4", draw_int4, TFL_DEPTHWISE_CONV_2D },
	{ "FULLY_CONNECTED_INT4", draw_int4, TFL_FULLY_CONNECTED },
	{ 0 },
};
