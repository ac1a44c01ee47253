/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on two tensors of different shapes: lower/pieces.c. */
#include "../moves/move.h"

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
	struct nd v[2], out = nd_shape(o);
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
			       : arena_printf(p->a, "the broadcast takes %lld operations",
					  (long long)n);
}

struct nd
nd_aligned(struct g_operand v, const struct tfl_tensor *t, const struct tfl_tensor *o)
{
	int32_t dim[TFL_MAX_RANK];
	align(t, o, dim);
	return nd_operand_of(v, o->rank, dim);
}

struct nd
nd_side(struct part *p, int tensor, const struct tfl_tensor *o)
{
	const struct tfl_tensor *t = &p->sg->tensor[tensor];
	return is_scalar(t) ? nd_const_one(p->l, t->type, o->rank, tensor_int(t, 0))
			    : nd_aligned(part_ifm(p, tensor), t, o);
}

void
part_binary(struct part *p, enum g_op_kind kind, const struct nd *a, int32_t a_zero,
	    const struct nd *b, int32_t b_zero, const struct nd *out,
	    const struct low_end *end)
{
	struct nd x = *a, y = *b, dest = *out;
	if (nd_pieces(&x, &y, out) > MAX_PIECES) {
		x = x.t ? nd_readable(p->l, &x) : x;
		y = y.t ? nd_readable(p->l, &y) : y;
		dest = nd_new(p->l, out->type, out->rank, out->dim);
	}
	nd_binary(p->l, kind, &x, a_zero, &y, b_zero, &dest, end);
	if (dest.t != out->t)
		nd_copy(p->l, &dest, out);
}
