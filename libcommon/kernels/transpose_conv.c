/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TRANSPOSE_CONV, nputools-lowering(7) 3.2, computed in reverse: every output pixel
 * gathers the inputs that the reference would scatter to it.
 */
#include "kernels/products.h"

#include <string.h>

enum { SHAPE, WEIGHTS, INPUT, BIAS };

struct transposed {
	struct convolution v;
	int64_t stride_h, stride_w, pad_h, pad_w;
};

/*
 * Returns the leading padding.  SAME pads as a convolution whose input is this output
 * (nputools-lowering(7) 3.2); VALID does not pad.
 */
static int64_t
leading(int64_t out, int64_t kernel, int64_t stride, int64_t padding)
{
	int64_t n = (out + stride - 1) / stride;
	return tfl_padding_total(padding, out, n, kernel, stride) / 2;
}

/* Returns the input under tap k of output o; -1: none. */
static int64_t
input_under_tap(int64_t o, int64_t k, int64_t pad, int64_t stride, int64_t n)
{
	int64_t at = o + pad - k;
	return at < 0 || at % stride || at / stride >= n ? -1 : at / stride;
}

static void
fill_patch(const void *ctx, int64_t pixel, int16_t *row)
{
	const struct transposed *t = ctx;
	const struct convolution *v = &t->v;
	int64_t ox = pixel % v->o.w, oy = pixel / v->o.w % v->o.h;
	int64_t n = pixel / ((int64_t)v->o.w * v->o.h);
	for (int32_t ky = 0; ky < v->f.h; ky++) {
		int64_t iy = input_under_tap(oy, ky, t->pad_h, t->stride_h, v->i.h);
		for (int32_t kx = 0; kx < v->f.w; kx++, row += v->i.c) {
			int64_t ix =
			    input_under_tap(ox, kx, t->pad_w, t->stride_w, v->i.w);
			if (iy < 0 || ix < 0)
				memset(row, 0, (size_t)v->i.c * sizeof(*row));
			else
				copy_minus(row, v->in->type, v->x,
					   ((n * v->i.h + iy) * v->i.w + ix) *
					       v->i.c,
					   v->i.c, v->zero);
		}
	}
}

static bool
check_transposed_shapes(struct call *c, struct transposed *t, struct fb_ref o)
{
	struct convolution *v = &t->v;
	const struct nhwc k = v->f;
	if (k.c != v->i.c || k.n != v->o.c || v->i.n != v->o.n || k.h < 1 ||
	    k.w < 1 || k.n < 1)
		return call_mismatch(
		    c,
		    "%d channels in, %d out, batches %d and %d do "
		    "not suit %d filters of %dx%dx%d",
		    v->i.c, v->o.c, v->i.n, v->o.n, k.n, k.h, k.w, k.c);
	int64_t padding = fb_int(o, FB_TransposeConvOptions_padding);
	t->stride_h = fb_int(o, FB_TransposeConvOptions_stride_h);
	t->stride_w = fb_int(o, FB_TransposeConvOptions_stride_w);
	if (t->stride_h < 1 || t->stride_w < 1 ||
	    (padding != TFL_SAME && padding != TFL_VALID))
		return call_err(c, "stride %lldx%lld or padding %lld is not valid",
				(long long)t->stride_h, (long long)t->stride_w,
				(long long)padding);
	t->pad_h = leading(v->o.h, k.h, t->stride_h, padding);
	t->pad_w = leading(v->o.w, k.w, t->stride_w, padding);
	return call_matrices(c, tfl_elements(v->out), k.n,
			     (int64_t)k.h * k.w * k.c, &v->block);
}

bool
kernel_transpose_conv(struct call *c)
{
	struct fb_ref o = tfl_options(c->op, &fb_TransposeConvOptions);
	struct transposed t = { 0 };
	if (!conv_open(c, INPUT, WEIGHTS, BIAS, &t.v) ||
	    !check_transposed_shapes(c, &t, o) ||
	    !conv_requant(c, &t.v, 0,
			  fb_int(o, FB_TransposeConvOptions_fused_activation_function),
			  conv_is_wide(&t.v)))
		return false;
	if (!c->check)
		conv_products(c, &t.v, 0, t.v.f.n, fill_patch, &t);
	return true;
}
