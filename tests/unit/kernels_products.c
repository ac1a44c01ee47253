/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares random convolutions and products with the sums of nputools-lowering(7)
 * 3.2.  The kernels gather patches and multiply matrices.  Here each input is
 * scattered to all its outputs, in 64 bits.
 */
#include "rules.h"

#include "tflite/fields.h"

enum { MOST_OUT = 2048 };

/* the parameters along one axis */
struct axis {
	int32_t in, out, kernel, stride, dilation, pad;
};

struct product {
	struct bench b;
	int in, weights, bias, to; /* numbers of its tensors */
	struct axis y, x;
	int32_t batches, depth, channels; /* depth: of the input */
	int type, bias_type, act, padding;
	int code;
	int64_t want[MOST_OUT];
};

/* computes out and pad of an axis from the other members */
static void
place(struct axis *a, int padding)
{
	int32_t span = (a->kernel - 1) * a->dilation + 1;
	a->pad = 0;
	if (padding == TFL_VALID) {
		a->out = (a->in - span) / a->stride + 1;
		return;
	}
	a->out = (a->in + a->stride - 1) / a->stride;
	int32_t lack = (a->out - 1) * a->stride + span - a->in;
	a->pad = lack > 0 ? lack / 2 : 0;
}

static void
draw_axis(struct axis *a, int padding, bool dilated)
{
	a->kernel = (int32_t)draw_in(1, 4);
	a->stride = (int32_t)draw_in(1, 3);
	a->dilation = dilated ? (int32_t)draw_in(1, 2) : 1;
	a->in = (a->kernel - 1) * a->dilation + 1 + (int32_t)draw_in(0, 5);
	place(a, padding);
}

/* the factor of channel c; with one scale, the product of uint8 and FULLY_CONNECTED
 * in float32 */
static double
factor(const struct product *p, int32_t c)
{
	const struct bench *b = &p->b;
	float s1 = b->scale[p->in][0], so = b->scale[p->to][0];
	float sw = b->scale[p->weights][b->t[p->weights].quant.n_scale > 1 ? c : 0];
	if (p->type == TFL_UINT8 || p->code == TFL_FULLY_CONNECTED)
		return (double)(s1 * sw) / (double)so;
	return (double)s1 * (double)sw / (double)so;
}

/* converts sums to bytes */
static void
finish(struct product *p, int64_t *sum)
{
	struct bench *b = &p->b;
	for (int64_t k = 0; k < count_of(b, p->to); k++) {
		int32_t c = (int32_t)(k % p->channels);
		int64_t v = sum[k] + get(b, p->bias, c);
		v = p->bias_type == TFL_INT64 ? rule_mbqm64(v, factor(p, c))
					      : rule_mbqm(v, factor(p, c));
		p->want[k] = rule_clamp(v + b->zero[p->to][0], p->type, p->act,
					b->scale[p->to][0], b->zero[p->to][0]);
	}
}

/* the product of input k's element and a weight, both minus their zero points */
static int64_t
term(const struct product *p, int64_t in, int64_t weight)
{
	return (get(&p->b, p->in, in) - p->b.zero[p->in][0]) *
	       (get(&p->b, p->weights, weight) - p->b.zero[p->weights][0]);
}

/* the output that input position i reaches with tap k; -1: none */
static int32_t
reached(const struct axis *a, int32_t i, int32_t k, bool transposed)
{
	if (transposed) {
		int32_t o = i * a->stride - a->pad + k;
		return o >= 0 && o < a->out ? o : -1;
	}
	int32_t at = i + a->pad - k * a->dilation;
	return at >= 0 && at % a->stride == 0 && at / a->stride < a->out ? at / a->stride
									 : -1;
}

/* weights are [channels][ky][kx][depth / groups], of DEPTHWISE [1][ky][kx][channels] */
static void
scatter(struct product *p, int32_t n, int32_t iy, int32_t ix, int64_t *sum)
{
	int32_t own = p->b.t[p->weights].dim[3]; /* CONV_2D: inputs of one filter */
	int32_t groups = p->depth / own;
	bool transposed = p->code == TFL_TRANSPOSE_CONV;
	int64_t in = (((int64_t)n * p->y.in + iy) * p->x.in + ix) * p->depth;
	for (int32_t tap = 0; tap < p->y.kernel * p->x.kernel; tap++) {
		int32_t oy = reached(&p->y, iy, tap / p->x.kernel, transposed);
		int32_t ox = reached(&p->x, ix, tap % p->x.kernel, transposed);
		int64_t out = (((int64_t)n * p->y.out + oy) * p->x.out + ox) * p->channels;
		for (int32_t c = 0; oy >= 0 && ox >= 0 && c < p->channels; c++) {
			if (p->code == TFL_DEPTHWISE_CONV_2D) {
				sum[out + c] += term(p, in + c / (p->channels / p->depth),
						     (int64_t)tap * p->channels + c);
				continue;
			}
			int32_t first = c / (p->channels / groups) * own;
			int64_t w = ((int64_t)c * p->y.kernel * p->x.kernel + tap) * own;
			for (int32_t i = 0; i < own; i++)
				sum[out + c] += term(p, in + first + i, w + i);
		}
	}
}

