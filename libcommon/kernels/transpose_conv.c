/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TRANSPOSE_CONV, nputools-lowering(7) 3.2, computed in reverse: every output pixel
 * gathers the inputs that the reference would scatter to it.
 */
#include "kernels/products.h"

#include <string.h>

enum { SHAPE, WEIGHTS, INPUT, BIAS };

struct transposed {
	const struct tfl_tensor *in, *weights, *bias, *out;
	const void *x;
	struct nhwc i, o, k;
	int64_t block; /* output pixels per product */
	int64_t stride_h, stride_w, pad_h, pad_w;
	struct offsets zero;
	struct requant r;
};

/*
 * Returns the leading padding.  SAME pads as a convolution whose input is this output
 * (nputools-lowering(7) 3.2); VALID does not pad.
 */
static int64_t
leading(int64_t out, int64_t kernel, int64_t stride, int64_t padding)
{
	int64_t n = (out + stride - 1) / stride;
	int64_t total = (n - 1) * stride + kernel - out;
	return padding == TFL_SAME && total > 0 ? total / 2 : 0;
}

/* Returns the input under tap k of output o; -1: none. */
static int64_t
input_under_tap(int64_t o, int64_t k, int64_t pad, int64_t stride, int64_t n)
{
	int64_t at = o + pad - k;
	return at < 0 || at % stride || at / stride >= n ? -1 : at / stride;
}

static void
fill_patch(const struct transposed *v, int64_t pixel, int16_t *row)
{
	int64_t ox = pixel % v->o.w, oy = pixel / v->o.w % v->o.h;
	int64_t n = pixel / ((int64_t)v->o.w * v->o.h);
	for (int32_t ky = 0; ky < v->k.h; ky++) {
		int64_t iy = input_under_tap(oy, ky, v->pad_h, v->stride_h, v->i.h);
		for (int32_t kx = 0; kx < v->k.w; kx++, row += v->i.c) {
			int64_t ix =
			    input_under_tap(ox, kx, v->pad_w, v->stride_w, v->i.w);
			if (iy < 0 || ix < 0)
				memset(row, 0, (size_t)v->i.c * sizeof(*row));
			else
				copy_minus(row, v->in->type, v->x,
					   ((n * v->i.h + iy) * v->i.w + ix) *
					       v->i.c,
					   v->i.c, v->zero.in);
		}
	}
}

static bool
check_transposed_shapes(struct call *c, struct transposed *v, struct fb_ref o)
{
	if (!call_nhwc(c, v->in, "input", &v->i) ||
	    !call_nhwc(c, v->weights, "weights", &v->k) ||
	    !call_nhwc(c, v->out, "output", &v->o))
		return false;
	if (v->k.c != v->i.c || v->k.n != v->o.c || v->i.n != v->o.n ||
	    v->k.h < 1 || v->k.w < 1 || v->k.n < 1)
		return call_mismatch(
		    c,
		    "%d channels in, %d out, batches %d and %d do "
		    "not suit %d filters of %dx%dx%d",
		    v->i.c, v->o.c, v->i.n, v->o.n, v->k.n, v->k.h, v->k.w,
		    v->k.c);
	int64_t padding = fb_int(o, FB_TransposeConvOptions_padding);
	v->stride_h = fb_int(o, FB_TransposeConvOptions_stride_h);
	v->stride_w = fb_int(o, FB_TransposeConvOptions_stride_w);
	if (v->stride_h < 1 || v->stride_w < 1 ||
	    (padding != TFL_SAME && padding != TFL_VALID))
		return call_err(c, "stride %lldx%lld, padding %lld",
				(long long)v->stride_h, (long long)v->stride_w,
				(long long)padding);
	v->pad_h = leading(v->o.h, v->k.h, v->stride_h, padding);
	v->pad_w = leading(v->o.w, v->k.w, v->stride_w, padding);
	return call_matrices(c, tfl_elements(v->out), v->k.n,
			     (int64_t)v->k.h * v->k.w * v->k.c, &v->block);
}

static void
run_transposed(struct call *c, struct transposed *v)
{
	int64_t cols = (int64_t)v->k.h * v->k.w * v->k.c, n = v->k.n;
	int64_t pixels = (int64_t)v->o.n * v->o.h * v->o.w;
	struct matrix filters = matrix_new(c->a, n, cols);
	struct matrix patches = matrix_new(c->a, v->block, cols);
	int64_t *acc = anew(c->a, int64_t, (size_t)(v->block * n));
	for (int64_t i = 0; i < n; i++)
		copy_minus(matrix_row(filters, i), v->weights->type,
			   c->io->in[WEIGHTS], i * cols, cols, v->zero.weights);
	for (int64_t p = 0; p < pixels; p += v->block) {
		int64_t here = pixels - p < v->block ? pixels - p : v->block;
		for (int64_t i = 0; i < here; i++)
			fill_patch(v, p + i, matrix_row(patches, i));
		matrix_products(patches, here, filters, acc);
		for (int64_t i = 0; i < here; i++)
			requant_store(&v->r, acc + i * n, (int32_t)n, v->out,
				      c->io->out[0], (p + i) * n);
	}
}

bool
kernel_transpose_conv(struct call *c)
{
	if (!call_arity(c, 3, 4, 1))
		return false;
	struct fb_ref o = tfl_options(c->op, &fb_TransposeConvOptions);
	struct transposed v = { .in = call_in(c, INPUT),
				.out = call_out(c, 0),
				.weights = call_in(c, WEIGHTS),
				.bias = call_in(c, BIAS),
				.x = c->io->in[INPUT] };
	if (!conv_types(c, v.in, v.weights, v.bias, v.out, &v.zero) ||
	    !check_transposed_shapes(c, &v, o))
		return false;
	struct requant_from f = {
		.in = v.in,
		.weights = v.weights,
		.bias = v.bias,
		.out = v.out,
		.bias_data = v.bias ? c->io->in[BIAS] : NULL,
		.n = v.o.c,
		.axis = 0,
		.weight_zero = v.zero.weights,
		.activation = fb_int(
		    o, FB_TransposeConvOptions_fused_activation_function),
		.float_product = v.in->type == TFL_UINT8,
		/* TFLite Micro has only 64-bit accumulators for int16 */
		.wide = v.in->type == TFL_INT16 &&
			!(v.bias && v.bias->type == TFL_INT32),
	};
	if (!requant_prepare(c, &f, &v.r))
		return false;
	if (c->check)
		return true;
	run_transposed(c, &v);
	return true;
}
