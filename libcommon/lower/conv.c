/* SPDX-License-Identifier: Apache-2.0 */
/* Checks which convolutions are possible, and makes the operations of their windows. */
#include "lower/convparts.h"

#include "graph/facts.h"
#include "lower/padding.h"
#include "target/accel.h"

enum {
	MAX_EXTENT = 65536,
	MAX_WINDOWS = 1024,	/* limit of operations per image if the stride makes one
				 * per window */
	MAX_WEIGHTS = 1 << 26,	/* limit of bytes for weights that the lowering makes */
	MOST_WEIGHTS = 1 << 25, /* limit of bytes per operation, so that its streams stay
				 * below 2^26 bytes */
	MAX_PIECES = 1024,	/* limit of operations for a convolution that does not fit */
};

struct yx
conv_reach(const struct low_conv *c)
{
	return (struct yx){ .y = (c->kernel.y - 1) * c->dilation.y + 1,
			    .x = (c->kernel.x - 1) * c->dilation.x + 1 };
}

/* ---- rules ------------------------------------------------------------------------------ */

static bool
kernel_fits(struct yx reach)
{
	return reach.y <= LOW_KERNEL_ROWS && (int64_t)reach.y * reach.x <= LOW_KERNEL;
}

/* A kernel may have more columns than rows; therefore exchanging them can help. */
static bool
fits_exchanged(const struct low_conv *c)
{
	struct yx r = conv_reach(c);
	return !kernel_fits(r) && kernel_fits((struct yx){ .y = r.x, .x = r.y });
}

static struct yx
exchanged(struct yx v)
{
	return (struct yx){ .y = v.x, .x = v.y };
}

void
conv_exchange(struct low_conv *c, struct nd *in, struct nd *out)
{
	static const int order[4] = { 0, 2, 1, 3 };
	int64_t *stride = c->weights.stride, rows = stride[1];
	if (!fits_exchanged(c))
		return;
	stride[1] = stride[2];
	stride[2] = rows;
	c->kernel = exchanged(c->kernel);
	c->stride = exchanged(c->stride);
	c->dilation = exchanged(c->dilation);
	c->pad = (struct g_pad){ .top = c->pad.left, .left = c->pad.top,
				 .bottom = c->pad.right, .right = c->pad.bottom };
	nd_permute(in, order);
	nd_permute(out, order);
}

bool
low_conv_fits(const struct low_conv *c)
{
	return kernel_fits(conv_reach(c)) || fits_exchanged(c);
}

const char *
low_conv_check(struct arena *a, const struct low_conv *c, const struct nd *in,
	       const struct nd *out)
{
	struct yx r = conv_reach(c);
	for (int k = 0; k < 4; k++)
		if (in->dim[k] > MAX_EXTENT || out->dim[k] > MAX_EXTENT)
			return "a dimension of more than 65536";
	if (r.y < 1 || r.x < 1 || r.y >= MAX_EXTENT || r.x >= MAX_EXTENT)
		return arena_printf(a, "kernel %dx%d (dilated)", r.y, r.x);
	/* operations per image that are due to strides */
	int64_t windows = (c->stride.y > LOW_STRIDE ? out->dim[1] : 1) *
			  (c->stride.x > LOW_STRIDE ? out->dim[2] : 1);
	if (windows > MAX_WINDOWS)
		return arena_printf(a, "stride %dx%d would take %lld operations",
				    c->stride.y, c->stride.x, (long long)windows);
	if (in->dim[0] * windows > LOW_MAX_OPS)
		return arena_printf(a, "a batch of %lld would take more than %d operations",
				    (long long)in->dim[0], (int)LOW_MAX_OPS);
	int64_t taps = (int64_t)c->kernel.y * c->dilation.y * c->kernel.x * c->dilation.x;
	bool made = c->groups > 1 || c->dilation.y > LOW_DILATION ||
		    c->dilation.x > LOW_DILATION;
	int64_t bytes = made ? taps * c->o : taps * BRICK;
	if (bytes > MAX_WEIGHTS || bytes * (c->i + 16) > MAX_WEIGHTS)
		return "the weights would grow too large";
	if (low_conv_fits(c))
		return NULL;
	if (graph_type_bytes(in->type) > 1)
		return "a kernel of this size with 16 bits";
	int64_t n = in->dim[0] * conv_large_pieces(c) * conv_group_ops(c) * windows;
	return n <= MAX_PIECES ? NULL
			       : arena_printf(a, "the kernel takes %lld operations", (long long)n);
}

/* ---- operations -------------------------------------------------------------- */

/*
 * Returns true if sums of 16-bit values have more than 32 bits.  They have 32 bits if
 * the multipliers are too long for wider sums; the reference then has 32 bits as well.
 */
static bool
has_wide_sums(const struct lower *l, const struct low_conv *c)
{
	enum { SHORT_BITS = 15 };
	if (!l->accel || !accel_lacks(l->accel, LACK_LONG_SCALES))
		return true;
	for (int32_t o = 0; c->scale && o < c->o; o++)
		if (c->scale[o].mult >> SHORT_BITS)
			return false;
	return true;
}

struct g_op *
conv_op(struct lower *l, const struct low_conv *c, const struct nd *in,
	const struct nd *out, struct yx stride, struct g_pad pad)
{
	struct g_operand ifm = nd_to_operand(in), ofm = nd_to_operand(out);
	struct g_op *op = low_op(l, c->kind, ifm, ofm);
	op_kernel(op, conv_taps(c), stride, conv_dilation(c), pad);
	op_zeros(op, c->ifm_zero, 0);
	op->round = (int)c->round;
	if (ifm.type == TFL_INT16 && has_wide_sums(l, c))
		G_PUT(op, OP, acc40, 1);
	return op;
}

