/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transposed convolutions: nputools-lowering(7) 3.2.  OFM positions with the same
 * remainder modulo the stride use the same taps.  Each such phase is a plain
 * convolution with a part of the kernel, reversed, that writes every stride-th row and
 * column of the OFM.  No multiplications by inserted zeros remain, and any stride is
 * possible.
 */
#include "lower/convparts.h"

#include "base/fixed.h"

enum { MAX_PHASES = 1024 };

/* one phase of an axis: output positions at, at + stride, ... */
struct phase {
	int32_t first, n; /* taps first, first + stride, ... */
	int32_t out;	  /* number of output positions */
	int32_t start;	  /* first input position of the first output's window; may be
			   * negative */
};

static struct phase
phase_of(int32_t at, int64_t out, int32_t kernel, int32_t stride, int32_t before)
{
	int32_t from = at + before, r = from % stride;
	struct phase f = { .first = r < 0 ? r + stride : r };
	f.out = (int32_t)((out - at + stride - 1) / stride);
	f.n = f.first < kernel ? (kernel - f.first + stride - 1) / stride : 0;
	f.start = (from - f.first) / stride - (f.n ? f.n - 1 : 0);
	return f;
}

const char *
low_transconv_check(struct arena *a, const struct low_conv *c, const struct nd *in,
		    const struct nd *out)
{
	int64_t phases = min_i64(c->stride.y, out->dim[1]) *
			 min_i64(c->stride.x, out->dim[2]);
	struct low_conv most = *c;
	if (c->stride.y < 1 || c->stride.x < 1)
		return arena_printf(a, "stride %dx%d", c->stride.y, c->stride.x);
	if (phases > MAX_PHASES || phases * in->dim[0] > LOW_MAX_OPS)
		return arena_printf(a, "stride %dx%d would take %lld operations",
				    c->stride.y, c->stride.x,
				    (long long)(phases * in->dim[0]));
	most.kernel = (struct yx){ .y = ceil_div(c->kernel.y, c->stride.y),
				   .x = ceil_div(c->kernel.x, c->stride.x) };
	most.stride = (struct yx){ .y = 1, .x = 1 };
	most.pad = (struct g_pad){ 0 };
	if (!low_conv_fits(&most))
		return arena_printf(a, "kernel %dx%d of stride %dx%d", c->kernel.y,
				    c->kernel.x, c->stride.y, c->stride.x);
	return low_conv_check(a, &most, in, out);
}

/* Returns true if the phase has taps and one of its windows contains an input element. */
static bool
reads_input(const struct phase *f, int64_t in)
{
	return f->n && f->start < in && f->start + f->out - 1 + f->n > 0;
}

/*
 * Selects the input's rows (columns) of a phase, and computes the padding outside of
 * the input.
 */
static void
cut_input(struct nd *in, int axis, const struct phase *f, int32_t *before, int32_t *after)
{
	int32_t n = (int32_t)in->dim[axis], end = f->start + f->out - 1 + f->n;
	int32_t lo = f->start < 0 ? 0 : f->start, hi = end > n ? n : end;
	*before = lo - f->start;
	*after = end - hi;
	nd_slice(in, axis, lo, hi - lo, 1);
}

/*
 * Writes the bias only: a convolution with one tap of 0 that reads the same element
 * everywhere.
 */
static void
run_bias_only(struct lower *l, struct conv_job j, struct nd in, const struct nd *out)
{
	struct low_conv c = *j.c;
	c.kernel = (struct yx){ .y = 1, .x = 1 };
	c.pad = (struct g_pad){ 0 };
	c.i = 1;
	nd_slice(&in, 1, 0, out->dim[1], 0);
	nd_slice(&in, 2, 0, out->dim[2], 0);
	nd_slice(&in, 3, 0, 1, 1);
	j.c = &c;
	struct g_shape shape = { .type = c.weights.type, .rank = 4, .dim = { c.o, 1, 1, 1 } };
	struct bytes b = { .p = anew(l->a, uint8_t, (size_t)c.o), .n = (size_t)c.o };
	j.weights = low_weights_new(l, "weights", shape, b);
	G_PUT(j.weights, WEIGHTS, name, c.weights.name);
	conv_run(l, &j, &in, out);
}

static void
run_conv_phase(struct lower *l, struct conv_job j, struct nd in, const struct nd *out,
	  const struct phase *y, const struct phase *x)
{
	const struct conv_groups all = { .n = 1 };
	const struct low_conv *orig = j.c;
	struct low_conv c = *orig;
	c.stride = c.dilation = (struct yx){ .y = 1, .x = 1 };
	j.c = &c;
	if (!reads_input(y, in.dim[1]) || !reads_input(x, in.dim[2])) {
		run_bias_only(l, j, in, out);
		return;
	}
	/* the taps of the phase, in reverse order */
	struct low_weights *w = &c.weights;
	w->first += (y->first + (int64_t)(y->n - 1) * orig->stride.y) * w->stride[1] +
		    (x->first + (int64_t)(x->n - 1) * orig->stride.x) * w->stride[2];
	w->stride[1] *= -orig->stride.y;
	w->stride[2] *= -orig->stride.x;
	c.kernel = (struct yx){ .y = y->n, .x = x->n };
	cut_input(&in, 1, y, &c.pad.top, &c.pad.bottom);
	cut_input(&in, 2, x, &c.pad.left, &c.pad.right);
	struct nd to = *out;
	conv_exchange(&c, &in, &to);
	j.weights = conv_weights(l, &c, all);
	in = conv_input(l, &c, &in);
	conv_run(l, &j, &in, &to);
}

void
low_transconv(struct lower *l, const struct low_conv *c, const struct nd *in,
	      const struct nd *out, const struct low_end *end)
{
	const struct conv_groups all = { .n = 1 };
	struct conv_job j = { .c = c, .end = end };
	j.scales = conv_scales(l, c, all);
	for (int32_t a = 0; a < c->stride.y && a < out->dim[1]; a++)
		for (int32_t b = 0; b < c->stride.x && b < out->dim[2]; b++) {
			struct phase y = phase_of(a, out->dim[1], c->kernel.y,
						  c->stride.y, c->pad.top);
			struct phase x = phase_of(b, out->dim[2], c->kernel.x,
						  c->stride.x, c->pad.left);
			struct nd to = *out;
			nd_slice(&to, 1, a, y.out, c->stride.y);
			nd_slice(&to, 2, b, x.out, c->stride.x);
			run_conv_phase(l, j, *in, &to, &y, &x);
		}
}
