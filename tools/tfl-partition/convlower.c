/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the hardware has no register for becomes other weights or more
 * operations: dilation above 2 is zeros between the taps, groups are blocks
 * on the diagonal of dense weights, strides above 3 an operation for every
 * row or column of the OFM.
 */
#include "conv.h"

enum { GROUP_DEPTH = 16 }; /* IFM channels that an operation should have */

/* ---- weights and scales --------------------------------------------------------- */

static void
put_zeros(struct part *p, struct g_weights *w, const struct conv *c, int32_t first,
	  int32_t n)
{
	bool many = c->weights->quant.n_zero > 1;
	size_t count = many ? (size_t)n : 1;
	int64_t *zero = anew(p->a, int64_t, count);
	for (size_t o = 0; o < count; o++)
		zero[o] = weight_zero(c, many ? first + (int)o : 0);
	G_PUT(w, WEIGHTS, zero, (struct g_list){ .v = zero, .n = count });
}

struct g_weights *
conv_weights(struct part *p, const struct conv *c, struct yx kernel,
	     int64_t offset, const int64_t strides[4])
{
	struct g_weights *w = graph_add_g_weights(p->g);
	G_PUT(w, WEIGHTS, shape,
	      (struct g_shape){ .type = c->weights->type, .rank = 4,
				.dim = { c->o, kernel.y, kernel.x, c->i } });
	G_PUT(w, WEIGHTS, name, c->weights->name);
	G_PUT(w, WEIGHTS, source, part_source(p, c->weights));
	put_zeros(p, w, c, 0, c->o);
	if (offset)
		G_PUT(w, WEIGHTS, offset, offset);
	int64_t *s = anew(p->a, int64_t, 4);
	memcpy(s, strides, 4 * sizeof(*s));
	if (offset || c->kind == OP_DEPTHWISE || s[3] != 1 ||
	    s[2] != c->i || s[1] != (int64_t)kernel.x * c->i ||
	    s[0] != kernel.y * s[1])
		G_PUT(w, WEIGHTS, strides, (struct g_list){ .v = s, .n = 4 });
	return w;
}

struct g_scales *
conv_scales(struct part *p, const struct conv *c, int32_t first, int32_t count)
{
	size_t n = (size_t)count;
	struct g_scales *s = graph_add_g_scales(p->g);
	int64_t *bias = anew(p->a, int64_t, n), *mult = anew(p->a, int64_t, n),
		*shift = anew(p->a, int64_t, n);
	for (size_t k = 0; k < n; k++) {
		struct npu_scale q;
		size_t o = (size_t)first + k;
		(void)channel_scale(c, (int)o, &q);
		mult[k] = q.mult;
		shift[k] = q.shift;
		if (c->bias)
			bias[k] = c->bias->type == TFL_INT32
				      ? (int32_t)load_le32(c->bias->data.p + 4 * o)
				      : (int64_t)load_le64(c->bias->data.p + 8 * o);
	}
	G_PUT(s, SCALES, bias, (struct g_list){ .v = bias, .n = n });
	G_PUT(s, SCALES, mult, (struct g_list){ .v = mult, .n = n });
	G_PUT(s, SCALES, shift, (struct g_list){ .v = shift, .n = n });
	return s;
}

void
conv_finish(struct g_op *op, const struct conv *c, struct g_weights *w,
	    struct g_scales *s)
{
	op_zeros(op, quant_zero(c->ifm), quant_zero(c->ofm));
	op_clamp(op, quant_clamp(c->ofm, c->activation));
	op->round = is_reduced(c) ? ROUND_NATURAL : ROUND_TFL;
	G_PUT(op, OP, weights, w);
	G_PUT(op, OP, scales, s);
	if (c->ifm->type == TFL_INT16)
		G_PUT(op, OP, acc40, 1);
}

/* ---- weights of our own ------------------------------------------------------------ */

/* an axis' dilation: what the hardware does, and zeros between the taps */
static int32_t
hardware_dilation(int32_t d)
{
	return d <= MAX_DILATION ? d : d % 2 == 0 ? 2 : 1;
}

