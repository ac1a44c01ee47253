/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs and outputs of the finished model, where they are not the original's. */
#include "cmdgen.h"

#include <string.h>

static int32_t
batch_of(const struct graph *g)
{
	const struct g_model *m = g->n_models ? g->models[0] : NULL;
	return m && G_HAS(m, G_MODEL_actual_batch) ? m->actual_batch : 1;
}

/* the graph's tensor that stands for one of the original's, or NULL */
static const struct g_tensor *
stand_in(const struct graph *g, int index)
{
	for (size_t i = 0; i < g->n_tensors; i++)
		for (int k = 0; k < g->tensors[i]->tfl.n; k++)
			if (g->tensors[i]->tfl.v[k].index == index)
				return g->tensors[i];
	return NULL;
}

/* what the network sees: a leading dimension is that of the batch */
static void
set_dims(struct end *x, int rank, const int32_t *dim, int32_t batch)
{
	x->rank = rank;
	memcpy(x->dim, dim, sizeof(x->dim));
	if (rank)
		x->dim[0] *= batch;
}

/* index: of the original's tensors; -1: the graph has no other */
static struct end
end_of(const struct cmdgen *c, const struct g_tensor *t, int index)
{
	struct end x = { .layout = END_NHWC };
	const struct tfl_tensor *o = index < 0 ? NULL : &c->m->subgraph[0].tensor[index];
	x.type = o ? o->type : t->shape.type;
	if (o)
		set_dims(&x, o->rank, o->dim, batch_of(c->g));
	else
		set_dims(&x, t->shape.rank, t->shape.dim, 1);
	if (!t || (t->layout == LAYOUT_NHWC && !tensor_has_strides(t) && !t->planes))
		return x;
	x.given = true;
	x.layout = t->planes ? END_NCHW : t->layout == LAYOUT_NHCWB16 ? END_NHCWB16 : END_NHWC;
	x.row_stride = t->row_stride;
	x.pixel_stride = t->pixel_stride;
	return x;
}

static struct end *
list_ends(const struct cmdgen *c, const int *v, int *n, const struct g_tfls *instead,
	  const struct g_tensors *own)
{
	*n = own ? (int)own->n : instead ? instead->n : *n;
	struct end *x = anew(c->a, struct end, (size_t)*n + 1);
	for (int k = 0; k < *n; k++) {
		int index = own ? -1 : instead ? instead->v[k].index : v[k];
		x[k] = end_of(c, own ? own->v[k] : stand_in(c->g, index), index);
	}
	return x;
}

struct ends
find_ends(const struct cmdgen *c)
{
	const struct g_model *m = c->g->n_models ? c->g->models[0] : NULL;
	const struct tfl_subgraph *sg = &c->m->subgraph[0];
	struct ends x = { .actual = batch_of(c->g), .n_in = sg->n_in, .n_out = sg->n_out };
	if (m && G_HAS(m, G_MODEL_desired_batch))
		x.desired = m->desired_batch;
	x.in = list_ends(c, sg->in, &x.n_in, m && G_HAS(m, G_MODEL_inputs) ? &m->inputs : NULL,
			 m && G_HAS(m, G_MODEL_in) ? &m->in : NULL);
	x.out = list_ends(c, sg->out, &x.n_out,
			  m && G_HAS(m, G_MODEL_outputs) ? &m->outputs : NULL,
			  m && G_HAS(m, G_MODEL_out) ? &m->out : NULL);
	return x;
}

/* n copies of a variable's first values */
static struct bytes
repeated(struct arena *a, struct bytes one, int32_t n)
{
	if (!one.n)
		return one;
	uint8_t *p = arena_alloc(a, one.n, (size_t)n);
	for (int32_t i = 0; i < n; i++)
		memcpy(p + (size_t)i * one.n, one.p, one.n);
	return (struct bytes){ .p = p, .n = one.n * (size_t)n };
}

bool
reshape_end(const struct cmdgen *c, int index, struct tfl_tensor *out, struct bytes *data)
{
	const struct tfl_tensor *o = &c->m->subgraph[0].tensor[index];
	struct end x = end_of(c, stand_in(c->g, index), index);
	int32_t batch = batch_of(c->g);
	if (o->data.p && !o->is_variable)
		return false;
	if (!x.given && batch == 1)
		return false;
	*out = *o;
	out->rank = end_memory_shape(&x, out->dim);
	*data = repeated(c->a, c->m->buffer[o->buffer], batch);
	return true;
}
