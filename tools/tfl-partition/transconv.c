/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TRANSPOSE_CONV: nputools-lowering(7) 3.2.  The positions of the OFM that have
 * the same remainder by the stride see the same taps, so each such phase is a
 * plain convolution with a part of the kernel, reversed, whose OFM has the
 * stride as its step.  No multiplication with an inserted zero is done, and
 * every stride is as good as any other.
 */
#include "conv.h"
#include "move.h"

#include <assert.h>

struct transposed {
	struct conv c;
	struct yx before; /* padding of the convolution that it transposes */
};

/* phase `at` of an axis: which taps, where they begin */
struct phase {
	int32_t first, n; /* taps first, first + stride, ... */
	int32_t out;	  /* positions at, at + stride, ... */
	int32_t start;	  /* IFM index of the window at the first position */
	int32_t pad_before, pad_after;
};

static struct phase
phase_of(int32_t at, int32_t in, int32_t out, int32_t k, int32_t stride,
	 int32_t before)
{
	struct phase f = { .first = (at + before) % stride };
	f.out = out > at ? (out - at + stride - 1) / stride : 0;
	f.n = f.first < k ? (k - f.first + stride - 1) / stride : 0;
	int32_t taps = f.n ? f.n : 1; /* none: one of zeros */
	f.start = (at + before - f.first) / stride - (taps - 1);
	int32_t end = f.start + f.out - 1 + taps;
	f.pad_before = f.start < 0 ? -f.start : 0;
	f.pad_after = end > in ? end - in : 0;
	return f;
}

static const char *
check_axis(const struct part *p, int32_t in, int32_t out, int32_t k,
	   int32_t stride, int32_t before)
{
	if (stride < 1 || stride > 16)
		return part_say(p, "stride %d", stride);
	for (int32_t at = 0; at < stride; at++) {
		struct phase f = phase_of(at, in, out, k, stride, before);
		if (f.out == 0)
			continue;
		int32_t taps = f.n ? f.n : 1;
		/* windows have to touch the IFM; without taps they may be moved */
		if (f.n && (f.pad_before >= taps || f.pad_after >= taps ||
			    f.start >= in))
			return "part of the OFM is out of the IFM's reach";
		if (taps > MAX_KERNEL_H)
			return part_say(p, "kernel %d of stride %d", k, stride);
	}
	return NULL;
}

static int32_t
pad_before(int padding, int32_t out, int32_t k, int32_t stride)
{
	if (padding != TFL_SAME || stride < 1)
		return 0;
	/* of the convolution from OFM to IFM */
	int64_t in = ceil_div(out, stride);
	int64_t total = (in - 1) * stride + k - out;
	return total > 0 ? (int32_t)(total / 2) : 0;
}

static const char *
read_transposed(const struct part *p, const struct tfl_op *op,
		struct transposed *t)
{
	*t = (struct transposed){ .c = { .kind = OP_CONV, .groups = 1, .wide = true } };
	const char *why = check_arity(p, op, 3, 4, 1);
	if (!why)
		why = check_options(p, op, &fb_TransposeConvOptions);
	if (why)
		return why;
	struct conv *c = &t->c;
	c->ifm = part_in(p, op, 2);
	c->weights = part_in(p, op, 1);
	c->bias = part_in(p, op, 3);
	c->ofm = part_out(p, op, 0);
	c->activation = (int)TFL_OPT(op, TransposeConvOptions, fused_activation_function);
	c->padding = (int)TFL_OPT(op, TransposeConvOptions, padding);
	c->stride.y = (int32_t)TFL_OPT(op, TransposeConvOptions, stride_h);
	c->stride.x = (int32_t)TFL_OPT(op, TransposeConvOptions, stride_w);
	const struct tfl_tensor *w = c->weights;
	if (c->ifm->rank != 4 || c->ofm->rank != 4 || w->rank != 4)
		return "IFM, weights and OFM must have 4 dimensions";
	if (c->padding != TFL_SAME && c->padding != TFL_VALID)
		return part_say(p, "padding %d", c->padding);
	c->kernel = map_yx(w);
	c->o = w->dim[0];
	c->i = w->dim[3];
	c->strides[3] = 1;
	c->strides[2] = c->i;
	c->strides[1] = (int64_t)c->kernel.x * c->i;
	c->strides[0] = c->kernel.y * c->strides[1];
	c->float_product = c->ifm->type == TFL_UINT8;
	if (c->ifm->dim[3] != c->i || c->ofm->dim[3] != c->o ||
	    c->ifm->dim[0] != c->ofm->dim[0])
		return "the shapes of IFM, weights and OFM do not match";
	struct yx in = map_yx(c->ifm), out = map_yx(c->ofm);
	t->before.y = pad_before(c->padding, out.y, c->kernel.y, c->stride.y);
	t->before.x = pad_before(c->padding, out.x, c->kernel.x, c->stride.x);
	why = check_axis(p, in.y, out.y, c->kernel.y, c->stride.y, t->before.y);
	if (!why)
		why = check_axis(p, in.x, out.x, c->kernel.x, c->stride.x, t->before.x);
	return why ? why : check_conv_common(p, op, c);
}

