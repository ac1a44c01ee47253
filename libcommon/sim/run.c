/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates every tensor of a model, and runs its operators in order. */
#include "kernels/kernels.h"
#include "sim/borders.h"
#include "sim/names.h"
#include "sim/resources.h"
#include "sim/sim.h"
#include "sim/tosa.h"

#include <string.h>

struct sim {
	struct arena *a;
	const struct tfl_model *m;
	const struct tfl_subgraph *g;
	uint8_t **data;	     /* memory of every tensor */
	const int32_t *plan; /* offset of each tensor, -1: not planned; NULL: no plan */
	uint8_t *planned;    /* the buffer that planned tensors share */
	size_t planned_bytes;
	uint8_t *fast; /* NPU region 2, kept between operators */
	size_t fast_bytes;
	bool *is_input; /* by tensor of subgraph 0 */
	struct sim_resources *resources;
	const struct npu_map *names; /* NULL: no names */
	const struct tosa_graph *tosa; /* NULL: a TFLite model */
	const char **warning;	       /* one per operator of the TOSA graph, or NULL */
	const char **stand_in; /* by operator: why random values stood in, or NULL; NULL: not
				* allowed */
	struct sim_borders *borders; /* NULL: all tensors are as their shapes say */
};

/* Inputs of an ethos-u operator: ethosu-commands(7) 13.3. */
enum { IN_STREAM, IN_FLASH, IN_SCRATCH, IN_FAST, N_SPECIAL };

static bool
is_npu(const struct tfl_op *op)
{
	return op->code == TFL_CUSTOM && !strcmp(op->custom, "ethos-u");
}

/* Reads the plan for subgraph 0, if there is one: ethosu-commands(7) 13.4. */
static bool
find_plan(struct sim *s, struct err *e)
{
	struct bytes md = tfl_metadata(s->m, "OfflineMemoryAllocation");
	bool has_npu = false;
	for (int i = 0; i < s->g->n_ops; i++)
		has_npu |= is_npu(&s->g->op[i]);
	if (!md.p || !has_npu)
		return true;
	size_t n = 0;
	for (int i = 0; i < s->m->n_subgraphs; i++)
		n += (size_t)s->m->subgraph[i].n_tensors;
	if (md.n < 12 || md.n % 4 || (md.n - 12) / 4 != n ||
	    load_le32(md.p + 8) != n)
		return err_at(e, s->m->name, 0,
			      "OfflineMemoryAllocation of %zu "
			      "bytes does not describe %zu tensors",
			      md.n, n);
	int32_t *plan = anew(s->a, int32_t, (size_t)s->g->n_tensors);
	for (int i = 0; i < s->g->n_tensors; i++)
		plan[i] = (int32_t)load_le32(md.p + 12 + 4 * (size_t)i);
	s->plan = plan;
	return true;
}

static bool
too_large(struct sim *s, struct err *e)
{
	return err_at(e, s->m->name, 0,
		      "the activations need more than %zu MiB",
		      SIM_MAX_BYTES >> 20);
}

/* Checks one planned tensor and grows the shared buffer to hold it. */
static bool
plan_tensor(struct sim *s, int i, struct err *e)
{
	const struct tfl_tensor *t = &s->g->tensor[i];
	int64_t at = s->plan[i], end = at + tfl_bytes(t);
	int element = tfl_type_bytes(t->type); /* 0: no fixed size */
	if (at < -1 || (at > 0 && element && at % element))
		return err_at(
		    e, s->m->name, 0,
		    "tensor %d (%s) is planned at "
		    "offset %lld, which is negative or not aligned to "
		    "its elements",
		    i, t->name, (long long)at);
	if (at < 0)
		return true;
	if ((uint64_t)end > SIM_MAX_BYTES)
		return too_large(s, e);
	if ((size_t)end > s->planned_bytes)
		s->planned_bytes = (size_t)end;
	return true;
}

static bool
is_planned(const struct sim *s, int i)
{
	return s->plan && s->plan[i] >= 0 && !s->g->tensor[i].data.p;
}

static bool
assign_planned(struct sim *s, struct err *e)
{
	for (int i = 0; i < s->g->n_tensors; i++)
		if (s->plan && !s->g->tensor[i].data.p && !plan_tensor(s, i, e))
			return false;
	s->planned = arena_alloc(s->a, s->planned_bytes, 1);
	for (int i = 0; i < s->g->n_tensors; i++)
		if (is_planned(s, i))
			s->data[i] = s->planned + s->plan[i];
	return true;
}

