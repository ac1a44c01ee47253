/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESIZE_NEAREST_NEIGHBOR and RESIZE_BILINEAR to any size: by copying the input that each
 * output takes (lower/runs.h), by blending two neighbours along each axis with the
 * reference's weights (lower/blend.h, nputools-lowering(7) 5.2), in 32 bits if nothing
 * shorter is exact, or with the NPU's resize unit (lower/sample.h).
 */
#include "../moves/move.h"

#include "base/fixed.h"
#include "graph/facts.h"
#include "lower/blend.h"
#include "lower/runs.h"
#include "lower/sample.h"
#include "tflite/fields.h"

#include <assert.h>
#include <limits.h>
#include <math.h>

enum { MAX_EXTENT = 1024, FRACTION_BITS = 10, FRACTION = 1 << FRACTION_BITS };

/*
 * If every weight is a multiple of 1/n, n a power of two, the blend is the mean of
 * n neighbours of the IFM repeated n times.  A mean that counts only existing
 * elements repeats the edge.  The pool itself does the last doubling.
 */
struct doubling {
	int times;	/* number of doublings, including the last one; 0: not possible */
	int32_t kernel, stride, before, after;
};

struct resize {
	const struct tfl_tensor *ifm, *ofm;
	bool bilinear, align_corners, half_pixel;
	enum { BY_COPIES, BY_UNIT, BY_PHASES, BY_DOUBLINGS, BY_WORDS } by;
	struct low_blend y, x;		 /* nearest neighbour: `lower` alone */
	struct low_grid rows, columns;	 /* BY_UNIT */
	const struct low_phases *phases; /* BY_PHASES */
	struct doubling doubling;	 /* BY_DOUBLINGS */
};

/* ---- weights of the neighbours ----------------------------------------------------- */

/* along an axis, in 1/1024 of an input element: the distance from output to output */
static int64_t
step_of(const struct resize *r, int64_t in, int64_t out)
{
	if (r->align_corners && out > 1)
		return (((in - 1) << 10) + (out - 1) / 2) / (out - 1);
	return ((in << 10) + out / 2) / out;
}

/* the position of output 0 */
static int64_t
first_of(const struct resize *r, int64_t step)
{
	return r->half_pixel ? step / 2 - FRACTION / 2 : 0;
}

static struct low_blend
blend_of(struct arena *a, const struct resize *r, int64_t in, int64_t out)
{
	struct low_blend b = low_blend_new(a, out, FRACTION);
	int64_t step = step_of(r, in, out);
	for (int64_t o = 0; o < out; o++) {
		int64_t at = o * step + first_of(r, step);
		int64_t lower = at / FRACTION > 0 ? at / FRACTION : 0;
		int64_t upper = (at + FRACTION - 1) / FRACTION;
		int64_t far = at - FRACTION * lower;
		if (upper > in - 1)
			upper = in - 1;
		if (lower > in - 1) {
			lower = upper = in - 1;
			far = 0;
		}
		b.lower[o] = (int32_t)lower;
		b.upper[o] = (int32_t)upper;
		b.far[o] = (int32_t)far;
		b.near[o] = (int32_t)(FRACTION - far);
	}
	return b;
}

/* in float32 like the reference */
static int32_t *
nearest_map(struct arena *a, const struct resize *r, int32_t in, int32_t out)
{
	int32_t *map = anew(a, int32_t, (size_t)out);
	float ratio = r->align_corners && out > 1
			  ? (float)(in - 1) / (float)(out - 1)
			  : (float)in / (float)out;
	for (int32_t o = 0; o < out; o++) {
		float v = ((float)o + (r->half_pixel ? 0.5f : 0)) * ratio;
		int64_t i = (int64_t)(r->align_corners ? roundf(v) : floorf(v));
		i = i < in - 1 ? i : in - 1;
		map[o] = (int32_t)(i > 0 ? i : 0);
	}
	return map;
}

/* ---- methods --------------------------------------------------------------------------- */

/*
 * The grid of the NPU's resize unit.  The reference's own fractions are 1/1024, so the
 * bilinear grid is the reference's arithmetic in lowest terms.  The nearest grid is the ratio
 * of the sizes; each output's element is compared with the reference's.
 */