/* one tap of one channel that contributes nothing, for phases without any */
static struct g_weights *
no_weights(struct part *p, const struct conv *c)
{
	static const int64_t none[4] = { 0, 0, 0, 0 };
	struct yx one = { .y = 1, .x = 1 };
	struct conv single = *c;
	single.i = 1;
	struct g_weights *w = conv_weights(p, &single, one, 0, none);
	size_t n = (size_t)c->o;
	int64_t *zero = anew(p->a, int64_t, n);
	for (size_t o = 0; o < n; o++)
		zero[o] = c->weights->type == TFL_INT8
			      ? (int8_t)c->weights->data.p[0]
			      : c->weights->data.p[0];
	/* every weight is the first one's value, and that is zero */
	G_PUT(w, WEIGHTS, zero, (struct g_list){ .v = zero, .n = n });
	return w;
}

static struct g_weights *
phase_weights(struct part *p, const struct conv *c, const struct phase *y,
	      const struct phase *x)
{
	if (!y->n || !x->n)
		return no_weights(p, c);
	int64_t offset =
	    (y->first + (int64_t)(y->n - 1) * c->stride.y) * c->strides[1] +
	    (x->first + (int64_t)(x->n - 1) * c->stride.x) * c->strides[2];
	int64_t strides[4] = { c->strides[0], -c->stride.y * c->strides[1],
			       -c->stride.x * c->strides[2], c->strides[3] };
	return conv_weights(p, c, (struct yx){ .y = y->n, .x = x->n }, offset,
			    strides);
}

/* the IFM rows (columns) that an axis reads */
static void
cut(struct nd *v, int axis, const struct phase *f)
{
	int64_t lo = f->start < 0 ? 0 : f->start;
	int64_t hi = f->start + f->out - 1 + f->n - f->pad_after;
	nd_slice(v, axis, lo, hi - lo, 1);
}

static void
run_phase(struct part *p, const struct conv *c, const struct nd *in,
	  const struct nd *out, struct phase y, struct phase x, struct yx at,
	  struct g_scales *s)
{
	struct nd from = *in, to = *out;
	struct yx kernel = { .y = y.n, .x = x.n };
	struct g_pad pad = { .top = y.pad_before, .bottom = y.pad_after,
			     .left = x.pad_before, .right = x.pad_after };
	nd_slice(&to, 1, at.y, y.out, c->stride.y);
	nd_slice(&to, 2, at.x, x.out, c->stride.x);
	if (y.n && x.n) {
		cut(&from, 1, &y);
		cut(&from, 2, &x);
	} else { /* the bias alone: read one element all over */
		kernel = (struct yx){ .y = 1, .x = 1 };
		pad = (struct g_pad){ 0 };
		nd_slice(&from, 1, 0, y.out, 0);
		nd_slice(&from, 2, 0, x.out, 0);
		nd_slice(&from, 3, 0, 1, 1);
	}
	struct g_operand ifm, ofm;
	bool ok = nd_operand(&from, &ifm) && nd_operand(&to, &ofm);
	assert(ok);
	struct g_op *o = low_op(p->l, OP_CONV, ifm, ofm);
	struct yx one = { .y = 1, .x = 1 };
	op_kernel(o, kernel, one, one, pad);
	conv_finish(o, c, phase_weights(p, c, &y, &x), s);
}

static bool
lower_transposed(struct part *p, const struct tfl_op *op)
{
	struct transposed t;
	(void)read_transposed(p, op, &t);
	struct conv *c = &t.c;
	struct nd in = nd_ifm(p, op->in[2]), out = nd_ofm(p, op->out[0]);
	struct yx is = map_yx(c->ifm), os = map_yx(c->ofm), at;
	struct g_scales *s = conv_scales(p, c, 0, c->o);
	for (int64_t b = 0; b < in.dim[0]; b++) {
		struct nd from = in, to = out;
		nd_slice(&from, 0, b, 1, 1);
		nd_slice(&to, 0, b, 1, 1);
		for (at.y = 0; at.y < c->stride.y; at.y++)
			for (at.x = 0; at.x < c->stride.x; at.x++) {
				struct phase y = phase_of(at.y, is.y, os.y,
							  c->kernel.y,
							  c->stride.y, t.before.y);
				struct phase x = phase_of(at.x, is.x, os.x,
							  c->kernel.x,
							  c->stride.x, t.before.x);
				if (y.out && x.out)
					run_phase(p, c, &from, &to, y, x, at, s);
			}
	}
	return true;
}

static const char *
check_transposed(const struct part *p, const struct tfl_op *op)
{
	struct transposed t;
	return read_transposed(p, op, &t);
}

const struct family transconv_families[] = {
	{ .code = TFL_TRANSPOSE_CONV, .check = check_transposed,
	  .lower = lower_transposed, .direct = true },
	{ .code = 0 },
};
