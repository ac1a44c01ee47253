/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESIZE, rows first, then columns.  NEAREST copies; BILINEAR gathers both
 * neighbours and adds them by their weights, in 32 bits.
 */
#include "part.h"

struct sides { /* of every result of an axis: its neighbours and the second's weight */
	int64_t *lower, *upper, *line;
	int32_t *near, *far;
};

static struct sides
sides_of(struct part *p, const struct tosa_resize *r, int axis, int64_t in, int64_t n)
{
	size_t k = (size_t)n;
	struct sides s = { anew(p->a, int64_t, k), anew(p->a, int64_t, k),
			   anew(p->a, int64_t, k), anew(p->a, int32_t, k),
			   anew(p->a, int32_t, k) };
	for (int64_t o = 0; o < n; o++) {
		int64_t rest, at = tosa_resize_at(r, axis, o, &rest);
		int64_t lo = at < 0 ? 0 : at > in - 1 ? in - 1 : at;
		int64_t hi = at + 1 < 0 ? 0 : at + 1 > in - 1 ? in - 1 : at + 1;
		s.line[o] = o;
		s.lower[o] = r->bilinear || 2 * rest < r->num[axis] ? lo : hi;
		s.upper[o] = hi;
		s.near[o] = (int32_t)(r->num[axis] - rest);
		s.far[o] = (int32_t)rest;
	}
	return s;
}

/* v with the elements of an axis that are named */
static const char *
gathered(struct part *p, const struct nd *v, int axis, const struct sides *s,
	 const int64_t *which, int64_t n, struct nd *out)
{
	struct nd shape = *v;
	shape.dim[axis] = n;
	*out = like(p, &shape, v->type);
	return copy_axis(p, v, out, axis, which, s->line, n);
}

static struct nd
weights(struct part *p, int axis, const int32_t *w, int64_t n)
{
	int64_t dim[4] = { 1, 1, 1, 1 };
	dim[axis] = n;
	return nd_const(p->l, TFL_INT32, 4, dim, w);
}

/* both neighbours by their weights */
static const char *
blend(struct part *p, struct nd *v, int axis, const struct sides *s, int64_t n)
{
	struct nd lo, hi;
	const char *why = gathered(p, v, axis, s, s->lower, n, &lo);
	if (!why)
		why = gathered(p, v, axis, s, s->upper, n, &hi);
	if (why)
		return why;
	struct nd near = weights(p, axis, s->near, n), far = weights(p, axis, s->far, n);
	struct nd x = both(p, OP_MUL, &lo, &near), y = both(p, OP_MUL, &hi, &far);
	*v = both(p, OP_ADD, &x, &y);
	return NULL;
}

const char *
lower_resize(struct part *p, const struct tosa_op *op)
{
	struct tosa_resize r = tosa_resize_of(p->t, op);
	struct nd v = value_of(p, op->in[0]), out = result_place(p, op->out[0]);
	const char *why;
	if (out.dim[1] > 65536 || out.dim[2] > 65536)
		return "more than 65536 rows or columns";
	if (v.type == TFL_INT16 && r.bilinear && r.num[0] * r.num[1] >= 1 << 16)
		return "sums of more than 32 bits";
	struct sides y = sides_of(p, &r, 0, v.dim[1], out.dim[1]);
	struct sides x = sides_of(p, &r, 1, v.dim[2], out.dim[2]);
	if (!r.bilinear) {
		struct nd rows;
		why = gathered(p, &v, 1, &y, y.lower, out.dim[1], &rows);
		return why ? why
			   : copy_axis(p, &rows, &out, 2, x.lower, x.line, out.dim[2]);
	}
	v = widen(p, &v, 0);
	why = blend(p, &v, 1, &y, out.dim[1]);
	if (!why)
		why = blend(p, &v, 2, &x, out.dim[2]);
	if (!why)
		nd_copy(p->l, &v, &out);
	return why;
}
