/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the network in real numbers, operator by operator. */
#include "real.h"

#include <math.h>

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

bool
is_real(const struct tfl_tensor *t)
{
	bool type = t->type == TFL_INT8 || t->type == TFL_UINT8 || t->type == TFL_INT16 ||
		    t->type == TFL_INT32 || t->type == TFL_INT64;
	return type && t->quant.n_scale > 0;
}

void
real_from_integers(const struct tfl_tensor *t, const void *p, double *out)
{
	const struct tfl_quant *q = &t->quant;
	int64_t n = tfl_elements(t), inner = 1;
	for (int d = q->axis + 1; d < t->rank; d++)
		inner *= t->dim[d];
	for (int64_t i = 0; i < n; i++) {
		int64_t c = i / inner;
		int64_t zero = q->n_zero ? q->zero[q->n_zero > 1 ? c % q->n_zero : 0] : 0;
		double scale = (double)q->scale[q->n_scale > 1 ? c % q->n_scale : 0];
		out[i] = scale * (double)(tfl_integer(t->type, p, i) - zero);
	}
}

/* A data tensor has 8 or 16 bits; in these operators, positions have 32 bits. */
static bool
is_data_tensor(const struct tfl_tensor *t)
{
	return t->type == TFL_INT8 || t->type == TFL_UINT8 || t->type == TFL_INT16;
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
		    (!is_data_tensor(t) || !r->value[i] || tfl_elements(t) < 1))
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
			    .has_function = anew(a, bool, (size_t)g->n_ops + 1) };
	for (int i = 0; i < g->n_tensors; i++) {
		const struct tfl_tensor *t = &g->tensor[i];
		if (!is_real(t))
			continue;
		r->value[i] = anew(a, double, (size_t)tfl_elements(t) + 1);
		if (t->data.p)
			real_from_integers(t, t->data.p, r->value[i]);
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

bool
real_has_function(const struct real *r, int op)
{
	return r->has_function[op];
}

void
real_run(struct real *r, int op)
{
	struct real_op o = { .r = r, .op = &r->g->op[op], .index = op };
	function_of(o.op->code)(&o);
}

const struct tfl_tensor *
real_in(const struct real_op *o, int k)
{
	return k < o->op->n_in && o->op->in[k] >= 0 ? &o->r->g->tensor[o->op->in[k]] : NULL;
}

const struct tfl_tensor *
real_out(const struct real_op *o, int k)
{
	return &o->r->g->tensor[o->op->out[k]];
}

double *
real_x(const struct real_op *o, int k)
{
	return k < o->op->n_in && o->op->in[k] >= 0 ? o->r->value[o->op->in[k]] : NULL;
}

double *
real_y(const struct real_op *o, int k)
{
	return o->r->value[o->op->out[k]];
}

double
real_clamp(double v, int64_t activation)
{
	switch (activation) {
	case TFL_ACT_RELU:
		return fmax(v, 0);
	case TFL_ACT_RELU6:
		return fmin(fmax(v, 0), 6);
	case TFL_ACT_RELU_N1_TO_1:
		return fmin(fmax(v, -1), 1);
	case TFL_ACT_TANH:
		return tanh(v);
	default:
		return v;
	}
}

int32_t
real_depth(const struct tfl_tensor *t)
{
	return t->rank ? t->dim[t->rank - 1] : 1;
}

int64_t
real_rows(const struct tfl_tensor *t)
{
	int32_t depth = real_depth(t);
	return depth ? tfl_elements(t) / depth : 0;
}

int64_t
real_broadcast(const struct tfl_tensor *t, const struct tfl_tensor *out, int64_t i, int inner)
{
	int64_t at = 0, step = 1;
	for (int k = t->rank - inner; k < t->rank; k++)
		step *= t->dim[k];
	for (int d = out->rank - 1 - inner, k = t->rank - 1 - inner; d >= 0; d--, k--) {
		if (k >= 0 && t->dim[k] > 1)
			at += i % out->dim[d] * step;
		step *= k >= 0 ? t->dim[k] : 1;
		i /= out->dim[d];
	}
	return at;
}

bool
real_ints(const struct tfl_tensor *t, int64_t *out, int max, int *n)
{
	if (!t || !t->data.p || (t->type != TFL_INT32 && t->type != TFL_INT64) ||
	    tfl_elements(t) > max)
		return false;
	*n = (int)tfl_elements(t);
	for (int i = 0; i < *n; i++)
		out[i] = tfl_integer(t->type, t->data.p, i);
	return true;
}
