/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables that a model keeps by name: VAR_HANDLE, READ_VARIABLE,
 * ASSIGN_VARIABLE, and CALL_ONCE with the subgraph that initialises them.
 */
#include "kernels/kernels.h"
#include "sim/resources.h"
#include "sim/sim.h"
#include "tflite/fields.h"
#include "tflite/tflite.h"

#include <stdio.h>
#include <string.h>

struct sim_resources {
	struct arena *a;
	const struct tfl_model *m;
	struct sim_resource *v;
	size_t n, cap, bytes;
	int **of;     /* [subgraph][tensor]: 1 + resource of the handle; 0: no handle */
	bool *called; /* by subgraph: CALL_ONCE has run it */
};

/* a search compares all resources, one by one; models have some dozens */
enum { MAX_RESOURCES = 1024 };

struct place {
	int subgraph, op;
};

static bool
refuse(const struct sim_resources *r, struct place at, struct err *e, const char *why)
{
	char subgraph[32] = "";
	if (at.subgraph)
		(void)snprintf(subgraph, sizeof(subgraph), "subgraph %d, ",
			       at.subgraph);
	return err_at(e, r->m->name, 0, "%soperator %d (%s): %s", subgraph, at.op,
		      tfl_op_label(&r->m->subgraph[at.subgraph].op[at.op]), why);
}

/* The index of the resource of a VAR_HANDLE; -1: there are too many. */
static int
find_or_add(struct sim_resources *r, const struct tfl_op *op)
{
	struct fb_ref o = tfl_options(op, &fb_VarHandleOptions);
	const char *container = fb_string(o, FB_VarHandleOptions_container, NULL);
	const char *name = fb_string(o, FB_VarHandleOptions_shared_name, NULL);
	for (size_t i = 0; i < r->n; i++)
		if (!strcmp(r->v[i].container, container) &&
		    !strcmp(r->v[i].name, name))
			return (int)i;
	if (r->n == MAX_RESOURCES)
		return -1;
	agrow(r->a, r->v, r->n, &r->cap);
	r->v[r->n] = (struct sim_resource){ .container = container, .name = name };
	return (int)r->n++;
}

/*
 * Checks that all values of a resource have its size.  The first value that is assigned
 * sets the fill.
 */
static bool
note_value(struct sim_resources *r, struct place at, struct err *e)
{
	const struct tfl_subgraph *g = &r->m->subgraph[at.subgraph];
	const struct tfl_op *op = &g->op[at.op];
	int tensor = -1; /* the tensor that is read from or assigned to the resource */
	if (op->code == TFL_READ_VARIABLE && op->n_in == 1 && op->n_out == 1)
		tensor = op->out[0];
	else if (op->code == TFL_ASSIGN_VARIABLE && op->n_in == 2 && op->n_out == 0)
		tensor = op->in[1];
	int handle = op->n_in > 0 && op->in[0] >= 0 ? r->of[at.subgraph][op->in[0]] : 0;
	if (tensor < 0)
		return refuse(r, at, e, "wrong number of inputs or outputs");
	if (!handle)
		return refuse(r, at, e, "its first input is not from a VAR_HANDLE");
	struct sim_resource *v = &r->v[handle - 1];
	const struct tfl_tensor *t = &g->tensor[tensor];
	size_t bytes = (size_t)tfl_bytes(t);
	if (!bytes || (v->bytes && v->bytes != bytes))
		return refuse(r, at, e, "its value has another size than the variable");
	if (!v->bytes && bytes > SIM_MAX_BYTES - r->bytes)
		return refuse(r, at, e, "the variables are too large");
	r->bytes += v->bytes ? 0 : bytes;
	v->bytes = bytes;
	if (op->code == TFL_ASSIGN_VARIABLE && !v->has_fill) {
		v->fill = t->quant.n_zero ? (uint8_t)t->quant.zero[0] : 0;
		v->has_fill = true;
	}
	return true;
}

static bool
find_handles(struct sim_resources *r, int subgraph, struct err *e)
{
	const struct tfl_subgraph *g = &r->m->subgraph[subgraph];
	r->of[subgraph] = anew(r->a, int, (size_t)g->n_tensors);
	for (int i = 0; i < g->n_ops; i++) {
		const struct tfl_op *op = &g->op[i];
		const struct place at = { subgraph, i };
		if (op->code != TFL_VAR_HANDLE)
			continue;
		/* a handle is no number: only READ_VARIABLE and ASSIGN_VARIABLE use it */
		if (op->n_out != 1)
			return refuse(r, at, e, "wrong number of outputs");
		if (g->tensor[op->out[0]].type != TFL_RESOURCE)
			return refuse(r, at, e, "its output is not of type RESOURCE");
		for (int k = 0; k < g->n_out; k++)
			if (g->out[k] == op->out[0])
				return refuse(r, at, e, "its handle is an output of the model");
		int index = find_or_add(r, op);
		if (index < 0)
			return refuse(r, at, e, "there are too many variables");
		r->of[subgraph][op->out[0]] = 1 + index;
	}
	return true;
}

