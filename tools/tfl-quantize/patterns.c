/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds chains of elementwise operators that compute a function of one tensor for which
 * TensorFlow Lite has an operator, for example x * RELU6(x + 3) / 6, which is HARD_SWISH.
 * A chain is recognized by its values, not by its operators: converters write the same
 * function in many orders.  One operator then rounds once, where the chain rounds at each
 * step.  Squares and roots, which normalize a layer, become operators with an integer version.
 */
#include "quantize.h"

#include "real/real.h"
#include "tflite/fields.h"

#include <math.h>

enum { MOST_OPS = 16, MUL_TAG = 21, GELU_TAG = 116 };

struct chain {
	struct net *n;
	int *users; /* one per tensor: how often it is read */
	const struct net_op *last; /* computes the result */
	int op[MOST_OPS]; /* operators of the chain, from the last to the first */
	int n_ops;
	int edge[MOST_OPS + 2]; /* tensors that the chain reads and does not write */
	int n_edges;
};

/* ---- operators that may be in a chain ----------------------------------------------- */

/* the value of a constant of one element */
static bool
scalar_of(const struct net *n, int t, double *v)
{
	const struct tfl_tensor *c = &n->tensor[t];
	if (!c->data.p || c->type != TFL_FLOAT32 || tfl_elements(c) != 1)
		return false;
	*v = (double)load_f32(c->data.p);
	return true;
}

static int
producer_of(const struct net *n, int t)
{
	int i = n->tensor[t].producer;
	return i >= 0 && !n->op[i].removed && n->op[i].op.n_out == 1 ? i : -1;
}

/* true if the operator computes each element alone, and has the shape of the result */
static bool
may_join(const struct chain *c, int i)
{
	const struct tfl_op *op = i < 0 ? NULL : &c->n->op[i].op;
	if (!op || c->n_ops == MOST_OPS || op->n_out != 1)
		return false;
	int n_in = op->code == TFL_SQUARE ? 1 : op->code == TFL_POW ? 2 : real_elementwise(op->code);
	if (op->n_in != n_in)
		return false;
	const struct tfl_tensor *out = &c->n->tensor[op->out[0]];
	const struct tfl_tensor *end = &c->n->tensor[c->last->op.out[0]];
	double v;
	if (out->type != TFL_FLOAT32 || tfl_elements(out) != tfl_elements(end) ||
	    out->rank != end->rank)
		return false;
	for (int k = 0; k < op->n_in; k++)
		if (op->in[k] < 0 || (!scalar_of(c->n, op->in[k], &v) &&
		    (c->n->tensor[op->in[k]].data.p ||
		     tfl_elements(&c->n->tensor[op->in[k]]) != tfl_elements(end))))
			return false;
	return true;
}

/* ---- values of a chain -------------------------------------------------------------- */

static double
power(double v, double exponent)
{
	double y = 1;
	int n = (int)exponent;
	if (exponent != n || n < 0 || n > 8)
		return NAN;
	while (n--)
		y *= v;
	return y;
}

/* The value of the chain's result for the value x of its only edge. */
static double
value_of(const struct chain *c, double x)
{
	double v[MOST_OPS];
	for (int i = c->n_ops - 1; i >= 0; i--) {
		const struct net_op *o = &c->n->op[c->op[i]];
		double in[2] = { x, x };
		for (int k = 0; k < o->op.n_in && k < 2; k++) {
			if (scalar_of(c->n, o->op.in[k], &in[k]))
				continue;
			for (int j = i + 1; j < c->n_ops; j++)
				if (c->n->op[c->op[j]].op.out[0] == o->op.in[k])
					in[k] = v[j];
		}
		int code = o->op.code;
		v[i] = code == TFL_SQUARE ? in[0] * in[0]
		       : code == TFL_POW  ? power(in[0], in[1])
		       : o->op.n_in == 1  ? real_unary_value(&o->op, in[0])
					  : real_clamp(real_binary_value(code, in[0], in[1]),
						       net_activation(o));
	}
	return v[0];
}

struct target {
	int code;
	bool approximate; /* of GELU */
	bool has_16;
};

