/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that move elements, and RESIZE. */
#include "tosa/check.h"

enum { T_MOVED = T_ALL, MAX_SCALE = 256, MAX_RESIZE = 16384 };

/* Checks that operand k is a shape of n numbers. */
static bool
check_numbers(const struct check *c, int k, int n)
{
	const struct tosa_tensor *t = tosa_in(c->g, c->op, k);
	return (t->type == TOSA_SHAPE && t->dim[0] == n) ||
	       check_bad(c, "input %d is %s of %lld numbers, a shape of %d is needed", k,
			 tosa_type_name(t->type), (long long)tosa_elements(t), n);
}

/* Input and result have the same type, any that can be moved. */
static bool
check_moved(const struct check *c)
{
	return check_in(c, 0, T_MOVED) &&
	       check_out(c, tosa_in(c->g, c->op, 0)->type);
}

bool
check_concat(const struct check *c)
{
	const struct tosa_tensor *x = tosa_in(c->g, c->op, 0);
	int64_t dim[TOSA_MAX_RANK], axis = tosa_axis_of(c->op);
	if (!check_moved(c) || !check_axis(c))
		return false;
	for (int i = 0; i < x->rank; i++)
		dim[i] = i == axis ? 0 : x->dim[i];
	for (int k = 0; k < c->op->n_in; k++) {
		const struct tosa_tensor *t = tosa_in(c->g, c->op, k);
		if (t->type != x->type || t->rank != x->rank)
			return check_bad(c, "inputs 0 and %d differ in type or rank", k);
		for (int i = 0; i < x->rank; i++)
			if (i != axis && t->dim[i] != x->dim[i])
				return check_bad(c, "dimension %d of input %d is %d, of "
						 "input 0 %d", i, k, t->dim[i],
						 x->dim[i]);
		dim[axis] += t->dim[axis];
	}
	return check_shape(c, x->rank, dim);
}

bool
check_pad(const struct check *c)
{
	const struct tosa_tensor *x = tosa_in(c->g, c->op, 0), *v = tosa_in(c->g, c->op, 2);
	int64_t dim[TOSA_MAX_RANK];
	if (!check_moved(c) || !check_numbers(c, 1, 2 * x->rank))
		return false;
	if (v->type != x->type || tosa_elements(v) != 1)
		return check_bad(c, "the value is not one element of type %s",
				 tosa_type_name(x->type));
	for (int i = 0; i < x->rank; i++) {
		int64_t before = tosa_value(tosa_in(c->g, c->op, 1), 2 * i);
		int64_t after = tosa_value(tosa_in(c->g, c->op, 1), 2 * i + 1);
		if (before < 0 || after < 0 || before > INT32_MAX || after > INT32_MAX)
			return check_bad(c, "padding %lld, %lld of dimension %d",
					 (long long)before, (long long)after, i);
		dim[i] = before + x->dim[i] + after;
	}
	return check_shape(c, x->rank, dim);
}

bool
check_reshape(const struct check *c)
{
	const struct tosa_tensor *x = tosa_in(c->g, c->op, 0), *o = tosa_out(c->g, c->op);
	int64_t dim[TOSA_MAX_RANK];
	if (!check_moved(c) || !check_numbers(c, 1, o->rank))
		return false;
	for (int i = 0; i < o->rank; i++)
		dim[i] = tosa_value(tosa_in(c->g, c->op, 1), i);
	if (!check_shape(c, o->rank, dim))
		return false;
	return tosa_elements(x) == tosa_elements(o) ||
	       check_bad(c, "%lld elements become %lld", (long long)tosa_elements(x),
			 (long long)tosa_elements(o));
}

bool
check_slice(const struct check *c)
{
	const struct tosa_tensor *x = tosa_in(c->g, c->op, 0);
	int64_t dim[TOSA_MAX_RANK];
	if (!check_moved(c) || !check_numbers(c, 1, x->rank) ||
	    !check_numbers(c, 2, x->rank))
		return false;
	for (int i = 0; i < x->rank; i++) {
		int64_t start = tosa_value(tosa_in(c->g, c->op, 1), i);
		dim[i] = tosa_value(tosa_in(c->g, c->op, 2), i);
		if (start < 0 || dim[i] < 1 || start >= x->dim[i] ||
		    dim[i] > x->dim[i] - start)
			return check_bad(c, "%lld elements from %lld on of dimension %d, "
					 "which has %d", (long long)dim[i],
					 (long long)start, i, x->dim[i]);
	}
	return check_shape(c, x->rank, dim);
}

bool
check_tile(const struct check *c)
{
	const struct tosa_tensor *x = tosa_in(c->g, c->op, 0);
	int64_t dim[TOSA_MAX_RANK];
	if (!check_moved(c) || !check_numbers(c, 1, x->rank))
		return false;
	for (int i = 0; i < x->rank; i++) {
		int64_t n = tosa_value(tosa_in(c->g, c->op, 1), i);
		if (n < 1 || n > INT32_MAX)
			return check_bad(c, "dimension %d is repeated %lld times", i,
					 (long long)n);
		dim[i] = n * x->dim[i];
	}
	return check_shape(c, x->rank, dim);
}

