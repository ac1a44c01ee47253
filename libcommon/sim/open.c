/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a model, and gives memory to every tensor of it.  Each subgraph that IF or WHILE calls
 * has a struct sim of its own.
 */
#include "base/little_endian.h"
#include "kernels/kernels.h"
#include "sim/borders.h"
#include "sim/names.h"
#include "sim/resources.h"
#include "sim/state.h"
#include "sim/tosa.h"
#include "tflite/calls.h"

/* Reads the plan for the subgraph, if there is one: ethosu-commands(7) 13.4. */
static bool
find_plan(struct sim *s, struct err *e)
{
	struct bytes md = tfl_metadata(s->m, "OfflineMemoryAllocation");
	bool has_npu = false;
	size_t n = 0, first = 0;
	for (int i = 0; i < s->m->n_subgraphs; i++) {
		const struct tfl_subgraph *g = &s->m->subgraph[i];
		first = g == s->g ? n : first;
		n += (size_t)g->n_tensors;
		for (int k = 0; k < g->n_ops; k++)
			has_npu |= sim_is_npu(&g->op[k]);
	}
	if (!md.p || !has_npu)
		return true;
	if (md.n < 12 || md.n % 4 || (md.n - 12) / 4 != n ||
	    load_le32(md.p + 8) != n)
		return err_at(e, s->m->name, 0,
			      "OfflineMemoryAllocation of %zu "
			      "bytes does not describe %zu tensors",
			      md.n, n);
	int32_t *plan = anew(s->a, int32_t, (size_t)s->g->n_tensors);
	for (int i = 0; i < s->g->n_tensors; i++)
		plan[i] = (int32_t)load_le32(md.p + 12 + 4 * (first + (size_t)i));
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

/* Checks the planned tensors and sizes the shared buffer to hold them. */
static bool
size_planned(struct sim *s, struct err *e)
{
	for (int i = 0; s->plan && i < s->g->n_tensors; i++) {
		const struct tfl_tensor *t = &s->g->tensor[i];
		if (t->data.p)
			continue;
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
			continue;
		if ((uint64_t)end > SIM_MAX_BYTES)
			return too_large(s, e);
		if ((size_t)end > s->planned_bytes)
			s->planned_bytes = (size_t)end;
	}
	return true;
}

static void
assign_planned(struct sim *s, uint8_t *memory)
{
	s->planned = memory;
	for (int i = 0; i < s->g->n_tensors; i++)
		if (sim_is_planned(s, i))
			s->data[i] = memory + s->plan[i];
}

/* total: bytes of all subgraphs so far; copy: by buffer, the copies of constants so far */
static bool
assign_others(struct sim *s, uint8_t **copy, size_t *total, struct err *e)
{
	for (int i = 0; i < s->g->n_tensors; i++) {
		const struct tfl_tensor *t = &s->g->tensor[i];
		if (t->data.p && s->is_input[i]) {
			/* the application overwrites an input that has data, while other
			 * tensors of the same buffer keep theirs */
			s->data[i] = anew(s->a, uint8_t, t->data.n);
			memcpy(s->data[i], t->data.p, t->data.n);
		} else if (t->data.p) {
			/* aligned so that kernels may read the elements; one copy per buffer;
			 * never written: kernels only read inputs, and NPU regions are read-only */
			uint8_t **p = &copy[t->buffer];
			if (!*p && (uintptr_t)t->data.p % 8) {
				*p = anew(s->a, uint8_t, t->data.n);
				memcpy(*p, t->data.p, t->data.n);
			} else if (!*p) {
				*p = (uint8_t *)(uintptr_t)t->data.p;
			}
			s->data[i] = *p;
		}
		if (s->data[i])
			continue;
		size_t n = (size_t)tfl_bytes(t); /* at most 2^40 */
		if (n > SIM_MAX_BYTES - *total)
			return too_large(s, e);
		*total += n;
		s->data[i] = arena_alloc(s->a, n, 1);
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
	if (sim_is_npu(op))
		return check_npu(s, op_index, e);
	int64_t callee[TFL_CALLEES];
	if (!s->tosa && !kernel_exists(op->code) && !sim_is_resource_op(op) &&
	    !tfl_callees(op, callee) && !s->stand_in)
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
	for (int k = 0; k < op->n_in; k++) {
		if (op->in[k] < 0)
			continue;
		const struct tfl_tensor *t = &s->g->tensor[op->in[k]];
		if (t->is_sparse) /* no kernel reads it */
			return err_at(e, s->m->name, 0,
				      "operator %d (%s): "
				      "tensor %d (%s) is sparse, which is not "
				      "supported",
				      op_index, tfl_op_label(op), op->in[k],
				      t->name);
	}
	return true;
}

/* true if n tensors v of g and n tensors w of h have the same types and sizes */
static bool
same_types(const struct tfl_subgraph *g, const int *v, const struct tfl_subgraph *h,
	   const int *w, int n)
{
	for (int i = 0; i < n; i++) {
		const struct tfl_tensor *a = v[i] < 0 ? NULL : &g->tensor[v[i]];
		const struct tfl_tensor *b = &h->tensor[w[i]];
		if (!a || a->type != b->type || tfl_bytes(a) != tfl_bytes(b))
			return false;
	}
	return true;
}

/*
 * Checks that the inputs and outputs of IF and WHILE are those of the subgraphs that they call.
 */
static bool
check_call(struct sim *s, int op_index, const int64_t *callee, struct err *e)
{
	const struct tfl_op *op = &s->g->op[op_index];
	bool loops = op->code == TFL_WHILE;
	const int *in = loops ? op->in : op->in + 1;
	int n_in = loops ? op->n_in : op->n_in - 1;
	bool ok = n_in >= 0 && (!loops || (n_in == op->n_out &&
					   same_types(s->g, op->in, s->g, op->out, n_in)));
	const struct tfl_tensor *is = NULL; /* the boolean that selects */
	if (ok && !loops && op->in[0] >= 0)
		is = &s->g->tensor[op->in[0]];
	for (int k = 0; ok && k < TFL_CALLEES; k++) {
		const struct tfl_subgraph *g = &s->m->subgraph[callee[k]];
		bool condition = loops && !k;
		ok = g->n_in == n_in && same_types(s->g, in, g, g->in, n_in) &&
		     (condition ? g->n_out == 1
				: g->n_out == op->n_out &&
					  same_types(s->g, op->out, g, g->out, op->n_out));
		if (ok && condition)
			is = &g->tensor[g->out[0]];
	}
	return (ok && is && is->type == TFL_BOOL && tfl_elements(is) == 1) ||
	       err_at(e, s->m->name, 0, "operator %d (%s): its inputs, outputs and condition do "
					"not fit subgraphs %lld and %lld", op_index,
		      tfl_op_label(op), (long long)callee[0], (long long)callee[1]);
}

/* Checks a subgraph and its plan; its tensors get memory later. */
static bool
open_subgraph(struct sim *s, struct err *e)
{
	int64_t callee[TFL_CALLEES];
	s->data = anew(s->a, uint8_t *, (size_t)s->g->n_tensors);
	s->is_input = anew(s->a, bool, (size_t)s->g->n_tensors);
	for (int i = 0; i < s->g->n_in; i++)
		s->is_input[s->g->in[i]] = true;
	for (int i = 0; i < s->g->n_ops; i++) {
		if (!check_op(s, i, e))
			return false;
		if (!s->tosa && tfl_callees(&s->g->op[i], callee) &&
		    !check_call(s, i, callee, e))
			return false;
	}
	return find_plan(s, e) && size_planned(s, e);
}

static bool
open_bodies(struct sim *s, struct err *e)
{
	const bool *called = tfl_bodies(s->a, s->m);
	s->body = anew(s->a, struct sim *, (size_t)s->m->n_subgraphs);
	s->body[0] = s;
	for (int i = 1; i < s->m->n_subgraphs; i++) {
		const struct tfl_subgraph *g = &s->m->subgraph[i];
		if (!called[i])
			continue;
		struct sim *b = s->body[i] = anew(s->a, struct sim, 1);
		*b = (struct sim){ .a = s->a, .m = s->m, .g = g, .body = s->body,
				   .resources = s->resources };
		if (s->stand_in)
			b->stand_in = anew(s->a, const char *, (size_t)g->n_ops + 1);
		struct err inner = { 0 };
		if (!open_subgraph(b, &inner))
			return err_at(e, inner.place, 0, "%s (subgraph %d)", inner.text, i);
		if (b->planned_bytes > s->planned_bytes)
			s->planned_bytes = b->planned_bytes;
		if (b->fast_bytes > s->fast_bytes)
			s->fast_bytes = b->fast_bytes;
	}
	return true;
}

/* Gives memory to the tensors of all subgraphs. */
static bool
assign_all(struct sim *s, struct err *e)
{
	uint8_t **copy = anew(s->a, uint8_t *, s->m->n_buffers);
	uint8_t *planned = arena_alloc(s->a, s->planned_bytes, 1);
	uint8_t *fast = arena_alloc(s->a, s->fast_bytes, 1);
	size_t total = s->planned_bytes;
	for (int i = 0; i < s->m->n_subgraphs; i++) {
		struct sim *b = s->body[i];
		if (!b)
			continue;
		assign_planned(b, planned);
		if (!assign_others(b, copy, &total, e))
			return false;
		b->fast = fast;
	}
	return true;
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
	if (!open_subgraph(s, e) || !sim_resources_open(a, m, &s->resources, e) ||
	    (!tosa && !sim_borders_open(a, m, &s->borders, e)) || !open_bodies(s, e) ||
	    !assign_all(s, e))
		return false;
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

int
sim_op_number(const struct sim *s, int op_index)
{
	return s->tosa ? s->tosa->op[op_index].number : op_index;
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
	for (int b = 0; b < s->m->n_subgraphs; b++) {
		const struct sim *x = s->body[b];
		for (int i = 0; x && i < x->g->n_tensors; i++) {
			const struct tfl_tensor *t = &x->g->tensor[i];
			if (!t->is_variable)
				continue;
			int fill = t->type == TFL_INT8 && t->quant.n_zero
				       ? (int)(t->quant.zero[0] & 0xff)
				       : 0;
			memset(x->data[i], fill, (size_t)tfl_bytes(t));
		}
	}
}

void
sim_place(struct sim *s, uint8_t *memory)
{
	for (int b = 0; b < s->m->n_subgraphs; b++) {
		const struct sim *x = s->body[b];
		for (int i = 0; x && i < x->g->n_tensors; i++)
			if (sim_is_planned(x, i) && x->g->tensor[i].is_variable)
				memcpy(memory + x->plan[i], x->data[i],
				       (size_t)tfl_bytes(&x->g->tensor[i]));
		if (x)
			assign_planned(s->body[b], memory);
	}
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

