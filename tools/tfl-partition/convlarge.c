/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels, or paddings, beyond the hardware's: the padded input, of which
 * every piece of the kernel sees another part; sums of 32 bits, added; then
 * the scales, as the reference applies them (nputools-lowering(7) 3.1, MBQM).
 */
#include "conv.h"
#include "move.h"

#include <assert.h>

enum { MAX_PIECES = 1024 };

/* taps of an axis that a piece may have */
static int32_t
most_taps(int32_t taps, int32_t dilation, int32_t limit)
{
	int32_t n = (limit - 1) / dilation + 1;
	return taps < n ? taps : n;
}

static struct yx
piece_of(const struct conv *c)
{
	struct yx n;
	n.x = most_taps(c->kernel.x, c->dilation.x, MAX_KERNEL);
	int32_t width = (n.x - 1) * c->dilation.x + 1, rows = MAX_KERNEL / width;
	n.y = most_taps(c->kernel.y, c->dilation.y,
			rows < MAX_KERNEL_H ? rows : MAX_KERNEL_H);
	return n;
}

const char *
check_large(const struct part *p, const struct conv *c)
{
	struct yx n = piece_of(c);
	int64_t pieces = (int64_t)ceil_div(c->kernel.y, n.y) * ceil_div(c->kernel.x, n.x);
	if (c->ifm->type == TFL_INT16)
		return "a kernel or padding of this size with 16 bits";
	struct yx out = map_yx(c->ofm);
	pieces *= c->ifm->dim[0] * ceil_div(c->groups, layer_groups(c));
	pieces *= (int64_t)(c->stride.y > MAX_STRIDE ? out.y : 1) *
		  (c->stride.x > MAX_STRIDE ? out.x : 1);
	if (pieces > MAX_PIECES)
		return part_say(p, "the kernel takes %lld operations",
				(long long)pieces);
	for (int o = 0; o < c->o; o++) {
		struct npu_scale s;
		if (!channel_scale(c, o, &s) || s.shift < 31 || s.shift > 62)
			return "a kernel of this size and a scale above 1";
	}
	return NULL;
}

/* the input with its border of zero points */
static struct nd
padded(struct part *p, const struct conv *c, int input, struct g_pad pad)
{
	struct nd in = nd_ifm(p, input), to = in;
	int64_t before[ND_MAX] = { 0, pad.top, pad.left };
	if (!pad.top && !pad.left && !pad.bottom && !pad.right)
		return in;
	to.dim[1] += pad.top + pad.bottom;
	to.dim[2] += pad.left + pad.right;
	struct hwc all = { .h = (int32_t)(to.dim[0] * to.dim[1]),
			   .w = (int32_t)to.dim[2], .c = (int32_t)to.dim[3] };
	struct nd any = nd_readable(p->l, &in);
	to.t = low_tensor(p->l, in.type, all, NULL);
	to.offset = 0;
	int64_t s = 1;
	for (int i = to.rank; i-- > 0; s *= to.dim[i])
		to.stride[i] = s;
	struct nd mid = to;
	for (int k = 1; k < 3; k++)
		nd_slice(&mid, k, before[k], in.dim[k], 1);
	nd_copy(p->l, &in, &mid);
	nd_surround(p->l, &any, &to, before, in.dim, quant_zero(c->ifm));
	return to;
}

/* the sums are stored as they are; one piece brings the bias */
static struct g_scales *
sum_scales(struct part *p, const struct conv *c, int32_t first, int32_t n, bool bias)
{
	struct conv plain = *c;
	if (!bias)
		plain.bias = NULL;
	struct g_scales *s = conv_scales(p, &plain, first, n);
	for (int32_t o = 0; o < n; o++) {
		s->mult.v[o] = 1;
		s->shift.v[o] = 0;
	}
	return s;
}

/* IFM and sums of one operation */
struct piece {
	struct conv c; /* of some of the taps */
	struct layer layer;
	struct nd in;
	struct g_operand sum;
	struct g_weights *w;
	struct g_scales *s;
};

static void
run_box(struct part *p, const struct piece *q, struct hwc at, struct hwc out)
{
	const struct conv *c = &q->c;
	struct nd v = q->in;
	struct yx stride = { .y = out.h > 1 ? c->stride.y : 1,
			     .x = out.w > 1 ? c->stride.x : 1 };
	nd_slice(&v, 1, at.h * c->stride.y,
		 (out.h - 1) * stride.y + (c->kernel.y - 1) * c->dilation.y + 1, 1);
	nd_slice(&v, 2, at.w * c->stride.x,
		 (out.w - 1) * stride.x + (c->kernel.x - 1) * c->dilation.x + 1, 1);
	struct g_operand ifm;
	bool ok = nd_operand(&v, &ifm);
	assert(ok);
	struct g_operand ofm = low_box(q->sum, out, at);
	struct g_op *o = low_op(p->l, c->kind, ifm, ofm);
	op_kernel(o, q->layer.kernel, stride, q->layer.dilation, (struct g_pad){ 0 });
	conv_finish(o, c, q->w, q->s);
	op_zeros(o, quant_zero(c->ifm), 0);
	op_clamp(o, type_range(TFL_INT32));
}

