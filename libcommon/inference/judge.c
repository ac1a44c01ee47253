/* SPDX-License-Identifier: Apache-2.0 */
/* Compares outputs with expected values, or with the outputs of the other model. */
#include "inference/inference.h"

#include "base/little_endian.h"

#include <math.h>
#include <string.h>

static double
value_at(const struct tfl_tensor *t, const uint8_t *p, int64_t i)
{
	return t->type == TFL_FLOAT32 ? (double)load_f32(p + 4 * i)
				      : (double)tfl_integer(t->type, p, i);
}

/* prints the position of element i, such as "[0,3,2]" */
static void
put_position(struct text *x, const struct tfl_tensor *t, int64_t i)
{
	int64_t at[TFL_MAX_RANK];
	for (int d = t->rank - 1; d >= 0; d--) {
		at[d] = i % t->dim[d];
		i /= t->dim[d];
	}
	text_putc(x, '[');
	for (int d = 0; d < t->rank; d++)
		text_printf(x, d ? ",%lld" : "%lld", (long long)at[d]);
	text_putc(x, ']');
}

/*
 * Compares the bits of all elements.  If they differ, e (status 1) has the frame, the
 * output, its operator, the first difference, and the number of differences. form has
 * the type of the elements.
 */
static bool
same_values(struct sim *s, int output, const struct tfl_tensor *value_tensor,
	    const void *got, const void *want, const struct judged *j, struct err *e)
{
	const struct tfl_model *m = sim_model(s);
	const struct tfl_subgraph *g = &m->subgraph[0];
	const struct tfl_tensor *t = &g->tensor[g->out[output]];
	int64_t n = tfl_elements(t), n_wrong = 0, first = -1;
	size_t size = (size_t)tfl_type_bytes(value_tensor->type);
	double largest = 0;
	for (int64_t i = 0; i < n; i++) {
		if (!memcmp((const uint8_t *)got + (size_t)i * size,
			    (const uint8_t *)want + (size_t)i * size, size))
			continue;
		n_wrong++;
		if (first < 0)
			first = i;
		largest = fmax(largest, fabs(value_at(value_tensor, got, i) -
					     value_at(value_tensor, want, i)));
	}
	if (!n_wrong)
		return true;
	struct text at = { 0 }, frame = { 0 };
	put_position(&at, t, first);
	if (j->frames > 1)
		text_printf(&frame, "frame %d, ", j->frame);
	const char *of = text_str(&frame), *element = text_str(&at);
	const char *label = t->producer < 0 ? "none" : tfl_op_label(&g->op[t->producer]);
	(void)err_no(e, m->name, 0, "%soutput %d (tensor %d, %s, of operator %d, %s): element "
		     "%s is %.9g, %s %.9g; %lld of %lld differ, by at most %.9g", of, output,
		     g->out[output], t->name, t->producer, label, element,
		     value_at(value_tensor, got, first), j->wanted,
		     value_at(value_tensor, want, first), (long long)n_wrong, (long long)n,
		     largest);
	text_free(&at);
	text_free(&frame);
	return false;
}

/*
 * the same for tensors of which one is quantized and one is float32: both are compared
 * as floats
 */
static bool
same_across_types(struct sim *s, int output, const struct tfl_tensor *value_tensor,
	      const void *want, const struct judged *j, struct err *e)
{
	const struct tfl_subgraph *g = &sim_model(s)->subgraph[0];
	const struct tfl_tensor *t = &g->tensor[g->out[output]];
	const void *got = sim_tensor(s, g->out[output]);
	if (same_type(t, value_tensor))
		return same_values(s, output, t, got, want, j, e);
	struct arena *a = arena_open();
	const struct tfl_tensor *q = t->type == TFL_FLOAT32 ? value_tensor : t;
	struct tfl_tensor real = as_float32(q);
	void *v = arena_alloc(a, (size_t)tfl_bytes(&real), 1);
	bool ok = q == t ? convert_type(q, got, &real, v, e) &&
			       same_values(s, output, &real, v, want, j, e)
			 : convert_type(q, want, &real, v, e) &&
			       same_values(s, output, &real, got, v, j, e);
	arena_close(a);
	return ok;
}

bool
open_expectations(struct arena *a, struct values **out, const struct tfl_model *m,
		  const struct border_tensors *x, const struct options *o, struct err *e)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	*out = NULL;
	if (!o->expect.n)
		return true;
	if (o->expect.n != g->n_out)
		return err_at(e, m->name, 0,
			      "the model has %d output%s, but %d file%s given with "
			      "--expect: give one for each",
			      g->n_out, g->n_out == 1 ? "" : "s", o->expect.n,
			      o->expect.n == 1 ? " is" : "s are");
	*out = anew(a, struct values, (size_t)g->n_out);
	for (int k = 0; k < g->n_out; k++)
		if (!read_values(a, o->expect.path[k], &g->tensor[g->out[k]],
				 k < x->n_out ? &x->out[k] : NULL, o->frames, &(*out)[k],
				 e))
			return false;
	return true;
}

