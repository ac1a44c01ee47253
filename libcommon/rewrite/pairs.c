/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs: two equal elementwise operations on single columns become one operation on two columns,
 * whose distance is a stride, forwards or backwards (nputools-rewrites(7) 13).
 */
#include "rewrite/rules.h"

#include "lower/linux.h"

/* True if both operations compute the same of their operands. */
static bool
computes_alike(const struct g_op *a, const struct g_op *b)
{
	return a->kind == b->kind && a->node == b->node && a->scalar == b->scalar &&
	       a->ifm_zero == b->ifm_zero && a->ifm2_zero == b->ifm2_zero &&
	       a->ofm_zero == b->ofm_zero && a->reversed == b->reversed &&
	       a->opa.mult == b->opa.mult && a->opa.shift == b->opa.shift &&
	       a->opb == b->opb && a->scaled == b->scaled && a->ifm_round == b->ifm_round &&
	       a->scale.mult == b->scale.mult && a->scale.shift == b->scale.shift &&
	       a->round == b->round && a->act == b->act && a->lut == b->lut &&
	       a->clamp.lo == b->clamp.lo && a->clamp.hi == b->clamp.hi;
}

/* Joins two columns of one tensor.  False: an operation cannot see them as one operand. */
static bool
join_columns(const struct g_operand *a, const struct g_operand *b, struct g_operand *out)
{
	if (!a->t && !b->t)
		return true;
	if (!a->t || a->t != b->t || a->type != b->type || a->shape.w != 1 ||
	    !hwc_equal(a->shape, b->shape) || tensor_is_const(a->t) || tensor_has_strides(a->t) ||
	    a->t->planes)
		return false;
	struct g_operand from = operand_by_strides(*a), to = operand_by_strides(*b);
	if ((from.shape.h > 1 && from.stride[0] != to.stride[0]) ||
	    (from.shape.c > 1 && (from.stride[2] != 1 || to.stride[2] != 1)))
		return false;
	from.stride[1] = to.offset - from.offset;
	from.shape.w = 2;
	/* the whole tensor in the shape of the operand, if the operand is all of it in order */
	bool all = !from.offset && from.type == from.t->shape.type &&
		   operand_is_contiguous(&from) &&
		   hwc_elements(from.shape) == hwc_elements(from.t->hwc);
	*out = all ? operand_reshape(from.t, from.shape) : from;
	return from.stride[1] != 0;
}

bool
rewrite_pairs(struct exact *x)
{
	struct graph *g = x->g;
	for (size_t i = 0; x->estimate && !graph_has_loops(g) && i + 1 < g->n_ops; i++) {
		struct g_op *a = g->ops[i], *b = g->ops[i + 1], both = *a;
		const struct change c = { .old = { a, b }, .now = { &both } };
		double saved;
		if (!op_is_elementwise(a->kind) || !computes_alike(a, b) ||
		    !join_columns(&a->ifm, &b->ifm, &both.ifm) ||
		    !join_columns(&a->ifm2, &b->ifm2, &both.ifm2) ||
		    !join_columns(&a->ofm, &b->ofm, &both.ofm))
			continue;
		const struct g_tensor *t = both.ofm.t;
		bool apart = t != both.ifm.t && t != both.ifm2.t && !t->over.n;
		bool forwards = both.ofm.view != VIEW_STRIDED || both.ofm.stride[1] > 0;
		if (!apart || !forwards || low_linux_limit(x->l, &both) ||
		    !change_pays(x, &c, 1, &saved))
			continue;
		*a = both;
		(void)exact_note(x, a, 0, saved, "two equal operations on columns become one");
		exact_drop_op(x, b);
	}
	return true;
}
