/* SPDX-License-Identifier: Apache-2.0 */
#include "lower/blend.h"

#include "lower/runs.h"

struct low_blend
low_blend_new(struct arena *a, int64_t n, int64_t sum)
{
	struct low_blend b = { .n = (int32_t)n, .sum = (int32_t)sum };
	b.lower = anew(a, int32_t, (size_t)n);
	b.upper = anew(a, int32_t, (size_t)n);
	b.near = anew(a, int32_t, (size_t)n);
	b.far = anew(a, int32_t, (size_t)n);
	return b;
}

bool
low_blend_takes_one(const struct low_blend *b)
{
	for (int32_t o = 0; o < b->n; o++)
		if (b->far[o] && b->lower[o] != b->upper[o])
			return false;
	return true;
}

/* Returns one of the two adjacent inputs of each output, times its weight. */
static struct nd
side_of(struct lower *l, const struct nd *v, int axis, const int32_t *map,
	const int32_t *weight, int64_t n, int *copies)
{
	int64_t dim[4] = { 1, 1, 1, 1 };
	struct nd like = *v;
	like.dim[axis] = n;
	struct nd at = nd_new_like(l, &like, v->type);
	struct nd product = nd_new_like(l, &at, TFL_INT32);
	*copies += low_copy_axis(l, v, &at, axis, map);
	dim[axis] = n;
	struct nd w = nd_const(l, v->type, 4, dim, weight);
	nd_binary(l, OP_MUL, &at, 0, &w, 0, &product, &low_half_up);
	return product;
}

struct nd
low_blend_axis(struct lower *l, const struct nd *v, int axis, const struct low_blend *b,
	       int *copies)
{
	struct nd lower = side_of(l, v, axis, b->lower, b->near, b->n, copies);
	struct nd upper = side_of(l, v, axis, b->upper, b->far, b->n, copies);
	return nd_broadcast_op(l, OP_ADD, &lower, &upper);
}
