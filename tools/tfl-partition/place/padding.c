/* SPDX-License-Identifier: Apache-2.0 */
/* PAD and PADV2 that become the padding of the operator behind them: nputools-lowering(7) 6.3. */
#include "../moves/move.h"

#include "graph/facts.h"
#include "lower/padding.h"

bool
pad_folds(const struct part *p, int i)
{
	const struct tfl_op *op = &p->sg->op[i];
	const struct placement *x = &p->op[i];
	if ((op->code != TFL_PAD && op->code != TFL_PADV2) || !x->npu || x->as != AS_ALONE ||
	    x->left_out)
		return false;
	const struct low_borders *b = x->lop.own;
	/* the least value that an element of the input can have */
	const struct tfl_tensor *in = part_in(p, op, 0);
	const struct placement *from = in->producer >= 0 ? &p->op[in->producer] : NULL;
	int64_t least = from && from->npu && from->lop.end.clamped ? from->lop.end.clamp.lo
								   : type_range(in->type).lo;
	int takers = 0;
	for (int k = i + 1; k < p->sg->n_ops; k++) {
		const struct tfl_op *to = &p->sg->op[k];
		if (!p->op[k].npu || !to->n_in || to->in[0] != op->out[0])
			continue;
		struct lop o = p->op[k].lop; /* a copy, which takes the padding */
		bool taken = false;
		if (to->code == TFL_CONV_2D || to->code == TFL_DEPTHWISE_CONV_2D)
			taken = low_conv_takes_pad(&o.conv, b);
		else if (to->code == TFL_MAX_POOL_2D)
			taken = low_pool_takes_pad(&o.pool, b, least);
		if (!taken)
			return false;
		takers++;
	}
	return takers && p->uses[op->out[0]] == takers;
}

const struct lop *
folded_pad(const struct part *p, const struct tfl_op *op)
{
	int producer = p->sg->tensor[op->in[0]].producer;
	return producer >= 0 && p->op[producer].as == AS_PADDING ? &p->op[producer].lop : NULL;
}
