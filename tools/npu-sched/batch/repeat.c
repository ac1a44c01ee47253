/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the graph for one input into the graph for several. */
#include "batch.h"

#include <string.h>

struct repeat {
	struct graph *g;
	struct arena *a;
	struct stack k;
	size_t n_tensors, n_weights, n_ops; /* of the original graph */
	/* of each operation: its run, which is done input by input; -1: done for all inputs */
	int *run;
	/* Records for input i, at index * n + i, of tensors that only one run uses and of
	 * weights of runs.  NULL: not made, or stacked. */
	struct g_tensor **tensor;
	struct g_weights **weights;
	struct g_op **op;
	size_t n, cap;
};

/* Finds runs: adjacent operations of one node that are done input by input. */
static void
find_runs(struct repeat *r, const bool *together)
{
	int run = 0;
	r->run = anew(r->a, int, r->n_ops + 1);
	for (size_t i = 0; i < r->n_ops; i++) {
		bool goes_on = i && r->run[i - 1] >= 0 &&
			       r->g->ops[i - 1]->node == r->g->ops[i]->node;
		run += !goes_on;
		r->run[i] = together[i] ? -1 : run;
	}
}

static void
mark_list(struct repeat *r, const struct g_tensors *l)
{
	for (size_t i = 0; i < l->n; i++)
		r->k.stacked[l->v[i]->rec.index] = true;
}

/* Stacks tensors that more than one run uses, or an operation for all inputs, and inputs,
 * outputs and variables. */
static void
find_stacked(struct repeat *r)
{
	/* of each tensor: a run that uses it; 0: none */
	int *seen = anew(r->a, int, r->n_tensors + 1);
	for (size_t i = 0; i < r->n_tensors; i++)
		r->k.stacked[i] = r->g->tensors[i]->variable ||
				  G_HAS(r->g->tensors[i], G_TENSOR_io);
	for (size_t i = 0; i < r->g->n_nodes; i++) {
		mark_list(r, &r->g->nodes[i]->in);
		mark_list(r, &r->g->nodes[i]->out);
	}
	for (size_t i = 0; i < r->n_ops; i++) {
		const struct g_op *op = r->g->ops[i];
		const struct g_operand *o[] = { &op->ifm, &op->ifm2, &op->ofm };
		for (int k = 0; k < 3; k++) {
			int t = o[k]->t ? o[k]->t->rec.index : -1;
			if (t < 0)
				continue;
			if (r->run[i] < 0 || (seen[t] && seen[t] != r->run[i]))
				r->k.stacked[t] = true;
			seen[t] = r->run[i];
		}
	}
	for (size_t i = 0; i < r->n_tensors; i++)
		r->k.stacked[i] &= !tensor_is_const(r->g->tensors[i]);
}

/* The shape with n times the leading dimension, or with a new one. */
static struct g_shape
stacked_shape(const struct g_shape *s, int32_t n)
{
	struct g_shape r = *s;
	if ((!s->rank || s->dim[0] != 1) && s->rank < TFL_MAX_RANK) {
		memmove(&r.dim[1], &s->dim[0], (size_t)s->rank * sizeof(s->dim[0]));
		r.dim[0] = n;
		r.rank++;
	} else {
		r.dim[0] *= n;
	}
	return r;
}

static void
stack_tensors(struct repeat *r)
{
	for (size_t i = 0; i < r->n_tensors; i++) {
		struct g_tensor *t = r->g->tensors[i];
		if (!r->k.stacked[i])
			continue;
		G_PUT(t, TENSOR, shape, stacked_shape(&t->shape, r->k.n));
		G_PUT(t, TENSOR, hwc, stack_hwc(&r->k, t->hwc));
	}
}

/* The tensor for input i, if only one run uses it.  Input 0 has the original. */
static struct g_tensor *
tensor_of(struct repeat *r, struct g_tensor *t, int32_t i)
{
	struct g_tensor **at = &r->tensor[(size_t)t->rec.index * (size_t)r->k.n + (size_t)i];
	if (!i || *at)
		return i ? *at : t;
	*at = graph_add_g_tensor(r->g);
	struct g_rec rec = (*at)->rec;
	**at = *t;
	(*at)->rec.id = rec.id;
	(*at)->rec.index = rec.index;
	(*at)->rec.before = (*at)->rec.after = NULL;
	G_CLEAR(*at, G_TENSOR_tfl);
	(*at)->tfl = (struct g_tfls){ .n = 0 };
	return *at;
}

