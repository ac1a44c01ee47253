/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that everything is written before it is read, in the order of nodes and of the
 * operations in each node.  A tensor that an operation or the CPU reads must be an
 * input, a variable, a constant, or written before.  If it is read as a whole, as many
 * bytes must be written as it has.
 *
 * The verifier checks the single bytes in the finished stream (rule 52).  There, an
 * older value at the same address can hide a missing write.
 */
#include "graph/check.h"

#include "graph/facts.h"

#include <inttypes.h>
#include <string.h>

struct sources {
	struct check *c;
	int64_t *written; /* number of bytes of each tensor */
};

static bool
has_initial_value(const struct g_tensor *t)
{
	return tensor_is_input(t) || t->variable || tensor_is_const(t);
}

static int64_t
whole_bytes(const struct g_tensor *t)
{
	int64_t n = tfl_type_bytes(t->shape.type);
	for (int i = 0; i < t->shape.rank; i++)
		n *= t->shape.dim[i];
	return n;
}

static bool
check_operand(const struct sources *s, const struct g_op *op, const struct g_operand *x)
{
	const struct g_tensor *t = x->t;
	if (!t || has_initial_value(t))
		return true;
	int64_t n = s->written[t->rec.index], all = whole_bytes(t);
	if (!n)
		return BAD(s->c, op, "o%d reads t%d, which nothing before it writes",
			   op->rec.id, t->rec.id);
	bool whole = x->view == VIEW_WHOLE || x->view == VIEW_RESHAPE;
	return !whole || n >= all ||
	       BAD(s->c, op, "o%d reads t%d, of whose %" PRId64 " bytes %" PRId64
			     " are written before it", op->rec.id, t->rec.id, all, n);
}

/*
 * Checks a tensor that is read completely outside the NPU.  The error is reported at
 * rec.
 */
static bool
check_whole(const struct sources *s, const struct g_rec *rec, const char *who,
	    const struct g_tensor *t)
{
	int64_t n = s->written[t->rec.index], all = whole_bytes(t);
	return n >= all ||
	       err_at(s->c->e, s->c->g->file, rec->line, "of %s t%d, %" PRId64 " of %" PRId64
		      " bytes are written", who, t->rec.id, n, all);
}

bool
check_sources(struct check *c)
{
	const struct graph *g = c->g;
	struct sources s = { .c = c };
	s.written = anew(c->a, int64_t, g->n_tensors + 1);

	/* operations by node: a stable sort */
	size_t *at = anew(c->a, size_t, g->n_nodes + 2);
	size_t *first = anew(c->a, size_t, g->n_nodes + 2);
	const struct g_op **op = anew(c->a, const struct g_op *, g->n_ops + 1);
	for (size_t i = 0; i < g->n_ops; i++)
		at[g->ops[i]->node->rec.index + 1]++;
	for (size_t i = 0; i < g->n_nodes; i++)
		at[i + 1] += at[i];
	memcpy(first, at, (g->n_nodes + 1) * sizeof(*at));
	for (size_t i = 0; i < g->n_ops; i++)
		op[at[g->ops[i]->node->rec.index]++] = g->ops[i];

	/* tensors that an operation writes, or that are among the outputs of a node */
	bool *has_writer = anew(c->a, bool, g->n_tensors + 1);
	for (size_t i = 0; i < g->n_ops; i++)
		has_writer[g->ops[i]->ofm.t->rec.index] = true;
	for (size_t i = 0; i < g->n_nodes; i++)
		for (size_t k = 0; k < g->nodes[i]->out.n; k++)
			has_writer[g->nodes[i]->out.v[k]->rec.index] = true;

	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct g_node *n = g->nodes[i];
		if (n->kind == NODE_NPU) {
			for (size_t k = first[i]; k < first[i + 1]; k++) {
				const struct g_operand *to = &op[k]->ofm;
				if (!check_operand(&s, op[k], &op[k]->ifm) ||
				    !check_operand(&s, op[k], &op[k]->ifm2))
					return false;
				s.written[to->t->rec.index] +=
				    hwc_elements(to->shape) * tfl_type_bytes(to->type);
			}
			continue;
		}
		for (size_t k = 0; k < n->in.n; k++) {
			const struct g_tensor *t = n->in.v[k];
			/* the original model, too, leaves an input without any writer unwritten */
			if (!has_initial_value(t) && has_writer[t->rec.index] &&
			    !check_whole(&s, &n->rec, "the CPU's input", t))
				return false;
		}
		for (size_t k = 0; k < n->out.n; k++)
			s.written[n->out.v[k]->rec.index] = INT64_MAX / 2;
	}
	for (size_t i = 0; i < g->n_tensors; i++)
		if (tensor_is_output(g->tensors[i]) && !has_initial_value(g->tensors[i]) &&
		    !check_whole(&s, &g->tensors[i]->rec, "the output", g->tensors[i]))
			return false;
	return true;
}
