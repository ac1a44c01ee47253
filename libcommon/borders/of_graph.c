/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs and outputs of the finished model, taken from a graph and its original model. */
#include "borders/of_graph.h"

#include "graph/facts.h"
#include "tflite/tflite.h"

#include <string.h>

int32_t
graph_batch(const struct graph *g)
{
	const struct g_model *m = g->n_models ? g->models[0] : NULL;
	return m && G_HAS(m, G_MODEL_actual_batch) ? m->actual_batch : 1;
}

struct g_tensor *
graph_tensor_of_tfl(const struct graph *g, int index)
{
	for (size_t i = 0; i < g->n_tensors; i++)
		for (int k = 0; k < g->tensors[i]->tfl.n; k++)
			if (g->tensors[i]->tfl.v[k].index == index)
				return g->tensors[i];
	return NULL;
}

struct border_tensor
border_of_graph(const struct graph *g, const struct tfl_model *m, const struct g_tensor *t,
	     int index)
{
	struct border_tensor x = { .layout = BORDER_NHWC };
	const struct tfl_tensor *o = index < 0 ? NULL : &m->subgraph[0].tensor[index];
	x.type = o ? o->type : t->shape.type;
	x.rank = o ? o->rank : t->shape.rank;
	memcpy(x.dim, o ? o->dim : t->shape.dim, sizeof(x.dim));
	if (o && x.rank) /* the network sees the model's shape times the batch */
		x.dim[0] *= graph_batch(g);
	if (!t || (t->layout == LAYOUT_NHWC && !tensor_has_strides(t) && !t->planes))
		return x;
	x.has_record = true;
	x.layout = t->planes ? BORDER_NCHW : t->layout == LAYOUT_NHCWB16 ? BORDER_NHCWB16 : BORDER_NHWC;
	x.row_stride = t->row_stride;
	x.pixel_stride = t->pixel_stride;
	return x;
}
