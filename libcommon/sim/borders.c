/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/borders.h"

#include "sim/sim.h"
#include "tflite/tflite.h"

struct sim_borders {
	const struct tfl_model *m; /* the model with the shapes of the values */
	struct border_tensors borders;
	const int *in, *out; /* tensors of subgraph 0 */
	uint8_t **values;    /* of each tensor of subgraph 0; NULL: the values are the memory
			      * itself */
};

/*
 * Allocates the values of a border tensor that has a layout record; hostile files are
 * refused.
 */
static bool
open_border(struct arena *a, struct sim_borders *x, int index, const struct border_tensor *d, struct err *e)
{
	const struct tfl_tensor *t = &x->m->subgraph[0].tensor[index];
	int64_t n = tfl_bytes(t);
	if (!d->has_record)
		return true;
	if (x->values[index] || t->data.p)
		return err_at(e, x->m->name, 0, "tensor %d (%s) has a memory layout, "
						"but is a constant or occurs twice as "
						"input or output", index, t->name);
	if (n > (int64_t)SIM_MAX_BYTES)
		return err_at(e, x->m->name, 0, "the activations need more than %zu MiB",
			      SIM_MAX_BYTES >> 20);
	x->values[index] = arena_alloc(a, (size_t)n, 1);
	return true;
}

bool
sim_borders_open(struct arena *a, const struct tfl_model *m, struct sim_borders **out,
	      struct err *e)
{
	struct sim_borders *x = anew(a, struct sim_borders, 1);
	const struct tfl_subgraph *g = &m->subgraph[0];
	*out = NULL;
	if (!borders_read(a, m, &x->borders, e))
		return false;
	x->m = borders_value_model(a, m, &x->borders);
	if (x->m == m)
		return true;
	x->in = g->in;
	x->out = g->out;
	x->values = anew(a, uint8_t *, (size_t)g->n_tensors);
	for (int k = 0; k < g->n_in; k++)
		if (!open_border(a, x, g->in[k], &x->borders.in[k], e))
			return false;
	for (int k = 0; k < g->n_out; k++)
		if (!open_border(a, x, g->out[k], &x->borders.out[k], e))
			return false;
	*out = x;
	return true;
}

const struct tfl_model *
sim_borders_model(const struct sim_borders *x)
{
	return x->m;
}

uint8_t *
sim_border_values(const struct sim_borders *x, int tensor, uint8_t *memory)
{
	return x && x->values[tensor] ? x->values[tensor] : memory;
}

void
sim_borders_enter(const struct sim_borders *x, uint8_t *const *data)
{
	for (int k = 0; x && k < x->borders.n_in; k++)
		if (x->values[x->in[k]])
			border_pack(&x->borders.in[k], x->values[x->in[k]], data[x->in[k]]);
}

void
sim_borders_leave(const struct sim_borders *x, const struct tfl_op *op, uint8_t *const *data)
{
	for (int i = 0; x && i < op->n_out; i++)
		for (int k = 0; k < x->borders.n_out; k++)
			if (op->out[i] == x->out[k] && x->values[op->out[i]])
				border_unpack(&x->borders.out[k], data[op->out[i]],
					   x->values[op->out[i]]);
}