/* A constant, aligned so that kernels may read its elements; one copy per buffer. */
static uint8_t *
aligned_constant(struct sim *s, uint8_t **copy, const struct tfl_tensor *t)
{
	if (copy[t->buffer])
		return copy[t->buffer];
	if ((uintptr_t)t->data.p % 8) {
		copy[t->buffer] = anew(s->a, uint8_t, t->data.n);
		memcpy(copy[t->buffer], t->data.p, t->data.n);
	} else {
		/* never written: kernels only read inputs, and NPU regions are read-only */
		copy[t->buffer] = (uint8_t *)(uintptr_t)t->data.p;
	}
	return copy[t->buffer];
}

static bool
assign_others(struct sim *s, struct err *e)
{
	uint8_t **copy = anew(s->a, uint8_t *, s->m->n_buffers);
	size_t total = s->planned_bytes;
	for (int i = 0; i < s->g->n_tensors; i++) {
		const struct tfl_tensor *t = &s->g->tensor[i];
		if (t->data.p && s->is_input[i]) {
			/* the application overwrites an input that has data, while other
			 * tensors of the same buffer keep theirs */
			s->data[i] = anew(s->a, uint8_t, t->data.n);
			memcpy(s->data[i], t->data.p, t->data.n);
		} else if (t->data.p) {
			s->data[i] = aligned_constant(s, copy, t);
		}
		if (s->data[i])
			continue;
		size_t n = (size_t)tfl_bytes(t); /* at most 2^40 */
		if (n > SIM_MAX_BYTES - total)
			return too_large(s, e);
		total += n;
		s->data[i] = arena_alloc(s->a, n, 1);
	}
	return true;
}

/* Refuses sparse tensors, which no kernel reads. */
static bool
check_sparse(struct sim *s, int op_index, struct err *e)
{
	const struct tfl_op *op = &s->g->op[op_index];
	for (int k = 0; k < op->n_in; k++) {
		if (op->in[k] < 0)
			continue;
		const struct tfl_tensor *t = &s->g->tensor[op->in[k]];
		if (t->is_sparse)
			return err_at(e, s->m->name, 0,
				      "operator %d (%s): "
				      "tensor %d (%s) is sparse, which is not "
				      "supported",
				      op_index, tfl_op_label(op), op->in[k],
				      t->name);
	}
	return true;
}

/* Checks the roles of ethosu-commands(7) 13.3, and sizes the fast memory of region 2. */
static bool
check_npu(struct sim *s, int op_index, struct err *e)
{
	const struct tfl_op *op = &s->g->op[op_index];
	bool ok = op->n_in >= N_SPECIAL;
	for (int k = 0; ok && k < op->n_in; k++)
		ok = op->in[k] >= 0;
	for (int k = 0; ok && k < N_SPECIAL; k++)
		ok = s->g->tensor[op->in[k]].type == TFL_UINT8;
	if (!ok || !s->g->tensor[op->in[IN_STREAM]].data.p)
		return err_at(
		    e, s->m->name, 0,
		    "operator %d (ethos-u): its first "
		    "four inputs are not uint8 command stream, flash, "
		    "scratch and fast scratch",
		    op_index);
	size_t n = (size_t)tfl_bytes(&s->g->tensor[op->in[IN_FAST]]);
	if (n > SIM_MAX_BYTES)
		return too_large(s, e);
	if (n > s->fast_bytes)
		s->fast_bytes = n;
	return true;
}

static bool
check_op(struct sim *s, int op_index, struct err *e)
{
	const struct tfl_op *op = &s->g->op[op_index];
	if (is_npu(op))
		return check_npu(s, op_index, e);
	if (!s->tosa && !kernel_exists(op->code) && !sim_is_resource_op(op) && !s->stand_in)
		return err_at(e, s->m->name, 0,
			      "operator %d (%s): no kernel "
			      "for this operator",
			      op_index, tfl_op_label(op));
	/* every pair is compared when memory is shared */
	if ((int64_t)op->n_in * op->n_out > 1 << 20)
		return err_at(e, s->m->name, 0,
			      "operator %d (%s) has %d inputs and "
			      "%d outputs, too many for this program",
			      op_index, tfl_op_label(op), op->n_in, op->n_out);
	return check_sparse(s, op_index, e);
}