static void
convolve(struct product *p)
{
	int64_t sum[MOST_OUT] = { 0 };
	for (int32_t n = 0; n < p->batches; n++)
		for (int32_t iy = 0; iy < p->y.in; iy++)
			for (int32_t ix = 0; ix < p->x.in; ix++)
				scatter(p, n, iy, ix, sum);
	finish(p, sum);
}

/* a scale for each channel of axis, or one scale (axis -1) */
static void
add_weights(struct product *p, const int32_t dim[4], int axis)
{
	struct bench *b = &p->b;
	bool legacy = p->type == TFL_UINT8;
	int i = p->weights = drawn(b, legacy ? TFL_UINT8 : TFL_INT8, dim, draw_scale(-6),
		      legacy ? draw_in(0, 255) : 0, legacy ? 0 : -127, legacy ? 255 : 127);
	if (axis >= 0) {
		b->t[i].quant.n_scale = b->t[i].quant.n_zero = p->channels;
		b->t[i].quant.axis = axis;
		for (int32_t c = 1; c < p->channels; c++)
			b->scale[i][c] = draw_scale(-6 - (int)draw() % 3);
	}
}

static void
add_bias(struct product *p)
{
	p->bias = drawn(&p->b, p->bias_type, (int32_t[4]){ p->channels }, 0, 0, -9000, 9000);
}

/* a scale for which sums of `taps` products reach the type's limits and exceed them
 * slightly */
static void
add_out(struct product *p, const int32_t dim[4], int64_t taps)
{
	int bits = p->type == TFL_INT16 ? 15 : 7;
	float most = p->b.scale[p->in][0] * p->b.scale[p->weights][0] * 128 * (float)taps;
	float so = most * (float)(bits == 15 ? 32768 : 128) / (float)(1 << (bits + 2));
	p->to = bench_add(&p->b, p->type, dim, so, draw_zero(p->type));
}

/* draws the type and other properties of a product */
static void
begin(struct product *p, int code)
{
	static const int types[] = { TFL_INT8, TFL_INT8, TFL_INT16, TFL_INT16, TFL_UINT8 };
	static const int acts[] = { TFL_ACT_NONE, TFL_ACT_RELU, TFL_ACT_RELU6,
				    TFL_ACT_RELU_N1_TO_1 };
	*p = (struct product){ .code = code, .type = types[draw() % 5],
			       .act = acts[draw() % 4], .batches = (int32_t)draw_in(1, 2),
			       .padding = (int)draw_in(TFL_SAME, TFL_VALID) };
	p->bias_type = p->type == TFL_INT16 && draw() % 2 ? TFL_INT64 : TFL_INT32;
}

static void
conv(void)
{
	struct product p;
	begin(&p, TFL_CONV_2D);
	int32_t own = (int32_t)draw_in(1, 5), groups = p.type == TFL_INT8 ? (int32_t)draw_in(1, 2) : 1;
	p.depth = own * groups;
	p.channels = groups * (int32_t)draw_in(1, 4);
	draw_axis(&p.y, p.padding, true);
	draw_axis(&p.x, p.padding, true);
	p.in = drawn_map(&p.b, p.type, (int32_t[4]){ p.batches, p.y.in, p.x.in, p.depth },
		  draw_scale(-5), draw_zero(p.type));
	add_weights(&p, (int32_t[4]){ p.channels, p.y.kernel, p.x.kernel, own },
		    p.type == TFL_UINT8 ? -1 : 0);
	add_bias(&p);
	add_out(&p, (int32_t[4]){ p.batches, p.y.out, p.x.out, p.channels },
		(int64_t)p.y.kernel * p.x.kernel * own);
	struct bench_option o[] = {
		{ .slot = FB_Conv2DOptions_padding, .v = p.padding },
		{ .slot = FB_Conv2DOptions_stride_w, .v = p.x.stride },
		{ .slot = FB_Conv2DOptions_stride_h, .v = p.y.stride },
		{ .slot = FB_Conv2DOptions_dilation_w_factor, .v = p.x.dilation },
		{ .slot = FB_Conv2DOptions_dilation_h_factor, .v = p.y.dilation },
		{ .slot = FB_Conv2DOptions_fused_activation_function, .v = p.act },
	};
	bench_options(&p.b, &fb_Conv2DOptions, o, 6);
	convolve(&p);
	hold(&p.b, p.code, "drawn", p.want);
}

