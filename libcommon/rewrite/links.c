/* SPDX-License-Identifier: Apache-2.0 */
/*
 * links: on Ethos-U85, an elementwise operation that writes a part of a tensor for the operation
 * behind it writes a tensor of its own (nputools-rewrites(7) 14).  Both can then be in a chain, and
 * need no memory between them.
 */
#include "rewrite/rules.h"

#include "graph/build.h"
#include "target/accel.h"

enum { MOST_ELEMENTS = 1024 };

/* False: no element of the box is in the operand. */
static bool
meets(const struct g_operand *box, const struct g_operand *o)
{
	return o->t == box->t && !boxes_are_disjoint(box, o);
}

/* True if only operation i + 1 reads what operation i writes. */
static bool
has_one_reader(const struct graph *g, size_t i)
{
	const struct g_operand *box = &g->ops[i]->ofm;
	for (size_t k = i + 1; k < g->n_ops; k++) {
		const struct g_op *op = g->ops[k];
		if (k > i + 1 && (meets(box, &op->ifm) || meets(box, &op->ifm2)))
			return false;
		if (operand_equal(box, &op->ofm))
			return true;
	}
	return true;
}

bool
rewrite_links(struct exact *x)
{
	struct graph *g = x->g;
	const struct g_op *first = NULL;
	int n = 0;
	if (accel_lacks(x->accel, LACK_CHAINS) || graph_has_loops(g))
		return true;
	for (size_t i = 0; i + 1 < g->n_ops; i++) {
		struct g_op *op = g->ops[i], *next = g->ops[i + 1];
		struct g_operand *y = &op->ofm;
		if (!op_is_elementwise(op->kind) || !op_is_elementwise(next->kind) ||
		    op_has_table(next) || op->node != next->node || y->view != VIEW_BOX ||
		    y->type != y->t->shape.type || !exact_is_inner(g, y->t) ||
		    hwc_elements(y->shape) > MOST_ELEMENTS || !hwc_equal(y->shape, next->ofm.shape))
			continue;
		bool is_ifm = operand_equal(y, &next->ifm), is_ifm2 = operand_equal(y, &next->ifm2);
		if (is_ifm == is_ifm2 || meets(y, is_ifm ? &next->ifm2 : &next->ifm) ||
		    !has_one_reader(g, i))
			continue;
		struct g_operand *link = is_ifm ? &next->ifm : &next->ifm2;
		*y = *link = operand_whole(graph_add_feature_map(g, y->type, y->shape));
		first = first ? first : op;
		n++;
	}
	if (n)
		(void)exact_note(x, first, 0, 0, "%d operation%s a tensor of %s own for the next operation",
				 n, n == 1 ? " writes" : "s write", n == 1 ? "its" : "their");
	return true;
}
