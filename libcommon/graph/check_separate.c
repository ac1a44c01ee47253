/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks border tensors outside the arena.  The application passes the tensors of an
 * operator in their order (ethosu-commands(7) 13.3).  Therefore the network must be a
 * single operator, and the order assigns base pointers and offsets.
 */
#include "graph/check.h"

#include "graph/facts.h"

#include <inttypes.h>

bool
check_separate(struct check *c)
{
	const struct graph *g = c->g;
	struct io_place *want = anew(c->a, struct io_place, g->n_tensors + 1);
	if (g->n_nodes == 1 && graph_has_separate(g))
		node_io_places(g->nodes[0], want);
	for (size_t i = 0; i < g->n_tensors; i++) {
		const struct g_tensor *t = g->tensors[i];
		const char *area = place_names[t->area];
		if (!tensor_is_separate(t))
			continue;
		if ((t->io != IO_IN && t->io != IO_OUT) || t->variable || tensor_is_const(t) ||
		    G_HAS(t, G_TENSOR_rows))
			return BAD(c, t, "t%d in %s: only an input or output of the model can "
					 "be outside of the arena", t->rec.id, area);
		if (g->n_nodes != 1 || g->nodes[0]->kind != NODE_NPU)
			return BAD(c, t, "t%d in %s: inputs and outputs can be outside of the "
					 "arena only if the network is one operator of the NPU",
				   t->rec.id, area);
		bool has = want[i].place && want[i].place < PLACES;
		if (t->area != want[i].place)
			return BAD(c, t, "t%d in %s: by the order of n%d's inputs and outputs it %s %s",
				   t->rec.id, area, g->nodes[0]->rec.id, has ? "is" : "has",
				   has ? place_names[want[i].place] : "no base address");
		/* a graph has no offsets before npu-sched has chosen them */
		if (G_HAS(t, G_TENSOR_at) && t->at != want[i].at)
			return BAD(c, t, "t%d at 0x%" PRIx64 " in %s: a tensor outside of the "
					 "arena must be at 0x%" PRIx64 " there", t->rec.id,
				   (uint64_t)t->at, area, (uint64_t)want[i].at);
	}
	for (size_t i = 0; i < g->n_buffers; i++)
		if (g->buffers[i]->area >= PLACE_IO)
			return BAD(c, g->buffers[i], "b%d in %s, which is reserved "
						     "for an input or output",
				   g->buffers[i]->rec.id, place_names[g->buffers[i]->area]);
	return true;
}
