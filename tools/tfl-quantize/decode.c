/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a model FLOAT32 throughout: FLOAT16 weights behind DEQUANTIZE, and integer weights
 * of float operators, become FLOAT32 constants.  Operators whose inputs are constants,
 * such as those that compute a shape, become constants, too.
 */
#include "quantize.h"

#include "kernels/kernels.h"
#include "real/real.h"

#include <math.h>
#include <string.h>

static double
half_value(uint16_t h)
{
	int exponent = h >> 10 & 31, part = h & 1023;
	double v = exponent == 31 ? (part ? NAN : INFINITY)
		   : exponent	  ? ldexp(1024 + part, exponent - 25)
				  : ldexp(part, -24);
	return h >> 15 ? -v : v;
}

/* Replaces the value of a constant by FLOAT32. */
static void
make_floats(struct net *n, struct tfl_tensor *t)
{
	size_t count = (size_t)tfl_elements(t);
	uint8_t *p = arena_alloc(n->a, count + 1, sizeof(float));
	double *v = anew(n->a, double, count + 1);
	if (t->type == TFL_FLOAT16)
		for (size_t i = 0; i < count; i++)
			v[i] = half_value(load_le16(t->data.p + 2 * i));
	else
		real_from_elements(t, t->data.p, v);
	for (size_t i = 0; i < count; i++)
		store_f32(p + 4 * i, (float)v[i]);
	t->data = (struct bytes){ .p = p, .n = 4 * count };
	t->type = TFL_FLOAT32;
	t->quant = (struct tfl_quant){ 0 };
}

static bool
is_weights(const struct tfl_tensor *t)
{
	bool type = t->type == TFL_INT8 || t->type == TFL_UINT8 || t->type == TFL_INT16;
	return t->data.p && !t->is_sparse &&
	       (t->type == TFL_FLOAT16 || (type && t->quant.n_scale && !t->quant.other));
}

static bool
makes_floats(const struct net *n, const struct tfl_op *op)
{
	return op->n_out && n->tensor[op->out[0]].type == TFL_FLOAT32;
}

static void
decode_weights(struct net *n)
{
	for (int i = 0; i < n->n_ops; i++) {
		const struct tfl_op *op = &n->op[i].op;
		for (int k = 0; makes_floats(n, op) && k < op->n_in; k++)
			if (op->in[k] >= 0 && is_weights(&n->tensor[op->in[k]]))
				make_floats(n, &n->tensor[op->in[k]]);
		if (op->code != TFL_DEQUANTIZE || op->n_in != 1 || op->n_out != 1)
			continue;
		const struct tfl_tensor *t = op->in[0] < 0 ? NULL : &n->tensor[op->in[0]];
		if (t && t->data.p && t->type == TFL_FLOAT32) {
			net_replace(n, op->out[0], op->in[0]);
			n->op[i].removed = true;
		}
	}
}

/* ---- constant shapes ---------------------------------------------------------------- */

static bool
is_constant(const struct net *n, const struct tfl_op *op)
{
	for (int k = 0; k < op->n_in; k++)
		if (op->in[k] >= 0 && op->code != TFL_SHAPE && !n->tensor[op->in[k]].data.p)
			return false;
	for (int k = 0; k < op->n_out; k++)
		if (n->tensor[op->out[k]].type == TFL_FLOAT32 ||
		    tfl_bytes(&n->tensor[op->out[k]]) < 1)
			return false;
	return op->n_in > 0 && op->n_out > 0 && kernel_exists(op->code);
}

/* Replaces an operator by the values of its outputs. */
static void
compute_constant(struct net *n, struct net_op *o)
{
	struct tfl_subgraph g = n->m->subgraph[0];
	void **in = anew(n->a, void *, (size_t)o->op.n_in);
	void **out = anew(n->a, void *, (size_t)o->op.n_out);
	struct err e = { 0 };
	g.tensor = n->tensor;
	for (int k = 0; k < o->op.n_in; k++)
		if (o->op.in[k] >= 0)
			in[k] = (void *)(uintptr_t)n->tensor[o->op.in[k]].data.p;
	for (int k = 0; k < o->op.n_out; k++)
		out[k] = arena_alloc(n->a, (size_t)tfl_bytes(&n->tensor[o->op.out[k]]), 1);
	const struct kernel_io io = { .in = in, .out = out };
	if (!kernel_eval(&g, &o->op, &io, &e))
		return;
	for (int k = 0; k < o->op.n_out; k++) {
		struct tfl_tensor *t = &n->tensor[o->op.out[k]];
		t->data = (struct bytes){ .p = out[k], .n = (size_t)tfl_bytes(t) };
		t->producer = -1;
	}
	o->removed = true;
}

bool
decode_model(struct arena *a, const struct tfl_model *m, const struct options *o,
	     struct tfl_model **out, struct err *e)
{
	struct net *n = net_open(a, m);
	struct bytes file;
	decode_weights(n);
	for (int i = 0; i < n->n_ops; i++)
		if (!n->op[i].removed && is_constant(n, &n->op[i].op))
			compute_constant(n, &n->op[i]);
	if (!o->no_fold)
		fold_operators(n);
	if (o->equalize)
		equalize_layers(n);
	return net_write(n, &file, e) && model_read(a, file, m->name, out, e);
}