/* Compares the chain with the function at points from -12 to 12. */
static bool
is_function(const struct chain *c, const struct target *t)
{
	const double step = 0.0625, tolerance = 2e-6;
	const int most = 192; /* steps */
	for (int i = -most; i <= most; i++) {
		double x = i * step, cubic = x + 0.044715 * x * x * x;
		double want = t->code == TFL_GELU && t->approximate
				      ? 0.5 * x * (1 + real_tanh(0.7978845608028654 * cubic))
				      : real_unary_value(&(struct tfl_op){ .code = t->code }, x);
		double got = value_of(c, x);
		if (!(fabs(got - want) <= tolerance * (1 + fabs(want))))
			return false;
	}
	return true;
}

/* ---- chains ------------------------------------------------------------------------- */

static void
add_edges(struct chain *c, const struct tfl_op *op)
{
	double v;
	for (int k = 0; k < op->n_in; k++) {
		bool seen = scalar_of(c->n, op->in[k], &v);
		for (int i = 0; i < c->n_edges; i++)
			seen |= c->edge[i] == op->in[k];
		if (!seen)
			c->edge[c->n_edges++] = op->in[k];
	}
}

/* Adds the latest operator before the chain.  Returns false if it may not join. */
static bool
grow_chain(struct chain *c)
{
	int best = -1, at = 0;
	for (int i = 0; i < c->n_edges; i++) {
		int p = producer_of(c->n, c->edge[i]);
		if (p > best) {
			best = p;
			at = i;
		}
	}
	if (!may_join(c, best))
		return false;
	c->edge[at] = c->edge[--c->n_edges];
	c->op[c->n_ops++] = best;
	add_edges(c, &c->n->op[best].op);
	return c->n_edges <= MOST_OPS;
}

/* true if nobody outside of the chain reads the values inside */
static bool
is_closed(const struct chain *c)
{
	for (int i = 1; i < c->n_ops; i++) {
		int t = c->n->op[c->op[i]].op.out[0], inside = 0;
		for (int j = 0; j < c->n_ops; j++)
			for (int k = 0; k < c->n->op[c->op[j]].op.n_in; k++)
				inside += c->n->op[c->op[j]].op.in[k] == t;
		if (inside != c->users[t])
			return false;
	}
	return true;
}

/* Makes another operator of o; b -1: of one input; option: the only one of GELU and MUL. */
static void
become(struct net *n, struct net_op *o, int code, int a, int b, int64_t option)
{
	int *in = anew(n->a, int, 2);
	int64_t *options = anew(n->a, int64_t, 1);
	in[0] = a;
	in[1] = b;
	*options = option;
	o->op.code = code;
	o->op.version = 1;
	o->op.in = in;
	o->op.n_in = b < 0 ? 1 : 2;
	o->op.ref = o->op.options = (struct fb_ref){ 0 };
	o->activation = -1;
	o->options = code == TFL_GELU ? &fb_GeluOptions : code == TFL_MUL ? &fb_MulOptions : NULL;
	o->options_tag = code == TFL_GELU ? GELU_TAG : code == TFL_MUL ? MUL_TAG : 0;
	o->option = options;
}

static void
replace_chain(struct chain *c, const struct target *t)
{
	for (int i = 0; i < c->n_ops; i++)
		for (int k = 0; k < c->n->op[c->op[i]].op.n_in; k++)
			c->users[c->n->op[c->op[i]].op.in[k]]--;
	c->users[c->edge[0]]++;
	for (int i = 1; i < c->n_ops; i++)
		c->n->op[c->op[i]].removed = true;
	become(c->n, &c->n->op[c->op[0]], t->code, c->edge[0], -1, t->approximate);
}

static void
recognize(struct net *n, int i, int *users, bool wide)
{
	static const struct target targets[] = {
		{ .code = TFL_HARD_SWISH }, { .code = TFL_GELU, .approximate = true },
		{ .code = TFL_GELU }, { .code = TFL_ELU },
		{ .code = TFL_LOGISTIC, .has_16 = true }, { .code = TFL_TANH, .has_16 = true },
		{ .code = TFL_RELU6, .has_16 = true }, { .code = TFL_RELU, .has_16 = true },
	};
	struct chain c = { .n = n, .users = users, .last = &n->op[i] };
	if (!may_join(&c, i))
		return;
	c.op[c.n_ops++] = i;
	add_edges(&c, &n->op[i].op);
	while (grow_chain(&c)) {
		if (c.n_edges != 1 || !is_closed(&c))
			continue;
		for (size_t k = 0; k < ARRAY_LEN(targets); k++)
			if ((targets[k].has_16 || !wide) && is_function(&c, &targets[k])) {
				replace_chain(&c, &targets[k]);
				return;
			}
	}
}

