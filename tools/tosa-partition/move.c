/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that move elements: other names of the same memory, unless something
 * forces a copy.
 */
#include "part.h"

#include "lower/runs.h"

enum { MAX_RUNS = 2048 };

const char *
lower_concat(struct part *p, const struct tosa_op *op)
{
	struct nd out = result_view(p, op->out[0]);
	int64_t axis = tosa_axis_of(op), at = 0;
	for (int k = 0; k < op->n_in; k++) {
		const struct tosa_tensor *t = tosa_in(p->t, op, k);
		if (!p->bound[op->in[k]] || t->data.p) {
			struct nd from = value_of(p, op->in[k]);
			struct nd to = nd_part(&out, (int)axis, at, t->dim[axis]);
			nd_copy(p->l, &from, &to);
		}
		at += t->dim[axis];
	}
	return NULL;
}

const char *
lower_reverse(struct part *p, const struct tosa_op *op)
{
	struct nd v = value_of(p, op->in[0]);
	int axis = (int)tosa_axis_of(op);
	if (v.dim[axis] > 1)
		nd_slice(&v, axis, v.dim[axis] - 1, v.dim[axis], -1);
	name_result(p, op->out[0], &v);
	return NULL;
}

const char *
lower_tile(struct part *p, const struct tosa_op *op)
{
	struct nd v = value_of(p, op->in[0]), out = result_view(p, op->out[0]);
	nd_tile(p->l, &v, &out);
	return NULL;
}

/* ---- GATHER, SCATTER -------------------------------------------------------------------- */

static const char *
copy_positions(struct part *p, const struct nd *from, const struct nd *to,
	    const struct tosa_tensor *at, bool gather)
{
	int32_t n = at->dim[1], *place = anew(p->a, int32_t, (size_t)n);
	int64_t copies = 0;
	for (int64_t b = 0; b < at->dim[0] && copies <= MAX_RUNS; b++) {
		struct nd x = nd_part(from, 0, b, 1), y = nd_part(to, 0, b, 1);
		for (int32_t k = 0; k < n; k++)
			place[k] = (int32_t)tosa_value(at, b * n + k);
		copies += (gather ? low_copy_axis : low_spread_axis)(p->l, &x, &y, 1, place);
	}
	return copies <= MAX_RUNS ? NULL : "more than 2048 copies";
}

/*
 * True if the DMA engine can use the indices.  An index out of range is the model's
 * fault (TOSA 1.0, GATHER and SCATTER).
 */
static bool
is_indexed(const struct part *p, const struct nd *v, const struct tosa_tensor *at)
{
	return nd_can_index(p->l, v->dim, at->dim[1]);
}

/* one-hot matrix of indices [batches][W]: 1 for the value [K] that an index names, else 0 */
static bool
hot_of(struct part *p, const struct nd *at, int64_t n, int type, struct nd *hot)
{
	struct nd x = *at;
	int64_t dim[3] = { at->dim[0], at->dim[1], 1 };
	if (!nd_reshape(&x, dim, 3) || n > MAX_RUNS)
		return false;
	int32_t *k = anew(p->a, int32_t, (size_t)n);
	for (int32_t i = 0; i < n; i++)
		k[i] = i;
	struct nd number = nd_const_channels(p->l, TFL_INT32, 3, (int32_t)n, k);
	struct nd away = nd_broadcast_op(p->l, OP_SUB, &x, &number);
	struct nd far = nd_new_like(p->l, &away, TFL_INT32);
	nd_unary(p->l, OP_ABS, &away, 0, &far, &low_half_up);
	far = nd_with_scalar(p->l, OP_MIN, &far, 1);
	struct nd one = nd_const_one(p->l, TFL_INT32, 3, 1);
	*hot = nd_new_like(p->l, &far, type);
	nd_binary(p->l, OP_SUB, &one, 0, &far, 0, hot, &low_half_up);
	return true;
}

