/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a network without a TFLite model around it (raw/raw.h). */
#include "cmdgen.h"

#include "base/fixed.h"
#include "borders/of_graph.h"
#include "graph/build.h"
#include "graph/facts.h"
#include "raw/raw.h"
#include "tflite/tflite.h"

/*
 * Describes the inputs or outputs: the graph's own list, else the original model's.  A border
 * that nothing reads has no address yet, and is appended to scratch.
 */
static bool
place_borders(struct cmdgen *c, bool in, struct raw *r, struct raw_io **v, int *n)
{
	enum { ALIGN = 16 };
	const struct g_model *m = c->g->n_models ? c->g->models[0] : NULL;
	const struct tfl_subgraph *sg = &c->m->subgraph[0];
	const struct g_tensors *list = NULL;
	if (m && G_HAS(m, G_MODEL_in))
		list = in ? &m->in : &m->out;
	*n = list ? (int)list->n : in ? sg->n_in : sg->n_out;
	*v = anew(c->a, struct raw_io, (size_t)*n + 1);
	for (int i = 0; i < *n; i++) {
		const struct g_tensor *t =
		    list ? list->v[i] : graph_tensor_of_tfl(c->g, (in ? sg->in : sg->out)[i]);
		struct raw_io *d = &(*v)[i];
		if (!t)
			return err_at(c->e, c->g->file, 0, "an input or output of the model is "
							   "not a tensor of the NPU region");
		if (tensor_is_separate(t))
			return graph_err(c->g, t, c->e, "t%d is outside of the arena, which "
							"npz and vela-bin do not support",
							t->rec.id);
		if (t->layout != LAYOUT_NHWC || tensor_has_strides(t))
			return graph_err(c->g, t, c->e, "t%d has a memory layout that npz and "
							"vela-bin do not support", t->rec.id);
		for (int k = 0; k < RAW_RANK; k++) {
			int own = k - (RAW_RANK - t->shape.rank);
			d->dim[k] = own < 0 ? 1 : t->shape.dim[own];
		}
		if (t->shape.rank > RAW_RANK)
			return graph_err(c->g, t, c->e, "t%d has %d dimensions, npz and "
							"vela-bin support 6",
							t->rec.id, t->shape.rank);
		d->elem_bytes = graph_type_bytes(t->shape.type);
		d->offset = t->at;
		if (!G_HAS(t, G_TENSOR_at)) {
			d->offset = round_up_i64(r->scratch, ALIGN);
			r->scratch = d->offset + tensor_bytes(t);
		} else if (t->area != PLACE_ARENA) {
			return graph_err(c->g, t, c->e, "t%d is not in the arena", t->rec.id);
		}
	}
	return true;
}

bool
print_raw(struct cmdgen *c, enum emit what, struct text *t)
{
	size_t node = 0, n = 0;
	struct raw r = { .scratch = graph_place_used(c->g, PLACE_ARENA) };
	struct g_blob *flash = graph_find_blob(c->g, "flash");
	/* the only NPU region; the graph has nothing else */
	for (size_t i = 0; i < c->g->n_nodes; i++) {
		if (c->g->nodes[i]->kind == NODE_CPU)
			return graph_err(c->g, c->g->nodes[i], c->e,
					 "n%d runs on the CPU: npz and vela-bin need a "
					 "network that runs on the NPU completely",
					 c->g->nodes[i]->rec.id);
		if (node_continues(c->g->nodes[i]))
			continue;
		node = i;
		n++;
	}
	if (n != 1)
		return err_at(c->e, c->g->file, 0, "the graph has %zu NPU regions: npz and "
						   "vela-bin need exactly one", n);
	if ((flash && !graph_blob(c->g, flash, &r.weights, c->e)) ||
	    !place_borders(c, true, &r, &r.in, &r.n_in) ||
	    !place_borders(c, false, &r, &r.out, &r.n_out))
		return false;
	r.cmd = emit_payload(c->a, c->accel, &c->stream[node]);
	r.fast = c->memory.spilling ? graph_place_used(c->g, PLACE_CACHE) : 0;
	(what == EMIT_NPZ ? raw_print_npz : raw_print_packed)(&r, t);
	return true;
}
