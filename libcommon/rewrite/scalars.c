/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scalars: on Ethos-U85, a constant of one word becomes the scalar of the operation that reads
 * it (nputools-rewrites(7) 6).  The operation then has one operand in memory less, and more
 * operations fit a chain.
 */
#include "rewrite/rules.h"

#include "graph/build.h"
#include "target/accel.h"

bool
rewrite_scalars(struct exact *x)
{
	struct graph *g = x->g;
	const struct g_op *first = NULL;
	int n = 0;
	bool ok = true, *replaced = anew(x->a, bool, g->n_tensors + 1);
	if (!x->l->accel || x->l->accel->generation != GEN_U85)
		return true;
	for (size_t i = 0; ok && i < g->n_ops; i++) {
		struct g_op *op = g->ops[i];
		int32_t v;
		bool whole = hwc_equal(op->ifm2.shape, op->ofm.shape);
		if (!op_is_binary(op->kind) || op_compares(op->kind) || !op->ifm.t || !op->ifm2.t ||
		    op->ifm.type != TFL_INT32 || op->reversed || op->ifm_zero || op->ifm2_zero ||
		    !exact_is_unscaled(op))
			continue;
		bool second = exact_is_word(x, &op->ifm2, &v, &ok) && !tensor_is_const(op->ifm.t);
		if (!second && !(ok && whole && exact_is_word(x, &op->ifm, &v, &ok) &&
				 !tensor_is_const(op->ifm2.t)))
			continue;
		replaced[(second ? op->ifm2.t : op->ifm.t)->rec.index] = true;
		if (!second) {
			op->ifm = op->ifm2;
			G_PUT(op, OP, reversed, 1);
		}
		op->ifm2 = (struct g_operand){ .t = NULL };
		G_CLEAR(op, G_OP_ifm2);
		G_PUT(op, OP, scalar, v);
		first = first ? first : op;
		n++;
	}
	if (!ok || !n)
		return ok;
	exact_drop_unused(x, replaced, g->n_tensors);
	(void)exact_note(x, first, 0, 0, "%d operation%s a word as scalar", n, n == 1 ? " has" : "s have");
	return true;
}
