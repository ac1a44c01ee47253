/* SPDX-License-Identifier: Apache-2.0 */
/* RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR: nputools-lowering(7) 5.2. */
#include "kernels/view.h"

#include <math.h>
#include <string.h>

struct resize {
	const struct tfl_tensor *in, *out;
	struct nhwc i, o;
	bool align_corners, half_pixel;
};

static bool
resize_prepare(struct call *c, struct resize *r)
{
	r->in = call_in(c, 0);
	r->out = call_out(c, 0);
	int64_t n;
	const int64_t *size = call_indices(c, 1, "size", &n);
	if (!size || !call_same_type(c, r->in, r->out) ||
	    !call_nhwc(c, r->in, "input", &r->i) ||
	    !call_nhwc(c, r->out, "output", &r->o))
		return false;
	if (n != 2 || size[0] != r->o.h || size[1] != r->o.w ||
	    r->i.n != r->o.n || r->i.c != r->o.c || r->i.h < 1 || r->i.w < 1)
		return call_mismatch(
		    c, "the output's shape does not match the requested size");
	return !(r->align_corners && r->half_pixel) ||
	       call_err(c, "align_corners and half_pixel_centers exclude each "
			   "other");
}

/* The two neighbours of a position; far is the distance from the lower one in 1/1024. */
struct blend {
	int64_t lower, upper;
	int64_t far;
};

static struct blend *
blends(struct call *c, const struct resize *r, int64_t in, int64_t out)
{
	struct blend *b = anew(c->a, struct blend, (size_t)out);
	int64_t scale = ((in << 10) + out / 2) / (out ? out : 1);
	if (r->align_corners && out > 1)
		scale = (((in - 1) << 10) + (out - 1) / 2) / (out - 1);
	for (int64_t o = 0; o < out; o++) {
		int64_t p = o * scale + (r->half_pixel ? scale / 2 - 512 : 0);
		b[o].lower = p / 1024 > 0 ? p / 1024 : 0;
		b[o].upper = (p + 1023) / 1024;
		if (b[o].upper > in - 1)
			b[o].upper = in - 1;
		b[o].far = p - 1024 * b[o].lower;
		if (b[o].lower > in - 1) /* rounding moved the position beyond the edge */
			b[o] =
			    (struct blend){ .lower = in - 1, .upper = in - 1 };
	}
	return b;
}

static int32_t
round_q20(int64_t v, bool is_unsigned)
{
	if (is_unsigned)
		return (int32_t)((v + (1 << 19)) >> 20);
	return (int32_t)((v + (v > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20));
}

/* Interpolates one output pixel. */
static void
interpolate(const struct resize *r, const int32_t *plane, const struct blend *y,
	    const struct blend *x, int32_t *to)
{
	int64_t row = (int64_t)r->i.w * r->i.c;
	const int32_t *a = plane + y->lower * row + x->lower * r->i.c;
	const int32_t *b = plane + y->lower * row + x->upper * r->i.c;
	const int32_t *d = plane + y->upper * row + x->lower * r->i.c;
	const int32_t *e = plane + y->upper * row + x->upper * r->i.c;
	int64_t near_y = 1024 - y->far, near_x = 1024 - x->far;
	for (int32_t c = 0; c < r->i.c; c++)
		to[c] = round_q20(
		    a[c] * near_y * near_x + b[c] * near_y * x->far +
			d[c] * y->far * near_x + e[c] * y->far * x->far,
		    r->in->type == TFL_UINT8);
}

bool
kernel_resize_bilinear(struct call *c)
{
	struct fb_ref o = tfl_options(c->op, &fb_ResizeBilinearOptions);
	struct resize r = {
		.align_corners =
		    fb_int(o, FB_ResizeBilinearOptions_align_corners),
		.half_pixel =
		    fb_int(o, FB_ResizeBilinearOptions_half_pixel_centers),
	};
	if (!call_type(c, call_in(c, 0), "input", T_QUANT) || !resize_prepare(c, &r))
		return false;
	if (c->check)
		return true;
	const struct blend *y = blends(c, &r, r.i.h, r.o.h);
	const struct blend *x = blends(c, &r, r.i.w, r.o.w);
	const int32_t *plane = call_widen(c, 0);
	int32_t *v = anew(c->a, int32_t, (size_t)tfl_elements(r.out)), *to = v;
	for (int32_t n = 0; n < r.o.n; n++) {
		for (int32_t h = 0; h < r.o.h; h++)
			for (int32_t w = 0; w < r.o.w; w++, to += r.o.c)
				interpolate(&r, plane, &y[h], &x[w], to);
		plane += (int64_t)r.i.h * r.i.w * r.i.c;
	}
	call_narrow(c, 0, v);
	return true;
}

/* Computes in float32, as the reference does. */
static int64_t
nearest(const struct resize *r, int32_t o, int32_t in, int32_t out)
{
	float ratio = r->align_corners && out > 1
			  ? (float)(in - 1) / (float)(out - 1)
			  : (float)in / (float)out;
	float v = ((float)o + (r->half_pixel ? 0.5f : 0)) * ratio;
	int64_t i = (int64_t)(r->align_corners ? roundf(v) : floorf(v));
	i = i < in - 1 ? i : in - 1;
	return i > 0 ? i : 0;
}

bool
kernel_resize_nearest(struct call *c)
{
	struct fb_ref o = tfl_options(c->op, &fb_ResizeNearestNeighborOptions);
	struct resize r = {
		.align_corners =
		    fb_int(o, FB_ResizeNearestNeighborOptions_align_corners),
		.half_pixel = fb_int(
		    o, FB_ResizeNearestNeighborOptions_half_pixel_centers),
	};
	if (!call_movable(c, call_in(c, 0), call_out(c, 0)) || !resize_prepare(c, &r))
		return false;
	if (c->check)
		return true;
	size_t bytes = element_size(r.in) * (size_t)r.i.c;
	uint8_t *to = c->io->out[0];
	for (int64_t n = 0; n < r.o.n; n++)
		for (int32_t h = 0; h < r.o.h; h++) {
			int64_t y = n * r.i.h + nearest(&r, h, r.i.h, r.o.h);
			for (int32_t w = 0; w < r.o.w; w++, to += bytes) {
				int64_t x = nearest(&r, w, r.i.w, r.o.w);
				memcpy(to,
				       (const uint8_t *)c->io->in[0] +
					   (size_t)(y * r.i.w + x) * bytes,
				       bytes);
			}
		}
	return true;
}