static bool
open_sim(struct arena *a, const struct tfl_model *m, const struct tosa_graph *tosa,
	 bool compared, struct sim **out, struct err *e)
{
	struct sim *s = anew(a, struct sim, 1);
	s->a = a;
	s->tosa = tosa;
	s->m = m;
	s->g = &m->subgraph[0];
	if (compared)
		s->stand_in = anew(a, const char *, (size_t)s->g->n_ops + 1);
	s->data = anew(a, uint8_t *, (size_t)s->g->n_tensors);
	s->is_input = anew(a, bool, (size_t)s->g->n_tensors);
	for (int i = 0; i < s->g->n_in; i++)
		s->is_input[s->g->in[i]] = true;
	for (int i = 0; i < s->g->n_ops; i++)
		if (!check_op(s, i, e))
			return false;
	if (!sim_resources_open(a, m, &s->resources, e) ||
	    (!tosa && !sim_borders_open(a, m, &s->borders, e)))
		return false;
	if (!find_plan(s, e) || !assign_planned(s, e) || !assign_others(s, e))
		return false;
	s->fast = arena_alloc(a, s->fast_bytes, 1);
	s->names = sim_names(a, m);
	sim_reset(s);
	*out = s;
	return true;
}

bool
sim_open(struct arena *a, const struct tfl_model *m, struct sim **out,
	 struct err *e)
{
	return open_sim(a, m, NULL, false, out, e);
}

bool
sim_open_to_compare(struct arena *a, const struct tfl_model *m, struct sim **out,
		    struct err *e)
{
	return open_sim(a, m, NULL, true, out, e);
}

bool
sim_open_tosa(struct arena *a, const struct tosa_graph *g, struct sim **out,
	      struct err *e)
{
	if (!open_sim(a, sim_model_of_tosa(a, g), g, false, out, e))
		return false;
	(*out)->warning = anew(a, const char *, (size_t)g->n_ops + 1);
	return true;
}

const char *
sim_warning(const struct sim *s, int op_index)
{
	return s->warning ? s->warning[op_index] : NULL;
}

const char *
sim_stand_in(const struct sim *s, int op_index)
{
	return s->stand_in ? s->stand_in[op_index] : NULL;
}

void
sim_reset(struct sim *s)
{
	sim_resources_reset(s->resources);
	for (int i = 0; i < s->g->n_tensors; i++) {
		const struct tfl_tensor *t = &s->g->tensor[i];
		if (!t->is_variable)
			continue;
		int fill = t->type == TFL_INT8 && t->quant.n_zero
			       ? (int)(t->quant.zero[0] & 0xff)
			       : 0;
		memset(s->data[i], fill, (size_t)tfl_bytes(t));
	}
}

void
sim_place(struct sim *s, uint8_t *memory)
{
	for (int i = 0; i < s->g->n_tensors; i++) {
		if (!is_planned(s, i))
			continue;
		uint8_t *to = memory + s->plan[i];
		if (s->g->tensor[i].is_variable)
			memcpy(to, s->data[i], (size_t)tfl_bytes(&s->g->tensor[i]));
		s->data[i] = to;
	}
	s->planned = memory;
}

void *
sim_tensor(struct sim *s, int index)
{
	return sim_border_values(s->borders, index, s->data[index]);
}

const struct tfl_model *
sim_model(const struct sim *s)
{
	return s->borders ? sim_borders_model(s->borders) : s->m;
}

static struct sim_region
region_of(struct sim *s, int tensor)
{
	const struct tfl_tensor *t = &s->g->tensor[tensor];
	return (struct sim_region){ .rd = s->data[tensor],
				    .wr = t->data.p ? NULL : s->data[tensor],
				    .bytes = (size_t)tfl_bytes(t) };
}

/*
 * Sets the base pointers as TFLite Micro passes them to the driver: inputs from the second
 * one on, then outputs, at most eight.  The driver replaces base 2 by its fast memory.  A
 * model that names one tensor as both scratch and fast scratch has no fast memory.
 */
