/* SPDX-License-Identifier: Apache-2.0 */
/* Operations and their place in the flow, seen once. */
#include "sched.h"

static int
tensor_index(const struct graph *g, const struct g_tensor *t)
{
	for (size_t i = 0; t && i < g->n_tensors; i++)
		if (g->tensors[i] == t)
			return (int)i;
	return -1;
}

/* what the operations do with each tensor */
struct use {
	int producers, producer; /* operations that write it; the last one */
	bool plain;		 /* only NPU operations of one node, as a whole */
	int last;
};

static void
note(struct sched *s, struct use *use, int i, const struct g_operand *o, bool writes)
{
	int t = tensor_index(s->g, o->t);
	if (t < 0)
		return;
	struct use *u = &use[t];
	if (writes) {
		u->producers++;
		u->producer = i;
	} else {
		u->last = i;
	}
	bool alike = o->view == VIEW_WHOLE && o->type == o->t->shape.type;
	int other = u->producers ? u->producer : i;
	if (!alike || s->info[other].node != s->info[i].node)
		u->plain = false;
}

static struct use *
study_tensors(struct sched *s)
{
	struct graph *g = s->g;
	struct use *use = anew(s->a, struct use, g->n_tensors + 1);
	for (size_t i = 0; i < g->n_tensors; i++) {
		const struct g_tensor *t = g->tensors[i];
		use[i] = (struct use){ .last = -1, .producer = -1,
				       .plain = !tensor_is_const(t) &&
						!t->variable &&
						!G_HAS(t, G_TENSOR_io) &&
						!G_HAS(t, G_TENSOR_at) };
	}
	for (size_t n = 0; n < g->n_nodes; n++) {
		const struct g_tensors *l[2] = { &g->nodes[n]->in, &g->nodes[n]->out };
		for (int k = 0; k < 2; k++)
			for (size_t i = 0; i < l[k]->n; i++)
				use[tensor_index(g, l[k]->v[i])].plain = false;
	}
	for (int i = 0; i < s->n_ops; i++) {
		const struct g_op *op = s->info[i].op;
		note(s, use, i, &op->ifm, false);
		note(s, use, i, &op->ifm2, false);
		note(s, use, i, &op->ofm, true);
	}
	return use;
}

/*
 * Bands are rows of the OFM.  A fully connected operation has one row's worth
 * of work; a REDUCE_SUM reads linear maps; upscaling would need even bands.
 */
static bool
can_band(const struct g_op *op)
{
	struct g_pad e = op->edge;
	return op->kind != OP_FC && op->kind != OP_REDUCE_SUM &&
	       op->upscale == UPSCALE_NONE && op->ofm.shape.h > 1 &&
	       op->ofm.view == VIEW_WHOLE && op->ifm.view == VIEW_WHOLE &&
	       !e.top && !e.left && !e.bottom && !e.right &&
	       (!op->ifm2.t || op->ifm2.view == VIEW_WHOLE);
}

static void
choose_traversal(struct g_op *op)
{
	if (G_HAS(op, G_OP_traversal) || op->kind != OP_CONV)
		return;
	bool part = block_part_kernel(op->ifm.shape.c, op->kernel.y * op->kernel.x,
				      op_ifm_bits(op));
	G_PUT(op, OP, traversal, part ? PART_KERNEL : DEPTH_FIRST);
}

/* operations in the order of their nodes */
static void
list_ops(struct sched *s)
{
	s->info = anew(s->a, struct op_info, s->g->n_ops + 1);
	for (size_t n = 0; n < s->g->n_nodes; n++)
		for (size_t i = 0; i < s->g->n_ops; i++)
			if (s->g->ops[i]->node == s->g->nodes[n])
				s->info[s->n_ops++] = (struct op_info){
					.op = s->g->ops[i], .node = (int)n };
}

bool
study_ops(struct sched *s)
{
	list_ops(s);
	struct use *use = study_tensors(s);
	for (int i = 0; i < s->n_ops; i++) {
		struct op_info *f = &s->info[i];
		const struct g_operand *in[2] = { &f->op->ifm, &f->op->ifm2 };
		choose_traversal(f->op);
		f->bands = can_band(f->op);
		const struct use *u = &use[tensor_index(s->g, f->op->ofm.t)];
		f->last_use = u->last;
		f->internal = u->plain && u->producers == 1 && u->last > i;
		for (int k = 0; k < 2; k++) {
			int t = tensor_index(s->g, in[k]->t);
			f->producer[k] = t >= 0 && use[t].plain &&
						 use[t].producers == 1
					     ? use[t].producer
					     : -1;
		}
	}
	return true;
}
