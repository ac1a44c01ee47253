/* SPDX-License-Identifier: Apache-2.0 */
/* CONV2D, DEPTHWISE_CONV2D, TRANSPOSE_CONV2D. */
#include "part.h"

enum { GROUP = 16, MAX_WEIGHTS = 1 << 26 };

struct layer {
	const struct tosa_op *op;
	const struct tosa_tensor *w;
	struct tosa_window k;
	struct tail t;
	int64_t *bias;
	struct npu_scale *scale;
	struct nd in, out, room;
	int32_t ifm_zero, weight_zero, o;
};

/* bias and scale of every channel, places; NULL or why not */
static const char *
open_layer(struct part *p, const struct tosa_op *op, struct layer *y)
{
	const struct tosa_tensor *b = tosa_in(p->t, op, 2), *o = tosa_out(p->t, op);
	*y = (struct layer){ .op = op, .w = tosa_in(p->t, op, 1), .o = o->dim[3] };
	if (!y->w->data.p || !b->data.p)
		return "its weights or its bias are not constant";
	y->k = tosa_window_of(p->t, op);
	y->ifm_zero = (int32_t)tosa_zero_of(p->t, op, 3);
	y->weight_zero = (int32_t)tosa_zero_of(p->t, op, 4);
	y->t = tail_of(p, op->out[0], TAIL_SCALE | TAIL_CHANNELS);
	if (o->type == TOSA_INT48 && !y->t.scaled)
		return "its sums of 48 bits have another reader than one RESCALE to 8 or "
		       "16 bits";
	size_t n = (size_t)y->o;
	y->bias = anew(p->a, int64_t, n);
	y->scale = anew(p->a, struct npu_scale, n);
	for (int32_t k = 0; k < y->o; k++) {
		y->bias[k] = tosa_value(b, tosa_elements(b) > 1 ? k : 0);
		if (y->bias[k] < -(INT64_C(1) << 39) || y->bias[k] >= INT64_C(1) << 39)
			return "a bias does not fit 40 bits";
		y->scale[k] = tail_scale(&y->t, k);
	}
	y->out = result_place(p, y->t.out);
	y->room = room_map(p, &y->out);
	return NULL;
}

/* of a PAD that waits for its reader: its input, the padding is this one's */
static int
input_of(struct part *p, struct layer *y)
{
	int t = y->op->in[0], i = p->maker[t];
	if (p->value[t].t || p->t->tensor[t].data.p || i < 0 ||
	    p->t->op[i].code != TOSA_PAD)
		return t;
	const struct tosa_tensor *pad = tosa_in(p->t, &p->t->op[i], 1);
	for (int k = 0; k < 2; k++) {
		y->k.before[k] += (int32_t)tosa_value(pad, 2 * (1 + k));
		y->k.after[k] += (int32_t)tosa_value(pad, 2 * (1 + k) + 1);
	}
	return p->t->op[i].in[0];
}

static struct low_conv
conv_of(const struct layer *y)
{
	return (struct low_conv){
		.o = y->o, .ifm_zero = y->ifm_zero, .weight_zero = y->weight_zero,
		.kernel = { .y = y->k.kernel[0], .x = y->k.kernel[1] },
		.stride = { .y = y->k.stride[0], .x = y->k.stride[1] },
		.dilation = { .y = y->k.dilation[0], .x = y->k.dilation[1] },
		.pad = { .top = y->k.before[0], .bottom = y->k.after[0],
			 .left = y->k.before[1], .right = y->k.after[1] },
		.bias = y->bias, .scale = y->scale, .round = tail_round(&y->t),
		.name = y->w->name };
}

/* a window that sees padding alone would be an operation without an IFM */
static bool
sees_nothing(const struct low_conv *c)
{
	int32_t y = (c->kernel.y - 1) * c->dilation.y + 1;
	int32_t x = (c->kernel.x - 1) * c->dilation.x + 1;
	return c->pad.top >= y || c->pad.bottom >= y || c->pad.left >= x ||
	       c->pad.right >= x;
}

