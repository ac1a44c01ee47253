/* SPDX-License-Identifier: Apache-2.0 */
/* DEPTHWISE_CONV_2D: nputools-lowering(7) 3.2. */
#include "kernels/products.h"

#include "base/products.h"

#include <string.h>

/* number of taps whose 32-bit sum cannot overflow: 2^15 * 255 * 256 < 2^31 */
enum { BLOCK_TAPS = 256 };

struct depthwise {
	struct convolution v;
	int32_t multiplier;
	struct window h, w;
	const int16_t *x; /* input minus zero point */
	const int16_t *k; /* weights [tap][output channel] */
	int32_t *part;
	int64_t *sum;
};

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
flush(struct depthwise *d)
{
	for (int32_t c = 0; c < d->v.o.c; c++)
		d->sum[c] += d->part[c];
	memset(d->part, 0, (size_t)d->v.o.c * sizeof(*d->part));
}

/* Computes all channels of one output pixel into d->sum. */
static void
sum_pixel(struct depthwise *d, int32_t n, int32_t oy, int32_t ox)
{
	const struct nhwc i = d->v.i, o = d->v.o;
	int taps = 0;
	memset(d->sum, 0, (size_t)o.c * sizeof(*d->sum));
	for (int32_t ky = 0; ky < d->h.kernel; ky++) {
		int64_t iy = (int64_t)oy * d->h.stride - d->h.pad +
			     (int64_t)ky * d->h.dilation;
		if (iy < 0 || iy >= i.h)
			continue;
		for (int32_t kx = 0; kx < d->w.kernel; kx++) {
			int64_t ix = (int64_t)ox * d->w.stride - d->w.pad +
				     (int64_t)kx * d->w.dilation;
			if (ix < 0 || ix >= i.w)
				continue;
			const int16_t *x = d->x + ((n * (int64_t)i.h + iy) * i.w + ix) * i.c;
			const int16_t *k = d->k + ((int64_t)ky * d->w.kernel + kx) * o.c;
			if (d->multiplier == 1)
				add_products(d->part, x, k, o.c);
			else
				add_multiplied(d->part, x, k, i.c, d->multiplier);
			if (++taps % BLOCK_TAPS == 0)
				flush(d);
		}
	}
	flush(d);
}

static bool
check_depthwise_shapes(struct call *c, struct depthwise *d, struct fb_ref o)
{
	struct convolution *v = &d->v;
	const struct nhwc w = v->f;
	if (w.n != 1 || w.c != v->o.c || v->i.c < 1 || v->o.c % v->i.c ||
	    v->i.n != v->o.n)
		return call_mismatch(
		    c,
		    "%d channels in, %d out, batches %d and %d do "
		    "not suit weights of %d x %d channels",
		    v->i.c, v->o.c, v->i.n, v->o.n, w.n, w.c);
	d->multiplier = v->o.c / v->i.c;
	d->h = window_sized(v->i.h, v->o.h, w.h,
			    fb_int(o, FB_DepthwiseConv2DOptions_stride_h),
			    fb_int(o, FB_DepthwiseConv2DOptions_dilation_h_factor));
	d->w = window_sized(v->i.w, v->o.w, w.w,
			    fb_int(o, FB_DepthwiseConv2DOptions_stride_w),
			    fb_int(o, FB_DepthwiseConv2DOptions_dilation_w_factor));
	int64_t padding = fb_int(o, FB_DepthwiseConv2DOptions_padding);
	return window_prepare(c, &d->h, padding) &&
	       window_prepare(c, &d->w, padding) &&
	       call_work(c, tfl_elements(v->out), (int64_t)w.h * w.w);
}

static const int16_t *
shifted(struct call *c, const struct tfl_tensor *t, const void *data, int32_t zero)
{
	int16_t *v = anew(c->a, int16_t, (size_t)tfl_elements(t));
	copy_minus(v, t->type, data, 0, tfl_elements(t), zero);
	return v;
}

static void
run_depthwise(struct call *c, struct depthwise *d)
{
	const struct convolution *v = &d->v;
	int64_t at = 0;
	d->x = shifted(c, v->in, v->x, v->zero);
	d->k = shifted(c, v->weights, v->k, v->weight_zero);
	d->part = anew(c->a, int32_t, (size_t)v->o.c);
	d->sum = anew(c->a, int64_t, (size_t)v->o.c);
	for (int32_t n = 0; n < v->o.n; n++)
		for (int32_t oy = 0; oy < v->o.h; oy++)
			for (int32_t ox = 0; ox < v->o.w; ox++, at += v->o.c) {
				sum_pixel(d, n, oy, ox);
				requant_store(&v->r, d->sum, v->o.c, v->out, v->y, at);
			}
}

bool
kernel_depthwise_conv_2d(struct call *c)
{
	struct fb_ref o = tfl_options(c->op, &fb_DepthwiseConv2DOptions);
	struct depthwise d = { 0 };
	if (!conv_open(c, 0, 1, 2, &d.v) || !check_depthwise_shapes(c, &d, o) ||
	    !conv_requant(c, &d.v, 3,
			  fb_int(o, FB_DepthwiseConv2DOptions_fused_activation_function),
			  conv_is_wide(&d.v)))
		return false;
	if (!c->check)
		run_depthwise(c, &d);
	return true;
}
