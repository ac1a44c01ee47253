/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that sum products: convolutions, matrix products, SVDF. */
#include "base/attempt.h"
#include "real/real.h"
#include "tflite/fields.h"
#include "tflite/tflite.h"

#include <math.h>
#include <string.h>

struct axis { /* one dimension of a window; before: padding in front */
	int32_t in, out, k, stride, dilation, before;
};

/* TensorFlow's SAME: if the padding is odd, the extra element is at the end */
static struct axis
axis_of(int32_t in, int32_t out, int32_t k, int64_t stride, int64_t dilation,
	int64_t padding)
{
	struct axis x = { .in = in, .out = out, .k = k, .stride = (int32_t)stride,
			  .dilation = (int32_t)dilation };
	int64_t reach = (int64_t)(k - 1) * dilation + 1;
	x.before = (int32_t)(tfl_padding_total(padding, in, out, reach, stride) / 2);
	return x;
}

double
real_bias(const struct real_op *o, int input, int weights, int bias, int32_t c)
{
	const struct tfl_tensor *b = real_in(o, bias), *w = real_in(o, weights);
	if (b && b->type == TFL_FLOAT32)
		return real_x(o, bias)[c];
	if (!b || !b->data.p)
		return 0;
	const struct tfl_quant *q = &w->quant;
	double scale = (double)real_in(o, input)->quant.scale[0] *
		       (double)q->scale[q->n_scale > 1 ? c : 0];
	return (double)tfl_integer(b->type, b->data.p, c) * scale;
}

struct window {
	struct axis y, x;
	int32_t depth_in, depth_out;
	int64_t activation;
};

/* which elements of a window and of the filters a channel sums */
struct filters {
	int32_t depth; /* input channels of a filter */
	int64_t step;  /* elements between the filters of two channels */
};

enum { BLOCK = 8 }; /* channels that are summed at once: their sums do not wait for each other */

/* the taps of a window that are inside the input: input pixel and tap of each */
struct taps {
	int n;
	int64_t *pixel, *tap;
};

static void
find_taps(const struct window *w, int32_t oy, int32_t ox, struct taps *t)
{
	t->n = 0;
	for (int32_t ky = 0; ky < w->y.k; ky++) {
		int32_t iy = oy * w->y.stride + ky * w->y.dilation - w->y.before;
		for (int32_t kx = 0; iy >= 0 && iy < w->y.in && kx < w->x.k; kx++) {
			int32_t ix = ox * w->x.stride + kx * w->x.dilation - w->x.before;
			if (ix < 0 || ix >= w->x.in)
				continue;
			t->pixel[t->n] = (int64_t)iy * w->x.in + ix;
			t->tap[t->n++] = (int64_t)ky * w->x.k + kx;
		}
	}
}

/* gcc and clang add and multiply both elements with one instruction, where there is one */
typedef double pair __attribute__((vector_size(2 * sizeof(double))));
enum { PAIRS = BLOCK / 2 };

/*
 * The filters of BLOCK channels side by side, by tap and input channel, and then those of the
 * next channels: a block of sums reads them in order.  Channels that a group lacks are 0.
 */
static pair *
pack_filters(struct arena *a, const struct window *w, const struct filters *k, int64_t taps,
	     const double *f)
{
	int32_t groups = w->depth_in / k->depth, each = w->depth_out / groups;
	int64_t blocks = (each + BLOCK - 1) / BLOCK, size = taps * k->depth;
	pair *packed = anew(a, pair, (size_t)(groups * blocks * size * PAIRS));
	for (int32_t g = 0; g < groups; g++)
		for (int32_t c = 0; c < each; c++) {
			pair *to = packed + (g * blocks + c / BLOCK) * size * PAIRS +
				   c % BLOCK / 2;
			const double *from = f + ((int64_t)g * each + c) * k->step;
			for (int64_t i = 0; i < size; i++)
				to[i * PAIRS][c % 2] = from[i];
		}
	return packed;
}

/*
 * Sums the channels of a block at one pixel.  Each channel's products are added in the order
 * of taps and input channels.  x: the first channel of the group; f: the block's filters.
 */