static const char *
too_many_values(struct part *p, int64_t n)
{
	return arena_printf(p->a, "indices that are not constant and select from %lld values",
		      (long long)n);
}

/* in each batch, multiplies a's rows (turned: columns) by b's columns */
static const char *
multiply_all(struct part *p, const struct nd *a, bool turned, const struct nd *b,
	     const struct nd *out)
{
	struct low_matmul m = { .a = *a, .b = *b, .fits = true };
	nd_transpose(&m.b);
	if (turned)
		nd_transpose(&m.a);
	const char *why = low_matmul_check(p->l, &m, a->dim[0]);
	if (!why)
		low_matmul(p->l, &m, out, &low_half_up);
	return why;
}

const char *
lower_gather(struct part *p, const struct tosa_op *op)
{
	const struct tosa_tensor *at = tosa_in(p->t, op, 1);
	struct nd v = value_of(p, op->in[0]), hot, x, out;
	if (at->data.p) {
		out = result_view(p, op->out[0]);
		return copy_positions(p, &v, &out, at, true);
	}
	x = value_of(p, op->in[1]);
	out = result_view(p, op->out[0]);
	if (is_indexed(p, &v, at)) {
		nd_gather(p->l, &v, &x, &out);
		return NULL;
	}
	/* the one-hot matrix times the values */
	if (!hot_of(p, &x, v.dim[1], v.type, &hot))
		return too_many_values(p, v.dim[1]);
	return multiply_all(p, &hot, false, &v, &out);
}

/*
 * Where the one-hot matrix's sums along the indices are 1, the result is the
 * matrix, transposed, times the scattered elements; where they are 0, it is the old
 * values.  No index occurs twice (TOSA 1.0, SCATTER).
 */
static const char *
scatter_products(struct part *p, const struct nd *v, const struct nd *at,
		 const struct nd *x, const struct nd *out)
{
	const int64_t dim[3] = { v->dim[0], v->dim[1], 1 };
	const int64_t column[3] = { v->dim[0], at->dim[1], 1 };
	struct nd hot, hits = nd_new(p->l, v->type, 3, dim), put = nd_new_like(p->l, v, v->type);
	if (!hot_of(p, at, v->dim[1], v->type, &hot))
		return too_many_values(p, v->dim[1]);
	int32_t *c = anew(p->a, int32_t, (size_t)nd_elements(at));
	for (int64_t i = 0; i < nd_elements(at); i++)
		c[i] = 1;
	struct nd ones = nd_const(p->l, v->type, 3, column, c);
	struct nd one = nd_const_one(p->l, v->type, 3, 1);
	const char *why = multiply_all(p, &hot, true, x, &put) ?:
			  multiply_all(p, &hot, true, &ones, &hits);
	struct nd keep = nd_broadcast_op(p->l, OP_SUB, &one, &hits);
	struct nd kept = nd_broadcast_op(p->l, OP_MUL, &keep, v);
	nd_binary(p->l, OP_ADD, &put, 0, &kept, 0, out, &low_half_up);
	return why;
}

const char *
lower_scatter(struct part *p, const struct tosa_op *op)
{
	const struct tosa_tensor *at = tosa_in(p->t, op, 1);
	struct nd v = value_of(p, op->in[0]), x = value_of(p, op->in[2]);
	struct nd out = result_view(p, op->out[0]);
	if (at->data.p) {
		nd_copy(p->l, &v, &out);
		return copy_positions(p, &x, &out, at, false);
	}
	struct nd where = value_of(p, op->in[1]);
	if (!is_indexed(p, &v, at))
		return scatter_products(p, &v, &where, &x, &out);
	struct nd dest = nd_has_columns(&out) ? out : nd_new_like(p->l, &out, out.type);
	nd_copy(p->l, &v, &dest);
	nd_scatter(p->l, &x, &where, &dest);
	if (dest.t != out.t)
		nd_copy(p->l, &dest, &out);
	return NULL;
}
