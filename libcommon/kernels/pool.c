/* SPDX-License-Identifier: Apache-2.0 */
/* AVERAGE_POOL_2D, MAX_POOL_2D: nputools-lowering(7) 3.3. */
#include "kernels/products.h"

#include <assert.h>

struct pool {
	const struct tfl_tensor *in, *out;
	struct nhwc i, o;
	struct window h, w;
	struct range range;
	const int32_t *x;
	int64_t *acc; /* accumulator of each channel */
	int32_t count;
	bool is_max;
};

static void
accumulate(struct pool *p, const int32_t *x)
{
	if (p->is_max)
		for (int32_t c = 0; c < p->i.c; c++)
			p->acc[c] =
			    !p->count || x[c] > p->acc[c] ? x[c] : p->acc[c];
	else
		for (int32_t c = 0; c < p->i.c; c++)
			p->acc[c] = p->count ? p->acc[c] + x[c] : x[c];
	p->count++;
}

/*
 * Rounds half away from zero.  count is the number of positions inside the input, at
 * least 1.
 */
static int64_t
average(int64_t sum, int32_t count)
{
	assert(count > 0);
	return sum > 0 ? (sum + count / 2) / count : (sum - count / 2) / count;
}

static void
pool_pixel(struct pool *p, int32_t n, int32_t oy, int32_t ox, int32_t *y)
{
	int64_t top = (int64_t)oy * p->h.stride - p->h.pad;
	int64_t left = (int64_t)ox * p->w.stride - p->w.pad;
	p->count = 0;
	for (int64_t iy = top < 0 ? 0 : top;
	     iy < top + p->h.kernel && iy < p->i.h; iy++)
		for (int64_t ix = left < 0 ? 0 : left;
		     ix < left + p->w.kernel && ix < p->i.w; ix++)
			accumulate(
			    p,
			    p->x + ((n * (int64_t)p->i.h + iy) * p->i.w + ix) *
				       p->i.c);
	for (int32_t c = 0; c < p->i.c; c++) {
		int64_t v =
		    p->is_max ? p->acc[c] : average(p->acc[c], p->count);
		y[c] = clamp_i32(v, p->range.lo, p->range.hi);
	}
}

static bool
pool_prepare(struct call *c, struct pool *p)
{
	struct fb_ref o = tfl_options(c->op, &fb_Pool2DOptions);
	struct affine q;
	p->in = call_in(c, 0);
	p->out = call_out(c, 0);
	if (!call_type(c, p->in, "input", T_QUANT) ||
	    !call_same_type(c, p->in, p->out) ||
	    !call_nhwc(c, p->in, "input", &p->i) ||
	    !call_nhwc(c, p->out, "output", &p->o) ||
	    !call_affine(c, p->out, "output", &q) ||
	    !call_range(c,
			fb_int(o, FB_Pool2DOptions_fused_activation_function),
			p->out, q, &p->range))
		return false;
	if (p->i.c != p->o.c || p->i.n != p->o.n)
		return call_mismatch(
		    c,
		    "input is %d batches of %d channels, output %d "
		    "of %d",
		    p->i.n, p->i.c, p->o.n, p->o.c);
	p->h = (struct window){
		.in = p->i.h,
		.out = p->o.h,
		.dilation = 1,
		.kernel = (int32_t)fb_int(o, FB_Pool2DOptions_filter_height),
		.stride = (int32_t)fb_int(o, FB_Pool2DOptions_stride_h)
	};
	p->w = (struct window){
		.in = p->i.w,
		.out = p->o.w,
		.dilation = 1,
		.kernel = (int32_t)fb_int(o, FB_Pool2DOptions_filter_width),
		.stride = (int32_t)fb_int(o, FB_Pool2DOptions_stride_w)
	};
	int64_t padding = fb_int(o, FB_Pool2DOptions_padding);
	int64_t rows = p->h.kernel < p->i.h ? p->h.kernel : p->i.h;
	int64_t cols = p->w.kernel < p->i.w ? p->w.kernel : p->i.w;
	return window_prepare(c, &p->h, padding) &&
	       window_prepare(c, &p->w, padding) &&
	       call_work(c, tfl_elements(p->out), rows * cols);
}

bool
kernel_pool_2d(struct call *c)
{
	struct pool p = { .is_max = c->op->code == TFL_MAX_POOL_2D };
	if (!pool_prepare(c, &p))
		return false;
	if (c->check)
		return true;
	p.x = call_widen(c, 0);
	p.acc = anew(c->a, int64_t, (size_t)p.i.c);
	int32_t *y = anew(c->a, int32_t, (size_t)tfl_elements(p.out));
	int32_t *at = y;
	for (int32_t n = 0; n < p.o.n; n++)
		for (int32_t oy = 0; oy < p.o.h; oy++)
			for (int32_t ox = 0; ox < p.o.w; ox++, at += p.o.c)
				pool_pixel(&p, n, oy, ox, at);
	call_narrow(c, 0, y);
	return true;
}
