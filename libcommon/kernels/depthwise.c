/* SPDX-License-Identifier: Apache-2.0 */
/* DEPTHWISE_CONV_2D: nputools-lowering(7) 3.2. */
#include "kernels/products.h"

#include <string.h>

/* number of taps whose 32-bit sum cannot overflow: 2^15 * 255 * 256 < 2^31 */
enum { BLOCK_TAPS = 256 };

struct depthwise {
	const struct tfl_tensor *in, *weights, *bias, *out;
	struct nhwc i, o;
	int32_t multiplier;
	struct window h, w;
	struct offsets zero;
	struct requant r;
	const int16_t *x; /* input minus zero point */
	const int16_t *k; /* weights [tap][output channel] */
	int32_t *part;
	int64_t *sum;
};

static void
add_products(int32_t *restrict part, const int16_t *restrict x,
	     const int16_t *restrict k, int32_t n)
{
	for (int32_t c = 0; c < n; c++)
		part[c] += x[c] * k[c];
}

static void
add_multiplied(int32_t *restrict part, const int16_t *restrict x,
	       const int16_t *restrict k, int32_t n, int32_t multiplier)
{
	for (int32_t c = 0; c < n; c++)
		for (int32_t m = 0; m < multiplier; m++)
			part[c * multiplier + m] +=
			    x[c] * k[c * multiplier + m];
}

static void
flush(struct depthwise *v)
{
	for (int32_t c = 0; c < v->o.c; c++)
		v->sum[c] += v->part[c];
	memset(v->part, 0, (size_t)v->o.c * sizeof(*v->part));
}

/* Computes all channels of one output pixel into v->sum. */
static void
sum_pixel(struct depthwise *v, int32_t n, int32_t oy, int32_t ox)
{
	int taps = 0;
	memset(v->sum, 0, (size_t)v->o.c * sizeof(*v->sum));
	for (int32_t ky = 0; ky < v->h.kernel; ky++) {
		int64_t iy = (int64_t)oy * v->h.stride - v->h.pad +
			     (int64_t)ky * v->h.dilation;
		if (iy < 0 || iy >= v->i.h)
			continue;
		for (int32_t kx = 0; kx < v->w.kernel; kx++) {
			int64_t ix = (int64_t)ox * v->w.stride - v->w.pad +
				     (int64_t)kx * v->w.dilation;
			if (ix < 0 || ix >= v->i.w)
				continue;
			const int16_t *x =
			    v->x +
			    ((n * (int64_t)v->i.h + iy) * v->i.w + ix) * v->i.c;
			const int16_t *k =
			    v->k + ((int64_t)ky * v->w.kernel + kx) * v->o.c;
			if (v->multiplier == 1)
				add_products(v->part, x, k, v->o.c);
			else
				add_multiplied(v->part, x, k, v->i.c,
					       v->multiplier);
			if (++taps % BLOCK_TAPS == 0)
				flush(v);
		}
	}
	flush(v);
}

static bool
check_depthwise_shapes(struct call *c, struct depthwise *v, struct fb_ref o)
{
	struct nhwc w;
	if (!call_nhwc(c, v->in, "input", &v->i) ||
	    !call_nhwc(c, v->weights, "weights", &w) ||
	    !call_nhwc(c, v->out, "output", &v->o))
		return false;
	if (w.n != 1 || w.c != v->o.c || v->i.c < 1 || v->o.c % v->i.c ||
	    v->i.n != v->o.n)
		return call_mismatch(
		    c,
		    "%d channels in, %d out, batches %d and %d do "
		    "not suit weights of %d x %d channels",
		    v->i.c, v->o.c, v->i.n, v->o.n, w.n, w.c);
	v->multiplier = v->o.c / v->i.c;
	v->h = (struct window){
		.in = v->i.h,
		.out = v->o.h,
		.kernel = w.h,
		.stride =
		    (int32_t)fb_int(o, FB_DepthwiseConv2DOptions_stride_h),
		.dilation = (int32_t)fb_int(
		    o, FB_DepthwiseConv2DOptions_dilation_h_factor)
	};
	v->w = (struct window){
		.in = v->i.w,
		.out = v->o.w,
		.kernel = w.w,
		.stride =
		    (int32_t)fb_int(o, FB_DepthwiseConv2DOptions_stride_w),
		.dilation = (int32_t)fb_int(
		    o, FB_DepthwiseConv2DOptions_dilation_w_factor)
	};
	int64_t padding = fb_int(o, FB_DepthwiseConv2DOptions_padding);
	return window_prepare(c, &v->h, padding) &&
	       window_prepare(c, &v->w, padding) &&
	       call_work(c, tfl_elements(v->out), (int64_t)w.h * w.w);
}

static const int16_t *
shifted(struct call *c, int k, int32_t zero)
{
	const struct tfl_tensor *t = call_in(c, k);
	int16_t *v = anew(c->a, int16_t, (size_t)tfl_elements(t));
	copy_minus(v, t->type, c->io->in[k], 0, tfl_elements(t), zero);
	return v;
}

static void
run_depthwise(struct call *c, struct depthwise *v)
{
	int64_t at = 0;
	v->x = shifted(c, 0, v->zero.in);
	v->k = shifted(c, 1, v->zero.weights);
	v->part = anew(c->a, int32_t, (size_t)v->o.c);
	v->sum = anew(c->a, int64_t, (size_t)v->o.c);
	for (int32_t n = 0; n < v->o.n; n++)
		for (int32_t oy = 0; oy < v->o.h; oy++)
			for (int32_t ox = 0; ox < v->o.w; ox++) {
				sum_pixel(v, n, oy, ox);
				requant_store(&v->r, v->sum, v->o.c, v->out,
					      c->io->out[0], at);
				at += v->o.c;
			}
}

bool
kernel_depthwise_conv_2d(struct call *c)
{
	if (!call_arity(c, 2, 3, 1))
		return false;
	struct fb_ref o = tfl_options(c->op, &fb_DepthwiseConv2DOptions);
	struct depthwise v = { .in = call_in(c, 0),
			       .weights = call_in(c, 1),
			       .bias = call_in(c, 2),
			       .out = call_out(c, 0) };
	if (!conv_types(c, v.in, v.weights, v.bias, v.out, &v.zero) ||
	    !check_depthwise_shapes(c, &v, o))
		return false;
	struct requant_from f = {
		.in = v.in,
		.weights = v.weights,
		.bias = v.bias,
		.out = v.out,
		.bias_data = v.bias ? c->io->in[2] : NULL,
		.n = v.o.c,
		.axis = 3,
		.weight_zero = v.zero.weights,
		.activation = fb_int(
		    o, FB_DepthwiseConv2DOptions_fused_activation_function),
		.float_product = v.in->type == TFL_UINT8,
		/* TFLite Micro has only 64-bit accumulators for int16 */
		.wide = v.in->type == TFL_INT16 &&
			!(v.bias && v.bias->type == TFL_INT32),
	};
	if (!requant_prepare(c, &f, &v.r))
		return false;
	if (c->check)
		return true;
	run_depthwise(c, &v);
	return true;
}
