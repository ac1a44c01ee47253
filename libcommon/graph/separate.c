/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs and outputs outside the arena: the base pointer of each, and its offset there
 * (nputools-tflite(5) 6.8).
 */
#include "graph/graph.h"

#include "base/fixed.h"
#include "graph/facts.h"

enum { ALIGN = 16 }; /* of each input and output */

bool
tensor_is_separate(const struct g_tensor *t)
{
	return t->area >= PLACE_IO;
}

bool
graph_has_separate(const struct graph *g)
{
	for (size_t i = 0; i < g->n_tensors; i++)
		if (tensor_is_separate(g->tensors[i]))
			return true;
	return false;
}

static bool
is_border(const struct g_tensor *t)
{
	return (t->io == IO_IN || t->io == IO_OUT) && !t->variable;
}

bool
node_packs_io(const struct g_node *n)
{
	const size_t most = PLACES - PLACE_IO;
	for (size_t i = 0; i < n->in.n + n->out.n; i++) {
		const struct g_tensor *t = i < n->in.n ? n->in.v[i] : n->out.v[i - n->in.n];
		if (i >= most && is_border(t))
			return true;
	}
	return false;
}

/* Places the inputs and outputs of the model that are in the list one behind the other. */
static void
pack_list(const struct g_tensors *l, int place, struct io_place *of)
{
	int64_t at = 0;
	for (size_t i = 0; i < l->n; i++) {
		struct io_place *x = &of[l->v[i]->rec.index];
		if (!is_border(l->v[i]) || x->place)
			continue;
		*x = (struct io_place){ .place = place, .at = at };
		at += round_up_i64(tensor_bytes(l->v[i]), ALIGN);
	}
}

void
node_io_places(const struct g_node *n, struct io_place *of)
{
	const struct g_tensors *lists[] = { &n->in, &n->out };
	bool packs = node_packs_io(n);
	int place = PLACE_IO;
	for (int k = 0; k < 2; k++) {
		if (packs)
			pack_list(lists[k], PLACE_IO + k, of);
		for (size_t i = 0; !packs && i < lists[k]->n; i++) {
			struct io_place *x = &of[lists[k]->v[i]->rec.index];
			x->place = x->place ? x->place : place;
			place += place < PLACES;
		}
	}
}
