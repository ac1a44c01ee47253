/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accelerators with 16 banks of SHRAM have no banks for tables: only elementwise operations can
 * use tables there (nputools-lowering(7) 4.8).  A table of any other operation moves into an
 * addition of 0 behind it.
 */
#include "graph/build.h"
#include "graph/facts.h"
#include "network/insert.h"
#include "passes.h"
#include "target/accel.h"

bool
separate_tables(struct sched *s)
{
	struct graph *g = s->g;
	if (s->accel->lut_banks || g->n_steps)
		return true;
	for (size_t i = 0; i < g->n_ops; i++) {
		struct g_op *op = g->ops[i];
		if (op->act != G_ACT_LUT || op_is_elementwise(op->kind))
			continue;
		struct g_operand between =
			operand_whole(graph_add_feature_map(g, op->ofm.type, op->ofm.shape));
		struct g_op *c = insert_op(g, i + 1, OP_ADD, op, between, op->ofm);
		G_PUT(c, OP, scalar, 0);
		G_PUT(c, OP, ifm2_zero, 0);
		G_PUT(c, OP, opa, (struct npu_scale){ .mult = 1 });
		G_PUT(c, OP, opb, 1);
		G_PUT(c, OP, scale, (struct npu_scale){ .mult = 1 });
		G_PUT(c, OP, act, op->act);
		G_PUT(c, OP, lut, op->lut);
		op->ofm = between;
		op->act = G_ACT_CLAMP;
		op->lut = NULL;
		G_CLEAR(op, G_OP_act);
		G_CLEAR(op, G_OP_lut);
	}
	return true;
}
