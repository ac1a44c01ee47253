/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/ends.h"

#include "sim/sim.h"

struct sim_ends {
	const struct tfl_model *m; /* the model with the shapes of the values */
	struct ends ends;
	const int *in, *out; /* tensors of subgraph 0 */
	uint8_t **values;    /* of each tensor of subgraph 0; NULL: the values are the memory
			      * itself */
};

/*
 * Allocates the values of a border tensor that has a layout record; hostile files are
 * refused.
 */
static bool
open_end(struct arena *a, struct sim_ends *x, int index, const struct end *d, struct err *e)
{
	const struct tfl_tensor *t = &x->m->subgraph[0].tensor[index];
	int64_t n = tfl_bytes(t);
	if (!d->given)
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
sim_ends_open(struct arena *a, const struct tfl_model *m, struct sim_ends **out,
	      struct err *e)
{
	struct sim_ends *x = anew(a, struct sim_ends, 1);
	const struct tfl_subgraph *g = &m->subgraph[0];
	*out = NULL;
	if (!ends_read(a, m, &x->ends, e))
		return false;
	x->m = ends_values(a, m, &x->ends);
	if (x->m == m)
		return true;
	x->in = g->in;
	x->out = g->out;
	x->values = anew(a, uint8_t *, (size_t)g->n_tensors);
	for (int k = 0; k < g->n_in; k++)
		if (!open_end(a, x, g->in[k], &x->ends.in[k], e))
			return false;
	for (int k = 0; k < g->n_out; k++)
		if (!open_end(a, x, g->out[k], &x->ends.out[k], e))
			return false;
	*out = x;
	return true;
}

const struct tfl_model *
sim_ends_model(const struct sim_ends *x)
{
	return x->m;
}

uint8_t *
sim_end_values(const struct sim_ends *x, int tensor, uint8_t *memory)
{
	return x && x->values[tensor] ? x->values[tensor] : memory;
}

void
sim_ends_enter(const struct sim_ends *x, uint8_t *const *data)
{
	for (int k = 0; x && k < x->ends.n_in; k++)
		if (x->values[x->in[k]])
			end_pack(&x->ends.in[k], x->values[x->in[k]], data[x->in[k]]);
}

void
sim_ends_leave(const struct sim_ends *x, const struct tfl_op *op, uint8_t *const *data)
{
	for (int i = 0; x && i < op->n_out; i++)
		for (int k = 0; k < x->ends.n_out; k++)
			if (op->out[i] == x->out[k] && x->values[op->out[i]])
				end_unpack(&x->ends.out[k], data[op->out[i]],
					   x->values[op->out[i]]);
}
