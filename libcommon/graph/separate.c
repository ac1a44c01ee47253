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

void
node_io_places(const struct g_node *n, struct io_place *of)
{
	const struct g_tensors *lists[] = { &n->in, &n->out };
	bool packs = node_packs_io(n);
	int place = PLACE_IO;
	for (int k = 0; k < 2; k++) {
		int64_t at = 0; /* packed: inputs and outputs of the model, one behind the other */
		for (size_t i = 0; i < lists[k]->n; i++) {
			const struct g_tensor *t = lists[k]->v[i];
			struct io_place *x = &of[t->rec.index];
			if (!packs) {
				x->place = x->place ? x->place : place;
				place += place < PLACES;
			} else if (is_border(t) && !x->place) {
				*x = (struct io_place){ .place = PLACE_IO + k, .at = at };
				at += round_up_i64(tensor_bytes(t), ALIGN);
			}
		}
	}
}
