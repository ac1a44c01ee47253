/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts with 16 banks of SHRAM keep none for tables: there only elementwise
 * operations use them (spec/operators.md 4.8).  A table behind anything else
 * moves into an addition of 0 that follows.
 */
#include "sched.h"

#include <string.h>

static struct g_tensor *
add_between(struct graph *g, const struct g_operand *ofm)
{
	struct hwc s = ofm->shape;
	struct g_tensor *t = graph_add_g_tensor(g);
	G_PUT(t, TENSOR, shape,
	      (struct g_shape){ .type = ofm->type, .rank = 4,
				.dim = { 1, s.h, s.w, s.c } });
	t->hwc = s;
	return t;
}

/* the record after op: an addition of 0 with op's table */
static void
add_carrier(struct graph *g, size_t at)
{
	struct g_op *op = g->ops[at], *c = graph_add_g_op(g);
	memmove(&g->ops[at + 2], &g->ops[at + 1],
		(g->n_ops - at - 2) * sizeof(struct g_op *));
	g->ops[at + 1] = c;
	for (size_t i = at + 1; i < g->n_ops; i++)
		g->ops[i]->rec.index = (int)i;
	struct g_tensor *t = add_between(g, &op->ofm);
	int64_t least = graph_type_signed(op->ofm.type) ? -1 : 0;
	int bits = 8 * graph_type_bytes(op->ofm.type);
	least *= (int64_t)1 << (bits - 1);
	G_PUT(c, OP, kind, (int)OP_ADD);
	G_PUT(c, OP, node, op->node);
	if (G_HAS(op, G_OP_name))
		G_PUT(c, OP, name, op->name);
	G_PUT(c, OP, tfl, op->tfl);
	G_PUT(c, OP, ifm, operand_whole(t));
	G_PUT(c, OP, ofm, op->ofm);
	G_PUT(c, OP, scalar, 0);
	G_PUT(c, OP, ifm_zero, 0);
	G_PUT(c, OP, ifm2_zero, 0);
	G_PUT(c, OP, ofm_zero, 0);
	G_PUT(c, OP, opa, (struct npu_scale){ .mult = 1 });
	G_PUT(c, OP, opb, 1);
	G_PUT(c, OP, scale, (struct npu_scale){ .mult = 1 });
	G_PUT(c, OP, round, ROUND_TFL);
	G_PUT(c, OP, act, op->act);
	G_PUT(c, OP, lut, op->lut);
	G_PUT(c, OP, clamp,
	      (struct g_range){ .lo = least,
				.hi = least + ((int64_t)1 << bits) - 1 });
	c->kernel = c->stride = c->dilation = (struct yx){ .y = 1, .x = 1 };
	op->ofm = operand_whole(t);
	op->act = G_ACT_CLAMP;
	op->lut = NULL;
	G_CLEAR(op, G_OP_act);
	G_CLEAR(op, G_OP_lut);
}

bool
separate_tables(struct sched *s)
{
	struct graph *g = s->g;
	if (s->accel->lut_banks || g->n_steps)
		return true;
	for (size_t i = 0; i < g->n_ops; i++)
		if (g->ops[i]->act == G_ACT_LUT &&
		    !op_is_elementwise(g->ops[i]->kind))
			add_carrier(g, i);
	return true;
}
