/* SPDX-License-Identifier: Apache-2.0 */
/* Analyses operations once: their nodes, producers and last uses, and the use of each
 * tensor. */
#include "network.h"

#include "graph/facts.h"
#include "target/accel.h"

/*
 * Can the operation run in stripes, which are rows of its OFM?  A node that repeats may write
 * its inputs for the next iteration, so that order counts.  A fully connected operation has
 * work for one row only; a REDUCE_SUM reads linear feature maps; upscaling would need even
 * stripes.  A U55 copies multiples of 16 bytes.  Rows of a reshaped tensor are contiguous, too, and
 * so are rows of overlapping pixels.  Such a tensor has a rolling buffer only if its rows stay the
 * same (struct use, plain).
 */
static bool
can_stripe(const struct sched *s, const struct g_op *op)
{
	const struct g_operand *const in[] = { &op->ifm, &op->ifm2 };
	struct g_pad e = op->edge;
	if (node_repeats(op->node))
		return false;
	if (op->kind == OP_COPY && !accel_is_u65(s->accel) &&
	    tensor_strides(op->ofm.t).y % ALIGN)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(in); i++)
		if ((in[i]->t || !i) && in[i]->view != VIEW_WHOLE && in[i]->view != VIEW_RESHAPE &&
		    !operand_has_rows(in[i]))
			return false;
	return op->kind != OP_FC && op->kind != OP_GATHER && op->kind != OP_SCATTER &&
	       op->kind != OP_REDUCE_SUM &&
	       op->order != ORDER_REVERSE_H && op->kind != OP_RESIZE &&
	       op->upscale == UPSCALE_NONE && op->ofm.shape.h > 1 &&
	       op->ofm.view == VIEW_WHOLE &&
	       !e.top && !e.left && !e.bottom && !e.right;
}

/* The operation inside the node that is the only producer of an operand; -1: none. */
static int
producer_of(const struct sched *s, const struct g_operand *o)
{
	const struct use *u = o->t ? &s->use[o->t->rec.index] : NULL;
	return u && u->plain && u->producers == 1 ? u->producer : -1;
}

/*
 * The operand that operation i can take from the operation before it through a chain; or none.
 * Nothing else may use that result.  Conditions on extents and blocks are checked with the
 * costs.  A block, a block dependency or a chain in the input graph excludes the operation.
 */
static enum g_chain
find_chain_operand(const struct sched *s, int i)
{
	const struct g_op *op = s->info[i].op;
	if (!i || accel_lacks(s->accel, LACK_CHAINS) || !op_is_elementwise(op->kind) ||
	    op_is_transfer(s->info[i - 1].op->kind) || G_HAS(op, G_OP_block) ||
	    G_HAS(op, G_OP_blockdep) || G_HAS(op, G_OP_chain))
		return CHAIN_NONE;
	const struct g_tensor *t = s->info[i - 1].op->ofm.t;
	const struct use *u = &s->use[t->rec.index];
	bool is_excluded = tensor_is_const(t) || t->variable || G_HAS(t, G_TENSOR_io) ||
		     G_HAS(t, G_TENSOR_at);
	if (is_excluded || u->producers != 1 || u->last_touch != i || u->leaves ||
	    u->last_in >= 0 || op->ifm.t == op->ifm2.t)
		return CHAIN_NONE;
	return op->ifm.t == t ? CHAIN_IFM : op->ifm2.t == t ? CHAIN_IFM2 : CHAIN_NONE;
}

