/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads a block as a graph, sorts its operators, and checks that everything that is
 * read is written.
 */
#include "tosa/load.h"

static bool
check_reads(struct load *l)
{
	struct tosa_graph *g = l->g;
	for (int i = 0; i < g->n_ops; i++)
		for (int k = 0; k < g->op[i].n_in; k++) {
			struct tosa_tensor *t = &g->tensor[g->op[i].in[k]];
			unsigned mask = tosa_op_info(g->op[i].code)->constants;
			t->uses++;
			if (t->producer < 0 && !t->data.p && !t->is_input)
				return BAD(l, "%s reads %s, which nothing writes",
					   load_label(l, &g->op[i]), t->name);
			if (mask >> k & 1 && !t->data.p)
				return BAD(l, "%s: input %d, %s, must be a constant",
					   load_label(l, &g->op[i]), k, t->name);
		}
	for (int i = 0; i < g->n_out; i++) {
		struct tosa_tensor *t = &g->tensor[g->out[i]];
		t->is_output = true;
		t->uses++;
		if (t->producer < 0 && !t->data.p && !t->is_input)
			return BAD(l, "output %s is written by no operator", t->name);
	}
	return true;
}

/*
 * Sorts the operators so that nothing is read before it is written.  The file's order
 * is kept if it is such an order.
 */
static bool
sort_ops(struct load *l)
{
	struct tosa_graph *g = l->g;
	struct tosa_op *sorted = anew(l->a, struct tosa_op, (size_t)g->n_ops);
	int *at = anew(l->a, int, (size_t)g->n_ops);	  /* 1 + index in sorted; 0: not
							   * sorted yet */
	int *operand = anew(l->a, int, (size_t)g->n_ops); /* next operand to visit */
	bool *open = anew(l->a, bool, (size_t)g->n_ops);
	int *stack = anew(l->a, int, (size_t)g->n_ops);
	int n = 0;
	for (int first = 0; first < g->n_ops; first++) {
		int depth = 0;
		if (!at[first])
			stack[depth++] = first;
		while (depth) {
			int i = stack[depth - 1];
			const struct tosa_op *op = &g->op[i];
			open[i] = true;
			if (operand[i] > op->n_in) {
				sorted[n++] = *op;
				at[i] = n;
				open[i] = false;
				depth--;
				continue;
			}
			int k = operand[i]++; /* after the last operand, the guard */
			int need = k < op->n_in ? op->in[k] : op->guard - 1;
			int before = need < 0 ? -1 : g->tensor[need].producer;
			if (before >= 0 && open[before])
				return BAD(l, "%s depends on its own result",
					   load_label(l, &g->op[before]));
			if (before >= 0 && !at[before])
				stack[depth++] = before;
		}
	}
	g->op = sorted;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < sorted[i].n_out; k++)
			g->tensor[sorted[i].out[k]].producer = i;
	return true;
}

bool
load_graph(struct load *l)
{
	struct tosa_graph *g = l->g;
	if (!load_tensors(l) ||
	    !load_names(l, l->block, FB_TosaBlock_inputs, "the graph", "input", &g->in,
			&g->n_in) ||
	    !load_names(l, l->block, FB_TosaBlock_outputs, "the graph", "output", &g->out,
			&g->n_out))
		return false;
	for (int i = 0; i < g->n_in; i++) {
		struct tosa_tensor *t = &g->tensor[g->in[i]];
		if (t->is_input || t->data.p)
			return BAD(l, "input %s is %s", t->name,
				   t->data.p ? "a constant" : "named twice");
		t->is_input = true;
	}
	if (!load_ops(l) || !load_branches(l) || !load_loops(l) || !check_reads(l) ||
	    !sort_ops(l))
		return false;
	for (int i = 0; i < g->n_ops; i++)
		if (!g->op[i].loop && !tosa_check_op(g, &g->op[i], l->e))
			return false;
	return true;
}
