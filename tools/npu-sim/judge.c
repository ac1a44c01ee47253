/* SPDX-License-Identifier: Apache-2.0 */
#include "npu-sim.h"

#include <math.h>
#include <string.h>

static double
value_at(const struct tfl_tensor *t, const uint8_t *p, int64_t i)
{
	p += i * tfl_type_bytes(t->type);
	switch (t->type) {
	case TFL_INT8:
		return (int8_t)*p;
	case TFL_INT16:
		return (int16_t)load_le16(p);
	case TFL_INT32:
		return (int32_t)load_le32(p);
	case TFL_INT64:
		return (double)(int64_t)load_le64(p);
	case TFL_FLOAT32:
		return (double)load_f32(p);
	default:
		return *p;
	}
}

/* "[0,3,2]" of element i */
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
 * Are both tensors' elements the same bits?  If not, e says (exit 1) which
 * output and producer, the first difference, and how many there are.
 */
static bool
same_values(struct sim *s, int output, const void *got, const void *want,
	    const char *wanted, struct err *e)
{
	const struct tfl_model *m = sim_model(s);
	const struct tfl_subgraph *g = &m->subgraph[0];
	const struct tfl_tensor *t = &g->tensor[g->out[output]];
	int64_t n = tfl_elements(t), n_wrong = 0, first = -1;
	size_t size = (size_t)tfl_type_bytes(t->type);
	double largest = 0;
	for (int64_t i = 0; i < n; i++) {
		if (!memcmp((const uint8_t *)got + (size_t)i * size,
			    (const uint8_t *)want + (size_t)i * size, size))
			continue;
		n_wrong++;
		if (first < 0)
			first = i;
		largest = fmax(
		    largest, fabs(value_at(t, got, i) - value_at(t, want, i)));
	}
	if (!n_wrong)
		return true;
	struct text at = { 0 };
	put_position(&at, t, first);
	const char *op =
	    t->producer < 0 ? "none" : tfl_op_label(&g->op[t->producer]);
	(void)err_no(e,
		     "%s: output %d (tensor %d, %s, of operator %d, %s): "
		     "element %s is %.9g, %s %.9g; %lld of %lld differ, by at "
		     "most %.9g",
		     m->name, output, g->out[output], t->name, t->producer, op,
		     text_str(&at), value_at(t, got, first), wanted,
		     value_at(t, want, first), (long long)n_wrong, (long long)n,
		     largest);
	text_free(&at);
	return false;
}

bool
check_expectations(struct sim *s, const struct options *o, struct err *e)
{
	const struct tfl_subgraph *g = &sim_model(s)->subgraph[0];
	if (o->n_expect && o->n_expect != g->n_out)
		return err_at(e, sim_model(s)->name, 0,
			      "the model has %d outputs, "
			      "%d expected files are given",
			      g->n_out, o->n_expect);
	struct arena *a = arena_open();
	bool ok = true;
	for (int k = 0; ok && k < o->n_expect; k++) {
		struct bytes v;
		ok = read_values(a, o->expect[k], &g->tensor[g->out[k]], &v,
				 e) &&
		     same_values(s, k, sim_tensor(s, g->out[k]), v.p,
				 "expected", e);
	}
	arena_close(a);
	return ok;
}

bool
compare_models(struct sim *a, struct sim *b, struct err *e)
{
	const struct tfl_subgraph *f = &sim_model(a)->subgraph[0];
	const struct tfl_subgraph *g = &sim_model(b)->subgraph[0];
	for (int k = 0; k < f->n_out; k++) {
		const struct tfl_tensor *x = &f->tensor[f->out[k]];
		const struct tfl_tensor *y = &g->tensor[g->out[k]];
		if (x->type != y->type || tfl_bytes(x) != tfl_bytes(y))
			return err_no(e,
				      "%s: output %d has another type or size "
				      "than in %s",
				      sim_model(b)->name, k,
				      sim_model(a)->name);
		if (!same_values(b, k, sim_tensor(b, g->out[k]),
				 sim_tensor(a, f->out[k]),
				 "but in the other model", e))
			return false;
	}
	return true;
}
