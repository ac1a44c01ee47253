/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESIZE, rows first, then columns.  NEAREST copies.  BILINEAR adds both neighbours
 * times their weights, which are integers, and so are the sums.  Small sums are
 * made by depthwise convolutions, which apply a RESCALE behind them, too; others
 * are made in 32 bits.
 */
#include "part.h"

#include "lower/blend.h"
#include "lower/runs.h"
#include "lower/sample.h"

enum { MAX_EXTENT = 65536, MAX_RUNS = 2048 };

/* for NEAREST, `lower` is the nearest element */
static struct low_blend
sides_of(struct part *p, const struct tosa_resize *r, int axis, int64_t in, int64_t n)
{
	struct low_blend s = low_blend_new(p->a, n, r->num[axis]);
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

/* a grid of the resize unit along an axis; false: the registers cannot hold it */
static bool
grid_of(const struct tosa_resize *r, int axis, int64_t in, struct low_grid *g)
{
	enum { MAX_UP = 2048, MAX_STEPS = 16 };
	int64_t n = r->num[axis], first = r->offset[axis];
	*g = (struct low_grid){ .up = n, .down = r->den[axis], .first = first };
	if (!r->bilinear) /* the unit's own rule for the nearest element is TOSA's */
		return low_grid_normalize(g, in);
	/* the grid is not reduced, as it sets the weights */
	g->skip = first >= n ? first / n : 0;
	g->first -= g->skip * n;
	return n <= MAX_UP && r->den[axis] < MAX_STEPS * n && first >= -n && g->skip < in;
}

/* by the resize unit: nearest elements, or plain sums of 8 bits */
static bool
by_unit(struct part *p, const struct tosa_resize *r, const struct nd *v, const struct nd *out)
{
	struct low_grid y, x;
	if (!low_can_sample(p->l, v->type, v->dim[0]) ||
	    (r->bilinear && (v->type != TFL_INT8 || out->type != TFL_INT32)) ||
	    !grid_of(r, 0, v->dim[1], &y) || !grid_of(r, 1, v->dim[2], &x))
		return false;
	struct nd dest = writable_fm(p, out);
	low_sample(p->l, r->bilinear, &y, &x, v, &dest);
	nd_deliver(p->l, &dest, out);
	return true;
}

/* for small weights; a RESCALE that alone reads the sums becomes part of the convolutions */
static bool
by_phases(struct part *p, const struct tosa_op *op, const struct low_blend *y,
	  const struct low_blend *x)
{
	struct nd v = value_of(p, op->in[0]);
	const struct tosa_tensor *o = tosa_out(p->t, op);
	struct nd shape = nd_dense(TFL_INT8, o->rank, o->dim);
	struct tosa_rescale r;
	bool narrow = narrowing_rescale(p, op->out[0], &r) &&
		      !rounds_twice(&r, tosa_value(r.shift, 0));
	struct low_phasing how = { .type = v.type, .images = v.dim[0], .times = 1,
				   .scale = { .mult = 1 }, .round = ROUND_NATURAL };
	if (narrow)
		how.scale = (struct npu_scale){ .mult = (uint32_t)tosa_value(r.mult, 0),
						.shift = (int)tosa_value(r.shift, 0) };
	struct low_phases *f = low_phases_find(p->l, &how, y, x);
	/* writing words is slow, and the resize unit yields them unscaled */
	if (!f || (!narrow && low_can_sample(p->l, v.type, v.dim[0])) ||
	    low_sampling_pays(p->l, &shape, low_phases_count(f)))
		return false;
	struct tail t = tail_of(p, op->out[0], narrow ? TAIL_SCALE : 0);
	struct nd out = result_view(p, t.out), dest = writable_fm(p, &out);
	struct nd in = readable_fm(p, &v);
	struct low_end end = tail_end(p, &t);
	low_phases(p->l, f, &in, &dest, &end);
	nd_deliver(p->l, &dest, &out);
	return true;
}

/* blends both axes in words */
static int
by_words(struct part *p, const struct nd *v, const struct low_blend *y,
	 const struct low_blend *x, const struct nd *out)
{
	int copies = 0, type = v->type == TFL_INT32 ? TFL_INT32 : TFL_INT16;
	struct nd wide = *v;
	if (type != v->type)
		wide = nd_widen(p->l, v, 0, type);
	struct nd rows = low_blend_axis(p->l, &wide, 1, y, &copies);
	struct nd sums = low_blend_axis(p->l, &rows, 2, x, &copies);
	nd_copy(p->l, &sums, out);
	return copies;
}

const char *
lower_resize(struct part *p, const struct tosa_op *op)
{
	struct tosa_resize r = tosa_resize_of(p->t, op);
	const struct tosa_tensor *o = tosa_out(p->t, op);
	struct nd v = value_of(p, op->in[0]);
	if (o->dim[1] > MAX_EXTENT || o->dim[2] > MAX_EXTENT)
		return "more than 65536 rows or columns";
	if (v.type == TFL_INT16 && r.bilinear && r.num[0] * r.num[1] >= 1 << 16)
		return "sums of more than 32 bits";
	struct low_blend y = sides_of(p, &r, 0, v.dim[1], o->dim[1]);
	struct low_blend x = sides_of(p, &r, 1, v.dim[2], o->dim[2]);
	if (r.bilinear && by_phases(p, op, &y, &x))
		return NULL;
	struct nd out = result_view(p, op->out[0]);
	if (by_unit(p, &r, &v, &out))
		return NULL;
	int copies = r.bilinear ? by_words(p, &v, &y, &x, &out)
				: low_copy_pixels(p->l, &v, &out, y.lower, x.lower);
	return copies <= MAX_RUNS ? NULL : "more than 2048 copies";
}
