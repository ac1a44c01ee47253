/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that move elements, and RESIZE. */
#include "tosakernels/tosakernels.h"

#include <string.h>

/* Returns the input element for position `at` of the result; -1: the value of PAD. */
static int64_t
source_of(const struct tosa_run *r, const int64_t *at)
{
	const struct tosa_op *op = r->op;
	const struct tosa_tensor *x = tosa_in(r->g, op, 0);
	int64_t from[TOSA_MAX_RANK], i = 0;
	for (int k = 0; k < x->rank; k++) {
		from[k] = at[k];
		if (op->code == TOSA_PAD)
			from[k] -= tosa_value(tosa_in(r->g, op, 1), 2 * k);
		else if (op->code == TOSA_SLICE)
			from[k] += tosa_value(tosa_in(r->g, op, 1), k);
		else if (op->code == TOSA_TILE)
			from[k] %= x->dim[k];
		else if (op->code == TOSA_REVERSE && k == tosa_axis_of(op))
			from[k] = x->dim[k] - 1 - at[k];
	}
	for (int k = 0; op->code == TOSA_TRANSPOSE && k < x->rank; k++)
		from[tosa_perm_of(op, k)] = at[k];
	for (int k = 0; k < x->rank; k++) {
		if (from[k] < 0 || from[k] >= x->dim[k])
			return -1;
		i = i * x->dim[k] + from[k];
	}
	return i;
}

void
tosa_run_move(struct tosa_run *r)
{
	const struct tosa_tensor *o = tosa_out(r->g, r->op);
	int64_t at[TOSA_MAX_RANK] = { 0 }, n = tosa_elements(o);
	for (int64_t i = 0; i < n; i++) {
		int64_t from = source_of(r, at);
		r->out[i] = from < 0 ? r->in[2][0] : r->in[0][from];
		for (int k = o->rank; k-- > 0 && ++at[k] == o->dim[k];)
			at[k] = 0;
	}
}

void
tosa_run_concat(struct tosa_run *r)
{
	const struct tosa_tensor *o = tosa_out(r->g, r->op);
	int64_t axis = tosa_axis_of(r->op), inner = 1, outer = 1, done = 0;
	for (int64_t k = 0; k < o->rank; k++)
		*(k < axis ? &outer : &inner) *= k == axis ? 1 : o->dim[k];
	for (int k = 0; k < r->op->n_in; k++) {
		int64_t n = tosa_in(r->g, r->op, k)->dim[axis] * inner;
		for (int64_t i = 0; i < outer; i++)
			memcpy(r->out + i * o->dim[axis] * inner + done,
			       r->in[k] + i * n, (size_t)n * sizeof(int64_t));
		done += n;
	}
}

/* Warns about an index outside of 0 to n - 1, and clamps it. */
static int64_t
checked_index(struct tosa_run *r, int64_t i, int64_t n)
{
	if (i < 0 || i >= n)
		tosa_warn(r, "the index %lld is outside 0 to %lld", (long long)i,
			  (long long)n - 1);
	return i < 0 ? 0 : i >= n ? n - 1 : i;
}

void
tosa_run_gather(struct tosa_run *r)
{
	const struct tosa_tensor *v = tosa_in(r->g, r->op, 0), *t = tosa_in(r->g, r->op, 1);
	int64_t n = tosa_elements(t), depth = v->dim[2];
	for (int64_t i = 0; i < n; i++) {
		int64_t k = checked_index(r, r->in[1][i], v->dim[1]);
		memcpy(r->out + i * depth,
		       r->in[0] + (i / t->dim[1] * v->dim[1] + k) * depth,
		       (size_t)depth * sizeof(int64_t));
	}
}

void
tosa_run_scatter(struct tosa_run *r)
{
	const struct tosa_tensor *v = tosa_in(r->g, r->op, 0), *t = tosa_in(r->g, r->op, 1);
	int64_t n = tosa_elements(t), depth = v->dim[2];
	bool *written = anew(r->a, bool, (size_t)(v->dim[0] * (int64_t)v->dim[1]));
	memcpy(r->out, r->in[0], (size_t)tosa_elements(v) * sizeof(int64_t));
	for (int64_t i = 0; i < n; i++) {
		int64_t k = checked_index(r, r->in[1][i], v->dim[1]);
		int64_t row = i / t->dim[1] * v->dim[1] + k;
		if (written[row])
			tosa_warn(r, "the index %lld occurs twice", (long long)k);
		written[row] = true;
		memcpy(r->out + row * depth,
		       r->in[2] + i * depth, (size_t)depth * sizeof(int64_t));
	}
}

/*
 * The two adjacent inputs of a position on an axis; rest / num is the weight of the
 * upper one.
 */
struct resize_inputs {
	int64_t lower, upper, rest;
};

static struct resize_inputs
resize_inputs(const struct tosa_resize *q, int axis, int64_t o, int64_t n)
{
	struct resize_inputs b;
	int64_t at = tosa_resize_at(q, axis, o, &b.rest);
	b.lower = at < 0 ? 0 : at;
	b.upper = at + 1 > n - 1 ? n - 1 : at + 1;
	if (b.lower > n - 1)
		b.lower = n - 1;
	if (b.upper < 0)
		b.upper = 0;
	return b;
}

void
tosa_run_resize(struct tosa_run *r)
{
	const struct tosa_tensor *x = tosa_in(r->g, r->op, 0), *o = tosa_out(r->g, r->op);
	struct tosa_resize q = tosa_resize_of(r->g, r->op);
	int64_t depth = o->dim[3];
	for (int64_t i = 0; i < tosa_elements(o); i++) {
		int64_t c = i % depth, b = i / depth / o->dim[2] / o->dim[1];
		struct resize_inputs v = resize_inputs(&q, 0, i / depth / o->dim[2] % o->dim[1],
					   x->dim[1]);
		struct resize_inputs h = resize_inputs(&q, 1, i / depth % o->dim[2], x->dim[2]);
		const int64_t *image = r->in[0] + b * x->dim[1] * x->dim[2] * depth + c;
		int64_t row[2] = { v.lower * x->dim[2], v.upper * x->dim[2] };
		if (!q.bilinear) {
			int64_t y = row[2 * v.rest >= q.num[0]];
			r->out[i] = image[(y + (2 * h.rest >= q.num[1] ? h.upper
								      : h.lower)) * depth];
			continue;
		}
		int64_t ry = v.rest, rx = h.rest, ny = q.num[0], nx = q.num[1];
		r->out[i] = image[(row[0] + h.lower) * depth] * (ny - ry) * (nx - rx) +
			    image[(row[0] + h.upper) * depth] * (ny - ry) * rx +
			    image[(row[1] + h.lower) * depth] * ry * (nx - rx) +
			    image[(row[1] + h.upper) * depth] * ry * rx;
	}
}
