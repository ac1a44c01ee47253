/* SPDX-License-Identifier: Apache-2.0 */
/* Adds operations to the graph. */
#include "insert.h"

#include "graph/build.h"
#include "graph/facts.h"

#include <string.h>

static struct g_op *
insert_bare(struct graph *g, size_t at, enum g_op_kind kind, const struct g_op *beside,
	    struct g_operand ifm, struct g_operand ofm)
{
	struct g_op *op = graph_add_g_op(g);
	/* graph_add_g_op() looks at the last operation, which need not have the largest number
	 * once others were inserted */
	for (size_t i = 0; i + 1 < g->n_ops; i++)
		if (g->ops[i]->rec.id >= op->rec.id)
			op->rec.id = g->ops[i]->rec.id + 1;
	memmove(&g->ops[at + 1], &g->ops[at],
		(g->n_ops - at - 1) * sizeof(struct g_op *));
	g->ops[at] = op;
	for (size_t i = at; i < g->n_ops; i++)
		g->ops[i]->rec.index = (int)i;
	G_PUT(op, OP, kind, (int)kind);
	G_PUT(op, OP, node, beside->node);
	if (G_HAS(beside, G_OP_name))
		G_PUT(op, OP, name, beside->name);
	if (G_HAS(beside, G_OP_tfl))
		G_PUT(op, OP, tfl, beside->tfl);
	G_PUT(op, OP, ifm, ifm);
	G_PUT(op, OP, ofm, ofm);
	op->kernel = op->stride = op->dilation = (struct yx){ .y = 1, .x = 1 };
	return op;
}

struct g_op *
insert_op(struct graph *g, size_t at, enum g_op_kind kind, const struct g_op *beside,
	  struct g_operand ifm, struct g_operand ofm)
{
	struct g_op *op = insert_bare(g, at, kind, beside, ifm, ofm);
	G_PUT(op, OP, ifm_zero, 0);
	G_PUT(op, OP, ofm_zero, 0);
	G_PUT(op, OP, round, ROUND_TFL);
	/* bounds that do nothing; for 32 bits, the limits of the registers */
	const int bits = 8 * graph_type_bytes(ofm.type);
	const int64_t values = bits > 16 ? 1 << 16 : (int64_t)1 << bits;
	const int64_t least = bits > 16 || graph_type_signed(ofm.type) ? -values / 2 : 0;
	G_PUT(op, OP, clamp, (struct g_range){ .lo = least, .hi = least + values - 1 });
	return op;
}

struct g_op *
insert_copy(struct graph *g, size_t at, const struct g_op *beside,
	    struct g_operand from, struct g_operand to)
{
	return insert_bare(g, at, OP_COPY, beside, from, to);
}
