/* SPDX-License-Identifier: Apache-2.0 */
/* PAD and PADV2 that become the padding of the operator behind them: nputools-lowering(7) 6.3. */
#include "../moves/move.h"

#include "tflite/fields.h"

/* rows and columns that PAD adds; false: too many, or PAD adds channels or images */
static bool
read_borders(const struct part *p, const struct tfl_op *op, struct g_pad *pad)
{
	const struct borders *b = p->op[op - p->sg->op].lop.own;
	if (part_in(p, op, 0)->rank != 4 || b->before[0] || b->after[0] || b->before[3] ||
	    b->after[3])
		return false;
	for (int i = 1; i < 3; i++)
		if (b->before[i] > LOW_PAD || b->after[i] > LOW_PAD)
			return false;
	*pad = (struct g_pad){ .top = (int32_t)b->before[1], .bottom = (int32_t)b->after[1],
			       .left = (int32_t)b->before[2], .right = (int32_t)b->after[2] };
	return true;
}

/* so much padding is possible with a kernel of this size, dilation ignored */
static bool
is_padding(int64_t n, int32_t kernel)
{
	return n <= LOW_PAD && n < kernel;
}

static bool
are_paddings(struct g_pad own, struct g_pad more, struct yx kernel)
{
	return is_padding((int64_t)own.top + more.top, kernel.y) &&
	       is_padding((int64_t)own.bottom + more.bottom, kernel.y) &&
	       is_padding((int64_t)own.left + more.left, kernel.x) &&
	       is_padding((int64_t)own.right + more.right, kernel.x);
}

/* the activation at the end of an operator whose result has the scale of its OFM */
static int
activation_of(const struct tfl_op *op)
{
	switch (op->code) {
	case TFL_CONV_2D:
		return (int)TFL_OPT(op, Conv2DOptions, fused_activation_function);
	case TFL_DEPTHWISE_CONV_2D:
		return (int)TFL_OPT(op, DepthwiseConv2DOptions, fused_activation_function);
	case TFL_ADD:
		return (int)TFL_OPT(op, AddOptions, fused_activation_function);
	case TFL_RELU:
		return TFL_ACT_RELU;
	case TFL_RELU6:
		return TFL_ACT_RELU6;
	default:
		return TFL_ACT_NONE;
	}
}

/*
 * A convolution adds the padding of PAD to its own.  This is exact because the border is
 * the zero point, which contributes nothing.  A maximum pool does the same if the border is
 * no greater than all elements.
 */
static bool
takes_padding(const struct part *p, const struct tfl_op *pad, const struct tfl_op *to)
{
	const struct lop *o = &p->op[to - p->sg->op].lop;
	const struct low_axis *y = &o->pool.axis[0], *x = &o->pool.axis[1];
	struct g_pad more;
	if (!read_borders(p, pad, &more))
		return false;
	if (to->code == TFL_MAX_POOL_2D) {
		struct g_pad own = { .top = y->before, .bottom = y->after,
				     .left = x->before, .right = x->after };
		const struct tfl_tensor *in = part_in(p, pad, 0);
		const struct borders *b = p->op[pad - p->sg->op].lop.own;
		int activation = in->producer < 0 ? TFL_ACT_NONE
						  : activation_of(&p->sg->op[in->producer]);
		/* no element of the IFM is below the border, so the maximum is the same without */
		return b->value <= quant_clamp(in, activation).lo &&
		       are_paddings(own, more, (struct yx){ .y = y->kernel, .x = x->kernel });
	}
	return pad->code == TFL_PAD &&
	       (to->code == TFL_CONV_2D || to->code == TFL_DEPTHWISE_CONV_2D) &&
	       are_paddings(o->conv.pad, more, o->conv.kernel);
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

int
folded_pad(const struct part *p, const struct tfl_op *op, struct g_pad *pad)
{
	int producer = p->sg->tensor[op->in[0]].producer;
	struct g_pad more;
	if (producer < 0 || p->op[producer].as != AS_PADDING)
		return op->in[0];
	const struct tfl_op *before = &p->sg->op[producer];
	(void)read_borders(p, before, &more);
	pad->top += more.top;
	pad->bottom += more.bottom;
	pad->left += more.left;
	pad->right += more.right;
	return before->in[0];
}