static void
depthwise(void)
{
	struct product p;
	begin(&p, TFL_DEPTHWISE_CONV_2D);
	int32_t times = (int32_t)draw_in(1, 3);
	p.depth = (int32_t)draw_in(1, 4);
	p.channels = p.depth * times;
	draw_axis(&p.y, p.padding, true);
	draw_axis(&p.x, p.padding, true);
	p.in = drawn_map(&p.b, p.type, (int32_t[4]){ p.batches, p.y.in, p.x.in, p.depth },
		  draw_scale(-5), draw_zero(p.type));
	add_weights(&p, (int32_t[4]){ 1, p.y.kernel, p.x.kernel, p.channels },
		    p.type == TFL_UINT8 ? -1 : 3);
	add_bias(&p);
	add_out(&p, (int32_t[4]){ p.batches, p.y.out, p.x.out, p.channels },
		(int64_t)p.y.kernel * p.x.kernel);
	struct bench_option o[] = {
		{ .slot = FB_DepthwiseConv2DOptions_padding, .v = p.padding },
		{ .slot = FB_DepthwiseConv2DOptions_stride_w, .v = p.x.stride },
		{ .slot = FB_DepthwiseConv2DOptions_stride_h, .v = p.y.stride },
		{ .slot = FB_DepthwiseConv2DOptions_depth_multiplier, .v = times },
		{ .slot = FB_DepthwiseConv2DOptions_dilation_w_factor, .v = p.x.dilation },
		{ .slot = FB_DepthwiseConv2DOptions_dilation_h_factor, .v = p.y.dilation },
		{ .slot = FB_DepthwiseConv2DOptions_fused_activation_function, .v = p.act },
	};
	bench_options(&p.b, &fb_DepthwiseConv2DOptions, o, 7);
	convolve(&p);
	hold(&p.b, p.code, "drawn", p.want);
}

/* the padding is that of the convolution from the output to the input */
static void
draw_transposed(struct axis *a, int padding)
{
	*a = (struct axis){ .in = (int32_t)draw_in(1, 5), .kernel = (int32_t)draw_in(1, 4),
			    .stride = (int32_t)draw_in(1, 3), .dilation = 1 };
	struct axis back = *a;
	back.in = padding == TFL_SAME ? a->in * a->stride - (int32_t)draw_in(0, a->stride - 1)
				      : (a->in - 1) * a->stride + a->kernel;
	place(&back, padding);
	a->out = back.in;
	a->pad = back.pad;
}

static void
transpose_conv(void)
{
	struct product p;
	begin(&p, TFL_TRANSPOSE_CONV);
	p.act = TFL_ACT_NONE;
	p.depth = (int32_t)draw_in(1, 5);
	p.channels = (int32_t)draw_in(1, 4);
	draw_transposed(&p.y, p.padding);
	draw_transposed(&p.x, p.padding);
	int32_t out[4] = { p.batches, p.y.out, p.x.out, p.channels };
	bench_add(&p.b, TFL_INT32, (int32_t[4]){ 4 }, 0, 0);
	for (int d = 0; d < 4; d++)
		put(&p.b, 0, d, out[d]);
	add_weights(&p, (int32_t[4]){ p.channels, p.y.kernel, p.x.kernel, p.depth },
		    p.type == TFL_UINT8 ? -1 : 0);
	p.in = drawn_map(&p.b, p.type, (int32_t[4]){ p.batches, p.y.in, p.x.in, p.depth },
			 draw_scale(-5), draw_zero(p.type));
	add_bias(&p);
	add_out(&p, out, (int64_t)p.y.kernel * p.x.kernel * p.depth);
	struct bench_option o[] = {
		{ .slot = FB_TransposeConvOptions_padding, .v = p.padding },
		{ .slot = FB_TransposeConvOptions_stride_w, .v = p.x.stride },
		{ .slot = FB_TransposeConvOptions_stride_h, .v = p.y.stride },
	};
	bench_options(&p.b, &fb_TransposeConvOptions, o, 3);
	convolve(&p);
	hold(&p.b, p.code, "drawn", p.want);
}

static void
dense(void)
{
	struct product p;
	int64_t sum[MOST_OUT] = { 0 };
	begin(&p, TFL_FULLY_CONNECTED);
	p.depth = (int32_t)draw_in(1, 40);
	p.channels = (int32_t)draw_in(1, 12);
	p.in = drawn_map(&p.b, p.type, (int32_t[4]){ p.batches, p.depth }, draw_scale(-5),
		  draw_zero(p.type));
	add_weights(&p, (int32_t[4]){ p.channels, p.depth }, -1);
	add_bias(&p);
	add_out(&p, (int32_t[4]){ p.batches, p.channels }, p.depth);
	bench_options(&p.b, &fb_FullyConnectedOptions,
		      &(struct bench_option){
			  .slot = FB_FullyConnectedOptions_fused_activation_function,
			  .v = p.act }, 1);
	for (int32_t n = 0; n < p.batches; n++)
		for (int32_t c = 0; c < p.channels; c++)
			for (int32_t i = 0; i < p.depth; i++)
				sum[n * p.channels + c] +=
				    term(&p, (int64_t)n * p.depth + i,
					 (int64_t)c * p.depth + i);
	finish(&p, sum);
	hold(&p.b, p.code, "drawn", p.want);
}

int
main(void)
{
	for (int i = 0; i < 300; i++) {
		conv();
		depthwise();
		transpose_conv();
		dense();
	}
	if (n_failed)
		printf("%d failed\n", n_failed);
	return n_failed > 0;
}
