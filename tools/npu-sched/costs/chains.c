/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains of U85: an elementwise operation takes the result of the operation before it block by
 * block, without a feature map between them (ethosu-commands(7) 29).  A chain is one kernel,
 * whose output stage works for all its operations (ethosu-timing(7) 21): mostly the elementwise
 * work is hidden behind dot products.
 */
#include "costs.h"

#include "graph/facts.h"

/* Sets an operand to the extents of a chain.  False: memory does not hold its elements in that
 * order. */
static bool
give_extents(struct g_operand *o, struct hwc shape, bool stored)
{
	int type = o->type;
	if (!o->t || hwc_equal(o->shape, shape))
		return true;
	if ((o->view != VIEW_WHOLE && o->view != VIEW_RESHAPE) ||
	    hwc_elements(o->shape) != hwc_elements(shape))
		return false;
	if (hwc_equal(o->t->hwc, shape))
		*o = operand_whole(o->t);
	else if (!stored || is_dense(o))
		*o = operand_reshape(o->t, shape);
	else
		return false;
	o->type = type;
	return true;
}

/* Makes the next operation of a chain, in the extents of the first one. */
static bool
link_to(const struct op_info *f, struct hwc shape, bool last, struct g_op *op)
{
	*op = *f->op;
	G_PUT(op, OP, chain, f->chain);
	if (hwc_equal(op->ofm.shape, shape)) /* a repeated operand stays repeated */
		return true;
	return give_extents(&op->ifm, shape, f->chain != CHAIN_IFM) &&
	       give_extents(&op->ifm2, shape, f->chain != CHAIN_IFM2) &&
	       give_extents(&op->ofm, shape, last);
}

bool
chain_ops(const struct sched *s, int first, int links, const struct fold *fold,
	  struct g_op *out)
{
	const struct g_op *ops[CHAIN_LENGTH];
	const struct op_info *f = &s->info[first];
	if (links >= CHAIN_LENGTH || (links && G_HAS(f->op, G_OP_blockdep)))
		return false;
	out[0] = *f->op;
	fold_op(&out[0], fold);
	ops[0] = &out[0];
	for (int i = 1; i <= links; i++) {
		if (!link_to(&f[i], out[0].ofm.shape, i == links, &out[i]))
			return false;
		out[i].block = out[0].block;
		ops[i] = &out[i];
		if (chain_ops_fault(ops, i + 1))
			return false;
	}
	return true;
}
