/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains of U85: an elementwise operation takes what the one before it makes block by
 * block, without a map between them (ethosu-commands(7) 29).  A chain is one kernel,
 * whose output stage works for all of them (ethosu-timing(7) 21): mostly what the
 * elementwise operation does is hidden behind dot products.
 */
#include "../sched.h"

#include <assert.h>

/* an operand in a chain's extents: memory must hold its elements in their order */
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

/* the next operation of a chain, in its lead's extents and block */
static bool
link_to(const struct op_info *f, const struct g_op *lead, bool last, struct g_op *op)
{
	struct hwc shape = lead->ofm.shape;
	*op = *f->op;
	G_PUT(op, OP, chain, f->chain);
	G_PUT(op, OP, block, lead->block);
	return give_extents(&op->ifm, shape, f->chain != CHAIN_IFM) &&
	       give_extents(&op->ifm2, shape, f->chain != CHAIN_IFM2) &&
	       give_extents(&op->ofm, shape, last);
}

bool
chain_ops(struct sched *s, int first, int last, struct g_op *out)
{
	const struct g_op *ops[CHAIN_LENGTH];
	const struct op_info *f = &s->info[first];
	const struct block_choice *b = block_for(s, first, f->op->ofm.shape.h);
	if (!b || last - first >= CHAIN_LENGTH || G_HAS(f->op, G_OP_blockdep))
		return false;
	out[0] = *f->op;
	fold_op(&out[0], &b->fold);
	out[0].block = b->block;
	ops[0] = &out[0];
	for (int n = 1; first + n <= last; n++) {
		if (!link_to(&f[n], &out[0], first + n == last, &out[n]))
			return false;
		ops[n] = &out[n];
		if (chain_ops_fault(ops, n + 1))
			return false;
	}
	return true;
}

struct perf_op
chain_work(struct sched *s, const struct kernel *k)
{
	struct g_op op[CHAIN_LENGTH];
	bool is_one = chain_ops(s, k->op, k->op + k->links, op);
	assert(is_one);
	struct perf_op p = op_work(s, &op[0], k);
	for (int i = 1; i <= k->links; i++) {
		const struct kernel whole = { .rows = { .hi = op[i].ofm.shape.h },
					      .depth = { .hi = op[i].ofm.shape.c } };
		struct perf_op next = op_work(s, &op[i], &whole);
		bool chained[2] = { op[i].chain == CHAIN_IFM, op[i].chain == CHAIN_IFM2 };
		p.stage.chained = true;
		next.stage.chained = i < k->links;
		bool added = perf_chain_add(&s->machine, &p, &next, chained);
		assert(added);
	}
	return p;
}