bool
sim_resources_open(struct arena *a, const struct tfl_model *m,
		   struct sim_resources **out, struct err *e)
{
	struct sim_resources *r = anew(a, struct sim_resources, 1);
	r->a = a;
	r->m = m;
	r->of = anew(a, int *, (size_t)m->n_subgraphs);
	r->called = anew(a, bool, (size_t)m->n_subgraphs);
	for (int i = 0; i < m->n_subgraphs; i++)
		if (!find_handles(r, i, e))
			return false;
	for (int s = 0; s < m->n_subgraphs; s++)
		for (int i = 0; i < m->subgraph[s].n_ops; i++) {
			int code = m->subgraph[s].op[i].code;
			if ((code == TFL_READ_VARIABLE || code == TFL_ASSIGN_VARIABLE) &&
			    !note_value(r, (struct place){ s, i }, e))
				return false;
		}
	for (size_t i = 0; i < r->n; i++)
		r->v[i].value = arena_alloc(a, r->v[i].bytes, 1);
	sim_resources_reset(r);
	*out = r;
	return true;
}

void
sim_resources_reset(struct sim_resources *r)
{
	for (size_t i = 0; i < r->n; i++)
		memset(r->v[i].value, r->v[i].fill, r->v[i].bytes);
	memset(r->called, 0, (size_t)r->m->n_subgraphs * sizeof(*r->called));
}

size_t
sim_resources_count(const struct sim_resources *r)
{
	return r->n;
}

const struct sim_resource *
sim_resource(const struct sim_resources *r, int index)
{
	return &r->v[index];
}

int
sim_resource_of(const struct sim_resources *r, int subgraph, int tensor)
{
	return tensor < 0 ? -1 : r->of[subgraph][tensor] - 1;
}

bool
sim_is_resource_op(const struct tfl_op *op)
{
	return op->code == TFL_VAR_HANDLE || op->code == TFL_READ_VARIABLE ||
	       op->code == TFL_ASSIGN_VARIABLE || op->code == TFL_CALL_ONCE;
}

/* ---- running ------------------------------------------------------------------ */

static bool call_once(struct sim_resources *r, struct place at, struct err *e);

bool
sim_run_resource_op(struct sim_resources *r, int subgraph, int op_index,
		    uint8_t *const *data, struct err *e)
{
	const struct place at = { subgraph, op_index };
	const struct tfl_op *op = &r->m->subgraph[subgraph].op[op_index];
	struct sim_resource *v;
	switch (op->code) {
	case TFL_READ_VARIABLE:
		v = &r->v[sim_resource_of(r, subgraph, op->in[0])];
		memcpy(data[op->out[0]], v->value, v->bytes);
		return true;
	case TFL_ASSIGN_VARIABLE:
		v = &r->v[sim_resource_of(r, subgraph, op->in[0])];
		memcpy(v->value, data[op->in[1]], v->bytes);
		return true;
	case TFL_CALL_ONCE:
		return call_once(r, at, e);
	default:
		return true;
	}
}

/* Runs an operator that computes a value to be assigned. */
static bool
run_kernel(struct sim_resources *r, struct place at, uint8_t *const *data,
	   struct err *e)
{
	const struct tfl_subgraph *g = &r->m->subgraph[at.subgraph];
	const struct tfl_op *op = &g->op[at.op];
	struct arena *a = arena_open();
	void **in = anew(a, void *, (size_t)op->n_in);
	void **out = anew(a, void *, (size_t)op->n_out);
	for (int k = 0; k < op->n_in; k++)
		in[k] = op->in[k] < 0 ? NULL : data[op->in[k]];
	for (int k = 0; k < op->n_out; k++)
		out[k] = data[op->out[k]];
	struct err bare = { 0 };
	bool ok = kernel_eval(g, op, &(struct kernel_io){ .in = in, .out = out }, &bare);
	arena_close(a);
	return ok || refuse(r, at, e, bare.text);
}

/* Allocates the tensors of an initialising subgraph and copies its constants. */
static uint8_t **
open_tensors(const struct tfl_subgraph *g, struct arena *a)
{
	size_t bytes_left = SIM_MAX_BYTES;
	uint8_t **data = anew(a, uint8_t *, (size_t)g->n_tensors);
	for (int i = 0; i < g->n_tensors; i++) {
		const struct tfl_tensor *t = &g->tensor[i];
		size_t n = t->data.p ? t->data.n : (size_t)tfl_bytes(t);
		if (n > bytes_left)
			return NULL;
		bytes_left -= n;
		data[i] = arena_alloc(a, n, 1);
		if (t->data.p)
			memcpy(data[i], t->data.p, n);
	}
	return data;
}

static bool
call_once(struct sim_resources *r, struct place at, struct err *e)
{
	const struct tfl_op *op = &r->m->subgraph[at.subgraph].op[at.op];
	int64_t to = TFL_OPT(op, CallOnceOptions, init_subgraph_index);
	if (at.subgraph || to < 1 || to >= r->m->n_subgraphs)
		return refuse(r, at, e, "it does not call a subgraph that initialises "
					"variables");
	if (r->called[to])
		return true;
	const struct tfl_subgraph *g = &r->m->subgraph[to];
	struct arena *a = arena_open();
	uint8_t **data = open_tensors(g, a);
	bool ok = data || refuse(r, at, e, "its subgraph is too large");
	for (int i = 0; ok && i < g->n_ops; i++) {
		struct place here = { (int)to, i };
		ok = sim_is_resource_op(&g->op[i])
			 ? sim_run_resource_op(r, here.subgraph, here.op, data, e)
			 : run_kernel(r, here, data, e);
	}
	arena_close(a);
	r->called[to] = ok;
	return ok;
}
