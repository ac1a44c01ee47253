/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a model FLOAT32 throughout: FLOAT16 weights behind DEQUANTIZE, integer weights of
 * float operators, and integer operators of a partly quantized model, become FLOAT32.
 * Operators whose inputs are constants, such as those that compute a shape, become
 * constants, too.
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
is_integer(const struct tfl_tensor *t)
{
	bool type = t->type == TFL_INT8 || t->type == TFL_UINT8 || t->type == TFL_INT16;
	return type && t->quant.n_scale && !t->quant.other && !t->is_sparse;
}

static void
decode_weights(struct net *n)
{
	for (int i = 0; i < n->n_ops; i++) {
		const struct tfl_op *op = &n->op[i].op;
		bool makes_floats = op->n_out && n->tensor[op->out[0]].type == TFL_FLOAT32;
		for (int k = 0; makes_floats && k < op->n_in; k++) {
			struct tfl_tensor *w = net_input(n, op, k);
			bool is_half = w && w->type == TFL_FLOAT16 && !w->is_sparse;
			if (w && w->data.p && (is_half || is_integer(w)))
				make_floats(n, w);
		}
		if (op->code != TFL_DEQUANTIZE || op->n_in != 1 || op->n_out != 1)
			continue;
		const struct tfl_tensor *t = op->in[0] < 0 ? NULL : &n->tensor[op->in[0]];
		if (t && t->data.p && t->type == TFL_FLOAT32) {
			net_replace(n, op->out[0], op->in[0]);
			n->op[i].removed = true;
		}
	}
}

/* ---- partly quantized models -------------------------------------------------------- */

/*
 * Dequantizes the bias: its scale is that of the input times that of the weights, whatever
 * scale its own tensor has.
 */
static void
decode_bias(struct net *n, const struct tfl_op *op, int input, int weights, int bias)
{
	const struct tfl_tensor *x = NULL, *w = NULL;
	struct tfl_tensor *b = net_input(n, op, bias);
	if (b && (b->type == TFL_INT32 || b->type == TFL_INT64) && b->data.p) {
		x = net_input(n, op, input);
		w = net_input(n, op, weights);
	}
	if (!x || !w || x->quant.n_scale != 1 || w->quant.n_scale < 1)
		return;
	size_t count = (size_t)tfl_elements(b);
	uint8_t *p = arena_alloc(n->a, count + 1, sizeof(float));
	for (size_t i = 0; i < count; i++) {
		size_t c = w->quant.n_scale > 1 ? i % (size_t)w->quant.n_scale : 0;
		double scale = (double)x->quant.scale[0] * (double)w->quant.scale[c];
		store_f32(p + 4 * i, (float)(scale * (double)tfl_integer(b->type, b->data.p,
									 (int64_t)i)));
	}
	b->data = (struct bytes){ .p = p, .n = 4 * count };
	b->type = TFL_FLOAT32;
	b->quant = (struct tfl_quant){ 0 };
}

/*
 * Turns the integer part of a partly quantized model into floats.  Its feature maps keep
 * their scales: calibrate() does not change these.
 */
