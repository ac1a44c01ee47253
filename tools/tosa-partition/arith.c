/* SPDX-License-Identifier: Apache-2.0 */
/* Single operations on values of any shape. */
#include "part.h"

#include "graph/facts.h"

void
binary_to(struct part *p, enum g_op_kind kind, const struct nd *a, const struct nd *b,
	const struct nd *out, const struct low_end *end)
{
	nd_binary(p->l, kind, a, 0, b, 0, out, end);
}

void
binary_op(struct part *p, enum g_op_kind kind, const struct tosa_op *op,
	  const struct low_end *end)
{
	struct nd a = value_of(p, op->in[0]), b = value_of(p, op->in[1]);
	struct nd out = result_view(p, op->out[0]);
	binary_to(p, kind, &a, &b, &out, end);
}

void
look_up(struct part *p, const struct nd *v, struct g_lut *lut, const struct nd *out)
{
	struct low_end end = low_half_up;
	end.has_scalar = true;
	end.lut = lut;
	nd_unary(p->l, OP_ADD, v, 0, out, &end);
}

struct nd
part_of(const struct nd *v, int type, int k)
{
	struct nd r = *v;
	int ratio = graph_type_bytes(v->type) / graph_type_bytes(type);
	r.type = type;
	r.offset = v->offset * ratio + k;
	for (int i = 0; i < v->rank; i++)
		r.stride[i] *= ratio;
	return r;
}
