/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the network in real numbers, operator by operator. */
#include "real/real.h"

#include "tflite/tflite.h"

#include <string.h>

#define real_none  NULL
#define real_taken NULL

static real_function *const functions[TFL_BUILTIN_LIMIT] = {
#define OPERATOR(name, kernel, real, ...) [TFL_##name] = real_##real,
#include "operators.def"
#undef OPERATOR
};

static real_function *
function_of(int code)
{
	return code >= 0 && code < TFL_BUILTIN_LIMIT ? functions[code] : NULL;
}

int
real_elementwise(int code)
{
	real_function *f = function_of(code);
	return f == real_unary ? 1 : f == real_binary ? 2 : 0;
}

/* A data tensor has 8 or 16 bits, or floats; in these operators, positions have 32 bits. */
static bool
is_data_tensor(const struct tfl_tensor *t)
{
	return t->type == TFL_INT8 || t->type == TFL_UINT8 || t->type == TFL_INT16 ||
	       t->type == TFL_FLOAT32;
}

/*
 * True if every data tensor of the operator has values in real numbers and at least one
 * element.
 */
static bool
has_real_values(const struct real *r, const struct tfl_op *op)
{
	bool any = false;
	for (int k = 0; k < op->n_in + op->n_out; k++) {
		int i = k < op->n_in ? op->in[k] : op->out[k - op->n_in];
		const struct tfl_tensor *t = i < 0 ? NULL : &r->g->tensor[i];
		bool is_result = k >= op->n_in;
		if (t && (is_result || is_data_tensor(t)) &&
		    (!is_data_tensor(t) || !is_real(t) || tfl_elements(t) < 1))
			return false;
		any |= t && is_data_tensor(t) && !is_result;
	}
	return any;
}

struct real *
real_open(struct arena *a, const struct tfl_subgraph *g)
{
	struct real *r = anew(a, struct real, 1);
	*r = (struct real){ .a = a, .g = g,
			    .value = anew(a, double *, (size_t)g->n_tensors + 1),
			    .sources = anew(a, int32_t *, (size_t)g->n_ops + 1),
			    .has_function = anew(a, bool, (size_t)g->n_ops + 1),
			    .inside = anew(a, struct real_span, (size_t)g->n_ops + 1) };
	for (int i = 0; i < g->n_tensors; i++) {
		const struct tfl_tensor *t = &g->tensor[i];
		if (!is_real(t) || !t->data.p)
			continue;
		r->value[i] = anew(a, double, (size_t)tfl_elements(t) + 1);
		real_from_elements(t, t->data.p, r->value[i]);
	}
	for (int i = 0; i < g->n_ops; i++) {
		const struct tfl_op *op = &g->op[i];
		real_function *f = has_real_values(r, op) ? function_of(op->code) : NULL;
		if (f == real_move)
			r->sources[i] = real_sources(a, g, i);
		r->has_function[i] = f && (f != real_move || r->sources[i]);
	}
	return r;
}

static bool
uses_state(int code)
{
	return code == TFL_READ_VARIABLE || code == TFL_ASSIGN_VARIABLE;
}

void
real_add_state(struct real *r, int handle, const struct tfl_tensor *initial)
{
	size_t n = (size_t)tfl_elements(initial);
	double *v = anew(r->a, double, n + 1);
	real_from_elements(initial, initial->data.p, v);
	agrow(r->a, r->state, r->n_states, &r->states_capacity);
	r->state[r->n_states++] = (struct real_state){ .handle = handle, .n = n, .initial = v };
	for (int i = 0; i < r->g->n_ops; i++) {
		const struct tfl_op *op = &r->g->op[i];
		if (uses_state(op->code) && op->in[0] == handle)
			r->has_function[i] = true;
	}
}

void
real_reset(struct real *r)
{
	for (int i = 0; i < r->g->n_tensors; i++) {
		const struct tfl_tensor *t = &r->g->tensor[i];
		for (int64_t k = 0; t->is_variable && r->value[i] && k < tfl_elements(t); k++)
			r->value[i][k] = 0;
	}
	for (size_t i = 0; i < r->n_states; i++)
		memcpy(r->value[r->state[i].handle], r->state[i].initial,
		       r->state[i].n * sizeof(double));
}

bool
real_has_function(const struct real *r, int op)
{
	return r->has_function[op];
}

void
real_run(struct real *r, int op)
{
	struct real_op o = { .r = r, .op = &r->g->op[op], .index = op };
	if (!uses_state(o.op->code)) {
		function_of(o.op->code)(&o);
		return;
	}
	/* the value of a variable is that of its handle */
	bool reads = o.op->code == TFL_READ_VARIABLE;
	const double *from = real_x(&o, reads ? 0 : 1);
	int64_t n = tfl_elements(reads ? real_out(&o, 0) : real_in(&o, 1));
	memcpy(reads ? real_y(&o, 0) : real_x(&o, 0), from, (size_t)n * sizeof(*from));
}
