/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESIZE_BILINEAR: blends two neighbours along each axis with the reference's
 * weights (nputools-lowering(7) 5.2), in 32 bits if nothing shorter is exact.
 */
#include "resize.h"

#include "base/fixed.h"
#include "lower/pool.h"
#include "lower/sample.h"

#include <limits.h>

int64_t
resize_step(const struct resize *r, int64_t in, int64_t out)
{
	if (r->align_corners && out > 1)
		return (((in - 1) << 10) + (out - 1) / 2) / (out - 1);
	return ((in << 10) + out / 2) / out;
}

int64_t
resize_first(const struct resize *r, int64_t step)
{
	return r->half_pixel ? step / 2 - FRACTION / 2 : 0;
}

static struct low_blend
blend_of(struct arena *a, const struct resize *r, int64_t in, int64_t out)
{
	struct low_blend b = low_blend_new(a, out, FRACTION);
	int64_t step = resize_step(r, in, out);
	for (int64_t o = 0; o < out; o++) {
		int64_t at = o * step + resize_first(r, step);
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

static struct g_operand
whole(const struct nd *v)
{
	return operand_whole(v->t);
}

/*
 * If every weight is a multiple of 1/n, n a power of two, the blend is the mean of
 * n neighbours of the IFM repeated n times.  A mean that counts only existing
 * elements repeats the edge.  The pool itself does the last doubling.
 */
struct doubling {
	int times;	/* number of doublings, including the last one; 0: not possible */
	int32_t kernel, stride, before, after;
};

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

static void
lower_doublings(struct part *p, const struct tfl_op *op, const struct doubling *d)
{
	struct g_operand x = part_ifm(p, op->in[0]), y;
	for (int i = 1; i < d->times; i++, x = y) {
		struct hwc s = { .h = 2 * x.shape.h, .w = 2 * x.shape.w,
				 .c = x.shape.c };
		y = operand_whole(low_tensor(p->l, x.type, s, NULL));
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

/* the other cases work in lines: all images' rows, of columns times channels each */
static const char *
check_lines(const struct resize *r)
{
	enum { MOST = 65536 };
	const int32_t *o = r->ofm->dim;
	if ((int64_t)o[0] * o[1] > MOST || (int64_t)o[2] * o[3] > MOST)
		return "sums of 32 bits over more than 65536 rows or elements of a row";
	return NULL;
}

/*
 * Finds phases.  Halves round away from 0: for unsigned values, that is up.  For
 * signed values, twice the sum is divided by twice as much: then the first step of
 * the double rounding has no halves to round (ethosu-commands(7) 6.2).
 */
static struct low_phases *
find_phases(const struct part *p, const struct resize *r, const struct low_blend *y,
	    const struct low_blend *x)
{
	bool twice = r->ifm->type == TFL_INT8;
	struct low_phasing how = { .type = r->ifm->type, .images = r->ifm->dim[0],
				   .times = twice ? 2 : 1,
				   .round = twice ? ROUND_TFL : ROUND_NATURAL };
	how.scale = scale_one();
	how.scale.shift += 2 * FRACTION_BITS;
	return low_phases_find(p->l, &how, y, x);
}

static const char *
lower_phases(struct part *p, const struct tfl_op *op, const struct low_phases *f)
{
	struct nd in = nd_ifm(p, op->in[0]), out = nd_ofm(p, op->out[0]);
	return low_phases(p->l, f, &in, &out, &low_as_made)
		   ? NULL
		   : "no NPU operation can write all of its rows";
}

const char *
read_bilinear(const struct part *p, struct lop *o)
{
	const char *why = read_resize(p, o) ?: check_ifm_ofm(p, o->op);
	const struct resize *r = o->own;
	if (why || doubling_of(r).times || can_sample_bilinear(p, r))
		return why;
	struct low_blend y = blend_of(p->a, r, r->ifm->dim[1], r->ofm->dim[1]);
	struct low_blend x = blend_of(p->a, r, r->ifm->dim[2], r->ofm->dim[2]);
	if ((low_blend_takes_one(&y) && low_blend_takes_one(&x)) ||
	    find_phases(p, r, &y, &x))
		return NULL;
	return check_lines(r);
}

/* the elements in 16 bits, which the weights of the first axis need */
static struct nd
widened(struct part *p, const struct nd *in)
{
	struct nd v = nd_new_like(p->l, in, TFL_INT16);
	struct g_operand from;
	struct nd dense = *in;
	if (!nd_operand(in, &from)) {
		dense = nd_new_like(p->l, in, in->type);
		nd_copy(p->l, in, &dense);
		from = whole(&dense);
	}
	(void)low_copy(p->l, from, whole(&v));
	return v;
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

const char *
lower_bilinear(struct part *p, const struct lop *lop)
{
	const struct tfl_op *op = lop->op;
	const struct resize *r = lop->own;
	struct doubling d = doubling_of(r);
	int64_t oh = r->ofm->dim[1], ow = r->ofm->dim[2];
	struct low_blend y = blend_of(p->a, r, r->ifm->dim[1], oh);
	struct low_blend x = blend_of(p->a, r, r->ifm->dim[2], ow);
	if (low_blend_takes_one(&y) && low_blend_takes_one(&x)) {
		copy_axes(p, op, y.lower, x.lower);
		return NULL;
	}
	struct low_phases *f = find_phases(p, r, &y, &x);
	int other = d.times == 1 ? 1 : f ? low_phases_count(f) : INT_MAX;
	struct nd in = nd_ifm(p, op->in[0]), out = nd_shape(r->ofm);
	if (low_sampling_pays(p->l, &out, other) && sample_bilinear(p, op, r))
		return NULL;
	if (f && (!d.times || phases_are_cheaper(r, low_phases_count(f), &d)))
		return lower_phases(p, op, f);
	if (d.times) {
		lower_doublings(p, op, &d);
		return NULL;
	}
	int copies = 0;
	struct nd wide = widened(p, &in);
	struct nd rows = low_blend_axis(p->l, &wide, 1, &y, &copies);
	bool halves = r->ifm->type == TFL_INT16;
	struct nd sum = halves ? blend_halves(p, &rows, &x)
			       : low_blend_axis(p->l, &rows, 2, &x, &copies);
	/*
	 * 20 or 11 fractional bits; double rounding with a shift beyond 31 rounds
	 * halves away from 0
	 */
	struct hwc line = { .h = (int32_t)(sum.dim[0] * oh),
			    .w = (int32_t)(ow * sum.dim[3]), .c = 1 };
	struct g_operand ofm = part_ofm(p, op->out[0]), as;
	struct g_operand dest = low_destination(p->l, ofm);
	bool ok = operand_view(dest, line, &as);
	if (!ok)
		return "its result can't be seen as lines";
	struct g_op *o = low_op(p->l, OP_REDUCE_SUM,
				 operand_reshape(sum.t, line), as);
	bool is_unsigned = r->ifm->type == TFL_UINT8;
	op_scale(o, (struct npu_scale){ .mult = (uint32_t)1 << 31,
					.shift = halves ? 42 : 51 },
		 is_unsigned ? ROUND_NATURAL : ROUND_TFL);
	low_deliver(p->l, dest, ofm);
	return NULL;
}