/* Sets s->use, and the flow between operations in their present order. */
static void
study_flow(struct sched *s)
{
	struct graph *g = s->g;
	s->use = anew(s->a, struct use, g->n_tensors + 1);
	for (size_t i = 0; i < g->n_tensors; i++) {
		const struct g_tensor *t = g->tensors[i];
		s->use[i] = (struct use){
			.producer = -1, .last_read = -1, .first_touch = -1,
			.last_touch = -1, .last_in = -1,
			.plain = !tensor_is_const(t) && !t->variable &&
				 !G_HAS(t, G_TENSOR_io) && !G_HAS(t, G_TENSOR_at) };
	}
	for (size_t n = 0; n < g->n_nodes; n++) {
		const struct g_node *node = g->nodes[n];
		for (size_t i = 0; i < node->in.n; i++) {
			struct use *u = &s->use[node->in.v[i]->rec.index];
			u->last_in = (int)n;
			u->plain = false;
		}
		for (size_t i = 0; i < node->out.n; i++) {
			struct use *u = &s->use[node->out.v[i]->rec.index];
			u->leaves = true;
			u->plain = false;
		}
	}
	for (int i = 0; i < s->n_ops; i++) {
		const struct g_op *op = s->info[i].op;
		const struct g_operand *const operand[OPERANDS] = { &op->ifm, &op->ifm2, &op->ofm };
		for (int k = 0; k < OPERANDS; k++) {
			const struct g_operand *o = operand[k];
			if (!o->t)
				continue;
			struct use *u = &s->use[o->t->rec.index];
			const bool writes = o == &op->ofm;
			u->last_touch = i;
			u->first_touch = u->first_touch < 0 ? i : u->first_touch;
			u->producers += writes;
			u->producer = writes ? i : u->producer;
			u->last_read = writes ? u->last_read : i;
			const bool by_rows = operand_has_rows(o) && (!writes || o->view == VIEW_WHOLE);
			const int other = u->producers ? u->producer : i;
			if (!by_rows || s->info[other].node != s->info[i].node)
				u->plain = false;
		}
	}
	for (int i = 0; i < s->n_ops; i++) {
		struct op_info *f = &s->info[i];
		const struct use *u = &s->use[f->op->ofm.t->rec.index];
		f->last_use = u->last_read;
		f->internal = u->plain && u->producers == 1 && u->last_read > i;
		f->producer[0] = producer_of(s, &f->op->ifm);
		f->producer[1] = producer_of(s, &f->op->ifm2);
		f->chain = (int)find_chain_operand(s, i);
	}
}

void
study_ops(struct sched *s)
{
	struct graph *g = s->g;
	/* the order of inputs and outputs gives those outside of the arena their offsets */
	struct io_place *of = anew(s->a, struct io_place, g->n_tensors + 1);
	if (g->n_nodes)
		node_io_places(g->nodes[0], of);
	for (size_t i = 0; i < g->n_tensors; i++)
		if (tensor_is_separate(g->tensors[i]))
			g->tensors[i]->at = of[i].at;
	/* operations, in the order of their nodes */
	int *next = anew(s->a, int, g->n_nodes + 1); /* position of each node's next operation */
	int *cpu = anew(s->a, int, g->n_nodes + 1);
	int *users = anew(s->a, int, g->n_weights + 1); /* of each weights record */
	s->n_ops = (int)g->n_ops;
	s->has_copies = false;
	for (size_t i = 0; i < g->n_ops; i++) {
		next[g->ops[i]->node->rec.index + 1]++;
		s->has_copies |= op_is_transfer(g->ops[i]->kind);
		if (g->ops[i]->weights)
			users[g->ops[i]->weights->rec.index]++;
	}
	for (size_t n = 0; n < g->n_nodes; n++) {
		next[n + 1] += next[n];
		cpu[n + 1] = cpu[n] + (g->nodes[n]->kind == NODE_CPU);
	}
	s->info = anew(s->a, struct op_info, g->n_ops + 1);
	for (size_t i = 0; i < g->n_ops; i++) {
		struct g_op *op = g->ops[i];
		const int n = op->node->rec.index;
		s->info[next[n]++] = (struct op_info){
			.op = op, .node = n, .cpu_before = cpu[n],
			.shared = op->weights && users[op->weights->rec.index] > 1,
			.stripes = can_stripe(s, op),
			.block_from_graph = G_HAS(op, G_OP_block) };
	}
	study_flow(s);
}

void
change_order(struct sched *s, const int *order)
{
	struct op_info *info = anew(s->a, struct op_info, (size_t)s->n_ops + 1);
	for (int i = 0; i < s->n_ops; i++)
		info[i] = s->info[order[i]];
	s->info = info;
	study_flow(s);
}