static void
sum_block(const struct window *w, const struct filters *k, const struct taps *t,
	  const double *x, const pair *f, double *out, int n)
{
	pair sum[PAIRS] = { 0 };
	for (int i = 0; i < t->n; i++) {
		const double *a = x + t->pixel[i] * w->depth_in;
		const pair *b = f + t->tap[i] * k->depth * PAIRS;
		for (int32_t c = 0; c < k->depth; c++, b += PAIRS) {
			pair v = { a[c], a[c] };
			for (int j = 0; j < PAIRS; j++)
				sum[j] += v * b[j];
		}
	}
	memcpy(out, sum, (size_t)n * sizeof(*out));
}

/* The same for all channels, if each is a group of its own with one input channel. */
static void
sum_depthwise(const struct window *w, const struct taps *t, const double *x, const double *f,
	      double *sum)
{
	int32_t each = w->depth_out / w->depth_in;
	for (int32_t c = 0; c < w->depth_out; c++)
		sum[c] = 0;
	for (int i = 0; i < t->n; i++) {
		const double *a = x + t->pixel[i] * w->depth_in;
		const double *b = f + t->tap[i] * w->depth_out;
		for (int32_t c = 0; each == 1 && c < w->depth_out; c++)
			sum[c] += a[c] * b[c];
		for (int32_t c = 0; each > 1 && c < w->depth_out; c++)
			sum[c] += a[c / each] * b[c];
	}
}

static void
sum_groups(const struct window *w, const struct filters *k, const struct taps *t,
	   int64_t block, const double *x, const pair *f, double *y)
{
	int32_t groups = w->depth_in / k->depth, each = w->depth_out / groups;
	for (int32_t g = 0; g < groups; g++)
		for (int32_t c = 0; c < each; c += BLOCK, f += block)
			sum_block(w, k, t, x + (int64_t)g * k->depth, f,
				  y + (int64_t)g * each + c, each - c < BLOCK ? each - c : BLOCK);
}

static void
convolve(const struct real_op *o, const struct window *w, const struct filters *k)
{
	const struct tfl_tensor *in = real_in(o, 0), *out = real_out(o, 0);
	struct arena *a = arena_open();
	int64_t n_taps = (int64_t)w->y.k * w->x.k;
	struct taps t = { .pixel = anew(a, int64_t, (size_t)n_taps),
			  .tap = anew(a, int64_t, (size_t)n_taps) };
	bool depthwise = k->depth == 1 && k->step == 1;
	const double *f = real_x(o, 1);
	const pair *packed = depthwise ? NULL : pack_filters(a, w, k, n_taps, f);
	double *y = real_y(o, 0);
	for (int32_t b = 0; b < out->dim[0]; b++) {
		const double *x = real_x(o, 0) + tfl_elements(in) / in->dim[0] * b;
		for (int32_t oy = 0; oy < w->y.out; oy++) {
			checkpoint();
			for (int32_t ox = 0; ox < w->x.out; ox++, y += w->depth_out) {
				find_taps(w, oy, ox, &t);
				if (depthwise)
					sum_depthwise(w, &t, x, f, y);
				else
					sum_groups(w, k, &t, n_taps * k->depth * PAIRS, x, packed, y);
				for (int32_t c = 0; c < w->depth_out; c++)
					y[c] = real_clamp(y[c] + real_bias(o, 0, 1, 2, c),
							  w->activation);
			}
		}
	}
	arena_close(a);
}

void
real_conv(const struct real_op *o)
{
	const struct tfl_op *op = o->op;
	const struct tfl_tensor *in = real_in(o, 0), *f = real_in(o, 1), *out = real_out(o, 0);
	int64_t padding = TFL_OPT(op, Conv2DOptions, padding);
	struct window w = {
		.y = axis_of(in->dim[1], out->dim[1], f->dim[1],
			     TFL_OPT(op, Conv2DOptions, stride_h),
			     TFL_OPT(op, Conv2DOptions, dilation_h_factor), padding),
		.x = axis_of(in->dim[2], out->dim[2], f->dim[2],
			     TFL_OPT(op, Conv2DOptions, stride_w),
			     TFL_OPT(op, Conv2DOptions, dilation_w_factor), padding),
		.depth_in = in->dim[3], .depth_out = out->dim[3],
		.activation = TFL_OPT(op, Conv2DOptions, fused_activation_function),
	};
	struct filters k = { .depth = f->dim[3],
			     .step = (int64_t)f->dim[1] * f->dim[2] * f->dim[3] };
	convolve(o, &w, &k);
}

