/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs and outputs outside of the arena, in memory of the application: while the NPU
 * works on one buffer, the application fills the next.  Each has its own base pointer;
 * if the NPU has too few of them, all inputs share one, and all outputs another.
 */
#include "../part.h"

#include "graph/facts.h"

/* NULL, or why the network can't have its inputs and outputs outside of the arena */
static const char *
network_obstacle(const struct part *p)
{
	const struct graph *g = p->g;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct g_node *n = g->nodes[i];
		if (n->kind == NODE_CPU)
			return arena_printf(p->a, "operator %d, %s, runs on the CPU, "
						  "but the whole network must be one "
						  "operator of the NPU",
						  n->tfl.n ? n->tfl.v[0].index : -1,
					    n->what ? n->what : "?");
	}
	if (g->n_nodes > 1)
		return "the network becomes several operators of the NPU";
	return g->n_nodes ? NULL : "no operator runs on the NPU";
}

/* the number of the model's inputs or outputs that a tensor of the graph represents */
static int
count_borders(const struct g_tensor *t, const int *v, int n)
{
	int count = 0;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < t->tfl.n; k++)
			count += t->tfl.v[k].index == v[i];
	return count;
}

bool
separate_borders(struct part *p, const struct options *o)
{
	if (!o->separate_io)
		return true;
	const char *why = network_obstacle(p);
	if (why)
		return err_at(p->e, p->m->name, 0, "--separate-io-regions is not possible: %s",
			      why);
	struct io_place *of = anew(p->a, struct io_place, p->g->n_tensors + 1);
	node_io_places(p->g->nodes[0], of);
	for (size_t i = 0; i < p->g->n_tensors; i++) {
		struct g_tensor *t = p->g->tensors[i];
		if (!G_HAS(t, G_TENSOR_io) || !of[t->rec.index].place)
			continue;
		if (t->io == IO_INOUT)
			why = "it is both an input and an output of the network";
		else if (count_borders(t, p->sg->in, p->sg->n_in) +
			 count_borders(t, p->sg->out, p->sg->n_out) > 1)
			why = "it stands for several inputs or outputs of the network";
		if (why)
			return err_at(p->e, p->m->name, 0, "--separate-io-regions is not "
				      "possible for '%s': %s", text_plain(p->a, t->name), why);
		G_PUT(t, TENSOR, area, of[t->rec.index].place);
	}
	return true;
}
