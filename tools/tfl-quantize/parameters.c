/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses scales and zero points.  Tensors that must have equal scales form a group, whose
 * range is the union of their ranges.  A group that contains the output of an operator
 * with a fixed scale has this scale.
 */
#include "quantize.h"

#include "kernels/kernels.h"

#include <math.h>

struct group {
	int parent; /* a tensor of the same group; itself: the first tensor of the group */
	struct range range;
	const struct rule *fixed; /* the rule that gives the scale; NULL: the range does */
	bool is_cell; /* of an LSTM: the range is a power of 2 */
};

struct choice {
	struct net *n;
	const struct ranges *ranges;
	struct group *group; /* one per tensor */
	enum width *width;   /* one per tensor */
	int *source;	     /* one per tensor that was added: the tensor with its values */
};

static const float least_range = 1e-6f;

struct parameters
parameters_of(struct range r, int type)
{
	float lo = r.lo <= r.hi ? r.lo : 0, hi = r.lo <= r.hi ? r.hi : 0;
	if (hi - lo <= least_range) {
		lo -= least_range;
		hi += least_range;
	}
	lo = fminf(lo, 0);
	hi = fmaxf(hi, 0);
	struct parameters p = { .type = type, .lo = lo, .hi = hi };
	if (type == TFL_INT16) {
		p.scale = fmaxf(-lo, hi) / INT16_MAX;
		return p;
	}
	/* a half of each bound: their difference may be too large for a float */
	p.scale = isfinite(hi - lo) ? (hi - lo) / UINT8_MAX : (hi / 2 - lo / 2) / UINT8_MAX * 2;
	float zero = roundf(INT8_MIN - lo / p.scale);
	p.zero = (int)fmaxf(INT8_MIN, fminf(zero, INT8_MAX));
	return p;
}

/* The cell state of an LSTM: the least range from 2^0 to 2^10 that has all values. */
static struct parameters
cell_parameters(struct range r)
{
	const float most = 0x1p10f;
	float bound = 1;
	while (bound < most && bound < fmaxf(-r.lo, r.hi))
		bound *= 2;
	return (struct parameters){ .type = TFL_INT16, .lo = -bound, .hi = bound,
				    .scale = bound / (INT16_MAX + 1) };
}

static struct parameters
fixed_parameters(const struct rule *r, int type)
{
	struct parameters p = { .type = type, .scale = r->scale, .zero = r->zero };
	if (type == TFL_INT16) {
		p.scale = r->scale16;
		p.zero = 0;
	}
	int least = type == TFL_INT16 ? INT16_MIN : INT8_MIN;
	int most = type == TFL_INT16 ? INT16_MAX : INT8_MAX;
	p.lo = (float)(least - p.zero) * p.scale;
	p.hi = (float)(most - p.zero) * p.scale;
	return p;
}

/* ---- groups ----------------------------------------------------------------------- */

static struct group *
find(struct choice *c, int t)
{
	while (c->group[t].parent != t)
		t = c->group[t].parent;
	return &c->group[t];
}

static void
widen(struct range *r, struct range by)
{
	r->lo = fminf(r->lo, by.lo);
	r->hi = fmaxf(r->hi, by.hi);
}

static void
join(struct choice *c, int t, int with)
{
	struct group *a = find(c, t), *b = find(c, with);
	if (a == b)
		return;
	widen(&a->range, b->range);
	a->fixed = a->fixed ? a->fixed : b->fixed;
	b->parent = a->parent;
}

static struct range
constant_range(const struct tfl_tensor *t)
{
	struct range r = { .lo = INFINITY, .hi = -INFINITY };
	for (int64_t i = 0; i < tfl_elements(t); i++)
		widen(&r, (struct range){ load_f32(t->data.p + 4 * i),
					  load_f32(t->data.p + 4 * i) });
	return r;
}

static bool
is_data(const struct choice *c, int t)
{
	return t >= 0 && c->n->tensor[t].type == TFL_FLOAT32;
}

/* true if the operator's inputs have one fixed scale, whose range has all constants */
static bool
share_fixed_scale(struct choice *c, const struct tfl_op *op, enum width width)
{
	const struct rule *fixed = NULL;
	struct range all = { .lo = INFINITY, .hi = -INFINITY };
	for (int k = 0; k < op->n_in; k++) {
		if (!is_data(c, op->in[k]))
			continue;
		const struct tfl_tensor *t = &c->n->tensor[op->in[k]];
		if (t->data.p) {
			widen(&all, constant_range(t));
			continue;
		}
		const struct rule *r = find(c, op->in[k])->fixed;
		if (!r || (fixed && (fixed->scale != r->scale || fixed->zero != r->zero)))
			return false;
		fixed = r;
	}
	if (!fixed)
		return false;
	struct parameters p = fixed_parameters(fixed, width == WIDTH_16 ? TFL_INT16
									      : TFL_INT8);
	return all.lo > all.hi || (all.lo >= p.lo && all.hi <= p.hi);
}

