/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantize: convolutions read the operand of a QUANTIZE that only moves the zero point, such as
 * UINT8 to INT8 of equal scale (nputools-rewrites(7) 4).  The zero point of their IFM moves
 * instead, and the QUANTIZE goes.
 */
#include "rewrite/rules.h"

/* A pool of single elements that adds a constant to each element. */
struct shift {
	size_t at; /* of the operation */
	struct g_op *op;
	int32_t by;
};

static bool
has_pattern(struct g_op *op, size_t at, struct shift *s)
{
	*s = (struct shift){ .at = at, .op = op, .by = op->ofm_zero - op->ifm_zero };
	if (op->kind != OP_AVGPOOL || op->kernel.y != 1 || op->kernel.x != 1 || op->stride.y != 1 ||
	    op->stride.x != 1 || op->upscale != UPSCALE_NONE || op_has_table(op) ||
	    op->act != G_ACT_CLAMP || !exact_is_bytes(&op->ifm) || !exact_is_bytes(&op->ofm) ||
	    op->scale.shift > 30 || op->scale.mult != 1u << op->scale.shift)
		return false;
	struct g_range from = type_range(op->ifm.type), to = type_range(op->ofm.type);
	struct g_range clamp = G_HAS(op, G_OP_clamp) ? op->clamp : to;
	/* no value is clamped */
	return from.lo + s->by >= clamp.lo && from.hi + s->by <= clamp.hi &&
	       from.lo + s->by >= to.lo && from.hi + s->by <= to.hi;
}

/* The operand of a reader, in the operand of the QUANTIZE. */
static struct g_operand
moved(const struct shift *s, const struct g_operand *o)
{
	struct g_tensor *from = s->op->ifm.t;
	struct g_operand r = *o;
	if (o->view == VIEW_WHOLE || o->view == VIEW_RESHAPE)
		r = operand_reshape(from, o->shape);
	r.t = from;
	r.type = from->shape.type;
	return r;
}

/* True if a reader can read the operand of the QUANTIZE. */
static bool
can_move(const struct shift *s, const struct g_op *op)
{
	const struct g_operand *o = &op->ifm;
	struct g_range zero = type_range(s->op->ifm.type);
	int32_t moves = op->ifm_zero - s->by;
	bool linear = o->view == VIEW_WHOLE || o->view == VIEW_RESHAPE ||
		      hwc_equal(s->op->ifm.t->hwc, o->t->hwc);
	enum g_view view = moved(s, o).view;
	/* bricks have no other shape */
	if (s->op->ifm.t->layout != LAYOUT_NHWC && view != VIEW_WHOLE && view != VIEW_BOX)
		return false;
	return op_has_weights(op->kind) && !op->ifm2.t && o->type == o->t->shape.type && linear &&
	       op->node == s->op->node && moves >= zero.lo && moves <= zero.hi;
}

/* True if all readers are behind the QUANTIZE, and nothing else writes to its operands. */
static bool
has_condition(const struct graph *g, const struct shift *s)
{
	const struct g_tensor *from = s->op->ifm.t, *to = s->op->ofm.t;
	int readers = 0;
	if (!exact_is_inner(g, to) || from->variable)
		return false;
	for (size_t i = 0; i < g->n_ops; i++) {
		const struct g_op *op = g->ops[i];
		if (op == s->op)
			continue;
		if (op->ofm.t == to || op->ifm2.t == to || (op->ofm.t == from && i > s->at) ||
		    (op->ifm.t == to && (i < s->at || !can_move(s, op))))
			return false;
		readers += op->ifm.t == to;
	}
	return readers > 0;
}

static struct g_op
moved_op(const struct shift *s, const struct g_op *op)
{
	struct g_op r = *op;
	r.ifm = moved(s, &op->ifm);
	r.ifm_zero = op->ifm_zero - s->by;
	return r;
}

bool
rewrite_quantize(struct exact *x)
{
	struct graph *g = x->g;
	for (size_t i = 0; x->estimate && !graph_has_loops(g) && i < g->n_ops;) {
		struct cycles before = { 0 }, after = { 0 };
		struct shift s;
		bool pays = has_pattern(g->ops[i], i, &s) && has_condition(g, &s) &&
			    estimate_add(x->estimate, s.op, &before);
		for (size_t k = 0; pays && k < g->n_ops; k++) {
			const struct g_op *op = g->ops[k];
			if (op->ifm.t != s.op->ofm.t)
				continue;
			struct g_op r = moved_op(&s, op);
			pays = estimate_add(x->estimate, op, &before) &&
			       estimate_add(x->estimate, &r, &after);
		}
		if (!pays || !cycles_are_fewer(&after, &before, 1)) {
			i++;
			continue;
		}
		const struct g_tensor *to = s.op->ofm.t;
		int n = 0;
		for (size_t k = 0; k < g->n_ops; k++)
			if (g->ops[k]->ifm.t == to) {
				*g->ops[k] = moved_op(&s, g->ops[k]);
				n++;
			}
		(void)exact_note(x, s.op, 0, cycles_saved(&after, &before),
				 "a zero point that moves by %d moves into %d convolution%s", s.by, n,
				 n == 1 ? "" : "s");
		exact_drop_op(x, s.op);
		exact_drop_tensor(x, to);
	}
	return true;
}
