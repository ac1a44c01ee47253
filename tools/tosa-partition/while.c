/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowers WHILE_LOOP to nodes of one stream that branches: the operators before, the
 * condition, its test, the body, the operators behind.  The loop's values have
 * tensors of their own.  The node before the loop fills them, and the end of the
 * body writes them anew.  Condition and body are lowered as graphs with these
 * tensors as inputs.
 */
#include "part.h"

#include "graph/build.h"
#include "graph/facts.h"
#include "lower/linux.h"

#include <string.h>

struct loop {
	struct part *p;
	const struct tosa_op *op;
	struct nd *value; /* the tensor of each value, kept between iterations */
};

static struct g_node *
next_node(struct part *p, enum g_loop part)
{
	struct g_node *n = graph_add_g_node(p->g);
	G_PUT(n, NODE, kind, NODE_NPU);
	G_PUT(n, NODE, loop, (int)part);
	p->l->node = n;
	return n;
}

/* lists all values as inputs of a node of the loop, or of the node behind it */
static void
list_values_as_inputs(const struct loop *w, struct g_node *n)
{
	n->in.v = anew(w->p->a, struct g_tensor *, (size_t)w->op->n_in + 1);
	for (int k = 0; k < w->op->n_in; k++)
		n->in.v[n->in.n++] = w->value[k].t;
	G_SET(n, G_NODE_in);
}

/*
 * Appends the operators of g to the current node, with the loop's values as inputs.  Returns
 * NULL, or why the NPU can't run one of them.
 */
static const char *
lower_graph(const struct loop *w, const struct tosa_graph *g, const char *role,
	    struct part *sub)
{
	const struct part *p = w->p;
	struct tosa_graph *own = anew(p->a, struct tosa_graph, 1);
	*own = *g;
	own->tensor = anew(p->a, struct tosa_tensor, (size_t)g->n_tensors + 1);
	memcpy(own->tensor, g->tensor, (size_t)g->n_tensors * sizeof(*g->tensor));
	*sub = (struct part){ .a = p->a, .t = own, .g = p->g, .l = p->l, .e = p->e };
	split_sums(p->a, own);
	part_alloc_tables(sub);
	for (int k = 0; k < g->n_in; k++)
		sub->value[g->in[k]] = w->value[k];
	fold_constants(sub);
	lower_all(sub);
	for (int i = 0; i < own->n_ops; i++)
		if (sub->why[i])
			return arena_printf(p->a, "in its %s, operator %d (%s): %s", role,
					    own->op[i].number, own->op[i].name, sub->why[i]);
	return NULL;
}

static const char *
loop_refusal(struct part *p, const struct tosa_op *op)
{
	if (!low_has(p->l, LACK_BRANCHES))
		return arena_printf(p->a, "the number of iterations is not constant, or they take "
			      "more than %d operators, and streams %s have no branches",
			   MAX_UNROLLED, p->l->accel ? "of this accelerator"
						     : "that all accelerators run");
	for (int k = 0; k < op->n_in; k++) {
		int type = tosa_in(p->t, op, k)->type;
		if (type == TOSA_INT48 || type == TOSA_SHAPE)
			return "a value has 48 bits or is a shape";
	}
	return NULL;
}

const char *
lower_loop(struct part *p, const struct tosa_op *op)
{
	int n = op->n_in;
	struct loop w = { .p = p, .op = op, .value = anew(p->a, struct nd, (size_t)n + 1) };
	struct part cond, body;
	const char *why = loop_refusal(p, op);
	for (int k = 0; why && k < op->n_out; k++)
		(void)result_view(p, op->out[k]);
	if (why)
		return why;

	/* copies the initial values */
	for (int k = 0; k < n; k++) {
		struct tosa_tensor t = p->t->tensor[op->out[k]];
		t.is_input = t.is_output = false;
		w.value[k] = own_tensor(p, &t);
		struct nd from = value_of(p, op->in[k]);
		nd_copy(p->l, &from, &w.value[k]);
	}
	/* of each tensor that exists before the loop: is it in w.value? */
	int n_before = (int)p->g->n_tensors;
	bool *is_value = anew(p->a, bool, p->g->n_tensors + 1);
	for (int k = 0; k < n; k++)
		is_value[w.value[k].t->rec.index] = true;
	list_values_as_inputs(&w, next_node(p, LOOP_CONDITION));
	const char *bad_cond = lower_graph(&w, op->loop->cond, "condition", &cond);
	struct nd condition = value_of(&cond, cond.t->out[0]);

	/* makes one byte, 0 or 1, in a separate kernel: the branch reads it */
	struct g_node *test = next_node(p, LOOP_TEST);
	struct nd flag = truth_of(p, &condition);
	test->out.v = anew(p->a, struct g_tensor *, 1);
	test->out.v[test->out.n++] = flag.t;
	G_SET(test, G_NODE_out);
	list_values_as_inputs(&w, next_node(p, LOOP_BODY));
	const char *bad_body = lower_graph(&w, op->loop->body, "body", &body);

	/* computes all results before it writes any value, as a result may be another value */
	struct nd *to = anew(p->a, struct nd, (size_t)n + 1);
	for (int k = 0; k < n; k++) {
		int result = body.t->out[k];
		if (result == body.t->in[k])
			continue;
		to[k] = value_of(&body, result);
		int i = to[k].t->rec.index;
		if (i < n_before && is_value[i]) {
			struct nd from = to[k];
			to[k] = nd_new_like(p->l, &from, from.type);
			nd_copy(p->l, &from, &to[k]);
		}
	}
	for (int k = 0; k < n; k++)
		if (to[k].t)
			nd_copy(p->l, &to[k], &w.value[k]);
	list_values_as_inputs(&w, next_node(p, LOOP_END));
	for (int k = 0; k < op->n_out; k++)
		name_result(p, op->out[k], &w.value[k]);
	return bad_cond ? bad_cond : bad_body;
}

/* ---- other tensors --------------------------------------------------------------- */

/* makes the input lists of nodes, which are visited in the order of operations */
struct lists {
	struct part *p;
	struct g_node *node; /* the current node */
	size_t cap;
	/* of each tensor: first node that uses it, last node that lists it */
	const struct g_node **first, **listed;
};

static void
list_operand(struct lists *l, struct g_tensor *t)
{
	struct g_tensors *in = &l->node->in;
	if (!t || tensor_is_const(t))
		return;
	int i = t->rec.index;
	if (!l->first[i])
		l->first[i] = l->node;
	if (l->first[i] == l->node || l->listed[i] == l->node)
		return;
	l->listed[i] = l->node;
	agrow(l->p->a, in->v, in->n, &l->cap);
	in->v[in->n++] = t;
	G_SET(l->node, G_NODE_in);
}

void
list_loop_values(struct part *p)
{
	struct graph *g = p->g;
	struct lists l = { .p = p };
	if (!graph_has_loops(g))
		return;
	l.first = anew(p->a, const struct g_node *, g->n_tensors + 1);
	l.listed = anew(p->a, const struct g_node *, g->n_tensors + 1);
	for (size_t i = 0; i < g->n_ops; i++) {
		const struct g_op *op = g->ops[i];
		if (op->node != l.node) {
			l.node = op->node;
			l.cap = l.node->in.n;
			for (size_t k = 0; k < l.cap; k++)
				l.listed[l.node->in.v[k]->rec.index] = l.node;
		}
		list_operand(&l, op->ifm.t);
		list_operand(&l, op->ifm2.t);
		list_operand(&l, op->ofm.t);
	}
}