static void
decode_integers(struct net *n)
{
	enum { SVDF_TIME = 2, SVDF_BIAS, SVDF_STATE };
	for (int i = 0; i < n->n_tensors; i++)
		if (n->tensor[i].type == TFL_FLOAT32)
			n->tensor[i].quant = (struct tfl_quant){ 0 };
	for (int i = 0; i < n->n_ops; i++) {
		const struct tfl_op *op = &n->op[i].op;
		const struct rule *r = rule_of(op->code);
		bool svdf = r->kind == RULE_SVDF && op->n_in > SVDF_STATE;
		if (r->kind == RULE_WEIGHTS && op->n_in > r->weights && op->n_in > r->input)
			decode_bias(n, op, r->input, r->weights, r->bias);
		if (svdf)
			decode_bias(n, op, SVDF_STATE, SVDF_TIME, SVDF_BIAS);
		for (int g = 0; r->kind == RULE_LSTM && g < LSTM_N_GATES && op->n_in > LSTM_CELL; g++)
			decode_bias(n, op, LSTM_X, LSTM_WEIGHTS + g, LSTM_BIAS + g);
	}
	for (int i = 0; i < n->n_tensors; i++) {
		struct tfl_tensor *t = &n->tensor[i];
		if (!is_integer(t))
			continue;
		if (t->data.p) {
			make_floats(n, t);
			continue;
		}
		/* a feature map of 8 bits keeps its scale; its zero point becomes that of INT8 */
		enum { UINT8_OFFSET = 128 };
		bool is_unsigned = t->type == TFL_UINT8;
		int64_t *zero = anew(n->a, int64_t, 1);
		*zero = (t->quant.n_zero ? t->quant.zero[0] : 0) - (is_unsigned ? UINT8_OFFSET : 0);
		bool keeps = (is_unsigned || t->type == TFL_INT8) && t->quant.n_scale == 1 &&
			     *zero >= INT8_MIN && *zero <= INT8_MAX && t->quant.scale[0] > 0 &&
			     isfinite(t->quant.scale[0]);
		t->type = TFL_FLOAT32;
		if (keeps)
			t->quant = (struct tfl_quant){ .n_scale = 1, .scale = t->quant.scale,
						       .n_zero = 1, .zero = zero };
		else
			t->quant = (struct tfl_quant){ 0 };
	}
	/* remove QUANTIZE and DEQUANTIZE, whose input and output are floats now */
	for (int i = 0; i < n->n_ops; i++) {
		struct net_op *o = &n->op[i];
		bool converts = o->op.code == TFL_QUANTIZE || o->op.code == TFL_DEQUANTIZE;
		if (!converts || o->op.n_in != 1 || o->op.n_out != 1 || o->op.in[0] < 0)
			continue;
		struct tfl_tensor *in = &n->tensor[o->op.in[0]], *out = &n->tensor[o->op.out[0]];
		if (in->type != TFL_FLOAT32 || out->type != TFL_FLOAT32 || in->data.p)
			continue;
		if (!in->quant.n_scale)
			in->quant = out->quant;
		bool is_input = false;
		for (int k = 0; k < n->n_in; k++)
			is_input |= n->in[k] == o->op.in[0];
		for (int k = 0; k < n->n_out; k++)
			if (n->out[k] == o->op.out[0] && !is_input)
				in->name = out->name;
		net_replace(n, o->op.out[0], o->op.in[0]);
		o->removed = true;
	}
}

/* ---- constants ---------------------------------------------------------------------- */

static bool
has_constant_inputs(const struct net *n, const struct tfl_op *op)
{
	enum { MOST = 1 << 26 }; /* bytes */
	bool any = false;
	for (int k = 0; k < op->n_in; any |= op->in[k++] >= 0)
		if (op->in[k] >= 0 && op->code != TFL_SHAPE && !n->tensor[op->in[k]].data.p)
			return false;
	for (int k = 0; k < op->n_out; k++)
		if (tfl_bytes(&n->tensor[op->out[k]]) < 1 || tfl_bytes(&n->tensor[op->out[k]]) > MOST)
			return false;
	return any && op->n_out > 0;
}

/* Replaces an operator by values[k] of its outputs. */
static void
become_constant(struct net *n, struct net_op *o, void *const *values)
{
	for (int k = 0; k < o->op.n_out; k++) {
		struct tfl_tensor *t = &n->tensor[o->op.out[k]];
		t->data = (struct bytes){ .p = values[k], .n = (size_t)tfl_bytes(t) };
		t->producer = -1;
	}
	o->removed = true;
}

/* Computes integers, such as a shape, and FILL, the first state of an unrolled LSTM. */
static void
compute_integers(struct net *n, struct net_op *o)
{
	struct tfl_subgraph g = n->m->subgraph[0];
	void **in = anew(n->a, void *, (size_t)o->op.n_in);
	void **out = anew(n->a, void *, (size_t)o->op.n_out);
	struct err e = { 0 };
	bool floats = false;
	for (int k = 0; k < o->op.n_out; k++)
		floats |= n->tensor[o->op.out[k]].type == TFL_FLOAT32;
	if ((floats && o->op.code != TFL_FILL) || !kernel_exists(o->op.code))
		return;
	g.tensor = n->tensor;
	for (int k = 0; k < o->op.n_in; k++)
		if (o->op.in[k] >= 0)
			in[k] = (void *)(uintptr_t)n->tensor[o->op.in[k]].data.p;
	for (int k = 0; k < o->op.n_out; k++)
		out[k] = arena_alloc(n->a, (size_t)tfl_bytes(&n->tensor[o->op.out[k]]), 1);
	const struct kernel_io io = { .in = in, .out = out };
	if (kernel_eval(&g, &o->op, &io, &e))
		become_constant(n, o, out);
}

