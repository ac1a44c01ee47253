/* SPDX-License-Identifier: Apache-2.0 */
/* CONV_2D, nputools-lowering(7) 3.2, as products of patches and filters. */
#include "kernels/products.h"

#include <string.h>

struct conv {
	struct convolution v; /* f.c: input channels per filter; groups = i.c / f.c */
	struct window h, w;
	int32_t group; /* the one that is computed */
};

/*
 * Copies the kernel's taps of row iy, from column `left` on, for one group.  Taps
 * outside of the input are 0.
 */
static void
fill_row(const struct conv *k, int64_t n, int64_t iy, int64_t left, int16_t *to)
{
	const struct convolution *v = &k->v;
	int32_t depth = v->f.c;
	int64_t line = (n * v->i.h + iy) * v->i.w;
	bool whole = depth == v->i.c && k->w.dilation == 1;
	if (whole && left >= 0 && left + k->w.kernel <= v->i.w) {
		copy_minus(to, v->in->type, v->x, (line + left) * v->i.c,
			   (int64_t)k->w.kernel * depth, v->zero);
		return;
	}
	for (int32_t kx = 0; kx < k->w.kernel; kx++, to += depth) {
		int64_t ix = left + (int64_t)kx * k->w.dilation;
		if (ix < 0 || ix >= v->i.w)
			memset(to, 0, (size_t)depth * sizeof(*to));
		else
			copy_minus(to, v->in->type, v->x,
				   (line + ix) * v->i.c + (int64_t)k->group * depth,
				   depth, v->zero);
	}
}

/* the padded inputs of one output pixel and group */
static void
fill_patch(const void *ctx, int64_t pixel, int16_t *row)
{
	const struct conv *k = ctx;
	const struct nhwc o = k->v.o;
	int64_t ox = pixel % o.w, oy = pixel / o.w % o.h;
	int64_t n = pixel / ((int64_t)o.w * o.h);
	int64_t n_row = (int64_t)k->w.kernel * k->v.f.c;
	for (int32_t ky = 0; ky < k->h.kernel; ky++, row += n_row) {
		int64_t iy = oy * k->h.stride - k->h.pad +
			     (int64_t)ky * k->h.dilation;
		if (iy < 0 || iy >= k->v.i.h)
			memset(row, 0, (size_t)n_row * sizeof(*row));
		else
			fill_row(k, n, iy, ox * k->w.stride - k->w.pad, row);
	}
}

static bool
check_conv_shapes(struct call *c, struct conv *k, struct fb_ref o)
{
	struct convolution *v = &k->v;
	const struct nhwc w = v->f;
	if (w.c < 1 || v->i.c < 1 || v->i.c % w.c || w.n != v->o.c || w.n < 1 ||
	    w.n % (v->i.c / w.c) || v->i.n != v->o.n)
		return call_mismatch(
		    c,
		    "%d channels in, %d out, batches %d and %d do "
		    "not suit %d filters of depth %d",
		    v->i.c, v->o.c, v->i.n, v->o.n, w.n, w.c);
	k->h = window_sized(v->i.h, v->o.h, w.h,
			    fb_int(o, FB_Conv2DOptions_stride_h),
			    fb_int(o, FB_Conv2DOptions_dilation_h_factor));
	k->w = window_sized(v->i.w, v->o.w, w.w,
			    fb_int(o, FB_Conv2DOptions_stride_w),
			    fb_int(o, FB_Conv2DOptions_dilation_w_factor));
	int64_t padding = fb_int(o, FB_Conv2DOptions_padding);
	return window_prepare(c, &k->h, padding) &&
	       window_prepare(c, &k->w, padding) &&
	       call_matrices(c, tfl_elements(v->out), w.n / (v->i.c / w.c),
			     (int64_t)w.h * w.w * w.c, &v->block);
}

bool
kernel_conv_2d(struct call *c)
{
	struct fb_ref o = tfl_options(c->op, &fb_Conv2DOptions);
	struct conv k = { 0 };
	struct convolution *v = &k.v;
	if (!conv_open(c, 0, 1, 2, v) || !check_conv_shapes(c, &k, o) ||
	    !conv_requant(c, v, 0, fb_int(o, FB_Conv2DOptions_fused_activation_function),
			  sums_are_wide(v->in, v->bias,
					fb_int(o, FB_Conv2DOptions_quantized_bias_type))))
		return false;
	if (c->check)
		return true;
	int32_t groups = v->i.c / v->f.c, n = v->o.c / groups;
	for (; k.group < groups; k.group++)
		conv_products(c, v, k.group * n, n, fill_patch, &k);
	return true;
}