static bool
run_npu(struct sim *s, int op_index, const struct sim_hooks *hooks,
	struct err *e)
{
	const struct tfl_op *op = &s->g->op[op_index];
	const struct tfl_tensor *stream = &s->g->tensor[op->in[IN_STREAM]];
	struct sim_npu_job job = { .name = s->m->name,
				   .op_index = op_index,
				   .commands = sim_names_of(s->names, s->g,
							    op_index),
				   .payload = { .p = s->data[op->in[IN_STREAM]],
						.n = stream->data.n },
				   .hooks = hooks };
	int n = 0;
	for (int k = IN_FLASH; k < op->n_in && n < SIM_N_REGIONS; k++)
		job.region[n++] = region_of(s, op->in[k]);
	for (int k = 0; k < op->n_out && n < SIM_N_REGIONS; k++)
		job.region[n++] = region_of(s, op->out[k]);
	struct sim_region *fast = &job.region[IN_FAST - IN_FLASH];
	if (op->in[IN_FAST] != op->in[IN_SCRATCH] && fast->wr) {
		fast->rd = s->fast;
		fast->wr = s->fast;
	}
	return hooks && hooks->npu.run ? hooks->npu.run(hooks->npu.ctx, &job, e)
				       : sim_npu_run(&job, e);
}

static bool
ranges_meet(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b)
{
	return (uintptr_t)a < (uintptr_t)b + n_b &&
	       (uintptr_t)b < (uintptr_t)a + n_a;
}

/*
 * The input as the kernel may read it: a copy if the plan lets an output overwrite it.
 * That is legal for a RESHAPE, and no kernel expects it.
 */
static uint8_t *
separate_input(struct sim *s, const struct tfl_op *op, int tensor,
	       struct arena *scratch)
{
	const struct tfl_tensor *t = &s->g->tensor[tensor];
	size_t n = (size_t)tfl_bytes(t);
	if (!is_planned(s, tensor) || t->is_variable)
		return s->data[tensor];
	for (int k = 0; k < op->n_out; k++) {
		size_t n_out = (size_t)tfl_bytes(&s->g->tensor[op->out[k]]);
		if (ranges_meet(s->data[tensor], n, s->data[op->out[k]], n_out))
			return memcpy(arena_alloc(scratch, n, 1),
				      s->data[tensor], n);
	}
	return s->data[tensor];
}

static bool
run_cpu(struct sim *s, int op_index, struct err *e)
{
	const struct tfl_op *op = &s->g->op[op_index];
	struct arena *scratch = arena_open();
	void **in = anew(scratch, void *, (size_t)op->n_in);
	void **out = anew(scratch, void *, (size_t)op->n_out);
	for (int k = 0; k < op->n_in; k++)
		if (op->in[k] >= 0)
			in[k] = separate_input(s, op, op->in[k], scratch);
	for (int k = 0; k < op->n_out; k++)
		out[k] = s->data[op->out[k]];
	struct err bare = { 0 };
	bool ok = kernel_eval(
	    s->g, op, &(struct kernel_io){ .in = in, .out = out }, &bare);
	arena_close(scratch);
	return ok || err_at(e, s->m->name, 0, "%s", bare.text);
}

/*
 * Random values stand in for the results of an operator that could not be run.  Moves the
 * reason out of e.
 */
static void
stand_in(struct sim *s, int op_index, struct err *e)
{
	sim_stand_in_values(s->g, &s->g->op[op_index], s->data);
	s->stand_in[op_index] = arena_printf(s->a, "%s", e->text);
	*e = (struct err){ 0 };
}

static bool
run_op(struct sim *s, int op_index, const struct sim_hooks *hooks, struct err *e)
{
	if (s->tosa) {
		const char *w = sim_run_tosa_op(s->a, s->tosa, op_index, s->data);
		if (!s->warning[op_index])
			s->warning[op_index] = w;
		return true;
	}
	if (is_npu(&s->g->op[op_index]))
		return run_npu(s, op_index, hooks, e);
	if (sim_is_resource_op(&s->g->op[op_index]))
		return sim_run_resource_op(s->resources, op_index, s->data, e);
	bool ok = run_cpu(s, op_index, e);
	if (!ok && s->stand_in) {
		stand_in(s, op_index, e);
		return true;
	}
	return ok;
}

bool
sim_invoke(struct sim *s, const struct sim_hooks *hooks, struct err *e)
{
	sim_borders_enter(s->borders, s->data);
	for (int i = 0; i < s->g->n_ops; i++) {
		if (!run_op(s, i, hooks, e))
			return false;
		sim_borders_leave(s->borders, &s->g->op[i], s->data);
		if (hooks && hooks->op_done &&
		    !hooks->op_done(hooks->ctx, s, i, e))
			return false;
	}
	return true;
}