void
real_depthwise(const struct real_op *o)
{
	const struct tfl_op *op = o->op;
	const struct tfl_tensor *in = real_in(o, 0), *f = real_in(o, 1), *out = real_out(o, 0);
	int64_t padding = TFL_OPT(op, DepthwiseConv2DOptions, padding);
	struct window w = {
		.y = axis_of(in->dim[1], out->dim[1], f->dim[1],
			     TFL_OPT(op, DepthwiseConv2DOptions, stride_h),
			     TFL_OPT(op, DepthwiseConv2DOptions, dilation_h_factor),
			     padding),
		.x = axis_of(in->dim[2], out->dim[2], f->dim[2],
			     TFL_OPT(op, DepthwiseConv2DOptions, stride_w),
			     TFL_OPT(op, DepthwiseConv2DOptions, dilation_w_factor),
			     padding),
		.depth_in = in->dim[3], .depth_out = out->dim[3],
		.activation =
		    TFL_OPT(op, DepthwiseConv2DOptions, fused_activation_function),
	};
	convolve(o, &w, &(struct filters){ .depth = 1, .step = 1 });
}

/* Each input element is added to the window of outputs that it reaches. */
static void
scatter(const struct window *w, const double *x, const double *f, double *y)
{
	int64_t taps = (int64_t)w->y.k * w->x.k;
	for (int32_t iy = 0; iy < w->y.in; iy++) {
		checkpoint();
		for (int32_t ix = 0; ix < w->x.in; ix++, x += w->depth_in)
			for (int64_t k = 0; k < taps; k++) {
				int32_t oy = iy * w->y.stride - w->y.before +
					     (int32_t)(k / w->x.k);
				int32_t ox = ix * w->x.stride - w->x.before +
					     (int32_t)(k % w->x.k);
				if (oy < 0 || oy >= w->y.out || ox < 0 || ox >= w->x.out)
					continue;
				double *to = y + ((int64_t)oy * w->x.out + ox) * w->depth_out;
				for (int32_t c = 0; c < w->depth_out; c++)
					for (int32_t i = 0; i < w->depth_in; i++)
						to[c] += x[i] *
							 f[(c * taps + k) * w->depth_in + i];
			}
	}
}

void
real_transpose_conv(const struct real_op *o)
{
	enum { WEIGHTS = 1, INPUT = 2, BIAS = 3 };
	const struct tfl_tensor *in = real_in(o, INPUT), *f = real_in(o, WEIGHTS);
	const struct tfl_tensor *out = real_out(o, 0);
	int64_t padding = TFL_OPT(o->op, TransposeConvOptions, padding);
	int64_t activation = TFL_OPT(o->op, TransposeConvOptions, fused_activation_function);
	/* the padding is that of the convolution from output to input */
	struct axis y = axis_of(out->dim[1], in->dim[1], f->dim[1],
				TFL_OPT(o->op, TransposeConvOptions, stride_h), 1, padding);
	struct axis x = axis_of(out->dim[2], in->dim[2], f->dim[2],
				TFL_OPT(o->op, TransposeConvOptions, stride_w), 1, padding);
	y.in = in->dim[1];
	y.out = out->dim[1];
	x.in = in->dim[2];
	x.out = out->dim[2];
	struct window w = { .y = y, .x = x, .depth_in = in->dim[3], .depth_out = out->dim[3] };
	int64_t n = tfl_elements(out), each = n / out->dim[0];
	double *v = real_y(o, 0);
	for (int64_t i = 0; i < n; i++)
		v[i] = real_bias(o, INPUT, WEIGHTS, BIAS, (int32_t)(i % w.depth_out));
	for (int32_t b = 0; b < out->dim[0]; b++)
		scatter(&w, real_x(o, INPUT) + tfl_elements(in) / in->dim[0] * b,
			real_x(o, WEIGHTS), v + each * b);
	for (int64_t i = 0; i < n; i++)
		v[i] = real_clamp(v[i], activation);
}

