/* SPDX-License-Identifier: Apache-2.0 */
/* Views (struct nd) of the model's tensors. */
#include "../moves/move.h"

struct nd
nd_shape(const struct tfl_tensor *t)
{
	return nd_dense(t->type, t->rank, t->dim);
}

struct nd
nd_of(struct g_operand o, const struct tfl_tensor *t)
{
	return nd_operand_of(o, t->rank, t->dim);
}

struct nd
nd_ifm(struct part *p, int tensor)
{
	return nd_of(part_ifm(p, tensor), &p->sg->tensor[tensor]);
}

struct nd
nd_ofm(struct part *p, int tensor)
{
	return nd_of(part_ofm(p, tensor), &p->sg->tensor[tensor]);
}

void
nd_result(struct part *p, int tensor, const struct nd *seen)
{
	struct nd v = *seen, shape = nd_shape(&p->sg->tensor[tensor]);
	struct g_operand o;
	bool forward = true;
	for (int i = 0; i < v.rank; i++)
		forward = forward && v.stride[i] > 0;
	/* a variable's content may change before all readers of the result are done */
	if (!p->value[tensor].t && !G_HAS(v.t, G_TENSOR_variable) && forward &&
	    nd_reshape(&v, shape.dim, shape.rank) && nd_operand(&v, &o)) {
		p->value[tensor] = o;
		return;
	}
	struct nd to = nd_ofm(p, tensor);
	nd_copy(p->l, seen, &to);
}