static bool
bilinear_grid(const struct resize *r, int64_t in, int64_t out, struct low_grid *g)
{
	int64_t step = step_of(r, in, out);
	*g = (struct low_grid){ .up = FRACTION, .down = step,
			    .first = first_of(r, step) };
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

/* False: the NPU has no resize unit, or the unit takes other elements than the reference. */
static bool
find_grids(const struct part *p, struct resize *r)
{
	const int32_t *i = r->ifm->dim, *o = r->ofm->dim;
	if (!low_can_sample(p->l, r->ifm->type, i[0]))
		return false;
	if (r->bilinear)
		return bilinear_grid(r, i[1], o[1], &r->rows) &&
		       bilinear_grid(r, i[2], o[2], &r->columns);
	return nearest_grid(r, r->y.lower, i[1], o[1], &r->rows) &&
	       nearest_grid(r, r->x.lower, i[2], o[2], &r->columns);
}

static struct doubling
doubling_of(const struct resize *r)
{
	struct doubling d = { .times = 0 };
	int32_t less = r->align_corners;
	int32_t in = r->ifm->dim[1] - less, out = r->ofm->dim[1] - less;
	int32_t in2 = r->ifm->dim[2] - less, out2 = r->ofm->dim[2] - less;
	if (in < 1 || in2 < 1 || out % in || out2 % in2 || out / in != out2 / in2 ||
	    r->ifm->dim[0] != 1 || r->ifm->type == TFL_INT32)
		return d;
	int32_t f = out / in, n = r->half_pixel ? 2 * f : f;
	if (f < 2 || n > 8 || (n & (n - 1)))
		return d;
	d.kernel = n;
	d.stride = r->half_pixel ? 2 : 1;
	d.before = r->half_pixel ? f - 1 : 0;
	d.after = r->align_corners ? 0 : f - 1;
	for (; n > 1; n /= 2)
		d.times++;
	return d;
}

/*
 * Compares the approximate cycles of n phases and of doublings, as npu-perf has
 * them for ethos-u55-256 (4 to 65 rows, 8 to 256 channels).  Phases start slowly
 * and write few channels at a time; a mean reads its whole kernel.
 */
static bool
phases_are_cheaper(const struct resize *r, int n, const struct doubling *d)
{
	enum { BEGINNING = 600, LEAST = 18, PER_BRICK = 13, COPY = 6 }; /* in half cycles */
	int64_t elements = (int64_t)r->ofm->dim[1] * r->ofm->dim[2];
	int64_t copied = (int64_t)r->ifm->dim[1] * r->ifm->dim[2];
	int64_t bricks = (r->ofm->dim[3] + BRICK - 1) / BRICK;
	int64_t each = PER_BRICK * bricks > LEAST ? PER_BRICK * bricks : LEAST;
	int64_t doublings = (int64_t)d->kernel * d->kernel * elements;
	for (int i = 1; i < d->times; i++)
		doublings += COPY * (copied *= 4);
	return BEGINNING * n + each * elements < bricks * doublings;
}

/*
 * Chooses the fastest method that is exact.  Words are in lines: all images' rows, of columns
 * times channels each.
 */
static const char *
choose_bilinear(const struct part *p, struct resize *r)
{
	enum { MOST = 65536 };
	const int32_t *i = r->ifm->dim, *o = r->ofm->dim;
	r->y = blend_of(p->a, r, i[1], o[1]);
	r->x = blend_of(p->a, r, i[2], o[2]);
	if (low_blend_takes_one(&r->y) && low_blend_takes_one(&r->x))
		return NULL; /* BY_COPIES */
	bool unit = find_grids(p, r);
	struct nd out = nd_shape(r->ofm);
	struct doubling d = r->doubling = doubling_of(r);
	/*
	 * Phases round halves away from 0: for unsigned values, that is up.  For
	 * signed values, twice the sum is divided by twice as much: then the first step of
	 * the double rounding has no halves to round (ethosu-commands(7) 6.2).
	 */
	bool twice = r->ifm->type == TFL_INT8;
	struct low_phasing how = { .type = r->ifm->type, .images = i[0], .times = twice ? 2 : 1,
				   .scale = scale_one(),
				   .round = twice ? ROUND_TFL : ROUND_NATURAL };
	how.scale.shift += 2 * FRACTION_BITS;
	struct low_phases *f = low_phases_find(p->l, &how, &r->y, &r->x);
	int other = d.times == 1 ? 1 : f ? low_phases_count(f) : INT_MAX;
	r->phases = f;
	if (unit && ((!f && !d.times) || low_sampling_pays(p->l, &out, other)))
		r->by = BY_UNIT;
	else if (f && (!d.times || phases_are_cheaper(r, low_phases_count(f), &d)))
		r->by = BY_PHASES;
	else
		r->by = d.times ? BY_DOUBLINGS : BY_WORDS;
	bool fits = (int64_t)o[0] * o[1] <= MOST && (int64_t)o[2] * o[3] <= MOST;
	return r->by != BY_WORDS || fits
		   ? NULL
		   : "sums of 32 bits over more than 65536 rows or elements of a row";
}

const char *
read_resize(const struct part *p, struct lop *o)
{
	const struct tfl_op *op = o->op;
	struct resize *r = o->own = anew(p->a, struct resize, 1);
	const int32_t *i = o->ifm->dim, *n = o->ofm->dim;
	r->bilinear = op->code == TFL_RESIZE_BILINEAR;
	r->ifm = o->ifm;
	r->ofm = o->ofm;
	const char *why = check_move(p, o);
	if (!why)
		why = check_options(p, op, r->bilinear ? &fb_ResizeBilinearOptions
						       : &fb_ResizeNearestNeighborOptions);
	if (why)
		return why;
	r->align_corners =
	    r->bilinear ? TFL_OPT(op, ResizeBilinearOptions, align_corners)
			: TFL_OPT(op, ResizeNearestNeighborOptions, align_corners);
	r->half_pixel =
	    r->bilinear ? TFL_OPT(op, ResizeBilinearOptions, half_pixel_centers)
			: TFL_OPT(op, ResizeNearestNeighborOptions, half_pixel_centers);
	int64_t size[2];
	int sizes;
	if (!part_ints(part_in(p, op, 1), size, 2, &sizes) || sizes != 2)
		return "the size is not constant";
	if (!family_rank(op, r->ifm) || !family_rank(op, r->ofm) || i[0] != n[0] ||
	    i[3] != n[3] || size[0] != n[1] || size[1] != n[2])
		return "the OFM's shape does not match the requested size";
	if (r->align_corners && r->half_pixel)
		return "align_corners and half_pixel_centers are both set";
	if (i[1] > MAX_EXTENT || i[2] > MAX_EXTENT || n[1] > MAX_EXTENT || n[2] > MAX_EXTENT)
		return "more than 1024 rows or columns";
	if (r->bilinear)
		return check_ifm_ofm(p, o) ?: choose_bilinear(p, r);
	r->y.lower = nearest_map(p->a, r, i[1], n[1]);
	r->x.lower = nearest_map(p->a, r, i[2], n[2]);
	r->by = find_grids(p, r) ? BY_UNIT : BY_COPIES;
	return NULL;
}

/* ---- operations ------------------------------------------------------------------------ */

static void
lower_doublings(struct part *p, const struct tfl_op *op, const struct doubling *d)
{
	struct g_operand x = part_ifm(p, op->in[0]), y;
	for (int i = 1; i < d->times; i++, x = y) {
		struct hwc s = { .h = 2 * x.shape.h, .w = 2 * x.shape.w,
				 .c = x.shape.c };
		y = low_new(p->l, x.type, s);
		struct g_op *o = low_copy(p->l, x, y);
		G_PUT(o, OP, upscale, (int)UPSCALE_NEAREST);
	}
	struct g_op *o = low_op(p->l, OP_AVGPOOL, x, part_ofm(p, op->out[0]));
	struct yx one = { .y = 1, .x = 1 };
	op_kernel(o, (struct yx){ .y = d->kernel, .x = d->kernel },
		  (struct yx){ .y = d->stride, .x = d->stride }, one,
		  (struct g_pad){ .top = d->before, .left = d->before,
				  .bottom = d->after, .right = d->after });
	G_PUT(o, OP, upscale, (int)UPSCALE_NEAREST);
	op_scale(o, low_mean((int64_t)d->kernel * d->kernel), ROUND_TFL);
}

static struct g_operand
whole(const struct nd *v)
{
	return operand_whole(v->t);
}

/* v = 1024 * high + low, with low from 0 to 1023 */
static struct g_operand
high_part(struct part *p, struct g_operand v, struct g_operand *low)
{
	struct g_operand half = word_const(p->l, FRACTION / 2);
	struct g_operand bits = word_const(p->l, 10);
	struct g_operand high = word_shr(p->l, word_sub(p->l, v, half), bits);
	*low = word_sub(p->l, v, word_mul(p->l, word_const(p->l, FRACTION), high));
	return high;
}

static struct nd
with_elements(const struct nd *v, struct g_operand o)
{
	struct nd r = *v;
	r.t = o.t;
	return r;
}

/*
 * Blends the second axis for 16 bits.  The sums have 37 bits, therefore the first
 * axis's results are split into two halves.  Of the 10 lowest bits only one is
 * kept, which tells whether any was set: rounding halves away from 0 needs no more.
 */
static struct nd
blend_halves(struct part *p, const struct nd *rows, const struct low_blend *b)
{
	int copies = 0;
	struct g_operand low, rest;
	struct g_operand high = high_part(p, whole(rows), &low);
	struct nd halves[2] = { with_elements(rows, high), with_elements(rows, low) };
	halves[0] = low_blend_axis(p->l, &halves[0], 2, b, &copies);
	halves[1] = low_blend_axis(p->l, &halves[1], 2, b, &copies);
	struct g_operand carry = high_part(p, whole(&halves[1]), &rest);
	struct g_operand sum = word_add(p->l, whole(&halves[0]), carry);
	struct g_operand any = word_min(p->l, rest, word_const(p->l, 1));
	sum = word_add(p->l, word_add(p->l, sum, sum), any);
	return with_elements(&halves[0], sum);
}

static void
blend_words(struct part *p, const struct tfl_op *op, const struct resize *r)
{
	int copies = 0;
	bool halves = r->ifm->type == TFL_INT16, is_unsigned = r->ifm->type == TFL_UINT8;
	/* the elements in 16 bits, which the weights of the first axis need */
	struct nd in = nd_ifm(p, op->in[0]), wide = nd_new_like(p->l, &in, TFL_INT16);
	struct g_operand from;
	if (!nd_operand(&in, &from)) {
		struct nd dense = nd_new_like(p->l, &in, in.type);
		nd_copy(p->l, &in, &dense);
		from = whole(&dense);
	}
	(void)low_copy(p->l, from, whole(&wide));
	struct nd rows = low_blend_axis(p->l, &wide, 1, &r->y, &copies);
	struct nd sum = halves ? blend_halves(p, &rows, &r->x)
			       : low_blend_axis(p->l, &rows, 2, &r->x, &copies);
	/*
	 * 20 or 11 fractional bits; double rounding with a shift beyond 31 rounds
	 * halves away from 0
	 */
	struct hwc line = { .h = (int32_t)(sum.dim[0] * r->ofm->dim[1]),
			    .w = (int32_t)(r->ofm->dim[2] * sum.dim[3]), .c = 1 };
	struct g_operand ofm = part_ofm(p, op->out[0]), as;
	struct g_operand dest = low_destination(p->l, ofm);
	bool ok = operand_view(dest, line, &as);
	assert(ok); /* its memory is linear */
	struct g_op *o = low_op(p->l, OP_REDUCE_SUM, operand_reshape(sum.t, line), as);
	op_scale(o, (struct npu_scale){ .mult = (uint32_t)1 << 31,
					.shift = halves ? 42 : 51 },
		 is_unsigned ? ROUND_NATURAL : ROUND_TFL);
	low_deliver(p->l, dest, ofm);
}

void
lower_resize(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	const struct resize *r = o->own;
	if (r->by == BY_DOUBLINGS) {
		lower_doublings(p, op, &r->doubling);
		return;
	}
	if (r->by == BY_WORDS) {
		blend_words(p, op, r);
		return;
	}
	struct nd in = nd_ifm(p, op->in[0]);
	if (r->by == BY_COPIES && r->ifm->dim[1] == r->ofm->dim[1] &&
	    r->ifm->dim[2] == r->ofm->dim[2]) {
		nd_result(p, op->out[0], &in);
		return;
	}
	struct nd out = nd_ofm(p, op->out[0]);
	if (r->by == BY_COPIES) /* output row o is input row y.lower[o]; so are the columns */
		(void)low_copy_pixels(p->l, &in, &out, r->y.lower, r->x.lower);
	else if (r->by == BY_UNIT)
		low_sample(p->l, r->bilinear, &r->rows, &r->columns, &in, &out);
	else
		low_phases(p->l, r->phases, &in, &out, &low_as_made);
}
