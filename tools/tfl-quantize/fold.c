/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folds operators into the operator that computes their input, if nobody else reads this
 * input: RELU and its like become fused activations; MUL, ADD and SUB by constants change
 * the weights and the bias.  PAD becomes the padding of the convolution that reads its
 * output.
 */
#include "quantize.h"

#include "real/real.h"

#include <string.h>

/* the operator that writes t, if one other operator alone reads t; otherwise NULL */
static struct net_op *
sole_producer(struct net *n, int t)
{
	return net_count_users(n, t) == 1 ? net_producer(n, t) : NULL;
}

static bool
takes_activation(const struct net_op *o)
{
	int code = o->op.code;
	bool kind = code == TFL_ADD || code == TFL_SUB || code == TFL_MUL || code == TFL_DIV ||
		    rule_of(code)->kind == RULE_WEIGHTS;
	int slot = net_option_slot(&o->op, "fused_activation_function");
	return kind && slot >= 0 && net_activation(o) == TFL_ACT_NONE;
}

/* Gives the output of `gone` to `heir`. */
static void
merge(struct net_op *heir, struct net_op *gone, int activation)
{
	heir->activation = activation;
	*(int *)(uintptr_t)heir->op.out = gone->op.out[0];
	gone->removed = true;
}

static void
fold_activation(struct net *n, struct net_op *o)
{
	int activation = o->op.code == TFL_RELU		? TFL_ACT_RELU
			 : o->op.code == TFL_RELU6	? TFL_ACT_RELU6
			 : o->op.code == TFL_RELU_N1_TO_1 ? TFL_ACT_RELU_N1_TO_1
							: TFL_ACT_NONE;
	if (activation == TFL_ACT_NONE || o->op.n_in != 1 || o->op.n_out != 1)
		return;
	struct net_op *p = sole_producer(n, o->op.in[0]);
	if (p && takes_activation(p))
		merge(p, o, activation);
}

/* ---- constants ---------------------------------------------------------------------- */

static const struct tfl_tensor *
float_constant(const struct net *n, const struct tfl_op *op, int k)
{
	const struct tfl_tensor *t = net_input(n, op, k);
	return t && t->data.p && t->type == TFL_FLOAT32 && !t->is_sparse ? t : NULL;
}

static int
add_floats(struct net *n, const struct tfl_tensor *like, uint8_t *p)
{
	struct tfl_tensor t = *like;
	t.data = (struct bytes){ .p = p, .n = (size_t)tfl_elements(&t) * 4 };
	return net_add_tensor(n, &t);
}

/* Multiplies the weights of the layer before by m, and makes its bias bias * m + b. */
static void
fold_constant(struct net *n, struct net_op *o)
{
	int code = o->op.code;
	if ((code != TFL_MUL && code != TFL_ADD && code != TFL_SUB) || o->op.n_in != 2 ||
	    o->op.n_out != 1)
		return;
	int side = float_constant(n, &o->op, 1) ? 1 : 0;
	const struct tfl_tensor *c = float_constant(n, &o->op, side);
	if (!c || (code == TFL_SUB && side == 0) || o->op.in[1 - side] < 0 || net_activation(o) < 0)
		return;

	/* the layer: an operator with weights */
	struct net_op *layer = sole_producer(n, o->op.in[1 - side]);
	if (!layer || rule_of(layer->op.code)->kind != RULE_WEIGHTS || !takes_activation(layer))
		return;
	struct tfl_op *op = &layer->op;
	const struct rule *r = rule_of(op->code);
	const struct tfl_tensor *w = float_constant(n, op, r->weights);
	const struct tfl_tensor *old = float_constant(n, op, r->bias); /* NULL: no bias */
	int axis = r->axis < 0 ? 0 : r->axis;
	bool has_bias = r->bias < op->n_in && op->in[r->bias] >= 0;
	if (!w || (has_bias && !old) || axis >= w->rank || op->n_in < r->bias)
		return;
	int32_t channels = w->dim[axis];
	if (old && tfl_elements(old) != channels)
		return;

	/* the constant: one value, or one for each of the channels, which are the last dimension */
	const struct tfl_tensor *out = &n->tensor[o->op.out[0]];
	const struct tfl_tensor *x = &n->tensor[o->op.in[1 - side]];
	int64_t n_values = tfl_elements(c);
	bool fits = n_values == 1 || (n_values == channels && out->rank &&
				      out->dim[out->rank - 1] == channels &&
				      c->dim[c->rank - 1] == channels);
	if (!fits || out->rank != x->rank || tfl_elements(out) != tfl_elements(x))
		return;
	float *m = anew(n->a, float, (size_t)channels + 1);
	float *b = anew(n->a, float, (size_t)channels + 1);
	for (int32_t i = 0; i < channels; i++) {
		float v = load_f32(c->data.p + (n_values > 1 ? 4 * i : 0));
		m[i] = code == TFL_MUL ? v : 1;
		b[i] = code == TFL_MUL ? 0 : code == TFL_ADD ? v : -v;
	}

	int64_t inner = 1;
	for (int d = axis + 1; d < w->rank; d++)
		inner *= w->dim[d];
	uint8_t *wp = arena_alloc(n->a, (size_t)tfl_elements(w) + 1, 4);
	for (int64_t i = 0; i < tfl_elements(w); i++)
		store_f32(wp + 4 * i, load_f32(w->data.p + 4 * i) * m[i / inner % channels]);
	uint8_t *bp = arena_alloc(n->a, (size_t)channels + 1, 4);
	for (int32_t i = 0; i < channels; i++) {
		float v = old ? load_f32(old->data.p + 4 * i) : 0;
		store_f32(bp + 4 * i, v * m[i] + b[i]);
	}
	struct tfl_tensor bias = { .name = arena_printf(n->a, "%s_bias", w->name),
				   .type = TFL_FLOAT32, .rank = 1, .dim = { channels },
				   .has_shape = true, .producer = -1 };
	bias = old ? *old : bias;
	int *in = anew(n->a, int, (size_t)r->bias + 1);
	memcpy(in, op->in, (size_t)(op->n_in < r->bias ? op->n_in : r->bias) * sizeof(*in));
	in[r->weights] = add_floats(n, w, wp);
	in[r->bias] = add_floats(n, &bias, bp);
	op->in = in;
	op->n_in = r->bias + 1;
	merge(layer, o, net_activation(o));
}

