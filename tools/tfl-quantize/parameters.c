/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses scales and zero points.  Tensors that must have equal scales form a group, whose
 * range is the union of their ranges.  A group that contains the output of an operator
 * with a fixed scale has this scale.
 */
#include "quantize.h"

#include <math.h>

struct group {
	int parent; /* a tensor of the same group; itself: the first tensor of the group */
	struct range range;
	const struct rule *fixed; /* the rule that gives the scale; NULL: the range does */
};

struct choice {
	struct net *n;
	const struct options *o;
	struct group *group; /* one per tensor */
};

struct parameters
parameters_of(struct range r, int type)
{
	const float narrow = 1e-6f;
	float lo = r.lo <= r.hi ? r.lo : 0, hi = r.lo <= r.hi ? r.hi : 0;
	if (hi - lo <= narrow) {
		lo -= narrow;
		hi += narrow;
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
share_fixed_scale(struct choice *c, const struct tfl_op *op)
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
	struct parameters p = fixed_parameters(fixed, TFL_INT8);
	return all.lo > all.hi || (all.lo >= p.lo && all.hi <= p.hi);
}

/* Inserts QUANTIZE before input k of operator i.  Returns the new tensor. */
static int
separate(struct choice *c, int i, int k)
{
	struct net *n = c->n;
	int from = n->op[i].op.in[k];
	struct tfl_tensor t = n->tensor[from];
	t.name = arena_printf(n->a, "%s_requantized", t.name);
	int to = net_add_tensor(n, &t);
	c->group[to] = (struct group){ .parent = to, .range = find(c, from)->range };
	((int *)(uintptr_t)n->op[i].op.in)[k] = to;
	net_insert(n, i, TFL_QUANTIZE, from, to);
	return to;
}

/* Gives operator *i equal scales; *i follows the operator if operators are inserted. */
static void
join_operator(struct choice *c, int *i)
{
	struct net *n = c->n;
	const struct tfl_op op = n->op[*i].op;
	bool keep = share_fixed_scale(c, &op);
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

static int
count_inputs(const struct net *n)
{
	int inputs = 0;
	for (int i = 0; i < n->n_ops; i++)
		inputs += n->op[i].op.n_in;
	return inputs;
}

struct parameters *
choose_parameters(struct net *n, const struct ranges *cal, const struct options *o)
{
	struct choice c = { .n = n, .o = o };
	int type = o->type == ACTIVATIONS_INT16 ? TFL_INT16 : TFL_INT8;
	c.group = anew(n->a, struct group, (size_t)(n->n_tensors + count_inputs(n)) + 1);
	for (int i = 0; i < n->n_tensors; i++)
		c.group[i] = (struct group){ .parent = i, .range = cal->range[i] };
	for (int i = 0; i < n->n_ops; i++) {
		const struct rule *r = rule_of(n->op[i].op.code);
		if (r->kind == RULE_FIXED)
			find(&c, n->op[i].op.out[0])->fixed = r;
		if (r->kind == RULE_SAME)
			join_operator(&c, &i);
	}
	struct parameters *p = anew(n->a, struct parameters, (size_t)n->n_tensors + 1);
	for (int i = 0; i < n->n_tensors; i++) {
		const struct group *g = find(&c, i);
		const struct tfl_tensor *t = &n->tensor[i];
		if (!is_data(&c, i) || t->data.p)
			continue;
		p[i] = t->is_variable ? parameters_of(g->range, TFL_INT16)
		       : g->fixed     ? fixed_parameters(g->fixed, type)
				      : parameters_of(g->range, type);
	}
	return p;
}
