/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unrolls a WHILE_LOOP whose condition depends only on constants, such as a
 * counter: its body is repeated.  Results that are constant in one iteration are
 * constants of the next.  Other loops are lowered by while.c.
 */
#include "part.h"

enum { MAX_OPERATORS = MAX_UNROLLED, MAX_TENSORS = 1 << 20,
       MAX_FOLDED = 1 << 22 /* elements of folded operators, plus iterations */ };

struct unrolling {
	struct part *p;
	size_t cap_ops, cap_tensors;
	int64_t folded; /* elements and iterations so far */
};

static int
add_tensor(struct unrolling *l, const struct tosa_tensor *like)
{
	struct tosa_graph *g = l->p->t;
	size_t n = (size_t)g->n_tensors;
	agrow(l->p->a, g->tensor, n, &l->cap_tensors);
	struct tosa_tensor *t = &g->tensor[g->n_tensors];
	*t = *like;
	t->is_input = t->is_output = false;
	return g->n_tensors++;
}

static void
add_op(struct unrolling *l, const struct tosa_op *op)
{
	struct tosa_graph *g = l->p->t;
	size_t n = (size_t)g->n_ops;
	agrow(l->p->a, g->op, n, &l->cap_ops);
	g->op[g->n_ops++] = *op;
}

static void
fold_or_add(struct unrolling *l, const struct tosa_op *op)
{
	struct tosa_graph *g = l->p->t;
	if (!fold_is_constant(l->p, op)) {
		add_op(l, op);
		return;
	}
	g->tensor[op->out[0]].data = fold_op(l->p, op);
	l->folded += tosa_elements(tosa_out(g, op));
	for (int k = 0; k < op->n_in; k++)
		l->folded += tosa_elements(tosa_in(g, op, k));
}

static const int *
mapped_to(struct arena *a, const int *map, const int *v, int n)
{
	int *r = anew(a, int, (size_t)n);
	for (int k = 0; k < n; k++)
		r[k] = map[v[k]];
	return r;
}

/* appends sub's operators with the inputs `in`; returns the tensors of its outputs */
static const int *
append_instance(struct unrolling *l, const struct tosa_graph *sub, const int *in)
{
	struct part *p = l->p;
	int *map = anew(p->a, int, (size_t)sub->n_tensors);
	for (int i = 0; i < sub->n_in; i++)
		map[sub->in[i]] = in[i];
	for (int i = 0; i < sub->n_tensors; i++)
		if (!sub->tensor[i].is_input)
			map[i] = add_tensor(l, &sub->tensor[i]);
	for (int i = 0; i < sub->n_ops; i++) {
		struct tosa_op op = sub->op[i];
		op.in = mapped_to(p->a, map, op.in, op.n_in);
		op.out = mapped_to(p->a, map, op.out, op.n_out);
		fold_or_add(l, &op);
	}
	return mapped_to(p->a, map, sub->out, sub->n_out);
}

/* is there another iteration with these values?  -1: the condition is not constant */
static int
condition(struct unrolling *l, const struct tosa_loop *loop, const int *value)
{
	struct tosa_graph *g = l->p->t;
	int n_ops = g->n_ops, n_tensors = g->n_tensors;
	int result = *append_instance(l, loop->cond, value);
	/* read here, because instance() may have moved the array */
	const struct tosa_tensor *t = &g->tensor[result];
	int r = t->data.p ? tosa_value(t, 0) != 0 : -1;
	g->n_ops = n_ops;
	g->n_tensors = n_tensors;
	return r;
}

/* appends all iterations and returns the final values; NULL: too many, or data decide */
static const int *
unroll_all(struct unrolling *l, const struct tosa_op *op)
{
	const int *value = op->in;
	int n_ops = l->p->t->n_ops, more;
	while ((more = condition(l, op->loop, value)) == 1) {
		value = append_instance(l, op->loop->body, value);
		if (l->p->t->n_ops > MAX_OPERATORS || l->p->t->n_tensors > MAX_TENSORS ||
		    ++l->folded > MAX_FOLDED)
			break;
	}
	if (!more)
		return value;
	l->p->t->n_ops = n_ops;
	return NULL;
}

void
unroll_loops(struct part *p)
{
	struct tosa_graph *g = p->t;
	struct unrolling l = { .p = p };
	const struct tosa_op *old = g->op;
	const struct tosa_tensor *tensor = g->tensor;
	int n = g->n_ops, n_tensors = g->n_tensors, loops = 0;
	for (int i = 0; i < n; i++)
		loops += old[i].loop != NULL;
	if (!loops)
		return;
	g->op = NULL;
	g->tensor = NULL;
	g->n_ops = g->n_tensors = 0;
	for (int i = 0; i < n_tensors; i++) {
		int t = add_tensor(&l, &tensor[i]);
		g->tensor[t] = tensor[i];
	}
	for (int i = 0; i < n; i++) {
		const int *value = old[i].loop ? unroll_all(&l, &old[i]) : NULL;
		if (!value) {
			if (old[i].loop)
				add_op(&l, &old[i]);
			else
				fold_or_add(&l, &old[i]);
			continue;
		}
		/* each result of the loop becomes another name of a value */
		int *v = anew(p->a, int, 2 * (size_t)old[i].n_out);
		for (int k = 0; k < old[i].n_out; k++) {
			struct tosa_op x = { .code = TOSA_IDENTITY, .number = old[i].number,
					     .name = tosa_op_info(TOSA_IDENTITY)->name,
					     .n_in = 1, .n_out = 1, .in = v + 2 * k,
					     .out = v + 2 * k + 1 };
			v[2 * k] = value[k];
			v[2 * k + 1] = old[i].out[k];
			add_op(&l, &x);
		}
	}
	/* recomputes producer and number of readers of each tensor */
	for (int i = 0; i < g->n_tensors; i++)
		g->tensor[i].uses = 0;
	for (int i = 0; i < g->n_ops; i++) {
		for (int k = 0; k < g->op[i].n_in; k++)
			g->tensor[g->op[i].in[k]].uses++;
		for (int k = 0; k < g->op[i].n_out; k++)
			g->tensor[g->op[i].out[k]].producer = i;
	}
	for (int i = 0; i < g->n_out; i++)
		g->tensor[g->out[i]].uses++;
}
