/* SPDX-License-Identifier: Apache-2.0 */
/* One value written everywhere in a view, or around a part of it. */
#include "lower/nd.h"

/* n elements of something readable, in v's dimensions */
static struct nd
first_elements(const struct nd *any, const struct nd *v)
{
	struct nd r = *any;
	(void)nd_reshape(&r, (int64_t[]){ nd_elements(any) }, 1);
	r.dim[0] = nd_elements(v);
	return r;
}

/*
 * Writes value everywhere in v: elements of `any` (linear memory), clamped to
 * that one value; where v is larger than that, half by half.
 */
static void
fill(struct lower *l, const struct nd *any, const struct nd *v, int32_t value)
{
	int64_t n = nd_elements(v);
	if (n == 0)
		return;
	if (n > nd_elements(any)) {
		int k = 0;
		for (int i = 1; i < v->rank; i++)
			if (v->dim[i] > v->dim[k])
				k = i;
		struct nd lo = *v, hi = *v;
		nd_slice(&lo, k, 0, v->dim[k] / 2, 1);
		nd_slice(&hi, k, v->dim[k] / 2, v->dim[k] - v->dim[k] / 2, 1);
		fill(l, any, &lo, value);
		fill(l, any, &hi, value);
		return;
	}
	struct nd from = first_elements(any, v);
	size_t first = l->g->n_ops;
	nd_copy(l, &from, v);
	for (size_t k = first; k < l->g->n_ops; k++)
		op_clamp(l->g->ops[k], (struct g_range){ .lo = value, .hi = value });
}

struct nd
nd_readable(struct lower *l, const struct nd *in)
{
	struct nd v = *in;
	if (nd_is_dense(&v))
		return v;
	struct hwc shape = { .h = 1, .w = 1, .c = (int32_t)nd_elements(in) };
	v.t = low_tensor(l, in->type, shape, NULL);
	v.offset = 0;
	int64_t s = 1;
	for (int i = v.rank; i-- > 0; s *= v.dim[i])
		v.stride[i] = s;
	nd_copy(l, in, &v);
	return v;
}

/* outermost axis first: its sides are whole, the next ones' shorter */
void
nd_surround(struct lower *l, const struct nd *any, const struct nd *to,
	    const int64_t *before, const int64_t *n, int32_t value)
{
	struct nd rest = *to;
	for (int k = 0; k < to->rank; k++) {
		struct nd side = rest;
		int64_t end = before[k] + n[k];
		nd_slice(&side, k, 0, before[k], 1);
		fill(l, any, &side, value);
		side = rest;
		nd_slice(&side, k, end, to->dim[k] - end, 1);
		fill(l, any, &side, value);
		nd_slice(&rest, k, before[k], n[k], 1);
	}
}