/* padding as elements of the input */
static struct nd
padded(struct part *p, struct low_conv *c, const struct nd *in)
{
	struct nd shape = *in;
	const int64_t before[4] = { 0, c->pad.top, c->pad.left };
	shape.dim[1] += c->pad.top + c->pad.bottom;
	shape.dim[2] += c->pad.left + c->pad.right;
	struct nd r = like(p, &shape, in->type);
	nd_pad(p->l, in, before, c->ifm_zero, &r);
	c->pad = (struct g_pad){ 0 };
	return r;
}

static const char *
run(struct part *p, const struct layer *y, const struct low_conv *conv,
    const struct nd *in, const struct nd *out)
{
	struct low_conv c = *conv;
	struct nd from = *in;
	struct finish f = { .p = p, .tail = &y->t, .round = c.round };
	if (sees_nothing(&c))
		from = padded(p, &c, in);
	const char *why = low_conv_check(p->a, &c, &from, out);
	if (!why)
		low_conv(p->l, &c, &from, out, finish_op, &f);
	return why;
}

static const char *
run_dense(struct part *p, struct layer *y)
{
	int64_t n = tosa_elements(y->w);
	struct low_conv c = conv_of(y);
	int8_t *w = anew(p->a, int8_t, (size_t)n);
	for (int64_t i = 0; i < n; i++)
		w[i] = (int8_t)tosa_value(y->w, i);
	c.weights = w;
	c.i = y->w->dim[3];
	return run(p, y, &c, &y->in, &y->room);
}

/* weights [KH,KW,C,M] of channels first to first + n: O is n * M, I as said */
static const int8_t *
deep_weights(struct part *p, const struct layer *y, int32_t first, int32_t n, int32_t depth)
{
	int32_t m = y->w->dim[3], c = y->w->dim[2];
	int64_t taps = (int64_t)y->w->dim[0] * y->w->dim[1];
	int8_t *w = anew(p->a, int8_t, (size_t)(taps * n * m * depth));
	memset(w, y->weight_zero & 0xff, (size_t)(taps * n * m * depth));
	for (int32_t o = 0; o < n * m; o++)
		for (int64_t k = 0; k < taps; k++)
			w[(o * taps + k) * depth + (depth > 1 ? o / m : 0)] =
			    (int8_t)tosa_value(y->w, (k * c + first) * m + o);
	return w;
}

static const char *
run_deep(struct part *p, struct layer *y)
{
	int32_t m = y->w->dim[3], channels = y->w->dim[2];
	struct low_conv c = conv_of(y);
	if (m == 1 || channels == 1) {
		c.deep = channels > 1;
		c.i = 1;
		c.weights = deep_weights(p, y, 0, channels, 1);
		return run(p, y, &c, &y->in, &y->room);
	}
	const char *why = NULL;
	for (int32_t k = 0; !why && k < channels; k += GROUP) {
		int32_t n = channels - k < GROUP ? channels - k : GROUP;
		struct nd from = y->in, to = y->room;
		struct low_conv part = c;
		nd_slice(&from, 3, k, n, 1);
		nd_slice(&to, 3, k * m, n * m, 1);
		part.o = n * m;
		part.i = n;
		part.bias += k * m;
		part.scale += k * m;
		part.weights = deep_weights(p, y, k, n, n);
		why = run(p, y, &part, &from, &to);
	}
	return why;
}

const char *
lower_conv(struct part *p, const struct tosa_op *op)
{
	struct layer y;
	const char *why = open_layer(p, op, &y);
	if (why)
		return why;
	struct nd in = value_of(p, input_of(p, &y));
	y.in = readable_map(p, &in);
	why = op->code == TOSA_CONV2D ? run_dense(p, &y) : run_deep(p, &y);
	deliver_map(p, &y.room, &y.out);
	return why;
}

/* ---- TRANSPOSE_CONV2D ----------------------------------------------------------------- */

/*
 * Results that are a stride apart see the same taps of the kernel, every stride-th
 * of them and backwards, at neighbouring inputs: a convolution for each phase.
 */
