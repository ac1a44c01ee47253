/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PAD: nothing, if the operators behind it pad instead (nputools-lowering(7) 6.3).  Else the
 * operator in front writes between the borders, or its result is copied there; then each side
 * is written.
 */
#include "part.h"

#include "lower/padding.h"

struct low_borders
borders_of(const struct part *p, const struct tosa_op *op)
{
	const struct tosa_tensor *sizes = tosa_in(p->t, op, 1);
	struct low_borders b = { .value = tosa_zero_of(p->t, op, 2) };
	for (int k = 0; k < tosa_in(p->t, op, 0)->rank; k++) {
		b.before[k] = tosa_value(sizes, 2 * k);
		b.after[k] = tosa_value(sizes, 2 * k + 1);
	}
	return b;
}

/* can the convolution behind it have the rows and columns as padding of its own? */
static bool
pad_folds(const struct part *p, const struct tosa_op *op)
{
	int i = p->reader[op->out[0]];
	if (i < 0 || p->t->tensor[op->out[0]].is_output || tosa_in(p->t, op, 0)->data.p)
		return false;
	const struct tosa_op *c = &p->t->op[i];
	if ((c->code != TOSA_CONV2D && c->code != TOSA_DEPTHWISE_CONV2D) ||
	    c->in[0] != op->out[0] || !tosa_in(p->t, c, 1)->data.p || !tosa_in(p->t, c, 2)->data.p)
		return false;
	const struct low_borders b = borders_of(p, op);
	struct low_conv window = conv_window(p, c);
	return low_conv_takes_pad(&window, &b);
}

const struct tosa_op *
folded_pad(const struct part *p, int tensor)
{
	int i = p->maker[tensor];
	return p->value[tensor].t || p->t->tensor[tensor].data.p || i < 0 ||
			       p->t->op[i].code != TOSA_PAD
		   ? NULL
		   : &p->t->op[i];
}

/* the shape of a tensor */
static struct nd
shape_of(const struct tosa_tensor *t)
{
	return nd_dense(graph_type(t->type), t->rank, t->dim);
}

bool
pads_around(const struct part *p, const struct tosa_op *op)
{
	const struct nd in = shape_of(tosa_in(p->t, op, 0)), out = shape_of(tosa_out(p->t, op));
	const struct low_borders b = borders_of(p, op);
	return !pad_folds(p, op) && nd_pads_around(&in, b.before, (int32_t)b.value, &out);
}

struct nd
between_borders(const struct part *p, const struct tosa_op *op, const struct nd *out)
{
	const struct nd in = shape_of(tosa_in(p->t, op, 0));
	const struct low_borders b = borders_of(p, op);
	return nd_middle(out, &in, b.before);
}

const char *
lower_pad(struct part *p, const struct tosa_op *op)
{
	if (pad_folds(p, op))
		return NULL;
	struct nd v = value_of(p, op->in[0]), out = result_view(p, op->out[0]);
	const struct low_borders b = borders_of(p, op);
	nd_pad(p->l, &v, b.before, (int32_t)b.value, &out);
	return NULL;
}
