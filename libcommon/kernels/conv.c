/* SPDX-License-Identifier: Apache-2.0 */
/* CONV_2D, nputools-lowering(7) 3.2, as products of patches and filters. */
#include "kernels/products.h"

#include <string.h>

struct conv {
	const struct tfl_tensor *in, *weights, *bias, *out;
	const void *x;
	void *y;
	struct nhwc i, o;
	int64_t block; /* output pixels per product */
	int32_t depth; /* input channels per filter; groups = i.c / depth */
	struct window h, w;
	struct offsets zero;
	struct requant r;
};

/*
 * Copies the kernel's taps of row iy, from column `left` on, for one group.  Taps
 * outside of the input are 0.
 */
static void
fill_row(const struct conv *v, int64_t n, int64_t iy, int64_t left,
	 int32_t group, int16_t *to)
{
	int64_t line = (n * v->i.h + iy) * v->i.w;
	bool whole = v->depth == v->i.c && v->w.dilation == 1;
	if (whole && left >= 0 && left + v->w.kernel <= v->i.w) {
		copy_minus(to, v->in->type, v->x, (line + left) * v->i.c,
			   (int64_t)v->w.kernel * v->depth, v->zero.in);
		return;
	}
	for (int32_t kx = 0; kx < v->w.kernel; kx++, to += v->depth) {
		int64_t ix = left + (int64_t)kx * v->w.dilation;
		if (ix < 0 || ix >= v->i.w)
			memset(to, 0, (size_t)v->depth * sizeof(*to));
		else
			copy_minus(to, v->in->type, v->x,
				   (line + ix) * v->i.c +
				       (int64_t)group * v->depth,
				   v->depth, v->zero.in);
	}
}

/* Makes the row of a matrix that holds the padded inputs of one output pixel and group. */
static void
fill_patch(const struct conv *v, int64_t pixel, int32_t group, int16_t *row)
{
	int64_t ox = pixel % v->o.w, oy = pixel / v->o.w % v->o.h;
	int64_t n = pixel / ((int64_t)v->o.w * v->o.h);
	int64_t n_row = (int64_t)v->w.kernel * v->depth;
	for (int32_t ky = 0; ky < v->h.kernel; ky++, row += n_row) {
		int64_t iy = oy * v->h.stride - v->h.pad +
			     (int64_t)ky * v->h.dilation;
		if (iy < 0 || iy >= v->i.h)
			memset(row, 0, (size_t)n_row * sizeof(*row));
		else
			fill_row(v, n, iy, ox * v->w.stride - v->w.pad, group,
				 row);
	}
}

/* the filters of one group */
static struct matrix
load_filters(struct call *c, const struct conv *v, int32_t group, int32_t n)
{
	int64_t cols = (int64_t)v->h.kernel * v->w.kernel * v->depth;
	struct matrix m = matrix_new(c->a, n, cols);
	for (int32_t i = 0; i < n; i++)
		copy_minus(matrix_row(m, i), v->weights->type, c->io->in[1],
			   ((int64_t)group * n + i) * cols, cols,
			   v->zero.weights);
	return m;
}

static void
run_group(struct call *c, struct conv *v, int32_t group, int32_t n)
{
	struct matrix filters = load_filters(c, v, group, n);
	struct matrix patches = matrix_new(c->a, v->block, filters.cols);
	int64_t *acc = anew(c->a, int64_t, (size_t)(v->block * n));
	int64_t pixels = (int64_t)v->o.n * v->o.h * v->o.w;
	struct requant r = v->r;
	r.bias += (int64_t)group * n;
	r.mult += (int64_t)group * n;
	for (int64_t p = 0; p < pixels; p += v->block) {
		int64_t here = pixels - p < v->block ? pixels - p : v->block;
		for (int64_t i = 0; i < here; i++)
			fill_patch(v, p + i, group, matrix_row(patches, i));
		matrix_products(patches, here, filters, acc);
		for (int64_t i = 0; i < here; i++)
			requant_store(&r, acc + i * n, n, v->out, v->y,
				      (p + i) * v->o.c + (int64_t)group * n);
	}
}

static bool
check_conv_shapes(struct call *c, struct conv *v, struct fb_ref o)
{
	struct nhwc w;
	if (!call_nhwc(c, v->in, "input", &v->i) ||
	    !call_nhwc(c, v->weights, "weights", &w) ||
	    !call_nhwc(c, v->out, "output", &v->o))
		return false;
	v->depth = w.c;
	if (w.c < 1 || v->i.c < 1 || v->i.c % w.c || w.n != v->o.c || w.n < 1 ||
	    w.n % (v->i.c / w.c) || v->i.n != v->o.n)
		return call_mismatch(
		    c,
		    "%d channels in, %d out, batches %d and %d do "
		    "not suit %d filters of depth %d",
		    v->i.c, v->o.c, v->i.n, v->o.n, w.n, w.c);
	v->h = (struct window){
		.in = v->i.h,
		.out = v->o.h,
		.kernel = w.h,
		.stride = (int32_t)fb_int(o, FB_Conv2DOptions_stride_h),
		.dilation =
		    (int32_t)fb_int(o, FB_Conv2DOptions_dilation_h_factor)
	};
	v->w = (struct window){
		.in = v->i.w,
		.out = v->o.w,
		.kernel = w.w,
		.stride = (int32_t)fb_int(o, FB_Conv2DOptions_stride_w),
		.dilation =
		    (int32_t)fb_int(o, FB_Conv2DOptions_dilation_w_factor)
	};
	int64_t padding = fb_int(o, FB_Conv2DOptions_padding);
	return window_prepare(c, &v->h, padding) &&
	       window_prepare(c, &v->w, padding) &&
	       call_matrices(c, tfl_elements(v->out), w.n / (v->i.c / w.c),
			     (int64_t)w.h * w.w * w.c, &v->block);
}

bool
kernel_conv_2d(struct call *c)
{
	if (!call_arity(c, 2, 3, 1))
		return false;
	struct fb_ref o = tfl_options(c->op, &fb_Conv2DOptions);
	struct conv v = { .in = call_in(c, 0),
			  .weights = call_in(c, 1),
			  .bias = call_in(c, 2),
			  .out = call_out(c, 0),
			  .x = c->io->in[0],
			  .y = c->io->out[0] };
	if (!conv_types(c, v.in, v.weights, v.bias, v.out, &v.zero) ||
	    !check_conv_shapes(c, &v, o))
		return false;
	struct requant_from f = {
		.in = v.in,
		.weights = v.weights,
		.bias = v.bias,
		.out = v.out,
		.bias_data = v.bias ? c->io->in[2] : NULL,
		.n = v.o.c,
		.axis = 0,
		.weight_zero = v.zero.weights,
		.activation =
		    fb_int(o, FB_Conv2DOptions_fused_activation_function),
		.float_product = v.in->type == TFL_UINT8,
		.wide = sums_are_wide(v.in, v.bias,
				      fb_int(o, FB_Conv2DOptions_quantized_bias_type)),
	};
	if (!requant_prepare(c, &f, &v.r))
		return false;
	if (c->check)
		return true;
	int32_t groups = v.i.c / v.depth;
	for (int32_t group = 0; group < groups; group++)
		run_group(c, &v, group, v.o.c / groups);
	return true;
}
