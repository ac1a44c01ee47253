/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TOSA graph in the simulator.  A model without a file has the graph's tensors and
 * operators, so that inputs, outputs and reports work as for any other model.  TOSA's
 * kernels compute.
 */
#include "sim/tosa.h"

#include "tflite/fields.h"
#include "tflite/tflite.h"
#include "tosakernels/tosakernels.h"

#include <string.h>

/* The type in memory: 48 bits take 64, and 4 bits take 8. */
static int
memory_type(int type)
{
	switch (type) {
	case TOSA_BOOL:
		return TFL_BOOL;
	case TOSA_INT4:
	case TOSA_INT8:
		return TFL_INT8;
	case TOSA_INT16:
		return TFL_INT16;
	case TOSA_INT32:
		return TFL_INT32;
	default:
		return TFL_INT64;
	}
}

static int64_t
load(int type, const uint8_t *p, int64_t i)
{
	return type == TOSA_INT4    ? tosa_load(TOSA_INT8, p, i)
	       : type == TOSA_INT48 ? tosa_load(TOSA_SHAPE, p, i)
				    : tosa_load(type, p, i);
}

static void
store(int type, uint8_t *p, int64_t i, int64_t v)
{
	tosa_store(type == TOSA_INT48 ? TOSA_SHAPE : type, p, i, v);
}

struct bytes
sim_tosa_constant(struct arena *a, const struct tosa_tensor *t)
{
	int64_t n = tosa_elements(t);
	size_t size = (size_t)tfl_type_bytes(memory_type(t->type));
	uint8_t *p = arena_alloc(a, (size_t)n, size);
	for (int64_t i = 0; i < n; i++)
		store(t->type == TOSA_INT4 ? TOSA_INT8 : t->type, p, i,
		      tosa_value(t, i));
	return (struct bytes){ .p = p, .n = (size_t)n * size };
}

size_t
sim_tosa_bytes(const struct tosa_tensor *t)
{
	return (size_t)tosa_elements(t) * (size_t)tfl_type_bytes(memory_type(t->type));
}

struct tfl_model *
sim_model_of_tosa(struct arena *a, const struct tosa_graph *g)
{
	struct tfl_model *m = anew(a, struct tfl_model, 1);
	struct tfl_subgraph *sg = anew(a, struct tfl_subgraph, 1);
	m->name = g->name;
	m->file = g->file;
	m->description = "";
	m->n_subgraphs = 1;
	m->subgraph = sg;
	m->root = (struct fb_ref){ .table = &fb_Model };
	sg->name = "";
	sg->n_in = g->n_in;
	sg->in = g->in;
	sg->n_out = g->n_out;
	sg->out = g->out;
	sg->n_tensors = g->n_tensors;
	sg->tensor = anew(a, struct tfl_tensor, (size_t)g->n_tensors);
	m->n_buffers = (uint32_t)g->n_tensors + 1;
	m->buffer = anew(a, struct bytes, m->n_buffers);
	for (int i = 0; i < g->n_tensors; i++) {
		const struct tosa_tensor *from = &g->tensor[i];
		struct tfl_tensor *t = &sg->tensor[i];
		*t = (struct tfl_tensor){ .name = from->name, .rank = from->rank,
					  .type = memory_type(from->type),
					  .has_shape = true, .producer = from->producer };
		memcpy(t->dim, from->dim, sizeof(from->dim));
		if (!from->data.p)
			continue;
		t->data = sim_tosa_constant(a, from);
		t->buffer = (uint32_t)i + 1;
		m->buffer[i + 1] = t->data;
	}
	sg->n_ops = g->n_ops;
	sg->op = anew(a, struct tfl_op, (size_t)g->n_ops + 1);
	for (int i = 0; i < g->n_ops; i++) {
		const struct tosa_op *op = &g->op[i];
		sg->op[i] = (struct tfl_op){
			.code = TFL_CUSTOM, .custom = op->name, .label = op->name,
			.version = 1, .n_in = op->n_in, .in = op->in,
			.n_out = op->n_out, .out = op->out };
	}
	return m;
}

const char *
sim_run_tosa_op(struct arena *keep, const struct tosa_graph *g, int op_index,
		uint8_t *const *data)
{
	const struct tosa_op *op = &g->op[op_index];
	if (op->loop)
		return sim_run_tosa_loop(keep, g, op, data);
	const struct tosa_tensor *o = tosa_out(g, op);
	struct arena *a = arena_open();
	const int64_t **in = anew(a, const int64_t *, (size_t)op->n_in);
	for (int k = 0; k < op->n_in; k++) {
		const struct tosa_tensor *t = tosa_in(g, op, k);
		int64_t n_in = tosa_elements(t);
		int64_t *v = anew(a, int64_t, (size_t)n_in);
		for (int64_t i = 0; i < n_in; i++)
			v[i] = load(t->type, data[op->in[k]], i);
		in[k] = v;
	}
	int64_t n = tosa_elements(o);
	struct tosa_run r = { .a = a, .g = g, .op = op, .in = in,
			      .out = anew(a, int64_t, (size_t)n) };
	tosa_eval(&r);
	for (int64_t i = 0; i < n; i++)
		store(o->type, data[op->out[0]], i, r.out[i]);
	bool idle = false; /* the operator belongs to a branch that was not taken */
	if (r.warned && op->guard)
		idle = (load(g->tensor[op->guard - 1].type, data[op->guard - 1], 0) != 0) !=
		       op->guard_is;
	const char *warning =
	    r.warned && !idle
		? arena_printf(keep, "%s: operator %d (%s, %s): %s: the graph violates "
				     "a precondition of TOSA", g->name, op->number,
			       op->name, o->name, r.text)
		: NULL;
	arena_close(a);
	return warning;
}
