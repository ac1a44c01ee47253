/* SPDX-License-Identifier: Apache-2.0 */
/*
 * If the NPU has an SRAM of its own, inputs and outputs of nodes are in a memory of long bursts
 * and high latency.  A kernel reads and writes a few bytes at a time there.  The DMA engine
 * moves a feature map in one transfer, while kernels run.  So each such feature map may have a
 * copy in the SRAM, which the node's operations use instead.
 *
 * In all memory modes, a pool that only moves one run of bytes to another may be replaced by a
 * transfer of the DMA engine.
 *
 * Plans with copies and without are compared (search/variants.c).
 */
#include "../passes.h"
#include "copies.h"
#include "graph/build.h"
#include "graph/facts.h"
#include "insert.h"
#include "network.h"
#include "target/accel.h"

#include <string.h>

/* Is an operation part of the graph when copies are used, or when they are not? */
static bool
is_used(const struct copies *c, const struct g_op *op, bool use)
{
	bool may = op->kind == OP_COPY || op->kind == OP_AVGPOOL;
	for (size_t i = 0; may && i < c->n; i++) {
		const struct moved *m = &c->v[i];
		if (m->op == op || m->instead == op)
			return (use && m->pays) == (m->op == op);
	}
	return true;
}

static bool
is_kernel_of(const struct copies *c, const struct g_node *n, const struct g_op *op)
{
	return op->node == n && !op_is_transfer(op->kind) && is_used(c, op, true);
}

/*
 * Adds a copy of t that the operations of node n use instead, if possible.  made: they write t.
 * That copy writes all of t, so no other transfer may read or write t.
 */
static void
add_copy(struct sched *s, struct copies *c, const struct g_node *n, struct g_tensor *t,
	 bool made)
{
	enum { MOST = 65536 }; /* largest extent of a whole operand */
	struct graph *g = s->g;
	const int type = t->shape.type;
	/* however operations view its bytes, a copy needs a type and extents that the NPU supports */
	if (t->hwc.h > MOST || t->hwc.w > MOST || t->hwc.c > MOST || tensor_is_const(t) ||
	    t->variable || t->io == IO_INOUT ||
	    (G_HAS(t, G_TENSOR_area) && !tensor_is_separate(t)) || G_HAS(t, G_TENSOR_layout) ||
	    tensor_has_strides(t) ||
	    (type != TFL_INT8 && type != TFL_UINT8 && type != TFL_INT16 && type != TFL_INT32))
		return;
	/* the kernels of the node that touch t: how many write and read it, the first one, and the
	 * index behind the last */
	int writers = 0, readers = 0;
	size_t first = g->n_ops, end = 0;
	bool moved = false; /* a transfer touches t itself */
	for (size_t i = 0; i < g->n_ops; i++)
		for (int k = 0; k < OPERANDS; k++) {
			struct g_op *op = g->ops[i];
			if (operand_ofm_first(op, k)->t != t)
				continue;
			moved |= op_is_transfer(op->kind);
			if (!is_kernel_of(c, n, op))
				continue;
			writers += k == 0;
			readers += k != 0;
			first = i < first ? i : first;
			end = i + 1;
		}
	if (made ? !writers || moved : writers || !readers)
		return;
	struct g_tensor *fast = graph_add_feature_map(g, type, t->hwc);
	size_t at = made ? end : first;
	struct g_operand from = operand_whole(made ? fast : t);
	struct g_operand to = operand_whole(made ? t : fast);
	struct g_op *copy = insert_copy(g, at, g->ops[made ? at - 1 : at], from, to);
	for (size_t i = 0; i < g->n_ops; i++)
		for (int k = 0; k < OPERANDS; k++) {
			struct g_operand *o = operand_ofm_first(g->ops[i], k);
			if (o->t != t || !is_kernel_of(c, n, g->ops[i]))
				continue;
			agrow(s->a, c->swap, c->n_swaps, &c->cap_swaps);
			c->swap[c->n_swaps++] = (struct swap){ .o = o, .copy = (int)c->n };
		}
	agrow(s->a, c->v, c->n, &c->cap);
	c->v[c->n++] = (struct moved){ .op = copy, .home = t, .fast = fast, .pays = true };
}

