/* SPDX-License-Identifier: Apache-2.0 */
/* PAD and PADV2 that become the padding of the operator behind them: nputools-lowering(7) 6.3. */
#include "../moves/move.h"

#include "graph/facts.h"
#include "lower/padding.h"

/* no element of a tensor is less */
static int64_t
least_of(const struct part *p, const struct tfl_tensor *t)
{
	const struct placement *x = t->producer >= 0 ? &p->op[t->producer] : NULL;
	return x && x->npu && x->lop.end.clamped ? x->lop.end.clamp.lo : type_range(t->type).lo;
}

static bool
takes_padding(const struct part *p, const struct tfl_op *pad, const struct tfl_op *to)
{
	const struct low_borders *b = p->op[pad - p->sg->op].lop.own;
	struct lop o = p->op[to - p->sg->op].lop;
	switch (to->code) {
	case TFL_CONV_2D:
	case TFL_DEPTHWISE_CONV_2D:
		return low_conv_takes_pad(&o.conv, b);
	case TFL_MAX_POOL_2D:
		return low_pool_takes_pad(&o.pool, b, least_of(p, part_in(p, pad, 0)));
	default:
		return false;
	}
}

bool
pad_folds(const struct part *p, int i)
{
	const struct tfl_op *op = &p->sg->op[i];
	const struct placement *x = &p->op[i];
	if ((op->code != TFL_PAD && op->code != TFL_PADV2) || !x->npu || x->as != AS_ALONE ||
	    x->left_out)
		return false;
	int takers = 0;
	for (int k = i + 1; k < p->sg->n_ops; k++) {
		const struct tfl_op *to = &p->sg->op[k];
		if (!p->op[k].npu || !to->n_in || to->in[0] != op->out[0])
			continue;
		if (!takes_padding(p, op, to))
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