struct layer
layer_of(const struct conv *c, int32_t first, int32_t n)
{
	struct layer l = { .first = first, .n = n };
	l.dilation.y = hardware_dilation(c->dilation.y);
	l.dilation.x = hardware_dilation(c->dilation.x);
	l.spread.y = c->dilation.y / l.dilation.y;
	l.spread.x = c->dilation.x / l.dilation.x;
	l.kernel.y = (c->kernel.y - 1) * l.spread.y + 1;
	l.kernel.x = (c->kernel.x - 1) * l.spread.x + 1;
	return l;
}

/* O,H,W,I in a blob: taps apart, a group's channels in its block of depth */
static struct g_weights *
made_weights(struct part *p, const struct conv *c, const struct layer *l)
{
	int32_t og = c->o / c->groups, o_n = og * l->n;
	int32_t depth = c->kind == OP_DEPTHWISE ? 1 : c->i * l->n;
	size_t row = (size_t)l->kernel.x * (size_t)depth;
	size_t all = (size_t)l->kernel.y * row;
	uint8_t *v = anew(p->a, uint8_t, all * (size_t)o_n);
	const uint8_t *from = c->weights->data.p;
	for (int32_t k = 0; k < o_n; k++) {
		int32_t o = l->first * og + k;
		int64_t start = c->kind == OP_DEPTHWISE ? 0 : k / og * c->i;
		uint8_t *to = v + (size_t)k * all;
		memset(to, (int)(uint8_t)weight_zero(c, o), all);
		for (int32_t y = 0; y < c->kernel.y; y++)
			for (int32_t x = 0; x < c->kernel.x; x++)
				for (int32_t i = 0; i < c->i; i++)
					to[(size_t)(y * l->spread.y) * row +
					   (size_t)(x * l->spread.x * depth) +
					   (size_t)(start + i)] =
					    from[c->first + o * c->strides[0] + y * c->strides[1] +
						 x * c->strides[2] + i * c->strides[3]];
	}
	struct g_weights *w = graph_add_g_weights(p->g);
	G_PUT(w, WEIGHTS, shape,
	      (struct g_shape){ .type = c->weights->type, .rank = 4,
				.dim = { o_n, l->kernel.y, l->kernel.x, depth } });
	G_PUT(w, WEIGHTS, name, c->weights->name);
	put_zeros(p, w, c, l->first * og, o_n);
	const char *name = arena_printf(p->a, "weights%d", w->rec.id);
	struct bytes b = { .p = v, .n = all * (size_t)o_n };
	G_PUT(w, WEIGHTS, source,
	      (struct g_source){ .blob = graph_add_blob(p->g, name, b)->name });
	return w;
}

struct g_weights *
layer_weights(struct part *p, const struct conv *c, const struct layer *l)
{
	if (l->spread.y > 1 || l->spread.x > 1 || l->n < c->groups || l->n > 1)
		return made_weights(p, c, l);
	return conv_weights(p, c, c->kernel, c->first, c->strides);
}

int32_t
layer_groups(const struct conv *c)
{
	return c->groups == 1 ? 1 : (GROUP_DEPTH + c->i - 1) / c->i;
}

/* ---- windows ------------------------------------------------------------------------ */

int
folded_pad(const struct part *p, const struct tfl_op *op, struct g_pad *pad)
{
	int producer = p->sg->tensor[op->in[0]].producer;
	if (producer < 0 || !p->op[producer].folded)
		return op->in[0];
	const struct tfl_op *before = &p->sg->op[producer];
	int64_t v[8];
	int n;
	(void)part_ints(part_in(p, before, 1), v, 8, &n);
	pad->top += (int32_t)v[2];
	pad->bottom += (int32_t)v[3];
	pad->left += (int32_t)v[4];
	pad->right += (int32_t)v[5];
	return before->in[0];
}

/* one direction of a window: all of the OFM, or a single position */
struct span {
	int32_t in, start, out, out_start, stride, before, after;
};

/*
 * A window of `reach` elements in `out` positions.  How much of the padding
 * behind the input they read follows from that: of a PAD there may be more, and
 * the hardware takes its number for the input's end.
 */
