/* SPDX-License-Identifier: Apache-2.0 */
/* Single operations on values of any shape. */
#include "part.h"

void
finish_op(void *ctx, struct g_op *op)
{
	const struct finish *f = ctx;
	bool adds = op->kind == OP_ADD || op->kind == OP_SUB;
	if (f->has_scalar)
		op_scalar(op, f->scalar, 0);
	if (adds && f->scaled.mult) {
		G_PUT(op, OP, opa, f->scaled);
		G_PUT(op, OP, opb, 0);
		G_PUT(op, OP, scaled, f->scaled_b ? SCALED_B : SCALED_A);
		G_PUT(op, OP, ifm_round, ROUND_NATURAL);
	} else if (adds) {
		uint32_t a = f->opa ? (uint32_t)f->opa : 1;
		G_PUT(op, OP, opa, (struct npu_scale){ .mult = a });
		G_PUT(op, OP, opb, f->opb ? f->opb : 1);
	}
	if (op->kind == OP_LRELU && f->scaled.mult)
		G_PUT(op, OP, opa, f->scaled);
	if (adds || op->kind == OP_MUL || op->kind == OP_ABS || op->kind == OP_LRELU ||
	    op->kind == OP_MATMUL || op_is_pool(op->kind))
		op_scale(op, f->scale.mult ? f->scale : (struct npu_scale){ .mult = 1 },
			 f->round);
	op->round = (int)f->round;
	op->ofm_zero = f->zero;
	if (f->clamped)
		op_clamp(op, f->clamp);
	if (f->tail)
		tail_finish(f->p, f->tail, op);
	if (f->lut)
		op_table(op, f->lut);
}

void
unary_to(struct part *p, enum g_op_kind kind, const struct nd *v, int32_t zero,
	 const struct nd *out, struct finish *f)
{
	f->p = p;
	nd_unary(p->l, kind, v, zero, out, finish_op, f);
}

void
pool_to(struct part *p, const struct nd *v, int32_t zero, const struct nd *out,
	struct finish *f)
{
	if (!f->scale.mult)
		f->scale = scale_one();
	unary_to(p, OP_AVGPOOL, v, zero, out, f);
}

void
binary_to(struct part *p, enum g_op_kind kind, const struct nd *a, const struct nd *b,
	const struct nd *out, struct finish *f)
{
	f->p = p;
	nd_binary(p->l, kind, a, 0, b, 0, out, finish_op, f);
}

void
table_to(struct part *p, const struct nd *v, const uint8_t table[256],
	 const struct nd *out)
{
	struct finish f = { .has_scalar = true, .round = ROUND_NATURAL,
			    .lut = low_lut8(p->l, table) };
	unary_to(p, OP_ADD, v, 0, out, &f);
}

void
curve_to(struct part *p, const struct nd *v, const int16_t points[513],
	 const struct nd *out)
{
	struct finish f = { .has_scalar = true, .round = ROUND_NATURAL,
			    .lut = low_lut16(p->l, points) };
	unary_to(p, OP_ADD, v, 0, out, &f);
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
