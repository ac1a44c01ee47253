/* SPDX-License-Identifier: Apache-2.0 */
#include "lower/conv.h"

#include <assert.h>

enum {
	MAX_KERNEL_H = 64, MAX_KERNEL = 4096, MAX_STRIDE = 3, MAX_DILATION = 2,
	MAX_PAD = 127, MAX_EXTENT = 65536, MAX_OPS = 1024,
};

/* what the hardware dilates by; the rest is zeros between the taps */
static int32_t
hardware_dilation(int32_t d)
{
	return d <= MAX_DILATION ? d : d % 2 == 0 ? 2 : 1;
}

static struct yx
dilation_of(const struct low_conv *c)
{
	return (struct yx){ .y = hardware_dilation(c->dilation.y),
			    .x = hardware_dilation(c->dilation.x) };
}

static struct yx
spread_of(const struct low_conv *c)
{
	struct yx d = dilation_of(c);
	return (struct yx){ .y = c->dilation.y / d.y, .x = c->dilation.x / d.x };
}

/* taps of the kernel with its zeros */
static struct yx
taps_of(const struct low_conv *c)
{
	struct yx s = spread_of(c);
	return (struct yx){ .y = (c->kernel.y - 1) * s.y + 1,
			    .x = (c->kernel.x - 1) * s.x + 1 };
}

static struct yx
reach_of(const struct low_conv *c)
{
	return (struct yx){ .y = (c->kernel.y - 1) * c->dilation.y + 1,
			    .x = (c->kernel.x - 1) * c->dilation.x + 1 };
}

/* 1x1: every pixel alike, whichever image it is of */
static bool
is_matrix(const struct low_conv *c)
{
	return c->kernel.y == 1 && c->kernel.x == 1 && c->stride.y == 1 &&
	       c->stride.x == 1 && !c->pad.top && !c->pad.left && !c->pad.bottom &&
	       !c->pad.right;
}

const char *
low_conv_check(struct arena *a, const struct low_conv *c, const struct nd *in,
	       const struct nd *out)
{
	struct yx r = reach_of(c);
	if (r.y > MAX_KERNEL_H || (int64_t)r.y * r.x > MAX_KERNEL)
		return arena_printf(a, "a dilated kernel of %dx%d, the NPU takes 64 rows "
				    "and 4096 elements", r.y, r.x);
	if (c->pad.top > MAX_PAD || c->pad.left > MAX_PAD || c->pad.bottom > MAX_PAD ||
	    c->pad.right > MAX_PAD)
		return "padding of more than 127";
	for (int k = 0; k < 4; k++)
		if (in->dim[k] > MAX_EXTENT || out->dim[k] > MAX_EXTENT)
			return "a dimension of more than 65536";
	int64_t n = in->dim[0] * (c->stride.y > MAX_STRIDE ? out->dim[1] : 1) *
		    (c->stride.x > MAX_STRIDE ? out->dim[2] : 1);
	return n <= MAX_OPS ? NULL
			    : arena_printf(a, "it would take %lld operations",
					   (long long)n);
}

/* ---- records -------------------------------------------------------------------------- */

static struct g_weights *
weights_of(struct lower *l, const struct low_conv *c)
{
	struct yx taps = taps_of(c), spread = spread_of(c);
	size_t row = (size_t)taps.x * (size_t)c->i, all = (size_t)taps.y * row;
	uint8_t *v = anew(l->a, uint8_t, all * (size_t)c->o);
	const int8_t *from = c->weights;
	memset(v, c->weight_zero & 0xff, all * (size_t)c->o);
	for (int32_t o = 0; o < c->o; o++)
		for (int32_t y = 0; y < c->kernel.y; y++)
			for (int32_t x = 0; x < c->kernel.x; x++) {
				memcpy(v + (size_t)o * all + (size_t)(y * spread.y) * row +
					   (size_t)(x * spread.x * c->i),
				       from, (size_t)c->i);
				from += c->i;
			}
	struct g_weights *w = graph_add_g_weights(l->g);
	G_PUT(w, WEIGHTS, shape,
	      (struct g_shape){ .type = TFL_INT8, .rank = 4,
				.dim = { c->o, taps.y, taps.x, c->i } });
	G_PUT(w, WEIGHTS, name, c->name);
	int64_t *zero = anew(l->a, int64_t, 1);
	zero[0] = c->weight_zero;
	G_PUT(w, WEIGHTS, zero, (struct g_list){ .v = zero, .n = 1 });
	const char *name = arena_printf(l->a, "weights%d", w->rec.id);
	struct bytes b = { .p = v, .n = all * (size_t)c->o };
	G_PUT(w, WEIGHTS, source,
	      (struct g_source){ .blob = graph_add_blob(l->g, name, b)->name });
	return w;
}

static struct g_scales *
scales_of(struct lower *l, const struct low_conv *c)
{
	size_t n = (size_t)c->o;
	struct g_scales *s = graph_add_g_scales(l->g);
	int64_t *bias = anew(l->a, int64_t, n), *mult = anew(l->a, int64_t, n),
		*shift = anew(l->a, int64_t, n);
	for (size_t k = 0; k < n; k++) {
		bias[k] = c->bias[k];
		mult[k] = c->scale[k].mult;
		shift[k] = c->scale[k].shift;
	}
	G_PUT(s, SCALES, bias, (struct g_list){ .v = bias, .n = n });
	G_PUT(s, SCALES, mult, (struct g_list){ .v = mult, .n = n });
	G_PUT(s, SCALES, shift, (struct g_list){ .v = shift, .n = n });
	return s;
}

