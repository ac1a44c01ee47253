/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions with kernels beyond the hardware's limits.  The kernel is cut into
 * pieces, each of which reads another part of the padded input.  Their 32-bit sums are
 * added; then the front end applies the scales.
 */
#include "lower/convparts.h"

#include "base/fixed.h"
#include "graph/facts.h"

/* Returns the maximum number of taps of a piece along one axis. */
static int32_t
most_taps(int32_t taps, int32_t dilation, int32_t limit)
{
	int32_t n = (limit - 1) / dilation + 1;
	return taps < n ? taps : n;
}

static struct yx
piece_of(const struct low_conv *c)
{
	struct yx n;
	n.x = most_taps(c->kernel.x, c->dilation.x, LOW_KERNEL);
	int32_t width = (n.x - 1) * c->dilation.x + 1, rows = LOW_KERNEL / width;
	n.y = most_taps(c->kernel.y, c->dilation.y,
			rows < LOW_KERNEL_ROWS ? rows : LOW_KERNEL_ROWS);
	return n;
}

int64_t
conv_large_pieces(const struct low_conv *c)
{
	struct yx n = piece_of(c);
	return (int64_t)ceil_div(c->kernel.y, n.y) * ceil_div(c->kernel.x, n.x);
}

/* Selects the input of n positions from `at` on, along one axis. */
static void
slice_input(struct nd *v, int axis, int64_t at, int64_t n, int32_t stride, int32_t reach)
{
	nd_slice(v, axis, at * stride, (n - 1) * (n > 1 ? stride : 1) + reach, 1);
}

/* Returns the sums of the taps from `first` on, for one image. */
static struct nd
run_piece(struct lower *l, const struct low_conv *all, const struct nd *in,
	  struct yx first, struct yx taps, const struct nd *out)
{
	struct low_conv c = *all;
	struct nd sums = nd_new(l, TFL_INT32, 4, out->dim), seen = *in;
	size_t n = (size_t)c.o;
	struct npu_scale *one = anew(l->a, struct npu_scale, n);
	for (size_t o = 0; o < n; o++)
		one[o].mult = 1;
	c.kernel = taps;
	c.weights.first += first.y * c.weights.stride[1] + first.x * c.weights.stride[2];
	c.scale = one;
	if (first.y > 0 || first.x > 0) /* the first piece includes the bias */
		c.bias = anew(l->a, int64_t, n);
	seen.offset += first.y * c.dilation.y * in->stride[1] +
		       first.x * c.dilation.x * in->stride[2];
	/* one operation per row or column for strides beyond the hardware's */
	int64_t rows = c.stride.y > LOW_STRIDE ? 1 : sums.dim[1];
	int64_t cols = c.stride.x > LOW_STRIDE ? 1 : sums.dim[2];
	struct yx reach = conv_reach(&c), stride = { .y = rows > 1 ? c.stride.y : 1,
						     .x = cols > 1 ? c.stride.x : 1 };
	for (struct conv_groups g = { 0 }; conv_groups_next(&c, &g);) {
		struct nd from = seen, to = sums;
		struct g_weights *w = conv_weights(l, &c, g);
		struct g_scales *s = conv_scales(l, &c, g);
		conv_slice(&c, g, &from, &to);
		for (int64_t y = 0; y < to.dim[1]; y += rows)
			for (int64_t x = 0; x < to.dim[2]; x += cols) {
				struct nd part = from, made = to;
				slice_input(&part, 1, y, rows, c.stride.y, reach.y);
				slice_input(&part, 2, x, cols, c.stride.x, reach.x);
				nd_slice(&made, 1, y, rows, 1);
				nd_slice(&made, 2, x, cols, 1);
				struct g_op *op = conv_op(l, &c, &part, &made, stride,
							  (struct g_pad){ 0 });
				conv_op_constants(op, w, s);
				op_clamp(op, type_range(TFL_INT32));
			}
	}
	return sums;
}

void
low_conv_large(struct lower *l, const struct low_conv *conv, const struct nd *in,
	       const struct nd *out, low_scaled *scaled, void *ctx)
{
	struct low_conv whole = *conv, *c = &whole;
	struct yx n = piece_of(c), k;
	struct nd all = conv_padded(l, c, in);
	for (int64_t b = 0; b < all.dim[0]; b++) {
		struct nd image = nd_part(&all, 0, b, 1), to = nd_part(out, 0, b, 1);
		struct nd sums = { 0 };
		for (k.y = 0; k.y < c->kernel.y; k.y += n.y)
			for (k.x = 0; k.x < c->kernel.x; k.x += n.x) {
				struct yx taps = { .y = c->kernel.y - k.y,
						   .x = c->kernel.x - k.x };
				taps.y = taps.y < n.y ? taps.y : n.y;
				taps.x = taps.x < n.x ? taps.x : n.x;
				struct nd more = run_piece(l, c, &image, k, taps, &to);
				if (sums.t)
					more.t = word_add(l, nd_to_operand(&sums),
							  nd_to_operand(&more)).t;
				sums = more;
			}
		scaled(ctx, &sums, &to);
	}
}
