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
		/* the other constants get the scale of another tensor, or one of their own */
		const struct tfl_op *op = &n->op[i].op;
		int *in = (int *)(uintptr_t)op->in;
		int type = n->op[i].width == WIDTH_16 ? TFL_INT16 : TFL_INT8;
		for (int k = 0; k < op->n_in; k++) {
			const struct tfl_tensor *t = in[k] < 0 ? NULL : &n->tensor[in[k]];
			if (!t || !t->data.p || t->type != TFL_FLOAT32)
				continue;
			/* what a comparison in 16 bits compares with the constant */
			const struct tfl_tensor *with =
				op->n_in == 2 && type == TFL_INT16 && r->kind == RULE_COMPARE
					? net_input(n, op, 1 - k) : NULL;
			bool is_compared = with && with->type == TFL_FLOAT32 && !with->data.p;
			struct parameters own = r->kind == RULE_SAME	   ? p[op->out[0]]
						: r->kind == RULE_VARIABLE ? p[in[0]]
						: is_compared ? p[in[1 - k]]
							      : parameters_of(range_of(t), type);
			in[k] = quantize_constant(n, in[k], &own);
		}
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
