/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESIZE, rows first, then columns.  NEAREST copies; BILINEAR gathers both
 * neighbours and adds them by their weights, in 32 bits.
 */
#include "part.h"

#include "lower/runs.h"
#include "lower/sample.h"

enum { MAX_EXTENT = 65536, MAX_RUNS = 2048 };

struct sides { /* of every result of an axis: its neighbours and their weights */
	int32_t *lower, *upper, *near, *far;
};

static struct sides
sides_of(struct part *p, const struct tosa_resize *r, int axis, int64_t in, int64_t n)
{
	size_t k = (size_t)n;
	struct sides s = { 0 };
	s.lower = anew(p->a, int32_t, k);
	s.upper = anew(p->a, int32_t, k);
	s.near = anew(p->a, int32_t, k);
	s.far = anew(p->a, int32_t, k);
	for (int64_t o = 0; o < n; o++) {
		int64_t rest, at = tosa_resize_at(r, axis, o, &rest);
		int64_t lo = at < 0 ? 0 : at > in - 1 ? in - 1 : at;
		int64_t hi = at + 1 < 0 ? 0 : at + 1 > in - 1 ? in - 1 : at + 1;
		s.lower[o] = (int32_t)(r->bilinear || 2 * rest < r->num[axis] ? lo : hi);
		s.upper[o] = (int32_t)hi;
		s.near[o] = (int32_t)(r->num[axis] - rest);
		s.far[o] = (int32_t)rest;
	}
	return s;
}

/* out: v with the elements of an axis that a map names; by how many copies */
static int
gather(struct part *p, const struct nd *v, int axis, const int32_t *map, int64_t n,
       struct nd *out)
{
	int64_t dim[4];
	memcpy(dim, v->dim, sizeof(dim));
	dim[axis] = n;
	*out = nd_new(p->l, v->type, 4, dim);
	return low_copy_axis(p->l, v, out, axis, map);
}

static struct nd
weights(struct part *p, int axis, const int32_t *w, int64_t n)
{
	int64_t dim[4] = { 1, 1, 1, 1 };
	dim[axis] = n;
	return nd_const(p->l, TFL_INT32, 4, dim, w);
}

/* both neighbours by their weights; by how many copies */
static int
blend(struct part *p, struct nd *v, int axis, const struct sides *s, int64_t n)
{
	struct nd lo, hi;
	int copies = gather(p, v, axis, s->lower, n, &lo);
	copies += gather(p, v, axis, s->upper, n, &hi);
	struct nd near = weights(p, axis, s->near, n), far = weights(p, axis, s->far, n);
	struct nd x = nd_both(p->l, OP_MUL, &lo, &near), y = nd_both(p->l, OP_MUL, &hi, &far);
	*v = nd_both(p->l, OP_ADD, &x, &y);
	return copies;
}

/* the unit's own rule for the nearest is TOSA's */
static bool
sample_nearest(struct part *p, const struct tosa_resize *r, const struct nd *v,
	       const struct nd *out)
{
	struct low_grid g[2];
	struct nd room;
	if (r->bilinear || !low_can_sample(p->l, v->type, v->dim[0]))
		return false;
	for (int i = 0; i < 2; i++) {
		g[i] = (struct low_grid){ .up = r->num[i], .down = r->den[i],
					  .first = r->offset[i] };
		if (!low_grid_settle(&g[i], v->dim[1 + i]))
			return false;
	}
	room = room_map(p, out);
	low_sample(p->l, false, &g[0], &g[1], v, &room);
	deliver_map(p, &room, out);
	return true;
}

/* the unit's sums of 8 bits, as they are: on the grid as it stands, as its weights count */
static bool
sample_bilinear(struct part *p, const struct tosa_resize *r, const struct nd *v,
		const struct nd *out)
{
	enum { MAX_UP = 2048, MAX_STEPS = 16 };
	struct low_grid g[2];
	if (!low_can_sample(p->l, v->type, v->dim[0]) || v->type != TFL_INT8 ||
	    out->type != TFL_INT32)
		return false;
	for (int i = 0; i < 2; i++) {
		int64_t n = r->num[i], first = r->offset[i];
		int64_t skip = first >= n ? first / n : 0;
		g[i] = (struct low_grid){ .up = n, .down = r->den[i],
					  .first = first - skip * n, .skip = skip };
		if (n > MAX_UP || r->den[i] >= MAX_STEPS * n || first < -n ||
		    skip >= v->dim[1 + i])
			return false;
	}
	struct nd room = room_map(p, out);
	low_sample(p->l, true, &g[0], &g[1], v, &room);
	deliver_map(p, &room, out);
	return true;
}

const char *
lower_resize(struct part *p, const struct tosa_op *op)
{
	struct tosa_resize r = tosa_resize_of(p->t, op);
	struct nd v = value_of(p, op->in[0]), out = result_place(p, op->out[0]);
	if (out.dim[1] > MAX_EXTENT || out.dim[2] > MAX_EXTENT)
		return "more than 65536 rows or columns";
	if (v.type == TFL_INT16 && r.bilinear && r.num[0] * r.num[1] >= 1 << 16)
		return "sums of more than 32 bits";
	if (r.bilinear ? sample_bilinear(p, &r, &v, &out) : sample_nearest(p, &r, &v, &out))
		return NULL;
	struct sides y = sides_of(p, &r, 0, v.dim[1], out.dim[1]);
	struct sides x = sides_of(p, &r, 1, v.dim[2], out.dim[2]);
	int copies;
	if (!r.bilinear) {
		copies = low_copy_pixels(p->l, &v, &out, y.lower, x.lower);
	} else {
		v = nd_widen(p->l, &v, 0, TFL_INT32);
		copies = blend(p, &v, 1, &y, out.dim[1]);
		copies += blend(p, &v, 2, &x, out.dim[2]);
		nd_copy(p->l, &v, &out);
	}
	return copies <= MAX_RUNS ? NULL : "more than 2048 copies";
}
