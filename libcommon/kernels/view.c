/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/view.h"

#include <string.h>

struct view
view_of(const struct tfl_tensor *t)
{
	struct view v = { .rank = t->rank };
	int64_t stride = 1;
	for (int d = t->rank - 1; d >= 0; d--) {
		v.dim[d] = t->dim[d];
		v.stride[d] = stride;
		stride *= t->dim[d];
	}
	return v;
}

int64_t
view_count(const struct view *v)
{
	int64_t n = 1;
	for (int d = 0; d < v->rank; d++)
		n *= v->dim[d];
	return n;
}

/* Advances to the next position in C order; returns false after the last. */
static bool
advance(const struct view *v, int64_t *at, int64_t *offset, int last)
{
	for (int d = last; d >= 0; d--) {
		*offset += v->stride[d];
		if (++at[d] < v->dim[d])
			return true;
		*offset -= v->stride[d] * v->dim[d];
		at[d] = 0;
	}
	return false;
}

/* Returns the number of contiguous elements along the last dimension. */
static int64_t
run_length(const struct view *v)
{
	return v->rank && v->stride[v->rank - 1] == 1 ? v->dim[v->rank - 1] : 1;
}

/*
 * Copies the elements of `from` to `to`, a view of out, in order.  Both have the same
 * count.
 */
static void
view_copy(void *out, struct view to, const void *in, struct view from,
	  size_t bytes)
{
	int64_t i[VIEW_RANK] = { 0 }, o[VIEW_RANK] = { 0 };
	int64_t run = run_length(&to), other = run_length(&from);
	if (view_count(&from) == 0 || !out) /* out is NULL in a check */
		return;
	if (run != other)
		run = 1;
	int last_to = to.rank - 1 - (run > 1),
	    last_from = from.rank - 1 - (run > 1);
	int64_t at_to = to.base, at_from = from.base;
	bool more;
	do {
		memmove((uint8_t *)out + at_to * (int64_t)bytes,
			(const uint8_t *)in + at_from * (int64_t)bytes,
			(size_t)run * bytes);
		more = advance(&from, i, &at_from, last_from);
		more = advance(&to, o, &at_to, last_to) && more;
	} while (more);
}

static struct view
dense_like(const struct view *v)
{
	struct view d = *v;
	int64_t stride = 1;
	d.base = 0;
	for (int k = v->rank - 1; k >= 0; k--) {
		d.stride[k] = stride;
		stride *= v->dim[k];
	}
	return d;
}

void
view_gather(void *out, const void *in, struct view from, size_t bytes)
{
	view_copy(out, dense_like(&from), in, from, bytes);
}

void
view_scatter(void *out, struct view to, const void *in, size_t bytes)
{
	view_copy(out, to, in, dense_like(&to), bytes);
}

size_t
element_size(const struct tfl_tensor *t)
{
	return (size_t)tfl_type_bytes(t->type);
}

bool
call_movable(struct call *c, const struct tfl_tensor *in,
	     const struct tfl_tensor *out)
{
	return call_type(c, in, "input", T_ANY) &&
	       (in->type == out->type ||
		call_mismatch(c, "types of %s and %s differ: %s, %s", in->name,
			      out->name, tfl_type_name(in->type),
			      tfl_type_name(out->type)));
}
