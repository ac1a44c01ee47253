/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks border tensors outside the arena.  The application passes the tensors of an
 * operator in their order (ethosu-commands(7) 13.3).  Therefore the network must be a
 * single operator, and the order assigns base pointers and offsets.
 */
#include "graph/check.h"

#include "graph/facts.h"

#include <inttypes.h>

/* a graph has no offsets before npu-sched has chosen them */
static bool
check_offset(struct check *c, const struct g_tensor *t, int64_t want)
{
	return !G_HAS(t, G_TENSOR_at) || t->at == want ||
	       BAD(c, t, "t%d at 0x%" PRIx64 " in %s: a tensor outside of the "
			 "arena must be at 0x%" PRIx64 " there", t->rec.id,
		   (uint64_t)t->at, place_names[t->area], (uint64_t)want);
}

static bool
check_tensor(struct check *c, const struct g_tensor *t, struct io_place want)
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
	bool has = want.place && want.place < PLACES;
	if (t->area != want.place)
		return BAD(c, t, "t%d in %s: by the order of n%d's inputs and outputs it %s %s",
			   t->rec.id, area, g->nodes[0]->rec.id, has ? "is" : "has",
			   has ? place_names[want.place] : "no base address");
	return check_offset(c, t, want.at);
}

static bool
check_tensors(struct check *c)
{
	struct arena *a = arena_open();
	struct io_place *want = anew(a, struct io_place, c->g->n_tensors + 1);
	bool ok = true;
	if (c->g->n_nodes == 1)
		node_io_places(c->g->nodes[0], want);
	for (size_t i = 0; ok && i < c->g->n_tensors; i++)
		ok = !tensor_is_separate(c->g->tensors[i]) ||
		     check_tensor(c, c->g->tensors[i], want[i]);
	arena_close(a);
	return ok;
}

bool
check_separate(struct check *c)
{
	if (graph_has_separate(c->g) && !check_tensors(c))
		return false;
	for (size_t i = 0; i < c->g->n_buffers; i++)
		if (c->g->buffers[i]->area >= PLACE_IO)
			return BAD(c, c->g->buffers[i], "b%d in %s, which is reserved "
							"for an input or output",
							c->g->buffers[i]->rec.id,
				   place_names[c->g->buffers[i]->area]);
	return true;
}
