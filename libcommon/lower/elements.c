/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic on views with all scales 1; right shifts round halves up. */
#include "lower/nd.h"

#include "graph/facts.h"

const struct low_end low_as_made;
const struct low_end low_plain = { .scaled = true, .scale = { .mult = 1 } };
const struct low_end low_half_up = { .scaled = true, .scale = { .mult = 1 },
				     .round = ROUND_NATURAL };

void
low_finish(const struct low_end *e, struct g_op *op)
{
	if (e->has_scalar)
		op_scalar(op, e->scalar, 0);
	if (e->scaled) {
		bool adds = op->kind == OP_ADD || op->kind == OP_SUB;
		if (adds || e->factors)
			G_PUT(op, OP, opa, e->factors ? e->opa : (struct npu_scale){ .mult = 1 });
		if (adds)
			G_PUT(op, OP, opb, e->factors ? e->opb : 1);
		if (adds && e->side != SCALED_BOTH)
			G_PUT(op, OP, scaled, (int)e->side);
		if (adds && e->half_up)
			G_PUT(op, OP, ifm_round, ROUND_NATURAL);
		if (adds || e->factors || op->kind == OP_MUL || op->kind == OP_ABS ||
		    op->kind == OP_LRELU || op->kind == OP_MATMUL || op_is_pool(op->kind))
			op_scale(op, e->scale, e->round);
		op->round = (int)e->round;
	}
	op->ofm_zero = e->zero;
	if (e->clamped)
		op_clamp(op, e->clamp);
	if (e->lut)
		op_table(op, e->lut);
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
	nd_binary(l, kind, a, 0, b, 0, &r, &low_half_up);
	return r;
}

struct nd
nd_with_scalar(struct lower *l, enum g_op_kind kind, const struct nd *a, int32_t b)
{
	struct nd c = nd_const_one(l, a->type, a->rank, b);
	return nd_broadcast_op(l, kind, a, &c);
}

struct nd
nd_widen(struct lower *l, const struct nd *v, int32_t zero, int type)
{
	struct nd r = nd_new_like(l, v, type);
	bool words = type == TFL_INT32; /* a pool widens to at most 16 bits */
	struct low_end end = low_half_up;
	end.has_scalar = words;
	end.scalar = 1;
	if (!words)
		end.scale = scale_one();
	nd_unary(l, words ? OP_MUL : OP_AVGPOOL, v, zero, &r, &end);
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
	nd_binary(l, OP_SHR, &top, 0, &by, 0, out, &low_half_up);
}