void
real_fc(const struct real_op *o)
{
	const struct tfl_tensor *f = real_in(o, 1);
	int32_t depth = real_depth(f);
	int64_t cols = real_rows(f), rows = tfl_elements(real_in(o, 0)) / depth;
	int64_t activation =
	    TFL_OPT(o->op, FullyConnectedOptions, fused_activation_function);
	double *y = real_y(o, 0);
	for (int64_t r = 0; r < rows; r++) {
		checkpoint();
		for (int64_t c = 0; c < cols; c++) {
			const double *x = real_x(o, 0) + r * depth;
			const double *w = real_x(o, 1) + c * depth;
			double sum = real_bias(o, 0, 1, 2, (int32_t)c);
			for (int32_t k = 0; k < depth; k++)
				sum += x[k] * w[k];
			*y++ = real_clamp(sum, activation);
		}
	}
}

void
real_matmul(const struct real_op *o)
{
	const struct tfl_tensor *a = real_in(o, 0), *b = real_in(o, 1), *out = real_out(o, 0);
	bool ta = TFL_OPT(o->op, BatchMatMulOptions, adj_x);
	bool tb = TFL_OPT(o->op, BatchMatMulOptions, adj_y);
	int32_t rows = out->dim[out->rank - 2], cols = out->dim[out->rank - 1];
	int32_t depth = a->dim[a->rank - 1 - ta];
	int64_t batches = tfl_elements(out) / rows / cols;
	double *y = real_y(o, 0);
	for (int64_t i = 0; i < batches; i++) {
		const double *x = real_x(o, 0) + real_broadcast(a, out, i, 2);
		const double *w = real_x(o, 1) + real_broadcast(b, out, i, 2);
		for (int32_t r = 0; r < rows; r++) {
			checkpoint();
			for (int32_t c = 0; c < cols; c++) {
				double sum = 0;
				for (int32_t k = 0; k < depth; k++)
					sum += x[ta ? (int64_t)k * rows + r
						    : (int64_t)r * depth + k] *
					       w[tb ? (int64_t)c * depth + k
						    : (int64_t)k * cols + c];
				*y++ = sum;
			}
		}
	}
}

void
real_svdf(const struct real_op *o)
{
	enum { INPUT, FEATURE, TIME, BIAS, STATE };
	/* integer kernels clip to the output's type alone */
	int64_t activation = TFL_OPT(o->op, SVDFOptions, fused_activation_function);
	const struct tfl_tensor *f = real_in(o, FEATURE), *t = real_in(o, TIME);
	int64_t filters = f->dim[0], inputs = f->dim[1], memory = t->dim[1];
	int64_t rank = TFL_OPT(o->op, SVDFOptions, rank), batch = real_in(o, INPUT)->dim[0];
	double *state = real_x(o, STATE), *y = real_y(o, 0);
	const double *w = real_x(o, TIME), *x = real_x(o, INPUT);
	memmove(state, state + 1, (size_t)(batch * filters * memory - 1) * sizeof(*state));
	for (int64_t b = 0; b < batch; b++) {
		double *own = state + b * filters * memory;
		for (int64_t i = 0; i < filters; i++) {
			double sum = 0;
			for (int64_t k = 0; k < inputs; k++)
				sum += x[b * inputs + k] * real_x(o, FEATURE)[i * inputs + k];
			own[(i + 1) * memory - 1] = sum;
		}
		for (int64_t u = 0; u < filters / rank; u++) {
			double sum = real_bias(o, STATE, TIME, BIAS, (int32_t)u);
			for (int64_t k = u * rank * memory; k < (u + 1) * rank * memory; k++)
				sum += own[k] * w[k];
			*y++ = real_out(o, 0)->type == TFL_FLOAT32
				   ? real_clamp(sum, activation) : sum;
		}
	}
}
