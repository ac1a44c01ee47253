/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes as few NPU regions as the order of operators allows: nputools-lowering(7)
 * 7.2, levels.  All NPU operators of one level are a region.  A path that leaves
 * the region through the CPU arrives at a higher level, therefore no region waits
 * for itself.
 */
#include "../moves/move.h"

#include "base/fixed.h"
#include "graph/build.h"
#include "graph/facts.h"
#include "sim/resources.h"
#include "tflite/calls.h"

#include <limits.h>

/* raises i to the level of `from`, or above it if `from` is on the NPU and i on the CPU */
static void
raise_level(struct part *p, int i, int from)
{
	struct placement *x = &p->op[i];
	int level = p->op[from].level + (!x->npu && p->op[from].npu);
	x->level = level > x->level ? level : x->level;
}

/* keeps the order of operators that access a variable; last: of each tensor, 1 + i */
static void
follow_variable(struct part *p, int i, int tensor, int *last)
{
	if (tensor < 0 || !p->sg->tensor[tensor].is_variable)
		return;
	if (last[tensor])
		raise_level(p, i, last[tensor] - 1);
	last[tensor] = i + 1;
}

static void
find_levels(struct part *p)
{
	int *last = anew(p->a, int, (size_t)p->sg->n_tensors);
	/* the last operator that accesses a variable by name; no tensor keeps their order */
	int named = -1;
	/* does a body of the model read or assign variables by name? */
	bool calls = false;
	const bool *body = tfl_bodies(p->a, p->m);
	for (int s = 1; s < p->m->n_subgraphs; s++)
		for (int i = 0; body[s] && i < p->m->subgraph[s].n_ops; i++)
			calls = calls || sim_is_resource_op(&p->m->subgraph[s].op[i]);
	for (int i = 0; i < p->sg->n_ops; i++) {
		const struct tfl_op *op = &p->sg->op[i];
		int64_t callee[TFL_CALLEES];
		if (!p->op[i].npu && (sim_is_resource_op(op) || (calls && tfl_callees(op, callee)))) {
			if (named >= 0)
				raise_level(p, i, named);
			named = i;
		}
		for (int k = 0; k < op->n_in; k++) {
			int from = op->in[k] < 0 ? -1
						 : p->sg->tensor[op->in[k]].producer;
			if (from >= 0 && from < i && p->op[from].as != AS_CONSTANT &&
			    p->op[i].as != AS_CONSTANT)
				raise_level(p, i, from);
			follow_variable(p, i, op->in[k], last);
		}
		for (int k = 0; k < op->n_out; k++)
			follow_variable(p, i, op->out[k], last);
	}
}

/* a pure function of a tensor that never changes, whose result takes more memory */
static bool
enlarges_input(const struct part *p, const struct tfl_op *op)
{
	if ((op->code != TFL_DEQUANTIZE && op->code != TFL_CAST) || op->n_in != 1 ||
	    op->n_out != 1 || op->in[0] < 0)
		return false;
	const struct tfl_tensor *in = &p->sg->tensor[op->in[0]];
	const struct tfl_tensor *out = &p->sg->tensor[op->out[0]];
	return !in->is_variable && !out->is_variable &&
	       tfl_type_bytes(out->type) > tfl_type_bytes(in->type);
}

/*
 * Delays operators to the level that first reads their results: first CPU operators that
 * enlarge their input, then all folded operators.
 */
static void
delay_ops(struct part *p)
{
	/* the first level in which each tensor is read: INT_MAX, none yet */
	int *first = anew(p->a, int, (size_t)p->sg->n_tensors);
	for (int folded = 0; folded < 2; folded++) {
		for (int t = 0; t < p->sg->n_tensors; t++)
			first[t] = INT_MAX;
		for (int i = p->sg->n_ops; i-- > 0;) {
			const struct tfl_op *op = &p->sg->op[i];
			struct placement *x = &p->op[i];
			int level = INT_MAX;
			if (!folded && x->as == AS_CONSTANT)
				continue;
			for (int k = 0; k < op->n_out; k++)
				level = min_i32(level, first[op->out[k]]);
			if (folded ? x->as == AS_CONSTANT
				   : !x->npu && level < INT_MAX && enlarges_input(p, op))
				x->level = level;
			for (int k = 0; k < op->n_in; k++)
				if (op->in[k] >= 0)
					first[op->in[k]] = min_i32(first[op->in[k]], x->level);
			x->level = x->level == INT_MAX ? 0 : x->level;
		}
	}
}

/*
 * Finds the tensors that are visible outside of their region, and makes a graph tensor of
 * each; inputs first, for people who read the graph
 */
