/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PAD: nothing, if the convolution behind it pads instead.  Else the operator in front writes
 * between the borders, or its result is copied there; then each side is written.
 */
#include "part.h"

enum { MAX_PAD = 127 };

/* can the convolution behind it have the rows and columns as padding of its own? */
static bool
waits_for_conv(const struct part *p, const struct tosa_op *op)
{
	int i = p->reader[op->out[0]];
	const struct tosa_tensor *pad = tosa_in(p->t, op, 1), *x = tosa_in(p->t, op, 0);
	if (i < 0 || p->t->tensor[op->out[0]].is_output || x->rank != 4 || x->data.p)
		return false;
	const struct tosa_op *c = &p->t->op[i];
	if ((c->code != TOSA_CONV2D && c->code != TOSA_DEPTHWISE_CONV2D) ||
	    c->in[0] != op->out[0] || !tosa_in(p->t, c, 1)->data.p ||
	    !tosa_in(p->t, c, 2)->data.p || tosa_zero_of(p->t, op, 2) != tosa_zero_of(p->t, c, 3))
		return false;
	struct tosa_window w = tosa_window_of(p->t, c);
	for (int k = 0; k < 4; k++) {
		int64_t before = tosa_value(pad, 2 * k), after = tosa_value(pad, 2 * k + 1);
		if (k == 0 || k == 3 ? before || after : 0)
			return false;
		if (k == 0 || k == 3)
			continue;
		int64_t reach = (int64_t)(w.kernel[k - 1] - 1) * w.dilation[k - 1] + 1;
		before += w.before[k - 1];
		after += w.after[k - 1];
		if (before >= reach || after >= reach || before > MAX_PAD || after > MAX_PAD)
			return false;
	}
	return true;
}

/* number of elements that it puts in front of each axis */
static void
take_before(const struct part *p, const struct tosa_op *op, int64_t before[TOSA_MAX_RANK])
{
	for (int k = 0; k < tosa_in(p->t, op, 0)->rank; k++)
		before[k] = tosa_value(tosa_in(p->t, op, 1), 2 * k);
}

bool
pads_around(const struct part *p, const struct tosa_op *op)
{
	const struct tosa_tensor *x = tosa_in(p->t, op, 0), *o = tosa_out(p->t, op);
	const struct nd in = nd_dense(graph_type(x->type), x->rank, x->dim);
	const struct nd out = nd_dense(graph_type(o->type), o->rank, o->dim);
	int64_t before[TOSA_MAX_RANK];
	take_before(p, op, before);
	return !waits_for_conv(p, op) &&
	       nd_pads_around(&in, before, (int32_t)tosa_zero_of(p->t, op, 2), &out);
}

struct nd
between_borders(const struct part *p, const struct tosa_op *op, const struct nd *out)
{
	const struct tosa_tensor *x = tosa_in(p->t, op, 0);
	const struct nd in = nd_dense(graph_type(x->type), x->rank, x->dim);
	int64_t before[TOSA_MAX_RANK];
	take_before(p, op, before);
	return nd_middle(out, &in, before);
}

const char *
lower_pad(struct part *p, const struct tosa_op *op)
{
	if (waits_for_conv(p, op))
		return NULL;
	struct nd v = value_of(p, op->in[0]), out = result_view(p, op->out[0]);
	int64_t before[TOSA_MAX_RANK];
	take_before(p, op, before);
	nd_pad(p->l, &v, before, (int32_t)tosa_zero_of(p->t, op, 2), &out);
	return NULL;
}