void
conv_op_constants(struct g_op *op, struct g_weights *w, struct g_scales *s)
{
	G_PUT(op, OP, weights, w);
	G_PUT(op, OP, scales, s);
}

void
conv_slice(const struct low_conv *c, struct conv_groups g, struct nd *in, struct nd *out)
{
	int32_t og = c->o / c->groups;
	if (c->groups == 1)
		return;
	nd_slice(in, 3, g.first * c->i, g.n * c->i, 1);
	nd_slice(out, 3, g.first * og, g.n * og, 1);
}

/* ---- windows --------------------------------------------------------------------------- */

/* The windows along one axis: of the whole OFM, or of a single position. */
struct span {
	int32_t in, start, out, out_start, stride, before, after;
};

/*
 * Computes the span of `out` positions whose windows have `reach` elements.  The
 * padding after the input is what these windows read: a fused PAD may be larger, but
 * the hardware derives the input's end from this number.
 */
static struct span
whole_span(int64_t in, int64_t out, int32_t stride, int32_t before, int32_t reach)
{
	int64_t after = (out - 1) * stride + reach - before - in;
	/* with one row or column of output, the stride has no effect */
	return (struct span){ .in = (int32_t)in, .out = (int32_t)out, .before = before,
			      .after = after > 0 ? (int32_t)after : 0,
			      .stride = out == 1 ? 1 : stride };
}

/* Returns position k of s, whose window has `reach` elements. */
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

void
conv_run(struct lower *l, const struct conv_job *j, const struct nd *in,
	 const struct nd *out)
{
	const struct low_conv *c = j->c;
	struct yx reach = conv_reach(c);
	struct span rows = whole_span(in->dim[1], out->dim[1], c->stride.y, c->pad.top, reach.y);
	struct span columns = whole_span(in->dim[2], out->dim[2], c->stride.x, c->pad.left,
					 reach.x);
	/* for strides beyond the hardware's, one operation per position */
	int32_t ny = rows.stride > LOW_STRIDE ? rows.out : 1;
	int32_t nx = columns.stride > LOW_STRIDE ? columns.out : 1;
	for (int64_t b = 0; b < in->dim[0]; b++)
		for (int32_t k = 0; k < ny * nx; k++) {
			struct span y = ny > 1 ? single_span(rows, k / nx, reach.y) : rows;
			struct span x = nx > 1 ? single_span(columns, k % nx, reach.x) : columns;
			struct nd from = nd_part(in, 0, b, 1), to = nd_part(out, 0, b, 1);
			nd_slice(&from, 1, y.start, y.in, 1);
			nd_slice(&from, 2, x.start, x.in, 1);
			nd_slice(&to, 1, y.out_start, y.out, 1);
			nd_slice(&to, 2, x.out_start, x.out, 1);
			struct g_pad pad = { .top = y.before, .bottom = y.after,
					     .left = x.before, .right = x.after };
			struct g_op *op = conv_op(l, c, &from, &to,
						  (struct yx){ .y = y.stride, .x = x.stride }, pad);
			conv_op_constants(op, j->weights, j->scales);
			low_finish(j->end, op);
		}
}

struct nd
conv_padded(struct lower *l, struct low_conv *c, const struct nd *in)
{
	const int64_t before[4] = { 0, c->pad.top, c->pad.left };
	struct nd to = *in;
	if (!c->pad.top && !c->pad.left && !c->pad.bottom && !c->pad.right)
		return *in;
	to.dim[1] += c->pad.top + c->pad.bottom;
	to.dim[2] += c->pad.left + c->pad.right;
	c->pad = (struct g_pad){ 0 };
	to = nd_new(l, in->type, 4, to.dim);
	nd_pad(l, in, before, c->ifm_zero, &to);
	return to;
}

struct nd
conv_input(struct lower *l, struct low_conv *c, const struct nd *in)
{
	return low_pad_fits(c->pad, conv_reach(c)) ? *in : conv_padded(l, c, in);
}

void
low_conv(struct lower *l, const struct low_conv *conv, const struct nd *in,
	 const struct nd *out, const struct low_end *end)
{
	/* the output channels per operation, in whole bricks */
	struct yx taps = conv_taps(conv);
	int64_t each = (int64_t)taps.y * taps.x * conv->i, n = MOST_WEIGHTS / each / BRICK * BRICK;
	int32_t most = conv->o;
	if (conv->groups == 1 && conv->kind != OP_DEPTHWISE && n < conv->o)
		most = n < BRICK ? BRICK : (int32_t)n;
	for (int32_t o = 0; o < conv->o; o += most) {
		struct low_conv c = *conv;
		c.o = o + most < conv->o ? most : conv->o - o;
		if (c.weights.out) {
			c.weights.out += o;
		} else {
			c.weights.first += o * c.weights.stride[0];
			c.weights.zero += c.weights.n_zero > 1 ? o : 0;
			c.weights.n_zero = c.weights.n_zero > 1 ? c.o : 1;
		}
		c.bias += o;
		c.scale += o;
		struct nd all = *in, result = nd_part(out, 3, o, c.o);
		conv_exchange(&c, &all, &result);
		all = conv_input(l, &c, &all);
		for (struct conv_groups g = { 0 }; conv_groups_next(&c, &g);) {
			struct conv_job j = { .c = &c, .end = end };
			struct nd from = all, to = result;
			j.weights = conv_weights(l, &c, g);
			j.scales = conv_scales(l, &c, g);
			conv_slice(&c, g, &from, &to);
			conv_run(l, &j, &from, &to);
		}
	}
}