/*
 * Inserts a conversion of tensor `from` to a width before operator i.  Returns the new
 * tensor.
 */
static int
convert_tensor(struct choice *c, int from, enum width width, int i)
{
	struct net *n = c->n;
	struct tfl_tensor t = n->tensor[from];
	t.name = arena_printf(n->a, width == WIDTH_FLOAT ? "%s_dequantized" : "%s_requantized",
			      t.name);
	int to = net_add_tensor(n, &t);
	c->group[to] = (struct group){ .parent = to, .range = find(c, from)->range };
	c->width[to] = width;
	c->source[to] = from;
	bool floats = width == WIDTH_FLOAT;
	net_insert(n, i, floats ? TFL_DEQUANTIZE : TFL_QUANTIZE, from, to);
	n->op[i].op.version = floats ? 2 : 1;
	n->op[i].width = width;
	return to;
}

/* Inserts QUANTIZE before input k of operator i.  Returns the new tensor. */
static int
separate(struct choice *c, int i, int k)
{
	struct tfl_op *op = &c->n->op[i].op;
	int *in = (int *)(uintptr_t)op->in, from = in[k];
	in[k] = convert_tensor(c, from, c->width[from], i);
	return in[k];
}

/* Gives operator *i equal scales; *i follows the operator if operators are inserted. */
static void
join_operator(struct choice *c, int *i)
{
	struct net *n = c->n;
	const struct tfl_op op = n->op[*i].op;
	bool keep = share_fixed_scale(c, &op, n->op[*i].width);
	int n_data = 0, out = -1;
	for (int k = 0; k < op.n_in; k++)
		n_data += is_data(c, op.in[k]);
	for (int k = 0; k < op.n_out; k++)
		if (is_data(c, op.out[k])) {
			if (out >= 0)
				join(c, out, op.out[k]);
			out = op.out[k];
		}
	for (int k = 0; k < op.n_in && out >= 0; k++) {
		int t = op.in[k];
		if (!is_data(c, t))
			continue;
		if (n->tensor[t].data.p) {
			widen(&find(c, out)->range, constant_range(&n->tensor[t]));
			continue;
		}
		if (find(c, t)->fixed && !keep && n_data > 1)
			t = separate(c, (*i)++, k);
		join(c, out, t);
	}
}

/*
 * Gives both inputs of a comparison one scale: no kernel compares INT16 of two scales.  *i
 * follows the operator.
 */
static void
join_compared(struct choice *c, int *i)
{
	const struct tfl_op op = c->n->op[*i].op;
	if (op.n_in != 2 || !is_data(c, op.in[0]) || !is_data(c, op.in[1]))
		return;
	bool keep = share_fixed_scale(c, &op, WIDTH_16);
	int t[2];
	for (int k = 0; k < 2; k++) {
		t[k] = op.in[k];
		if (!c->n->tensor[t[k]].data.p && find(c, t[k])->fixed && !keep)
			t[k] = separate(c, (*i)++, k);
	}
	for (int k = 0; k < 2; k++)
		if (c->n->tensor[t[k]].data.p) {
			widen(&find(c, t[1 - k])->range, constant_range(&c->n->tensor[t[k]]));
			return;
		}
	join(c, t[0], t[1]);
}

/* Gives a variable and a value of it one scale; *i follows the operator. */
static void
join_variable(struct choice *c, int *i)
{
	const struct tfl_op op = c->n->op[*i].op;
	bool reads = op.code == TFL_READ_VARIABLE;
	int t = reads ? op.out[0] : op.in[1];
	if (c->n->tensor[t].data.p) {
		widen(&find(c, op.in[0])->range, constant_range(&c->n->tensor[t]));
		return;
	}
	if (find(c, t)->fixed && !reads)
		t = separate(c, (*i)++, 1);
	join(c, op.in[0], t);
}

/* ---- widths ------------------------------------------------------------------------- */

/* Inserts conversions before operator *i, whose inputs have other widths; *i follows it. */
static void
unify_widths(struct choice *c, int *i, int *copy)
{
	enum { WIDTHS = WIDTH_FLOAT + 1 };
	const struct net *n = c->n;
	enum width width = n->op[*i].width;
	for (int k = 0; k < n->op[*i].op.n_in; k++) {
		int *t = (int *)(uintptr_t)&n->op[*i].op.in[k];
		if (!is_data(c, *t) || n->tensor[*t].data.p)
			continue;
		if (n->tensor[*t].is_variable) {
			bool same = k == LSTM_HIDDEN && rule_of(n->op[*i].op.code)->kind == RULE_LSTM;
			c->width[*t] = width == WIDTH_FLOAT || same ? width : WIDTH_16;
			continue;
		}
		if (c->width[*t] == width)
			continue;
		int *other = &copy[*t * WIDTHS + (int)width];
		if (!*other)
			*other = convert_tensor(c, *t, width, (*i)++);
		*t = *other;
	}
	for (int k = 0; k < n->op[*i].op.n_out; k++)
		c->width[n->op[*i].op.out[k]] = width;
	if (rule_of(n->op[*i].op.code)->kind == RULE_VARIABLE)
		c->width[n->op[*i].op.in[0]] = width;
}