bool
check_expectations(struct sim *s, const struct values *want,
		   const struct judged *j, struct err *e)
{
	const struct tfl_subgraph *g = &sim_model(s)->subgraph[0];
	struct arena *a = arena_open();
	bool ok = true;
	for (int k = 0; ok && want && k < g->n_out; k++) {
		const struct values *v = &want[k];
		void *p = arena_alloc(a, v->bytes, 1);
		ok = frame_values(v, j->frame, p, e) &&
		     same_across_types(s, k, &v->value_tensor, p, j, e);
	}
	arena_close(a);
	return ok;
}

/*
 * the values of output k of n runs joined along the batch; *form gets their type and
 * shape
 */
static const void *
joined_output(struct arena *s, struct sim *const *a, int n, int k, struct tfl_tensor *value_tensor)
{
	int tensor = sim_model(a[0])->subgraph[0].out[k];
	*value_tensor = sim_model(a[0])->subgraph[0].tensor[tensor];
	if (n == 1)
		return sim_tensor(a[0], tensor);
	size_t bytes = (size_t)tfl_bytes(value_tensor);
	uint8_t *p = arena_alloc(s, bytes, (size_t)n);
	for (int i = 0; i < n; i++)
		memcpy(p + (size_t)i * bytes, sim_tensor(a[i], tensor), bytes);
	value_tensor->dim[0] *= n;
	return p;
}

/* an operator that can't run, among those that the tensor depends on; -1: none */
static int
stand_in_behind(struct sim *s, int tensor, const int *behind)
{
	const struct tfl_tensor *t = &sim_model(s)->subgraph[0].tensor[tensor];
	return t->producer < 0 ? -1 : behind[t->producer];
}

/* the reason why output k depends on a stand-in; NULL: it does not */
static const char *
stand_in_of_output(struct sim *s, int k)
{
	const struct tfl_subgraph *g = &sim_model(s)->subgraph[0];
	struct arena *a = arena_open();
	int *behind = anew(a, int, (size_t)g->n_ops); /* for each operator; -1: none */
	for (int i = 0; i < g->n_ops; i++) {
		const struct tfl_op *op = &g->op[i];
		behind[i] = sim_stand_in(s, i) ? i : -1;
		for (int n = 0; behind[i] < 0 && n < op->n_in; n++)
			if (op->in[n] >= 0)
				behind[i] = stand_in_behind(s, op->in[n], behind);
	}
	int i = stand_in_behind(s, g->out[k], behind);
	arena_close(a);
	return i < 0 ? NULL : sim_stand_in(s, i);
}

bool
compare_models(struct sim *const *a, int n, struct sim *b, const struct judged *j,
	       struct err *e)
{
	const struct tfl_subgraph *f = &sim_model(a[0])->subgraph[0];
	const struct tfl_subgraph *g = &sim_model(b)->subgraph[0];
	struct arena *scratch = arena_open();
	bool ok = true;
	for (int k = 0; ok && k < f->n_out; k++) {
		struct tfl_tensor x;
		const struct tfl_tensor *y = &g->tensor[g->out[k]];
		const void *want = joined_output(scratch, a, n, k, &x);
		if (!float_and_quantized(&x, y) &&
		    (!same_type(&x, y) || tfl_bytes(&x) != tfl_bytes(y)))
			ok = err_no(e, sim_model(b)->name, 0, "output %d differs in type or "
				    "size from that of %s", k, sim_model(a[0])->name);
		/* the NPU computes some values that the reference kernel refuses */
		const char *why = stand_in_of_output(a[0], k), *own = stand_in_of_output(b, k);
		if (ok && why && x.type == TFL_FLOAT32 && float_and_quantized(&x, y))
			ok = err_set(e, "%s; compare with the quantized model, which npucc --keep=DIR "
					"keeps (npucc --check compares with it)", why);
		if (ok && !why != !own)
			ok = err_no(e, NULL, 0, "output %d is not compared, because %s can't be run: %s",
				    k, why ? "the other model" : "the model", why ? why : own);
		ok = ok && same_across_types(b, k, &x, want, j, e);
	}
	arena_close(scratch);
	return ok;
}

bool
outputs_computed(struct sim *s, struct err *e)
{
	const struct tfl_subgraph *g = &sim_model(s)->subgraph[0];
	for (int k = 0; k < g->n_out; k++) {
		const char *why = stand_in_of_output(s, k);
		if (why)
			(void)err_no(e, NULL, 0, "output %d is not compared, only the inputs of "
				     "an operator that npu-sim can't run: %s", k, why);
	}
	return !e->status;
}