/* The weights record for input i, which is fetched for this input alone.  The constants hold
 * equal weights once. */
static struct g_weights *
weights_of(struct repeat *r, struct g_weights *w, int32_t i)
{
	struct g_weights **at = &r->weights[(size_t)w->rec.index * (size_t)r->k.n + (size_t)i];
	if (!i || *at)
		return i ? *at : w;
	*at = graph_add_g_weights(r->g);
	struct g_rec rec = (*at)->rec;
	**at = *w;
	(*at)->rec.id = rec.id;
	(*at)->rec.index = rec.index;
	(*at)->rec.before = (*at)->rec.after = NULL;
	return *at;
}

static void
keep_op(struct repeat *r, struct g_op *op)
{
	agrow(r->a, r->op, r->n, &r->cap);
	op->rec.index = (int)r->n;
	r->op[r->n++] = op;
}

/* Copies op to a new record.  Input 0 has the original. */
static struct g_op *
copy_op(struct repeat *r, struct g_op *op)
{
	struct g_op *c = graph_add_g_op(r->g);
	int id = c->rec.id;
	*c = *op;
	c->rec.id = id;
	c->rec.before = c->rec.after = NULL;
	return c;
}

static struct g_operand
operand_of(struct repeat *r, const struct g_operand *o, int32_t i)
{
	if (!o->t || tensor_is_const(o->t) || r->k.stacked[o->t->rec.index])
		return stack_nth(&r->k, o, i);
	struct g_operand c = *o;
	c.t = tensor_of(r, o->t, i);
	return c;
}

/* Sets op for input i.  plain: the operation as it was read; own: with a weights record of its
 * own. */
static void
set_input(struct repeat *r, const struct g_op *plain, struct g_op *op, int32_t i, bool own)
{
	op->ifm = operand_of(r, &plain->ifm, i);
	op->ifm2 = operand_of(r, &plain->ifm2, i);
	op->ofm = operand_of(r, &plain->ofm, i);
	if (own && plain->weights)
		op->weights = weights_of(r, plain->weights, i);
}

static void
repeat_together(struct repeat *r, struct g_op *op)
{
	struct g_op plain = *op, joint;
	if (stack_join(&r->k, op, &joint)) {
		*op = joint;
		keep_op(r, op);
		return;
	}
	for (int32_t i = 0; i < r->k.n; i++) {
		struct g_op *c = i ? copy_op(r, &plain) : op;
		set_input(r, &plain, c, i, false);
		keep_op(r, c);
	}
}

static void
repeat_run(struct repeat *r, struct g_op *const *op, size_t n)
{
	struct g_op *plain = anew(r->a, struct g_op, n + 1);
	for (size_t k = 0; k < n; k++)
		plain[k] = *op[k];
	for (int32_t i = 0; i < r->k.n; i++)
		for (size_t k = 0; k < n; k++) {
			struct g_op *c = i ? copy_op(r, &plain[k]) : op[k];
			set_input(r, &plain[k], c, i, true);
			keep_op(r, c);
		}
}

static void
repeat_ops(struct repeat *r)
{
	struct g_op **op = anew(r->a, struct g_op *, r->n_ops + 1);
	memcpy(op, r->g->ops, r->n_ops * sizeof(struct g_op *));
	for (size_t i = 0, end; i < r->n_ops; i = end) {
		for (end = i + 1; r->run[i] >= 0 && end < r->n_ops && r->run[end] == r->run[i];)
			end++;
		if (r->run[i] < 0)
			repeat_together(r, op[i]);
		else
			repeat_run(r, op + i, end - i);
	}
	memcpy(r->g->ops, r->op, r->n * sizeof(struct g_op *));
	r->g->n_ops = r->n;
}

void
batch_repeat(struct graph *g, struct arena *a, int32_t n, const struct accel *accel,
	     const bool *together)
{
	struct repeat r = { .g = g, .a = a, .k = stack_open(a, g, n, accel),
			    .n_tensors = g->n_tensors, .n_weights = g->n_weights,
			    .n_ops = g->n_ops };
	r.tensor = anew(a, struct g_tensor *, r.n_tensors * (size_t)n + 1);
	r.weights = anew(a, struct g_weights *, r.n_weights * (size_t)n + 1);
	find_runs(&r, together);
	find_stacked(&r);
	stack_tensors(&r);
	repeat_ops(&r);
}