/* Is the operand one run of bytes, of a tensor that is linear in any case?  Then a transfer,
 * which needs linear tensors, takes bricks from no reader. */
static bool
is_linear_run(const struct sched *s, const struct g_operand *o)
{
	bool linear = o->view == VIEW_STRIDED || o->view == VIEW_RESHAPE ||
		      o->t->io != IO_NONE || tensor_is_const(o->t);
	int64_t size = graph_type_bytes(o->type), at = operand_by_strides(*o).offset;
	/* a U55 moves multiples of 16 bytes */
	return linear && o->t->layout == LAYOUT_NHWC && !tensor_has_strides(o->t) &&
	       operand_is_contiguous(o) &&
	       (accel_is_u65(s->accel) ||
		(at * size % ALIGN == 0 && hwc_elements(o->shape) * size % ALIGN == 0));
}

bool
list_copies(struct sched *s)
{
	struct graph *g = s->g;
	struct copies *c = anew(s->a, struct copies, 1);
	if (g->n_steps)
		return true;
	for (size_t i = 0; i < g->n_ops; i++) {
		struct g_op *op = g->ops[i];
		if (!op_only_moves(op) || G_HAS(op, G_OP_block) ||
		    op->ifm.t == op->ofm.t || !is_linear_run(s, &op->ifm) ||
		    !is_linear_run(s, &op->ofm))
			continue;
		struct g_op *copy = insert_copy(g, i + 1, op, op->ifm, op->ofm);
		agrow(s->a, c->v, c->n, &c->cap);
		c->v[c->n++] = (struct moved){ .op = copy, .instead = op, .pays = true };
		i++;
	}
	/* Copies for an NPU with an SRAM of its own.  Graphs with loops have none: tensors between the
	 * nodes of a loop are inputs and outputs at once, of several iterations. */
	const bool has_io = s->memory.spilling && !graph_has_loops(g);
	for (size_t i = 0; has_io && i < g->n_nodes; i++) {
		const struct g_node *n = g->nodes[i];
		for (size_t k = 0; k < n->in.n; k++)
			add_copy(s, c, n, n->in.v[k], false);
		for (size_t k = 0; k < n->out.n; k++)
			add_copy(s, c, n, n->out.v[k], true);
	}
	if (!c->n)
		return true;
	c->n_ops = g->n_ops;
	c->op = anew(s->a, struct g_op *, c->n_ops);
	memcpy(c->op, g->ops, c->n_ops * sizeof(*c->op));
	s->copies = c;
	use_copies(s, true);
	return true;
}

void
use_copies(struct sched *s, bool use)
{
	const struct copies *c = s->copies;
	struct graph *g = s->g;
	g->n_ops = 0;
	for (size_t i = 0; i < c->n_ops; i++) {
		if (!is_used(c, c->op[i], use))
			continue;
		g->ops[g->n_ops] = c->op[i];
		g->ops[g->n_ops]->rec.index = (int)g->n_ops;
		g->n_ops++;
	}
	for (size_t i = 0; i < c->n_swaps; i++) {
		const struct moved *m = &c->v[c->swap[i].copy];
		c->swap[i].o->t = use && m->pays ? m->fast : m->home;
	}
}

void
drop_unused_copies(struct sched *s)
{
	bool *keep = anew(s->a, bool, s->g->n_tensors + 1);
	memset(keep, true, s->g->n_tensors);
	for (size_t k = 0; s->copies && k < s->copies->n; k++) {
		const struct g_tensor *fast = s->copies->v[k].fast;
		if (fast) /* else the copy takes the place of a pool */
			keep[fast->rec.index] = G_HAS(fast, G_TENSOR_at);
	}
	graph_keep_g_tensor(s->g, keep);
}
