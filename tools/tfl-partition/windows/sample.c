/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESIZE with the NPU's resize unit: lower/sample.h.  The reference's own fractions
 * are 1/1024, so the bilinear grid is the reference's arithmetic in lowest terms.
 * The nearest grid is the ratio of the sizes; each output's element is compared
 * with the reference's.
 */
#include "resize.h"

#include "lower/sample.h"

static bool
bilinear_grid(const struct resize *r, int64_t in, int64_t out, struct low_grid *g)
{
	int64_t step = resize_step(r, in, out);
	*g = (struct low_grid){ .up = FRACTION, .down = step,
			    .first = resize_first(r, step) };
	return low_grid_normalize(g, in);
}

/* in halves of the ratio: the unit takes the next element from the middle on */
static bool
nearest_grid(const struct resize *r, const int32_t *map, int64_t in, int64_t out,
	     struct low_grid *g)
{
	*g = (struct low_grid){ .up = 2 * out, .down = 2 * in,
			    .first = (r->half_pixel ? in : 0) - out };
	if (r->align_corners && out > 1)
		*g = (struct low_grid){ .up = out - 1, .down = in - 1 };
	if (!low_grid_normalize(g, in))
		return false;
	for (int64_t o = 0; o < out; o++)
		if (low_grid_nearest(g, in, o) != map[o])
			return false;
	return true;
}

struct sampling {
	struct low_grid y, x;
	bool bilinear;
};

static bool
can_sample(const struct part *p, const struct resize *r)
{
	return low_can_sample(p->l, r->ifm->type, r->ifm->dim[0]);
}

static void
sample_all(struct part *p, const struct tfl_op *op, const struct sampling *s)
{
	struct nd in = nd_ifm(p, op->in[0]), out = nd_ofm(p, op->out[0]);
	low_sample(p->l, s->bilinear, &s->y, &s->x, &in, &out);
}

static bool
find_bilinear(const struct part *p, const struct resize *r, struct sampling *s)
{
	s->bilinear = true;
	return can_sample(p, r) &&
	       bilinear_grid(r, r->ifm->dim[1], r->ofm->dim[1], &s->y) &&
	       bilinear_grid(r, r->ifm->dim[2], r->ofm->dim[2], &s->x);
}

bool
can_sample_bilinear(const struct part *p, const struct resize *r)
{
	struct sampling s;
	return find_bilinear(p, r, &s);
}

bool
sample_bilinear(struct part *p, const struct tfl_op *op, const struct resize *r)
{
	struct sampling s;
	if (!find_bilinear(p, r, &s))
		return false;
	sample_all(p, op, &s);
	return true;
}

bool
sample_nearest(struct part *p, const struct tfl_op *op, const struct resize *r,
	       const int32_t *y, const int32_t *x)
{
	struct sampling s = { .bilinear = false };
	const int32_t *i = r->ifm->dim, *o = r->ofm->dim;
	if (!can_sample(p, r) || !nearest_grid(r, y, i[1], o[1], &s.y) ||
	    !nearest_grid(r, x, i[2], o[2], &s.x))
		return false;
	sample_all(p, op, &s);
	return true;
}