/* ---- windows --------------------------------------------------------------------------- */

/* one direction: all of the OFM, or a single position */
struct span {
	int32_t in, start, out, out_start, stride, before, after;
};

/* how much of the padding behind the IFM is read follows from the rest */
static struct span
whole_span(int64_t in, int64_t out, int32_t stride, int32_t before, int32_t reach)
{
	int64_t after = (out - 1) * stride + reach - before - in;
	return (struct span){ .in = (int32_t)in, .out = (int32_t)out, .before = before,
			      .after = after > 0 ? (int32_t)after : 0,
			      .stride = out == 1 ? 1 : stride };
}

static struct span
single_span(struct span s, int32_t k, int32_t reach)
{
	int32_t start = k * s.stride - s.before, end = start + reach;
	struct span r = { .out = 1, .out_start = k, .stride = 1 };
	r.before = start < 0 ? -start : 0;
	r.after = end > s.in ? end - s.in : 0;
	r.start = start + r.before;
	r.in = end - r.after - r.start;
	return r;
}

struct job {
	const struct low_conv *c;
	struct g_weights *w;
	struct g_scales *s;
	nd_made *made;
	void *ctx;
};

static void
emit(struct lower *l, const struct job *j, enum g_op_kind kind, const struct nd *in,
     const struct nd *out, struct yx stride, struct g_pad pad)
{
	struct g_operand ifm, ofm;
	bool ok = nd_operand(in, &ifm) && nd_operand(out, &ofm);
	assert(ok);
	struct g_op *op = low_op(l, kind, ifm, ofm);
	op_kernel(op, taps_of(j->c), stride, dilation_of(j->c), pad);
	op_zeros(op, j->c->ifm_zero, 0);
	op->round = (int)j->c->round;
	G_PUT(op, OP, weights, j->w);
	G_PUT(op, OP, scales, j->s);
	if (ifm.type == TFL_INT16)
		G_PUT(op, OP, acc40, 1);
	j->made(j->ctx, op);
}

static void
run_window(struct lower *l, const struct job *j, const struct nd *in,
	   const struct nd *out, struct span y, struct span x)
{
	struct nd from = *in, to = *out;
	nd_slice(&from, 1, y.start, y.in, 1);
	nd_slice(&from, 2, x.start, x.in, 1);
	nd_slice(&to, 1, y.out_start, y.out, 1);
	nd_slice(&to, 2, x.out_start, x.out, 1);
	emit(l, j, j->c->deep ? OP_DEPTHWISE : OP_CONV, &from, &to,
	     (struct yx){ .y = y.stride, .x = x.stride },
	     (struct g_pad){ .top = y.before, .bottom = y.after, .left = x.before,
			     .right = x.after });
}

/* strides that the hardware does not have: one position after the other */
static void
run_windows(struct lower *l, const struct job *j, const struct nd *in,
	    const struct nd *out)
{
	const struct low_conv *c = j->c;
	struct yx reach = reach_of(c);
	struct span y = whole_span(in->dim[1], out->dim[1], c->stride.y, c->pad.top,
				   reach.y);
	struct span x = whole_span(in->dim[2], out->dim[2], c->stride.x, c->pad.left,
				   reach.x);
	int32_t ny = y.stride > MAX_STRIDE ? y.out : 1;
	int32_t nx = x.stride > MAX_STRIDE ? x.out : 1;
	for (int32_t a = 0; a < ny; a++)
		for (int32_t b = 0; b < nx; b++)
			run_window(l, j, in, out, ny > 1 ? single_span(y, a, reach.y) : y,
				   nx > 1 ? single_span(x, b, reach.x) : x);
}

/* all images at once, as one row of pixels where there is one pixel in each */
static bool
run_matrix(struct lower *l, const struct job *j, const struct nd *in,
	   const struct nd *out)
{
	struct nd from = *in, to = *out;
	struct g_operand any;
	int64_t n = in->dim[0], h = in->dim[1], w = in->dim[2];
	int64_t d1[3] = { h * w == 1 ? 1 : n * h, h * w == 1 ? n : w, in->dim[3] };
	int64_t d2[3] = { d1[0], d1[1], out->dim[3] };
	if (!is_matrix(j->c) || j->c->deep || (n == 1 && h * w > 1) ||
	    d1[0] > MAX_EXTENT || d1[1] > MAX_EXTENT || !nd_reshape(&from, d1, 3) ||
	    !nd_reshape(&to, d2, 3) || !nd_operand(&from, &any) || !nd_operand(&to, &any))
		return false;
	emit(l, j, h * w == 1 ? OP_FC : OP_CONV, &from, &to, (struct yx){ .y = 1, .x = 1 },
	     (struct g_pad){ 0 });
	return true;
}

void
low_conv(struct lower *l, const struct low_conv *c, const struct nd *in,
	 const struct nd *out, nd_made *made, void *ctx)
{
	struct job j = { .c = c, .made = made, .ctx = ctx };
	j.w = weights_of(l, c);
	j.s = scales_of(l, c);
	if (run_matrix(l, &j, in, out))
		return;
	for (int64_t b = 0; b < in->dim[0]; b++) {
		struct nd from = *in, to = *out;
		nd_slice(&from, 0, b, 1, 1);
		nd_slice(&to, 0, b, 1, 1);
		run_windows(l, &j, &from, &to);
	}
}