/* true if real_run() computes a constant, and does not depend on what ran before */
static bool
is_constant_float(const struct net *n, const struct tfl_op *op)
{
	enum rule_kind kind = rule_of(op->code)->kind;
	bool ok = (kind == RULE_FREE || kind == RULE_SAME || kind == RULE_FIXED ||
		   kind == RULE_WEIGHTS) && has_constant_inputs(n, op);
	for (int k = 0; k < op->n_out && ok; k++) {
		ok = n->tensor[op->out[k]].type == TFL_FLOAT32;
		for (int i = 0; i < n->n_out; i++)
			ok &= n->out[i] != op->out[k];
	}
	return ok;
}

/* Gives operators that were changed the options of a file. */
static bool
reopen(struct net **net, struct err *e)
{
	struct net *n = *net;
	struct tfl_model *m;
	struct bytes file;
	if (!net_write(n, &file, e) || !model_read(n->a, file, n->m->name, &m, e))
		return false;
	*net = net_open(n->a, m);
	return net_find_variables(*net, e);
}

/* Makes operators whose inputs are constants constants, too. */
static bool
compute_constants(struct net **net, struct err *e)
{
	struct net *n = *net;
	bool any = false;
	for (int i = 0; i < n->n_ops; i++) {
		if (!n->op[i].removed && has_constant_inputs(n, &n->op[i].op))
			compute_integers(n, &n->op[i]);
		any |= !n->op[i].removed && is_constant_float(n, &n->op[i].op);
	}
	if (!any)
		return true;
	if (!reopen(net, e))
		return false;
	n = *net;
	struct arena *scratch = arena_open();
	struct options check = { .allow = true };
	struct op_plan *plan;
	struct err bare = { 0 };
	/* FLOAT32: rules_check() checks the shapes of these operators */
	struct real *real = rules_check(scratch, n->m, &check, &plan, &bare)
				    ? real_share(scratch, open_real(scratch, n->m), REAL_NEEDED)
				    : NULL;
	for (int i = 0; real && i < n->n_ops; i++) {
		const struct tfl_op *op = &n->op[i].op;
		if (!plan[i].computed || !is_constant_float(n, op))
			continue;
		void **out = anew(n->a, void *, (size_t)op->n_out);
		real_run(real, i);
		for (int k = 0; k < op->n_out; k++) {
			const struct tfl_tensor *t = &n->tensor[op->out[k]];
			uint8_t *p = arena_alloc(n->a, (size_t)tfl_bytes(t), sizeof(float));
			for (int64_t j = 0; j < tfl_elements(t); j++)
				store_f32(p + 4 * j, (float)real->value[op->out[k]][j]);
			out[k] = p;
		}
		become_constant(n, &n->op[i], out);
	}
	arena_close(scratch);
	return true;
}

bool
decode_model(struct arena *a, const struct tfl_model *m, const struct options *o,
	     struct tfl_model **out, struct err *e)
{
	struct net *n = net_open(a, m);
	struct bytes file;
	if (!net_find_variables(n, e) || !net_make_dense(n, e))
		return false;
	/* an input with constant data is a constant, as for TensorFlow Lite */
	int n_in = 0;
	for (int k = 0; k < n->n_in; k++)
		if (!n->tensor[n->in[k]].data.p)
			n->in[n_in++] = n->in[k];
	n->n_in = n_in;
	decode_weights(n);
	decode_integers(n);
	if (!compute_constants(&n, e) || (multiply_by_reciprocals(n) && !reopen(&n, e)))
		return false;
	if (!o->no_fold) {
		fold_unrolled(n);
		recognize_patterns(n, o->type == ACTIVATIONS_INT16);
		fold_operators(n);
	}
	if (o->equalize)
		equalize_layers(n);
	return net_write(n, &file, e) && model_read(a, file, m->name, out, e);
}
