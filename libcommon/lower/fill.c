/* SPDX-License-Identifier: Apache-2.0 */
/* Writes one value to all elements of a view, or around a part of it. */
#include "lower/nd.h"

#include "base/fixed.h"

/*
 * Writes value to all elements of v.  The operations read elements of `any` (linear
 * memory) and clamp them to value.  If v has more elements than `any`, each half is
 * filled separately.
 */
static void
fill_view(struct lower *l, const struct nd *any, const struct nd *v, int32_t value)
{
	int64_t n = nd_elements(v);
	if (n == 0)
		return;
	if (n > nd_elements(any)) {
		int k = 0;
		for (int i = 1; i < v->rank; i++)
			if (v->dim[i] > v->dim[k])
				k = i;
		int64_t half = v->dim[k] / 2;
		struct nd lo = nd_part(v, k, 0, half), hi = nd_part(v, k, half, v->dim[k] - half);
		fill_view(l, any, &lo, value);
		fill_view(l, any, &hi, value);
		return;
	}
	struct nd from = *any; /* its first elements */
	(void)nd_reshape(&from, (int64_t[]){ nd_elements(any) }, 1);
	from.dim[0] = n;
	size_t first = l->g->n_ops;
	nd_copy(l, &from, v);
	for (size_t k = first; k < l->g->n_ops; k++)
		op_clamp(l->g->ops[k], (struct g_range){ .lo = value, .hi = value });
}

struct nd
nd_readable(struct lower *l, const struct nd *in)
{
	if (nd_is_dense(in))
		return *in;
	struct nd v = nd_linear(in);
	struct hwc shape = { .h = 1, .w = 1, .c = (int32_t)nd_elements(in) };
	v.t = low_tensor(l, in->type, shape, NULL);
	nd_copy(l, in, &v);
	return v;
}

/*
 * Fills the sides axis by axis, outermost first; the sides of inner axes exclude the
 * parts already filled.
 */
void
nd_fill_border(struct lower *l, const struct nd *any, const struct nd *to,
	    const int64_t *before, const int64_t *n, int32_t value)
{
	struct nd rest = *to;
	for (int k = 0; k < to->rank; k++) {
		int64_t end = before[k] + n[k];
		struct nd first = nd_part(&rest, k, 0, before[k]);
		struct nd last = nd_part(&rest, k, end, to->dim[k] - end);
		fill_view(l, any, &first, value);
		fill_view(l, any, &last, value);
		nd_slice(&rest, k, before[k], n[k], 1);
	}
}

/*
 * Returns true if any element can be clamped to value; elements of 32 bits are copied
 * as two halves of 16.
 */
static bool
clamps_to(const struct nd *v, int32_t value)
{
	return v->type != TFL_INT32 || value == 0 || value == -1;
}

/*
 * Returns n elements with this value: clamped elements of v, or a constant, which is
 * read from flash.
 */
static struct nd
line_of(struct lower *l, const struct nd *v, int64_t n, int32_t value)
{
	struct nd line = nd_new(l, v->type, 1, &n);
	if (clamps_to(v, value) && nd_elements(v) >= n) {
		struct nd any = nd_readable(l, v);
		fill_view(l, &any, &line, value);
		return line;
	}
	int32_t *c = anew(l->a, int32_t, (size_t)n);
	for (int64_t i = 0; i < n; i++)
		c[i] = value;
	struct nd from = nd_const_channels(l, v->type, 1, (int32_t)n, c);
	nd_copy(l, &from, &line);
	return line;
}

/* Copies a line, of the extent of v's last axis, to every line of v. */
static void
fill_lines(struct lower *l, const struct nd *line, const struct nd *v)
{
	struct nd from = *v;
	if (nd_elements(v) == 0)
		return;
	from.t = line->t;
	from.offset = 0;
	for (int i = 0; i < v->rank; i++)
		from.stride[i] = i == v->rank - 1;
	nd_copy(l, &from, v);
}