/* An input that operators in 16 bits alone read has 16 bits, too. */
static enum width
input_width(const struct net *n, int t, enum width width)
{
	bool any = false;
	for (int i = 0; i < n->n_ops; i++)
		for (int k = 0; k < n->op[i].op.n_in; k++)
			if (n->op[i].op.in[k] == t) {
				if (n->op[i].width != WIDTH_16)
					return width;
				any = true;
			}
	return any ? WIDTH_16 : width;
}

struct parameters *
choose_parameters(struct net *n, const struct ranges *ranges, const struct options *o)
{
	struct choice c = { .n = n, .ranges = ranges };
	enum width width = o->type == ACTIVATIONS_INT16 ? WIDTH_16 : WIDTH_8;
	int n_measured = n->n_tensors;
	int *copy = anew(n->a, int, ((size_t)n->n_tensors + 1) * (WIDTH_FLOAT + 1));
	int n_added = 0; /* the most tensors that unify_widths() and separate() add */
	for (int i = 0; i < n->n_ops; i++)
		n_added += 2 * n->op[i].op.n_in;
	size_t size = (size_t)(n->n_tensors + n_added) + 1;
	c.group = anew(n->a, struct group, size);
	c.width = anew(n->a, enum width, size);
	c.source = anew(n->a, int, size);
	for (int i = 0; i < n->n_tensors; i++)
		c.group[i].parent = i;

	for (int k = 0; k < n->n_in; k++)
		c.width[n->in[k]] = input_width(n, n->in[k], width);
	for (int i = 0; i < n->n_ops; i++)
		unify_widths(&c, &i, copy);
	/* the range of each tensor for its width; tensors that were added have their source's */
	for (int i = 0; i < n->n_tensors; i++) {
		int from = i < n_measured ? i : c.source[i];
		c.group[i].range = (c.width[i] == WIDTH_8 ? ranges->clipped : ranges->range)[from];
	}
	for (int k = 0; k < n->n_variables; k++)
		widen(&find(&c, n->variable[k].handle)->range,
		      constant_range(&n->tensor[n->variable[k].value]));
	for (int i = 0; i < n->n_ops; i++) {
		const struct rule *r = rule_of(n->op[i].op.code);
		if (n->op[i].width == WIDTH_FLOAT)
			continue;
		if (r->kind == RULE_FIXED)
			find(&c, n->op[i].op.out[0])->fixed = r;
		if (r->kind == RULE_SAME)
			join_operator(&c, &i);
		if (r->kind == RULE_COMPARE && n->op[i].width == WIDTH_16)
			join_compared(&c, &i);
		if (r->kind == RULE_VARIABLE)
			join_variable(&c, &i);
		if (r->kind == RULE_LSTM) {
			join(&c, n->op[i].op.out[0], n->op[i].op.in[LSTM_HIDDEN]);
			find(&c, n->op[i].op.in[LSTM_CELL])->is_cell = true;
		}
	}
	/*
	 * A result that is 0 on all samples takes the range of the operands: with the narrowest
	 * scale, no kernel has the multiplier.
	 */
	for (int i = 0; i < n->n_ops; i++) {
		const struct tfl_op *op = &n->op[i].op;
		for (int j = 0; j < op->n_out; j++) {
			struct range *r = &find(&c, op->out[j])->range;
			if (!is_data(&c, op->out[j]) || r->lo > r->hi ||
			    fmaxf(r->hi, 0) - fminf(r->lo, 0) > least_range)
				continue;
			for (int k = 0; k < op->n_in; k++)
				if (is_data(&c, op->in[k]) && !n->tensor[op->in[k]].data.p)
					widen(r, find(&c, op->in[k])->range);
		}
	}
	struct parameters *p = anew(n->a, struct parameters, (size_t)n->n_tensors + 1);
	for (int i = 0; i < n->n_tensors; i++) {
		const struct group *g = find(&c, i);
		const struct tfl_tensor *t = &n->tensor[i];
		int type = c.width[i] == WIDTH_16 ? TFL_INT16 : TFL_INT8;
		if ((!is_data(&c, i) && t->type != TFL_RESOURCE) || t->data.p || c.width[i] == WIDTH_FLOAT)
			continue;
		p[i] = g->is_cell ? cell_parameters(g->range)
		       : g->fixed && !t->is_variable ? fixed_parameters(g->fixed, type)
				   : parameters_of(g->range, type);
	}
	return p;
}