static struct span
whole_span(int32_t in, int32_t out, int32_t stride, int32_t before, int32_t reach)
{
	int32_t after = (out - 1) * stride + reach - before - in;
	/* one row or column of output: any stride is stride 1 */
	return (struct span){ .in = in, .out = out, .before = before,
			      .after = after > 0 ? after : 0,
			      .stride = out == 1 ? 1 : stride };
}

/* position k of s, whose window has `reach` elements */
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

static struct yx
reach_of(const struct conv *c)
{
	return (struct yx){ .y = (c->kernel.y - 1) * c->dilation.y + 1,
			    .x = (c->kernel.x - 1) * c->dilation.x + 1 };
}

struct job {
	struct g_operand ifm, ofm;
	struct layer layer;
	struct g_weights *w;
	struct g_scales *s;
};

static void
run_window(struct part *p, const struct conv *c, const struct job *j,
	   struct span y, struct span x)
{
	int32_t depth = c->i * j->layer.n, og = c->o / c->groups;
	if (c->kind == OP_DEPTHWISE)
		depth = c->o;
	struct hwc is = { .h = y.in, .w = x.in, .c = depth };
	struct hwc os = { .h = y.out, .w = x.out, .c = og * j->layer.n };
	if (c->kind == OP_DEPTHWISE)
		os.c = c->o;
	struct hwc i0 = { .h = y.start, .w = x.start, .c = c->i * j->layer.first };
	struct hwc o0 = { .h = y.out_start, .w = x.out_start,
			  .c = og * j->layer.first };
	struct g_op *o = low_op(p->l, c->kind, low_box(j->ifm, is, i0),
				 low_box(j->ofm, os, o0));
	struct g_pad pad = { .top = y.before, .bottom = y.after,
			     .left = x.before, .right = x.after };
	op_kernel(o, j->layer.kernel, (struct yx){ .y = y.stride, .x = x.stride },
		  j->layer.dilation, pad);
	conv_finish(o, c, j->w, j->s);
}

/* strides that the hardware does not have: one position after the other */
static void
run_windows(struct part *p, const struct conv *c, const struct job *j,
	    struct span y, struct span x)
{
	int32_t ny = y.stride > MAX_STRIDE ? y.out : 1;
	int32_t nx = x.stride > MAX_STRIDE ? x.out : 1;
	struct yx reach = reach_of(c);
	for (int32_t a = 0; a < ny; a++)
		for (int32_t b = 0; b < nx; b++)
			run_window(p, c, j, ny > 1 ? single_span(y, a, reach.y) : y,
				   nx > 1 ? single_span(x, b, reach.x) : x);
}

void
conv_windows(struct part *p, const struct tfl_op *op, const struct conv *c)
{
	struct window win = conv_window(c);
	int input = folded_pad(p, op, &win.pad);
	const struct tfl_tensor *in = &p->sg->tensor[input];
	struct g_operand ifm = part_ifm(p, input), ofm = part_ofm(p, op->out[0]);
	struct yx reach = reach_of(c);
	struct span y = whole_span(in->dim[1], win.out.y, c->stride.y, win.pad.top,
				   reach.y);
	struct span x = whole_span(in->dim[2], win.out.x, c->stride.x, win.pad.left,
				   reach.x);
	struct hwc is = { .h = in->dim[1], .w = in->dim[2], .c = in->dim[3] };
	struct hwc os = { .h = win.out.y, .w = win.out.x, .c = c->o };
	int32_t step = layer_groups(c);
	for (int32_t g = 0; g < c->groups; g += step) {
		int32_t n = c->groups - g < step ? c->groups - g : step;
		struct job j = { .layer = layer_of(c, g, n) };
		j.w = layer_weights(p, c, &j.layer);
		j.s = conv_scales(p, c, g * (c->o / c->groups),
				  n * (c->o / c->groups));
		for (int b = 0; b < c->ifm->dim[0]; b++) {
			struct hwc ib = { .h = b * is.h }, ob = { .h = b * os.h };
			j.ifm = low_box(ifm, is, ib);
			j.ofm = low_box(ofm, os, ob);
			run_windows(p, c, &j, y, x);
		}
	}
}
