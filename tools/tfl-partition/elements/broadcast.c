/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on two tensors of different shapes: lower/pieces.c. */
#include "../part.h"

enum { MAX_PIECES = 4096 };

/* dimension i counted from the last; 1 if the tensor has fewer dimensions */
static int32_t
dim_from_right(const struct tfl_tensor *t, int i)
{
	return i < t->rank ? t->dim[t->rank - 1 - i] : 1;
}

bool
is_scalar(const struct tfl_tensor *t)
{
	return t->data.p && tfl_elements(t) == 1 && tfl_type_bytes(t->type) <= 2;
}

struct side
side_of(struct part *p, int tensor)
{
	const struct tfl_tensor *t = &p->sg->tensor[tensor];
	struct side s = { .shape = t, .zero = quant_zero(t) };
	if (!is_scalar(t))
		s.value = part_ifm(p, tensor);
	return s;
}

/* t's shape extended to as many dimensions as o has */
static void
align(const struct tfl_tensor *t, const struct tfl_tensor *o, int32_t dim[TFL_MAX_RANK])
{
	for (int i = 0; i < o->rank; i++)
		dim[i] = dim_from_right(t, o->rank - 1 - i);
}

const char *
check_broadcast(const struct part *p, const struct tfl_tensor *a,
		const struct tfl_tensor *b, const struct tfl_tensor *o)
{
	const struct tfl_tensor *const in[2] = { a, b };
	struct nd v[2], out = nd_dense(o->type, o->rank, o->dim);
	int32_t dim[TFL_MAX_RANK];
	for (int i = 0; i < TFL_MAX_RANK; i++) {
		int32_t x = dim_from_right(a, i), y = dim_from_right(b, i);
		if ((x != y && x != 1 && y != 1) ||
		    dim_from_right(o, i) != (x == 1 ? y : x))
			return "the OFM's shape is not what the inputs broadcast "
			       "to";
	}
	for (int k = 0; k < 2; k++) {
		align(in[k], o, dim);
		v[k] = nd_dense(in[k]->type, o->rank, dim);
	}
	int64_t n = nd_pieces(&v[0], &v[1], &out);
	return n <= MAX_PIECES ? NULL
			       : part_say(p, "the broadcast takes %lld operations",
					  (long long)n);
}

struct nd
side_operand(struct part *p, const struct side *s, const struct tfl_tensor *o)
{
	int32_t dim[TFL_MAX_RANK];
	if (!s->value.t)
		return nd_const_one(p->l, s->shape->type, o->rank,
				    tensor_int(s->shape, 0));
	align(s->shape, o, dim);
	return nd_operand_of(s->value, o->rank, dim);
}

/* a contiguous copy, for operands whose views would take too many operations */
static struct nd
in_order(struct part *p, const struct nd *v)
{
	return v->t ? nd_readable(p->l, v) : *v;
}

void
part_binary(struct part *p, enum g_op_kind kind, const struct side *a,
	    const struct side *b, const struct tfl_tensor *o, struct g_operand ofm,
	    const struct low_end *end)
{
	struct nd x = side_operand(p, a, o), y = side_operand(p, b, o);
	struct nd out = nd_operand_of(ofm, o->rank, o->dim), dest = out;
	if (nd_pieces(&x, &y, &out) > MAX_PIECES) {
		x = in_order(p, &x);
		y = in_order(p, &y);
		dest = nd_new(p->l, out.type, out.rank, out.dim);
	}
	nd_binary(p->l, kind, &x, a->zero, &y, b->zero, &dest, end);
	if (dest.t != out.t)
		nd_copy(p->l, &dest, &out);
}
