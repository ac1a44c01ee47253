/* SPDX-License-Identifier: Apache-2.0 */
/* Loads WHILE_LOOP, whose condition and body are graphs of their own. */
#include "tosa/load.h"

/* Compares tensors of graph g (got) with the values of the loop (want), in op's graph. */
static bool
check_values(struct load *l, const struct tosa_op *op, const char *role,
	     const struct tosa_graph *g, const int *got, int n, const int *want, int n_want)
{
	if (n != n_want)
		return BAD(l, "%s has %d values, %s has %d", load_label(l, op), n_want, role,
			   n);
	for (int i = 0; i < n; i++)
		if (!load_alike(l, op, role, i, &g->tensor[got[i]], &l->g->tensor[want[i]]))
			return false;
	return true;
}

static bool
load_part(struct load *l, const struct tosa_op *op, int slot, const char *role,
	  const struct tosa_graph **out)
{
	struct tosa_graph *g = anew(l->a, struct tosa_graph, 1);
	struct load own = { .a = l->a, .g = g, .root = l->root, .number = l->number,
			    .inside = true, .e = l->e };
	g->name = l->g->name;
	g->file = l->g->file;
	if (!load_region(&own, op, slot) || !load_graph(&own))
		return false;
	l->number = own.number;
	l->looped += g->n_tensors;
	*out = g;
	return load_tensors_fit(l, l->looped) &&
	       check_values(l, op, role, g, g->in, g->n_in, op->in, op->n_in);
}

bool
load_loops(struct load *l)
{
	for (int i = 0; i < l->g->n_ops; i++) {
		struct tosa_op *op = &l->g->op[i];
		if (op->code != TOSA_WHILE_LOOP)
			continue;
		struct tosa_loop *p = anew(l->a, struct tosa_loop, 1);
		if (!check_values(l, op, "its results", l->g, op->out, op->n_out, op->in,
				  op->n_in) ||
		    !load_part(l, op, FB_TosaWhileLoop_cond_graph, "its condition",
			       &p->cond) ||
		    !load_part(l, op, FB_TosaWhileLoop_body_graph, "its body", &p->body) ||
		    !check_values(l, op, "its body's results", p->body, p->body->out,
				  p->body->n_out, op->in, op->n_in))
			return false;
		op->loop = p;
		const struct tosa_graph *c = p->cond;
		const struct tosa_tensor *t = c->n_out ? &c->tensor[c->out[0]] : NULL;
		if (c->n_out != 1 || t->type != TOSA_BOOL || tosa_elements(t) != 1)
			return BAD(l, "%s: its condition is %s, one bool is needed",
				   load_label(l, op), t ? tosa_text(l->a, t) : "nothing");
	}
	return true;
}