bool
check_transpose(const struct check *c)
{
	const struct tosa_tensor *x = tosa_in(c->g, c->op, 0);
	int64_t dim[TOSA_MAX_RANK];
	unsigned seen = 0;
	if (!check_moved(c) || !check_list(c, FB_TosaPerms_perms, (uint32_t)x->rank))
		return false;
	for (int i = 0; i < x->rank; i++) {
		int32_t k = tosa_perm_of(c->op, i);
		if (k < 0 || k >= x->rank || seen >> k & 1)
			return check_bad(c, "axis %d of %d dimensions is out of range or "
					 "named twice", k, x->rank);
		seen |= 1u << k;
		dim[i] = x->dim[k];
	}
	return check_shape(c, x->rank, dim);
}

bool
check_gather(const struct check *c)
{
	const struct tosa_tensor *v = tosa_in(c->g, c->op, 0), *i = tosa_in(c->g, c->op, 1);
	if (!check_moved(c) || !check_in(c, 1, T(INT32)) || !check_rank(c, v, 3) ||
	    !check_rank(c, i, 2))
		return false;
	if (v->dim[0] != i->dim[0])
		return check_bad(c, "indices of %d batches, values of %d", i->dim[0],
				 v->dim[0]);
	for (int64_t k = 0; i->data.p && k < tosa_elements(i); k++)
		if (tosa_value(i, k) < 0 || tosa_value(i, k) >= v->dim[1])
			return check_bad(c, "index %lld of %d values",
					 (long long)tosa_value(i, k), v->dim[1]);
	int64_t dim[3] = { v->dim[0], i->dim[1], v->dim[2] };
	return check_shape(c, 3, dim);
}

/* Constant indices must be in range, and different within a batch. */
static bool
check_indices(const struct check *c, const struct tosa_tensor *at, int32_t n)
{
	struct arena *a = arena_open();
	int64_t *seen = anew(a, int64_t, (size_t)n); /* 1 + last batch with this index */
	bool ok = true;
	for (int64_t k = 0; ok && at->data.p && k < tosa_elements(at); k++) {
		int64_t v = tosa_value(at, k), batch = k / at->dim[1];
		if (v < 0 || v >= n)
			ok = check_bad(c, "index %lld of %d values", (long long)v, n);
		else if (seen[v] == 1 + batch)
			ok = check_bad(c, "index %lld twice in a batch", (long long)v);
		else
			seen[v] = 1 + batch;
	}
	arena_close(a);
	return ok;
}

bool
check_scatter(const struct check *c)
{
	const struct tosa_tensor *v = tosa_in(c->g, c->op, 0), *i = tosa_in(c->g, c->op, 1),
				 *x = tosa_in(c->g, c->op, 2);
	if (!check_moved(c) || !check_in(c, 1, T(INT32)) || !check_rank(c, v, 3) ||
	    !check_rank(c, i, 2) || !check_rank(c, x, 3))
		return false;
	if (x->type != v->type || v->dim[0] != i->dim[0] || x->dim[0] != i->dim[0] ||
	    x->dim[1] != i->dim[1] || x->dim[2] != v->dim[2] || i->dim[1] > v->dim[1])
		return check_bad(c, "values, indices and input do not match");
	return check_indices(c, i, v->dim[1]) && check_like(c, v);
}

bool
check_resize(const struct check *c)
{
	const struct tosa_tensor *x = tosa_in(c->g, c->op, 0);
	int64_t mode = fb_int(c->op->attribute, FB_TosaResize_mode);
	if (!check_in(c, 0, T_FEATURE_MAPS) || !check_rank(c, x, 4) || !check_numbers(c, 1, 4) ||
	    !check_numbers(c, 2, 2) || !check_numbers(c, 3, 2))
		return false;
	if (mode != 1 && mode != 2)
		return check_bad(c, "mode %lld is not defined", (long long)mode);
	if (!check_out(c, mode == 1		      ? x->type
			  : x->type == TOSA_INT8 ? TOSA_INT32
						 : TOSA_INT48))
		return false;
	struct tosa_resize r = tosa_resize_of(c->g, c->op);
	int64_t out[4] = { x->dim[0], 0, 0, x->dim[3] };
	for (int i = 0; i < 2; i++) {
		int64_t n = r.num[i], d = r.den[i], in = x->dim[1 + i];
		if (n < 1 || d < 1 || n > MAX_SCALE * d || n > 1 << 11 ||
		    d >= 16 * n || in > MAX_RESIZE)
			return check_bad(c, "a scale of %lld/%lld", (long long)n,
					 (long long)d);
		if (r.offset[i] < -n || r.offset[i] >= 16 * n || r.border[i] < -16 * n ||
		    r.border[i] >= n)
			return check_bad(c, "offset %lld and border %lld of a scale of "
					 "%lld/%lld", (long long)r.offset[i],
					 (long long)r.border[i], (long long)n,
					 (long long)d);
		int64_t extent = (in - 1) * n - r.offset[i] + r.border[i];
		if (extent < 0 || extent % d)
			return check_bad(c, "(%lld - 1) * %lld - %lld + %lld is no "
					 "multiple of %lld", (long long)in, (long long)n,
					 (long long)r.offset[i], (long long)r.border[i],
					 (long long)d);
		out[1 + i] = extent / d + 1;
	}
	return check_shape(c, 4, out);
}
