/* SPDX-License-Identifier: Apache-2.0 */
/* CONV2D, DEPTHWISE_CONV2D, TRANSPOSE_CONV2D. */
#include "part.h"

#include "lower/padding.h"

enum { MAX_EXTENT = 65536 };

struct layer {
	const struct tosa_op *op;
	struct low_conv c;
	struct tail t;
	struct nd in, out, dest;
};

struct low_conv
conv_window(const struct part *p, const struct tosa_op *op)
{
	struct tosa_window k = tosa_window_of(p->t, op);
	return (struct low_conv){
		.kind = OP_CONV, .groups = 1, .ifm_zero = (int32_t)tosa_zero_of(p->t, op, 3),
		.kernel = { .y = k.kernel[0], .x = k.kernel[1] },
		.stride = { .y = k.stride[0], .x = k.stride[1] },
		.dilation = { .y = k.dilation[0], .x = k.dilation[1] },
		.pad = { .top = k.before[0], .bottom = k.after[0],
			 .left = k.before[1], .right = k.after[1] } };
}

/* reads the convolution and its tail, and opens the result; returns NULL, or why not */
static const char *
open_layer(struct part *p, const struct tosa_op *op, struct layer *y)
{
	const struct tosa_tensor *w = tosa_in(p->t, op, 1), *b = tosa_in(p->t, op, 2);
	const struct tosa_tensor *o = tosa_out(p->t, op);
	bool deep = op->code == TOSA_DEPTHWISE_CONV2D;
	if (!w->data.p || !b->data.p)
		return "its weights or its bias are not constant";
	*y = (struct layer){ .op = op, .c = conv_window(p, op) };
	y->t = tail_of(p, op->out[0], TAIL_SCALE | TAIL_CHANNELS | TAIL_WORDS);
	if (o->type == TOSA_INT48 && !y->t.scaled)
		return "an operator other than RESCALE reads its sums of 48 bits";
	int32_t n = o->dim[3];
	int64_t *bias = anew(p->a, int64_t, (size_t)n);
	struct npu_scale *scale = anew(p->a, struct npu_scale, (size_t)n);
	for (int32_t i = 0; i < n; i++) {
		bias[i] = tosa_value(b, tosa_elements(b) > 1 ? i : 0);
		if (bias[i] < -(INT64_C(1) << 39) || bias[i] >= INT64_C(1) << 39)
			return "a bias does not fit 40 bits";
		scale[i] = tail_scale(&y->t, i);
	}
	y->c.o = n;
	y->c.i = w->dim[3];
	/* TOSA's order is O,H,W,I or, for a depthwise convolution, H,W,C,M with O = C * M */
	int64_t n_weights = tosa_elements(w), *zero = anew(p->a, int64_t, 1);
	uint8_t *v = anew(p->a, uint8_t, (size_t)n_weights);
	for (int64_t i = 0; i < n_weights; i++)
		v[i] = (uint8_t)tosa_value(w, i);
	zero[0] = tosa_zero_of(p->t, op, 4);
	int64_t depth = deep ? (int64_t)w->dim[2] * w->dim[3] : w->dim[3];
	int64_t row = (deep ? w->dim[1] : w->dim[2]) * depth;
	y->c.weights = (struct low_weights){
		.v = v, .type = TFL_INT8, .zero = zero, .n_zero = 1, .name = w->name,
		.stride = { deep ? 1 : w->dim[1] * row, row, depth, !deep } };
	y->c.bias = bias;
	y->c.scale = scale;
	y->c.round = tail_round(&y->t);
	if (deep) {
		y->c.i = 1;
		y->c.kind = w->dim[2] > 1 && n == w->dim[2] ? OP_DEPTHWISE : OP_CONV;
		y->c.groups = y->c.kind == OP_CONV ? w->dim[2] : 1;
	}
	y->out = result_view(p, y->t.out);
	y->dest = writable_fm(p, &y->out);
	return NULL;
}

/*
 * Makes all images of a 1x1 convolution, which computes all pixels alike, one image, or one
 * row of pixels if each image has a single pixel.
 */