/* ---- padding ------------------------------------------------------------------------ */

static void
fold_padding(struct net *n, struct net_op *o)
{
	enum { RANK = 4, BOTH = 2, HEIGHT = 1, WIDTH = 2 };
	const struct tfl_op *op = &o->op;
	bool takes = op->code == TFL_CONV_2D || op->code == TFL_DEPTHWISE_CONV_2D;
	struct net_op *pad = takes && op->n_in >= 2 && op->in[0] >= 0 && op->n_out == 1
				 ? sole_producer(n, op->in[0]) : NULL;
	int64_t by[RANK * BOTH];
	int count;
	if (!pad || pad->op.code != TFL_PAD || pad->op.n_in != 2 || pad->op.in[0] < 0 ||
	    pad->op.in[1] < 0 || op->in[1] < 0 || net_option_slot(op, "padding") < 0 ||
	    fb_int(op->options, net_option_slot(op, "padding")) != TFL_VALID ||
	    !real_ints(&n->tensor[pad->op.in[1]], by, RANK * BOTH, &count) || count != RANK * BOTH)
		return;
	const struct tfl_tensor *in = &n->tensor[pad->op.in[0]], *w = &n->tensor[op->in[1]];
	const struct tfl_tensor *out = &n->tensor[op->out[0]];
	if (in->rank != RANK || w->rank != RANK || out->rank != RANK || by[0] || by[1] || by[6] ||
	    by[7])
		return;
	/* PAD must add what SAME adds on each axis; VALID leaves needless elements at the end */
	for (int d = HEIGHT; d <= WIDTH; d++) {
		const char *stride_name = d == HEIGHT ? "stride_h" : "stride_w";
		int64_t stride = fb_int(op->options, net_option_slot(op, stride_name));
		int slot = net_option_slot(op, d == HEIGHT ? "dilation_h_factor" : "dilation_w_factor");
		int64_t dilation = slot < 0 ? 1 : fb_int(op->options, slot);
		int64_t all = (out->dim[d] - 1) * stride + (w->dim[d] - 1) * dilation + 1 - in->dim[d];
		all = all > 0 ? all : 0;
		if (stride <= 0 || out->dim[d] != (in->dim[d] + stride - 1) / stride ||
		    by[d * BOTH] != all / 2 || by[d * BOTH + 1] < all - all / 2)
			return;
	}
	((int *)(uintptr_t)op->in)[0] = pad->op.in[0];
	pad->removed = true;
	o->padding = TFL_SAME;
}

void
fold_operators(struct net *n)
{
	for (int i = 0; i < n->n_ops; i++) {
		if (!n->op[i].removed)
			fold_padding(n, &n->op[i]);
		if (!n->op[i].removed)
			fold_constant(n, &n->op[i]);
		if (!n->op[i].removed)
			fold_activation(n, &n->op[i]);
	}
}