struct phase {
	int32_t first;	/* result */
	int32_t n;	/* results */
	int32_t tap, taps; /* first tap, and how many */
	int32_t start;	/* input under the first result's first tap; may be below 0 */
};

static struct phase
phase_of(const struct layer *y, int axis, int32_t first)
{
	int32_t s = y->k.stride[axis], kernel = y->k.kernel[axis];
	int32_t out = (int32_t)y->out.dim[1 + axis];
	int32_t at = first - y->k.before[axis];
	int32_t tap = at % s < 0 ? at % s + s : at % s;
	struct phase f = { .first = first, .n = (out - first + s - 1) / s, .tap = tap,
			   .taps = tap < kernel ? (kernel - tap + s - 1) / s : 0 };
	f.start = (at - tap) / s - (f.taps ? f.taps - 1 : 0);
	return f;
}

/* the input's rows (columns) under a phase, and padding where there are none */
static void
cut(struct nd *in, int axis, const struct phase *f, int32_t taps, int32_t *before,
    int32_t *after)
{
	int32_t n = (int32_t)in->dim[axis], end = f->start + f->n - 1 + taps;
	int32_t lo = f->start < 0 ? 0 : f->start, hi = end > n ? n : end;
	lo = lo > n - 1 ? n - 1 : lo;
	hi = hi <= lo ? lo + 1 : hi;
	*before = lo - f->start;
	*after = end - hi > 0 ? end - hi : 0;
	nd_slice(in, axis, lo, hi - lo, 1);
}

static const char *
run_phase(struct part *p, const struct layer *y, const struct phase *v,
	  const struct phase *h)
{
	struct low_conv c = conv_of(y);
	struct nd in = y->in, out = y->room;
	int32_t depth = y->w->dim[3], kw = y->k.kernel[1], ky, kx;
	bool none = !v->taps || !h->taps; /* the bias alone */
	ky = none ? 1 : v->taps;
	kx = none ? 1 : h->taps;
	int8_t *w = anew(p->a, int8_t, (size_t)y->o * (size_t)(ky * kx * depth)), *to = w;
	for (int32_t o = 0; !none && o < y->o; o++)
		for (int32_t a = ky; a-- > 0;)
			for (int32_t b = kx; b-- > 0;)
				for (int32_t i = 0; i < depth; i++) {
					int64_t row = v->tap + a * y->k.stride[0];
					int64_t col = h->tap + b * y->k.stride[1];
					int64_t k = ((o * (int64_t)y->k.kernel[0] + row) *
						     kw + col) * depth + i;
					*to++ = (int8_t)tosa_value(y->w, k);
				}
	if (none)
		memset(w, y->weight_zero & 0xff, (size_t)y->o * (size_t)depth);
	c.weights = w;
	c.i = depth;
	c.kernel = (struct yx){ .y = ky, .x = kx };
	c.stride = c.dilation = (struct yx){ .y = 1, .x = 1 };
	cut(&in, 1, v, ky, &c.pad.top, &c.pad.bottom);
	cut(&in, 2, h, kx, &c.pad.left, &c.pad.right);
	nd_slice(&out, 1, v->first, v->n, y->k.stride[0]);
	nd_slice(&out, 2, h->first, h->n, y->k.stride[1]);
	return run(p, y, &c, &in, &out);
}

const char *
lower_transpose_conv(struct part *p, const struct tosa_op *op)
{
	struct layer y;
	const char *why = open_layer(p, op, &y);
	if (why)
		return why;
	if (tosa_elements(y.w) > MAX_WEIGHTS)
		return "more than 2^26 weights";
	struct nd in = value_of(p, op->in[0]);
	y.in = readable_map(p, &in);
	for (int32_t a = 0; !why && a < y.k.stride[0] && a < y.out.dim[1]; a++)
		for (int32_t b = 0; !why && b < y.k.stride[1] && b < y.out.dim[2]; b++) {
			struct phase v = phase_of(&y, 0, a), h = phase_of(&y, 1, b);
			why = run_phase(p, &y, &v, &h);
		}
	deliver_map(p, &y.room, &y.out);
	return why;
}
