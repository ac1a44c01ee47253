/* SPDX-License-Identifier: Apache-2.0 */
/* Gives tensors and operators of the network their integer types. */
#include "quantize.h"

#include "kernels/kernels.h"

static void
set_parameters(struct net *n, int t, const struct parameters *p)
{
	float *scale = anew(n->a, float, 1);
	int64_t *zero = anew(n->a, int64_t, 1);
	*scale = p->scale;
	*zero = p->zero;
	n->tensor[t].type = p->type;
	n->tensor[t].quant = (struct tfl_quant){ .n_scale = 1, .scale = scale, .n_zero = 1,
						 .zero = zero };
}

static struct range
range_of(const struct tfl_tensor *t)
{
	struct range r = { .lo = load_f32(t->data.p), .hi = load_f32(t->data.p) };
	for (int64_t i = 1; i < tfl_elements(t); i++) {
		float v = load_f32(t->data.p + 4 * i);
		r.lo = v < r.lo ? v : r.lo;
		r.hi = v > r.hi ? v : r.hi;
	}
	return r;
}

/* The input that a comparison in 16 bits compares with input k; -1: none that is computed */
static int
compared_with(const struct net *n, const struct tfl_op *o, int k, int type)
{
	int t = o->n_in == 2 ? o->in[1 - k] : -1;
	return type == TFL_INT16 && rule_of(o->code)->kind == RULE_COMPARE && t >= 0 &&
	       n->tensor[t].type == TFL_FLOAT32 && !n->tensor[t].data.p ? t : -1;
}

/*
 * Quantizes the constants that are no weights: with the scale of another tensor, or one of
 * their own.
 */
static void
convert_constants(struct net *n, int op, const struct parameters *p, int type)
{
	const struct tfl_op *o = &n->op[op].op;
	int *in = (int *)(uintptr_t)o->in;
	for (int k = 0; k < o->n_in; k++) {
		const struct tfl_tensor *t = in[k] < 0 ? NULL : &n->tensor[in[k]];
		if (!t || !t->data.p || t->type != TFL_FLOAT32)
			continue;
		enum rule_kind kind = rule_of(o->code)->kind;
		int with = compared_with(n, o, k, type);
		struct parameters own = kind == RULE_SAME	? p[o->out[0]]
					: kind == RULE_VARIABLE ? p[in[0]]
					: with >= 0		? p[with]
								: parameters_of(range_of(t), type);
		in[k] = quantize_constant(n, in[k], &own);
	}
}

/* Float inputs and outputs around the integer network, as TensorFlow has them. */
static void
add_float_interface(struct net *n)
{
	int n_in = 0;
	for (int k = 0; k < n->n_in; k++) {
		struct tfl_tensor t = n->tensor[n->in[k]];
		if (!t.quant.n_scale)
			continue;
		int own = net_add_tensor(n, &t), border = n->in[k];
		net_replace(n, border, own);
		n->tensor[own].name = arena_printf(n->a, "%s_int", t.name);
		n->tensor[border].type = TFL_FLOAT32;
		n->tensor[border].quant = (struct tfl_quant){ 0 };
		net_insert(n, n_in++, TFL_QUANTIZE, border, own);
	}
	for (int k = 0; k < n->n_out; k++) {
		struct tfl_tensor t = n->tensor[n->out[k]];
		if (!t.quant.n_scale)
			continue;
		const char *name = t.name;
		n->tensor[n->out[k]].name = arena_printf(n->a, "%s_int", name);
		t.type = TFL_FLOAT32;
		t.quant = (struct tfl_quant){ 0 };
		t.data = (struct bytes){ 0 };
		int border = net_add_tensor(n, &t);
		net_insert(n, n->n_ops, TFL_DEQUANTIZE, n->out[k], border);
		n->op[n->n_ops - 1].op.version = 2;
		n->out[k] = border;
	}
}

/*
 * TensorFlow Lite's LSTM has five tensors without elements.  The last one has the scale of
 * the output state; the others are not used without layer normalization.
 */
static void
add_intermediates(struct net *n, struct tfl_op *op, const struct parameters *p)
{
	enum { STATE = LSTM_N_GATES, COUNT };
	int *mid = anew(n->a, int, COUNT);
	for (int i = 0; i < COUNT; i++) {
		struct tfl_tensor t = { .type = TFL_FLOAT32, .rank = 1, .has_shape = true,
					.producer = -1 };
		t.name = arena_printf(n->a, "%s_intermediate%d", n->tensor[op->out[0]].name, i);
		mid[i] = net_add_tensor(n, &t);
	}
	set_parameters(n, mid[STATE], &p[op->out[0]]);
	op->mid = mid;
	op->n_mid = COUNT;
}

bool
convert(struct net *n, struct parameters *p, const struct ranges *ranges,
	const struct options *o, struct err *e)
{
	int n_tensors = n->n_tensors; /* constants are added behind these tensors */
	for (int i = 0; i < n->n_ops; i++) {
		const struct rule *r = rule_of(n->op[i].op.code);
		if (n->op[i].width == WIDTH_FLOAT)
			continue;
		bool weighted = r->kind == RULE_WEIGHTS || r->kind == RULE_SVDF ||
				r->kind == RULE_LSTM;
		if (weighted && !quantize_weights(n, i, p, ranges, o, e))
			return false;
		convert_constants(n, i, p, n->op[i].width == WIDTH_16 ? TFL_INT16 : TFL_INT8);
		if (r->version)
			n->op[i].op.version = r->version;
		if (r->kind == RULE_LSTM)
			add_intermediates(n, &n->op[i].op, p);
	}
	for (int k = 0; k < n->n_variables; k++)
		n->variable[k].value = quantize_constant(n, n->variable[k].value,
							 &p[n->variable[k].handle]);
	for (int t = 0; t < n_tensors; t++) {
		if (p[t].scale > 0 && n->tensor[t].type == TFL_FLOAT32)
			set_parameters(n, t, &p[t]);
		if (n->tensor[t].type == TFL_FLOAT32)
			n->tensor[t].quant = (struct tfl_quant){ 0 };
	}
	if (o->interface == INTERFACE_FLOAT)
		add_float_interface(n);
	return true;
}
