/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs and outputs of the finished model, where they differ from the original's. */
#include "cmdgen.h"

#include "borders/of_graph.h"
#include "tflite/tflite.h"

#include <string.h>

static struct border_tensor *
list_borders(const struct cmdgen *c, const int *v, int *n, const struct g_tfls *instead,
	  const struct g_tensors *own)
{
	*n = own ? (int)own->n : instead ? instead->n : *n;
	struct border_tensor *x = anew(c->a, struct border_tensor, (size_t)*n + 1);
	for (int k = 0; k < *n; k++) {
		int index = own ? -1 : instead ? instead->v[k].index : v[k];
		x[k] = border_of_graph(c->g, c->m, own ? own->v[k] : graph_tensor_of_tfl(c->g, index),
				    index);
	}
	return x;
}

struct border_tensors
find_borders(const struct cmdgen *c)
{
	const struct g_model *m = c->g->n_models ? c->g->models[0] : NULL;
	const struct tfl_subgraph *sg = &c->m->subgraph[0];
	struct border_tensors x = { .actual = graph_batch(c->g), .n_in = sg->n_in, .n_out = sg->n_out };
	if (m && G_HAS(m, G_MODEL_desired_batch))
		x.desired = m->desired_batch;
	x.in = list_borders(c, sg->in, &x.n_in, m && G_HAS(m, G_MODEL_inputs) ? &m->inputs : NULL,
			 m && G_HAS(m, G_MODEL_in) ? &m->in : NULL);
	x.out = list_borders(c, sg->out, &x.n_out,
			  m && G_HAS(m, G_MODEL_outputs) ? &m->outputs : NULL,
			  m && G_HAS(m, G_MODEL_out) ? &m->out : NULL);
	return x;
}

bool
reshape_border(const struct cmdgen *c, int index, struct tfl_tensor *out, struct bytes *data)
{
	const struct tfl_tensor *o = &c->m->subgraph[0].tensor[index];
	struct border_tensor x = border_of_graph(c->g, c->m, graph_tensor_of_tfl(c->g, index), index);
	int32_t batch = graph_batch(c->g);
	if (o->data.p && !o->is_variable)
		return false;
	if (!x.has_record && batch == 1)
		return false;
	*out = *o;
	out->rank = border_memory_shape(&x, out->dim);
	*data = c->m->buffer[o->buffer];
	if (data->n) { /* n copies of a variable's initial values */
		const struct bytes one = *data;
		uint8_t *p = arena_alloc(c->a, one.n, (size_t)batch);
		for (int32_t i = 0; i < batch; i++)
			memcpy(p + (size_t)i * one.n, one.p, one.n);
		*data = (struct bytes){ .p = p, .n = one.n * (size_t)batch };
	}
	return true;
}