/* Returns true if a side of the border has more elements than the middle. */
static bool
outgrows(const struct nd *v, const int64_t *before, const struct nd *out)
{
	struct nd rest = *out;
	for (int k = 0; k < v->rank; k++) {
		int64_t line = nd_elements(&rest) / rest.dim[k];
		int64_t after = rest.dim[k] - before[k] - v->dim[k];
		if (max_i64(before[k], after) * line > nd_elements(v))
			return true;
		rest.dim[k] = v->dim[k];
	}
	return false;
}

struct nd
nd_middle(const struct nd *out, const struct nd *v, const int64_t *before)
{
	struct nd middle = *out;
	for (int k = 0; k < v->rank; k++)
		nd_slice(&middle, k, before[k], v->dim[k], 1);
	return middle;
}

/*
 * A PAD of channels stays a copy: where elementwise operations read the result, the rule `pieces`
 * lets them read the input and the padding apart, and leaves the copy out.  For
 * blazeface_front_128 on ethos-u55-128 this takes 2 % fewer cycles than to write in place.
 */
bool
nd_pads_around(const struct nd *v, const int64_t *before, int32_t value, const struct nd *out)
{
	for (int k = 0; k < v->rank; k++)
		if (max_i64(before[k], out->dim[k] - before[k] - v->dim[k]) > v->dim[k])
			return false;
	return v->rank && v->dim[v->rank - 1] == out->dim[v->rank - 1] && clamps_to(v, value);
}

/* Fills n elements of axis k of out, from `at` on, with a value.  The operations read as many
 * from `from` on, which are finished, and clamp them. */
static void
fill_side(struct lower *l, const struct nd *out, int k, int64_t from, int64_t at, int64_t n,
	  int32_t value)
{
	const struct nd any = nd_part(out, k, from, n), side = nd_part(out, k, at, n);
	const size_t first = l->g->n_ops;
	if (n)
		nd_copy(l, &any, &side);
	for (size_t i = first; i < l->g->n_ops; i++)
		op_clamp(l->g->ops[i], (struct g_range){ .lo = value, .hi = value });
}

void
nd_pad(struct lower *l, const struct nd *v, const int64_t *before, int32_t value,
       const struct nd *out)
{
	struct nd rest = nd_middle(out, v, before);
	if (nd_is_same(v, &rest)) {
		/*
		 * The middle is written.  Fill the sides axis by axis, innermost first; those of
		 * outer axes include the parts that are filled.
		 */
		for (int k = out->rank; k-- > 0;) {
			struct nd now = *out; /* inner axes whole, outer ones without their sides */
			for (int i = 0; i < k; i++)
				nd_slice(&now, i, before[i], v->dim[i], 1);
			const int64_t end = before[k] + v->dim[k], after = out->dim[k] - end;
			fill_side(l, &now, k, before[k], 0, before[k], value);
			fill_side(l, &now, k, end - after, end, after, value);
		}
		return;
	}
	/*
	 * one operation per side, which reads as many elements of the middle as it
	 * writes
	 */
	if (clamps_to(v, value) && !outgrows(v, before, out)) {
		struct nd any = nd_readable(l, v);
		nd_copy(l, v, &rest);
		nd_fill_border(l, &any, out, before, v->dim, value);
		return;
	}
	struct nd line = line_of(l, v, v->rank ? out->dim[v->rank - 1] : 1, value);
	rest = *out;
	for (int k = 0; k < v->rank; k++) {
		int64_t end = before[k] + v->dim[k];
		struct nd first = nd_part(&rest, k, 0, before[k]);
		struct nd last = nd_part(&rest, k, end, rest.dim[k] - end);
		fill_lines(l, &line, &first);
		fill_lines(l, &line, &last);
		nd_slice(&rest, k, before[k], v->dim[k], 1);
	}
	nd_copy(l, v, &rest);
}