/* strides that the hardware does not have: one position after the other */
static void
run_boxes(struct part *p, const struct piece *q, struct hwc at, struct hwc out)
{
	bool rows = q->c.stride.y > MAX_STRIDE, cols = q->c.stride.x > MAX_STRIDE;
	struct hwc one = { .h = rows ? 1 : out.h, .w = cols ? 1 : out.w, .c = out.c };
	struct hwc k = at;
	for (k.h = 0; k.h < out.h; k.h += one.h)
		for (k.w = 0; k.w < out.w; k.w += one.w)
			run_box(p, q, k, one);
}

/* what the taps from `first` on add to the image in */
static struct g_operand
run_piece(struct part *p, const struct conv *c, const struct nd *in,
	  struct yx first, struct yx taps, struct hwc out)
{
	struct piece q = { .c = *c, .sum = word_new(p->l, out) };
	q.c.kernel = taps;
	q.c.first = first.y * c->strides[1] + first.x * c->strides[2];
	int32_t og = c->o / c->groups, step = layer_groups(c);
	for (int32_t g = 0; g < c->groups; g += step) {
		int32_t n = c->groups - g < step ? c->groups - g : step;
		q.layer = layer_of(&q.c, g, n);
		q.w = layer_weights(p, &q.c, &q.layer);
		q.s = sum_scales(p, c, g * og, n * og, first.y == 0 && first.x == 0);
		q.in = *in;
		q.in.offset += first.y * c->dilation.y * in->stride[1] +
			       first.x * c->dilation.x * in->stride[2];
		if (c->groups > 1)
			nd_slice(&q.in, 3, g * c->i, n * c->i, 1);
		struct hwc at = { .c = g * og }, part = out;
		part.c = n * og;
		run_boxes(p, &q, at, part);
	}
	return q.sum;
}

/* MBQM by channel; halves below 0 go down: up after 1 is taken away */
static void
scale_sums(struct part *p, const struct conv *c, struct g_operand sum,
	   struct g_operand ofm)
{
	struct hwc line = { .h = 1, .w = 1, .c = c->o };
	size_t n = (size_t)c->o;
	int32_t *mult = anew(p->a, int32_t, n), *shift = anew(p->a, int32_t, n),
		*least = anew(p->a, int32_t, n);
	for (int o = 0; o < c->o; o++) {
		struct npu_scale s;
		(void)channel_scale(c, o, &s);
		mult[o] = (int32_t)s.mult;
		shift[o] = s.shift - 31;
		least[o] = s.shift > 31 ? -1 : 0;
	}
	struct g_operand y = word_mul_high(p->l, sum, low_const(p->l, TFL_INT32, line, mult));
	struct g_operand below = word_min(p->l, y, word_const(p->l, 0));
	below = word_max(p->l, below, low_const(p->l, TFL_INT32, line, least));
	struct g_operand bits = low_const(p->l, TFL_INT32, line, shift);
	struct g_op *r = word_op_to(p->l, OP_SHR, word_add(p->l, y, below), bits, ofm);
	r->round = ROUND_NATURAL;
	r->ofm_zero = quant_zero(c->ofm);
	op_clamp(r, quant_clamp(c->ofm, c->activation));
}

void
conv_large(struct part *p, const struct tfl_op *op, const struct conv *c)
{
	struct window win = conv_window(c);
	int input = folded_pad(p, op, &win.pad);
	struct nd in = padded(p, c, input, win.pad);
	struct nd out = nd_ofm(p, op->out[0]);
	struct yx n = piece_of(c), k;
	struct hwc shape = { .h = win.out.y, .w = win.out.x, .c = c->o };
	for (int64_t b = 0; b < in.dim[0]; b++) {
		struct nd image = in, to = out;
		struct g_operand sum = { 0 }, ofm;
		nd_slice(&image, 0, b, 1, 1);
		nd_slice(&to, 0, b, 1, 1);
		bool ok = nd_operand(&to, &ofm);
		assert(ok);
		for (k.y = 0; k.y < c->kernel.y; k.y += n.y)
			for (k.x = 0; k.x < c->kernel.x; k.x += n.x) {
				struct yx taps = { .y = c->kernel.y - k.y,
						   .x = c->kernel.x - k.x };
				taps.y = taps.y < n.y ? taps.y : n.y;
				taps.x = taps.x < n.x ? taps.x : n.x;
				struct g_operand more =
				    run_piece(p, c, &image, k, taps, shape);
				sum = sum.t ? word_add(p->l, sum, more) : more;
			}
		scale_sums(p, c, sum, ofm);
	}
}
