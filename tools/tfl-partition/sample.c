/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESIZE by a unit that samples between elements (ethosu-commands(7) 26.10).
 * Output o of an axis is at o * down + first on a grid that divides the IFM's
 * elements into up parts.  The reference's own fractions are 1/1024, so the bilinear
 * grid is the reference's arithmetic, cut down to its least terms; the nearest is
 * the ratio of the sizes, held against what the reference takes for each output.
 */
#include "resize.h"

#include "base/fixed.h"

#include <assert.h>

enum { MAX_UP = 2048, MAX_STEPS = 16 };

struct grid { /* of an axis */
	int64_t up, down, first;
	int64_t skip; /* elements of the IFM that first is beyond */
};

static int64_t
divisor(int64_t a, int64_t b)
{
	while (b) {
		int64_t t = a % b;
		a = b;
		b = t;
	}
	return a < 0 ? -a : a;
}

/* in least terms, first within an element; false: registers don't hold it */
static bool
settle(struct grid *g)
{
	int64_t by = divisor(divisor(g->up, g->down), g->first);
	if (!by || g->down < 1)
		return false;
	g->up /= by;
	g->down /= by;
	g->first /= by;
	if (g->first >= g->up) {
		g->skip = g->first / g->up;
		g->first %= g->up;
	}
	return g->up <= MAX_UP && g->down < MAX_STEPS * g->up && g->first >= -g->up;
}

static bool
bilinear_grid(const struct resize *r, int64_t in, int64_t out, struct grid *g)
{
	int64_t step = resize_step(r, in, out);
	*g = (struct grid){ .up = FRACTION, .down = step,
			    .first = resize_first(r, step) };
	return settle(g) && g->skip < in;
}

/* halves of the ratio: the unit takes the next element from the middle on */
static bool
nearest_grid(const struct resize *r, const int32_t *map, int64_t in, int64_t out,
	     struct grid *g)
{
	*g = (struct grid){ .up = 2 * out, .down = 2 * in,
			    .first = (r->half_pixel ? in : 0) - out };
	if (r->align_corners && out > 1)
		*g = (struct grid){ .up = out - 1, .down = in - 1 };
	if (!settle(g) || g->skip >= in)
		return false;
	for (int64_t o = 0; o < out; o++) {
		int64_t at = o * g->down + g->first + g->up;
		int64_t i = at / g->up - 1; /* rounded down: first >= -up */
		i += 2 * (at % g->up) >= g->up;
		i = min_i64(i > 0 ? i : 0, in - g->skip - 1);
		if (i + g->skip != map[o])
			return false;
	}
	return true;
}

struct sampling {
	struct grid y, x;
	bool bilinear;
};

static bool
can_sample(const struct part *p, const struct resize *r)
{
	enum { MAX_IMAGES = 512 };
	int t = r->ifm->type;
	return part_has(p, LACK_RESIZE) && r->ifm->dim[0] <= MAX_IMAGES &&
	       (t == TFL_INT8 || t == TFL_UINT8 || t == TFL_INT16);
}

/* image i: what of the IFM is reached, and where it goes */
static void
sample_image(struct part *p, const struct sampling *s, struct nd in, struct nd out,
	     int32_t i)
{
	struct g_operand from, to;
	nd_slice(&in, 0, i, 1, 1);
	nd_slice(&in, 1, s->y.skip, in.dim[1] - s->y.skip, 1);
	nd_slice(&in, 2, s->x.skip, in.dim[2] - s->x.skip, 1);
	nd_slice(&out, 0, i, 1, 1);
	if (!nd_operand(&in, &from)) {
		in = nd_readable(p->l, &in);
		(void)nd_operand(&in, &from);
	}
	bool ok = nd_operand(&out, &to); /* channels are neighbours in any result */
	assert(ok);
	struct g_op *op = low_op(p->l, OP_RESIZE, from, to);
	G_PUT(op, OP, sample, s->bilinear ? SAMPLE_BILINEAR : SAMPLE_NEAREST);
	G_PUT(op, OP, up, (struct yx){ .y = (int32_t)s->y.up, .x = (int32_t)s->x.up });
	G_PUT(op, OP, down,
	      (struct yx){ .y = (int32_t)s->y.down, .x = (int32_t)s->x.down });
	G_PUT(op, OP, first, (struct g_range){ .lo = s->y.first, .hi = s->x.first });
	if (graph_type_bytes(in.type) == 2)
		G_PUT(op, OP, acc40, 1);
}

static void
sample_all(struct part *p, const struct tfl_op *op, const struct sampling *s)
{
	struct nd in = nd_ifm(p, op->in[0]), out = nd_ofm(p, op->out[0]);
	for (int32_t i = 0; i < (int32_t)out.dim[0]; i++)
		sample_image(p, s, in, out, i);
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