static void
join_images(struct low_conv *c, struct nd *in, struct nd *out)
{
	struct nd from = *in, to = *out;
	struct g_operand any;
	bool matrix = c->kind == OP_CONV && c->groups == 1 && c->kernel.y == 1 &&
		      c->kernel.x == 1 && c->stride.y == 1 && c->stride.x == 1 && !c->pad.top &&
		      !c->pad.left && !c->pad.bottom && !c->pad.right;
	bool pixels = in->dim[1] * in->dim[2] == 1;
	int64_t h = pixels ? 1 : in->dim[0] * in->dim[1];
	int64_t w = pixels ? in->dim[0] : in->dim[2];
	int64_t d1[4] = { 1, h, w, in->dim[3] }, d2[4] = { 1, h, w, out->dim[3] };
	if (!matrix || (in->dim[0] == 1 && !pixels) || h > MAX_EXTENT || w > MAX_EXTENT ||
	    !nd_reshape(&from, d1, 4) || !nd_reshape(&to, d2, 4) || !nd_operand(&from, &any) ||
	    !nd_operand(&to, &any))
		return;
	c->kind = pixels ? OP_FC : OP_CONV;
	*in = from;
	*out = to;
}

struct scaling {
	struct part *p;
	const struct tail *t;
	const char *why; /* why scaling failed; NULL: it did not */
};

/* scales the sums of a kernel that is too large for one operation */
static void
scale_sums(void *ctx, const struct nd *sums, const struct nd *out)
{
	struct scaling *x = ctx;
	x->why = scale_to(x->p, sums, x->t, out);
}

const char *
lower_conv(struct part *p, const struct tosa_op *op)
{
	if (!tosa_in(p->t, op, 1)->data.p || !tosa_in(p->t, op, 2)->data.p)
		return lower_conv_product(p, op);
	struct layer y;
	const char *why = open_layer(p, op, &y);
	if (why)
		return why;
	struct nd in, out = y.dest;
	int32_t *at, tensor = op->in[0];
	const struct tosa_op *pad = folded_pad(p, tensor);
	if (pad) {
		const struct low_borders b = borders_of(p, pad);
		(void)low_conv_takes_pad(&y.c, &b);
		tensor = pad->in[0];
	}
	if (take_channels(p, tensor, &in, &at)) {
		/* weights for all channels of the feature map: channel i is its channel at[i] */
		int32_t channels = (int32_t)in.dim[3], *of = anew(p->a, int32_t, (size_t)channels);
		for (int32_t k = 0; k < channels; k++)
			of[k] = -1;
		for (int32_t i = 0; i < y.c.i; i++)
			of[at[i]] = i;
		y.c.weights.in = of;
		y.c.i = channels;
	} else {
		in = value_of(p, tensor);
		in = readable_fm(p, &in);
	}
	struct low_end end = tail_end(p, &y.t);
	struct scaling x = { .p = p, .t = &y.t };
	join_images(&y.c, &in, &out);
	why = low_conv_check(p->a, &y.c, &in, &out);
	if (why)
		return why;
	if (low_conv_fits(&y.c))
		low_conv(p->l, &y.c, &in, &out, &end);
	else
		low_conv_large(p->l, &y.c, &in, &out, scale_sums, &x);
	nd_deliver(p->l, &y.dest, &y.out);
	return x.why;
}

const char *
lower_transposed(struct part *p, const struct tosa_op *op)
{
	struct layer y;
	const char *why = open_layer(p, op, &y);
	if (why)
		return why;
	struct nd from = value_of(p, op->in[0]), in = readable_fm(p, &from);
	struct low_end end = tail_end(p, &y.t);
	/*
	 * out_pad moves results to higher positions, low_conv's pad moves windows
	 * to lower ones
	 */
	y.c.pad = (struct g_pad){ .top = -y.c.pad.top, .left = -y.c.pad.left };
	why = low_transconv_check(p->a, &y.c, &in, &y.dest);
	if (why)
		return why;
	low_transconv(p->l, &y.c, &in, &y.dest, &end);
	nd_deliver(p->l, &y.dest, &y.out);
	return NULL;
}
