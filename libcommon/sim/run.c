/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the operators of a model in order, and those of the subgraphs that they call. */
#include "kernels/kernels.h"
#include "sim/borders.h"
#include "sim/names.h"
#include "sim/resources.h"
#include "sim/state.h"
#include "sim/tosa.h"
#include "stream/stream.h"
#include "tflite/calls.h"

/* WHILE ends here with an error: all loops of one inference together */
enum { MAX_TURNS = 1 << 16 };

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
				   .commands = s->names ? sim_names_of(s->names, s->g,
								       op_index) : NULL,
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
	if (!sim_is_planned(s, tensor) || t->is_variable)
		return s->data[tensor];
	for (int k = 0; k < op->n_out; k++) {
		size_t n_out = (size_t)tfl_bytes(&s->g->tensor[op->out[k]]);
		if (bytes_overlap(s->data[tensor], n, s->data[op->out[k]], n_out))
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
	s->stand_in[op_index] = arena_printf(s->a, "%s%s%s", e->place, *e->place ? ": " : "", e->text);
	*e = (struct err){ 0 };
}

static bool run_ops(struct sim *s, const struct sim_hooks *hooks, struct err *e);

/* n tensors v of s become n tensors w of to */
static void
copy_tensors(const struct sim *s, const int *v, const struct sim *to, const int *w, int n)
{
	for (int i = 0; i < n; i++)
		memmove(to->data[w[i]], s->data[v[i]], (size_t)tfl_bytes(&to->g->tensor[w[i]]));
}

/* Runs a subgraph whose inputs are n tensors v of s. */
static bool
run_body(struct sim *s, int op_index, struct sim *b, const int *v,
	 const struct sim_hooks *hooks, struct err *e)
{
	const struct sim_hooks inner = { .npu = hooks ? hooks->npu : (struct sim_npu){ 0 } };
	copy_tensors(s, v, b, b->g->in, b->g->n_in);
	if (!run_ops(b, &inner, e))
		return false;
	for (int i = 0; s->stand_in && !s->stand_in[op_index] && i < b->g->n_ops; i++)
		s->stand_in[op_index] = b->stand_in[i];
	return true;
}

/* IF and WHILE, in the order of copies of TensorFlow Lite Micro's kernels. */
static bool
run_call(struct sim *s, int op_index, const int64_t *callee, const struct sim_hooks *hooks,
	 struct err *e)
{
	const struct tfl_op *op = &s->g->op[op_index];
	struct sim *first = s->body[callee[0]], *second = s->body[callee[1]];
	if (op->code == TFL_IF) {
		struct sim *b = s->data[op->in[0]][0] ? first : second;
		if (!run_body(s, op_index, b, op->in + 1, hooks, e))
			return false;
		copy_tensors(b, b->g->out, s, op->out, op->n_out);
		return true;
	}
	copy_tensors(s, op->in, s, op->out, op->n_out);
	while (run_body(s, op_index, first, op->out, hooks, e)) {
		if (!first->data[first->g->out[0]][0])
			return true;
		if (s->body[0]->turns++ == MAX_TURNS) {
			(void)err_at(e, s->m->name, 0, "operator %d (WHILE): loops of more than "
						       "%d turns", op_index, MAX_TURNS);
			if (s->stand_in)
				stand_in(s, op_index, e);
			return !e->status;
		}
		if (!run_body(s, op_index, second, op->out, hooks, e))
			return false;
		copy_tensors(second, second->g->out, s, op->out, op->n_out);
	}
	return false;
}

static bool
run_op(struct sim *s, int op_index, const struct sim_hooks *hooks, struct err *e)
{
	int64_t callee[TFL_CALLEES];
	if (s->tosa) {
		const char *w = sim_run_tosa_op(s->a, s->tosa, op_index, s->data);
		if (!s->warning[op_index])
			s->warning[op_index] = w;
		return true;
	}
	if (npu_is_guard(s->g, &s->g->op[op_index]))
		return true;
	if (sim_is_npu(&s->g->op[op_index]))
		return run_npu(s, op_index, hooks, e);
	if (sim_is_resource_op(&s->g->op[op_index]))
		return sim_run_resource_op(s->resources, (int)(s->g - s->m->subgraph), op_index,
					   s->data, e);
	if (tfl_callees(&s->g->op[op_index], callee))
		return run_call(s, op_index, callee, hooks, e);
	bool ok = run_cpu(s, op_index, e);
	if (!ok && s->stand_in) {
		stand_in(s, op_index, e);
		return true;
	}
	return ok;
}

static bool
run_ops(struct sim *s, const struct sim_hooks *hooks, struct err *e)
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

bool
sim_invoke(struct sim *s, const struct sim_hooks *hooks, struct err *e)
{
	s->turns = 0;
	return run_ops(s, hooks, e);
}
