/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic on views with all scales 1; right shifts round halves up. */
#include "lower/nd.h"

void
low_finish(void *ctx, struct g_op *op)
{
	const struct low_end *e = ctx;
	op->ofm_zero = e->zero;
	op_clamp(op, e->clamp);
	if (e->scaled)
		op_scale(op, e->scale, e->round);
}

void
nd_finish_unscaled(void *ctx, struct g_op *op)
{
	(void)ctx;
	if (op->kind == OP_ADD || op->kind == OP_SUB || op->kind == OP_MUL ||
	    op->kind == OP_ABS)
		op_unscaled(op);
	op->round = ROUND_NATURAL;
}

struct nd
nd_new_like(struct lower *l, const struct nd *v, int type)
{
	return nd_new(l, type, v->rank, v->dim);
}

struct nd
nd_broadcast_op(struct lower *l, enum g_op_kind kind, const struct nd *a, const struct nd *b)
{
	int64_t dim[ND_MAX];
	for (int i = 0; i < a->rank; i++)
		dim[i] = a->dim[i] == 1 ? b->dim[i] : a->dim[i];
	struct nd r = nd_new(l, a->type, a->rank, dim);
	nd_binary(l, kind, a, 0, b, 0, &r, nd_finish_unscaled, NULL);
	return r;
}

struct nd
nd_with_scalar(struct lower *l, enum g_op_kind kind, const struct nd *a, int32_t b)
{
	struct nd c = nd_const_one(l, a->type, a->rank, b);
	return nd_broadcast_op(l, kind, a, &c);
}

/* Subtracts half a unit before rounding. */
struct nd
nd_floor_shift(struct lower *l, const struct nd *v, int n)
{
	struct nd less = nd_with_scalar(l, OP_SUB, v, 1 << (n - 1));
	return nd_with_scalar(l, OP_SHR, &less, n);
}

static void
times_one(void *ctx, struct g_op *op)
{
	op_scalar(op, 1, 0);
	nd_finish_unscaled(ctx, op);
}

/* A pool widens to at most 16 bits. */
static void
as_it_is(void *ctx, struct g_op *op)
{
	nd_finish_unscaled(ctx, op);
	op_scale(op, scale_one(), ROUND_NATURAL);
}

struct nd
nd_widen(struct lower *l, const struct nd *v, int32_t zero, int type)
{
	struct nd r = nd_new_like(l, v, type);
	if (type == TFL_INT32)
		nd_unary(l, OP_MUL, v, zero, &r, times_one, NULL);
	else
		nd_unary(l, OP_AVGPOOL, v, zero, &r, as_it_is, NULL);
	return r;
}

struct nd
nd_spread(struct lower *l, const struct nd *v, const struct nd *shape)
{
	struct nd from = *v, to = nd_new(l, v->type, shape->rank, shape->dim);
	for (int i = 0; i < v->rank; i++)
		if (from.dim[i] != shape->dim[i]) {
			from.dim[i] = shape->dim[i];
			from.stride[i] = 0;
		}
	nd_copy(l, &from, &to);
	return to;
}

/*
 * Shifts the low bits to the top and back with their sign.  A copy of every other
 * element would process one element at a time.
 */
void
nd_narrow(struct lower *l, const struct nd *v, const struct nd *out)
{
	int32_t bits = 32 - 8 * graph_type_bytes(out->type);
	struct nd by = nd_const_one(l, TFL_INT32, v->rank, bits);
	struct nd top = nd_broadcast_op(l, OP_SHL, v, &by);
	nd_binary(l, OP_SHR, &top, 0, &by, 0, out, nd_finish_unscaled, NULL);
}
