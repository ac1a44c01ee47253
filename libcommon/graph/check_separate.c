/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks border tensors outside the arena, each with a base pointer.  The application
 * passes the tensors of an operator in their order (ethosu-commands(7) 13.3).
 * Therefore the network must be a single operator, and the order assigns the base
 * pointers.
 */
#include "graph/check.h"

#include <inttypes.h>

static bool
check_tensor(struct check *c, const struct g_tensor *t)
{
	const struct graph *g = c->g;
	const char *area = place_names[t->area];
	if ((t->io != IO_IN && t->io != IO_OUT) || t->variable || tensor_is_const(t) ||
	    G_HAS(t, G_TENSOR_rows))
		return BAD(c, t, "t%d in %s: only an input or output of the model can "
				 "be outside of the arena", t->rec.id, area);
	if (g->n_nodes != 1 || g->nodes[0]->kind != NODE_NPU)
		return BAD(c, t, "t%d in %s: inputs and outputs can be outside of the "
				 "arena only if the network is one operator of the NPU",
			   t->rec.id, area);
	int want = node_io_place(g->nodes[0], t);
	if (t->area != want)
		return BAD(c, t, "t%d in %s: by the order of n%d's inputs and outputs it %s %s",
			   t->rec.id, area, g->nodes[0]->rec.id,
			   want < PLACES ? "is" : "has",
			   want < PLACES ? place_names[want] : "no base address");
	if (t->at)
		return BAD(c, t, "t%d at 0x%" PRIx64 " in %s: a tensor outside of the "
				 "arena must be at 0x0",
				 t->rec.id, (uint64_t)t->at, area);
	return true;
}

bool
check_separate(struct check *c)
{
	for (size_t i = 0; i < c->g->n_tensors; i++)
		if (tensor_is_separate(c->g->tensors[i]) &&
		    !check_tensor(c, c->g->tensors[i]))
			return false;
	for (size_t i = 0; i < c->g->n_buffers; i++)
		if (c->g->buffers[i]->area >= PLACE_IO)
			return BAD(c, c->g->buffers[i], "b%d in %s, which is reserved "
							"for an input or output",
							c->g->buffers[i]->rec.id,
				   place_names[c->g->buffers[i]->area]);
	return true;
}