static void
make_crossing_tensors(struct part *p)
{
	const struct tfl_subgraph *sg = p->sg;
	for (int i = 0; i < sg->n_in; i++)
		p->crosses[sg->in[i]] = true;
	for (int i = 0; i < sg->n_out; i++)
		p->crosses[sg->out[i]] = true;
	for (int i = 0; i < sg->n_ops; i++) {
		const struct tfl_op *op = &sg->op[i];
		if (p->op[i].as == AS_CONSTANT)
			continue;
		for (int k = 0; k < op->n_in; k++) {
			int t = op->in[k];
			if (t < 0)
				continue;
			int from = sg->tensor[t].producer;
			/* the runtime keeps variables between inferences */
			if (!p->op[i].npu || sg->tensor[t].is_variable ||
			    (from >= 0 && p->op[from].level != p->op[i].level))
				p->crosses[t] = true;
		}
		for (int k = 0; k < op->n_out && !p->op[i].npu; k++)
			p->crosses[op->out[k]] = true;
	}
	for (int i = 0; i < sg->n_tensors; i++)
		if (sg->tensor[i].data.p)
			p->crosses[i] = false;
	for (int i = 0; i < sg->n_out; i++)
		if (sg->tensor[sg->out[i]].producer >= 0)
			p->crosses[sg->out[i]] = true;

	for (int i = 0; i < sg->n_in; i++)
		if (p->crosses[sg->in[i]])
			G_PUT(part_ofm(p, sg->in[i]).t, TENSOR, io, IO_IN);
	for (int i = 0; i < sg->n_tensors; i++)
		if (p->crosses[i])
			(void)part_ofm(p, i);
	for (int i = 0; i < sg->n_out; i++)
		if (p->crosses[sg->out[i]]) {
			struct g_tensor *t = p->value[sg->out[i]].t;
			/* an input that the network returns unchanged is both */
			G_PUT(t, TENSOR, io, tensor_is_input(t) ? IO_INOUT : IO_OUT);
		}
	for (int i = 0; i < sg->n_tensors; i++)
		if (p->crosses[i] && sg->tensor[i].is_variable)
			G_PUT(p->value[i].t, TENSOR, variable, 1);
}

static void
add_unique(struct part *p, struct g_tensors *l, struct g_tensor *t, size_t *cap)
{
	if (tensors_have(l, t))
		return;
	agrow(p->a, l->v, l->n, cap);
	l->v[l->n++] = t;
}

/* lists the tensors that enter a node from outside and those that others read from it */
static void
fill_node(struct part *p, struct g_node *n)
{
	const struct tfl_subgraph *sg = p->sg;
	struct g_tensors in = { 0 }, out = { 0 };
	size_t cap_in = 0, cap_out = 0;
	for (int i = 0; i < n->tfl.n; i++) {
		const struct tfl_op *op = &sg->op[n->tfl.v[i].index];
		bool constant = p->op[n->tfl.v[i].index].as == AS_CONSTANT;
		for (int k = 0; k < op->n_in; k++) {
			int t = op->in[k];
			if (t < 0 || !p->crosses[t] || constant)
				continue;
			int from = sg->tensor[t].producer;
			if (from < 0 || p->op[from].node != n)
				add_unique(p, &in, p->value[t].t, &cap_in);
		}
		for (int k = 0; k < op->n_out; k++)
			if (p->crosses[op->out[k]])
				add_unique(p, &out, p->value[op->out[k]].t,
					   &cap_out);
	}
	if (in.n)
		G_PUT(n, NODE, in, in);
	if (out.n)
		G_PUT(n, NODE, out, out);
}

/* adds a node with room for n operators */
static struct g_node *
add_node(struct part *p, enum g_node_kind kind, int n_ops)
{
	struct g_node *n = graph_add_g_node(p->g);
	G_PUT(n, NODE, kind, (int)kind);
	G_SET(n, G_NODE_tfl);
	n->tfl.v = anew(p->a, struct g_tfl, (size_t)n_ops);
	return n;
}

/* one node for each CPU operator of the level, and one for all its NPU operators */
static void
make_level(struct part *p, int level)
{
	int n_npu = 0;
	for (int i = 0; i < p->sg->n_ops; i++) {
		struct placement *x = &p->op[i];
		if (x->npu && x->level == level && !x->left_out)
			n_npu++;
		if (x->npu || x->level != level)
			continue;
		x->node = add_node(p, NODE_CPU, 1);
		x->node->tfl.v[x->node->tfl.n++].index = i;
		G_PUT(x->node, NODE, what, tfl_op_label(&p->sg->op[i]));
		G_PUT(x->node, NODE, why, x->why);
	}
	struct g_node *n = n_npu ? add_node(p, NODE_NPU, n_npu) : NULL;
	for (int i = 0; n && i < p->sg->n_ops; i++)
		if (p->op[i].npu && p->op[i].level == level && !p->op[i].left_out) {
			p->op[i].node = n;
			n->tfl.v[n->tfl.n++].index = i;
		}
}

void
make_nodes(struct part *p)
{
	int last = 0;
	for (int i = 0; i < p->sg->n_ops; i++)
		for (int k = 0; k < p->sg->op[i].n_in; k++)
			if (p->sg->op[i].in[k] >= 0 && p->op[i].as != AS_CONSTANT)
				p->uses[p->sg->op[i].in[k]]++;
	for (int i = 0; i < p->sg->n_out; i++)
		p->uses[p->sg->out[i]]++;
	join_all(p);
	find_levels(p);
	raise_ratios(p);
	delay_ops(p);
	for (int i = 0; i < p->sg->n_ops; i++) {
		if (pad_folds(p, i))
			p->op[i].as = AS_PADDING;
		last = p->op[i].level > last ? p->op[i].level : last;
	}
	make_crossing_tensors(p);
	for (int level = 0; level <= last; level++)
		make_level(p, level);
	for (size_t i = 0; i < p->g->n_nodes; i++)
		fill_node(p, p->g->nodes[i]);
}