/* ---- squares and roots -------------------------------------------------------------- */

/* true for x to this power, x being the first input */
static bool
is_power(const struct net *n, const struct tfl_op *op, double exponent)
{
	double v;
	if (op->n_out != 1 || op->n_in < 1 || op->in[0] < 0 ||
	    n->tensor[op->out[0]].type != TFL_FLOAT32 ||
	    tfl_elements(&n->tensor[op->out[0]]) != tfl_elements(&n->tensor[op->in[0]]))
		return false;
	return (op->code == TFL_SQUARE && exponent == 2) || (op->code == TFL_SQRT && exponent == 0.5) ||
	       (op->code == TFL_POW && op->n_in == 2 && op->in[1] >= 0 &&
		scalar_of(n, op->in[1], &v) && v == exponent);
}

/* x^2 becomes x * x, x^-0.5 and 1 / sqrt(x) RSQRT, and y / sqrt(x) y * RSQRT(x) */
static void
rewrite_powers(struct net *n, struct net_op *o, int *users)
{
	double one;
	if (is_power(n, &o->op, 2)) {
		users[o->op.in[0]]++;
		become(n, o, TFL_MUL, o->op.in[0], o->op.in[0], TFL_ACT_NONE);
	} else if (is_power(n, &o->op, -0.5)) {
		become(n, o, TFL_RSQRT, o->op.in[0], -1, 0);
	}
	int p = o->op.code == TFL_DIV && o->op.n_in == 2 && o->op.in[0] >= 0 && o->op.in[1] >= 0
		    ? producer_of(n, o->op.in[1]) : -1;
	if (p < 0 || !is_power(n, &n->op[p].op, 0.5) || users[o->op.in[1]] != 1 ||
	    net_activation(o) > TFL_ACT_NONE)
		return;
	struct net_op *root = &n->op[p];
	if (scalar_of(n, o->op.in[0], &one) && one == 1 && o->op.n_out == 1 &&
	    tfl_elements(&n->tensor[o->op.out[0]]) == tfl_elements(&n->tensor[root->op.in[0]])) {
		become(n, o, TFL_RSQRT, root->op.in[0], -1, 0);
		root->removed = true;
	} else {
		become(n, root, TFL_RSQRT, root->op.in[0], -1, 0);
		become(n, o, TFL_MUL, o->op.in[0], o->op.in[1], TFL_ACT_NONE);
	}
}

bool
has_reciprocals(const struct tfl_tensor *t)
{
	for (int64_t i = 0; i < tfl_elements(t); i++)
		if (!isfinite(1 / load_f32(t->data.p + 4 * i)))
			return false;
	return true;
}

/*
 * A small divisor of several would become the integer 0, by which TensorFlow Lite does not
 * define the quotient; a factor may be 0.
 */
bool
multiply_by_reciprocals(struct net *n)
{
	bool any = false;
	for (int i = 0; i < n->n_ops; i++) {
		struct net_op *o = &n->op[i];
		int by = o->op.code == TFL_DIV && o->op.n_in == 2 ? o->op.in[1] : -1;
		struct tfl_tensor t = by < 0 ? (struct tfl_tensor){ 0 } : n->tensor[by];
		if (o->removed || !t.data.p || t.type != TFL_FLOAT32 || t.is_sparse ||
		    !has_reciprocals(&t))
			continue;
		size_t count = (size_t)tfl_elements(&t);
		uint8_t *p = arena_alloc(n->a, count + 1, sizeof(float));
		for (size_t k = 0; k < count; k++)
			store_f32(p + 4 * k, 1 / load_f32(t.data.p + 4 * k));
		t.data = (struct bytes){ .p = p, .n = 4 * count };
		become(n, o, TFL_MUL, o->op.in[0], net_add_tensor(n, &t),
		       net_activation(o) > 0 ? net_activation(o) : TFL_ACT_NONE);
		any = true;
	}
	return any;
}

void
recognize_patterns(struct net *n, bool wide)
{
	int *users = net_users(n);
	/* from the end: a chain may contain a shorter one */
	for (int i = n->n_ops - 1; i >= 0; i--)
		if (!n->op[i].removed)
			recognize(n, i, users, wide);
	for (int i = 0; i < n->n_ops; i++)
		if (!n->op[i].removed)
			rewrite_powers(n, &n->op[i], users);
}
