/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESIZE_NEAREST_NEIGHBOR and RESIZE_BILINEAR to any size: each axis is a list
 * of which input position an output position takes; evenly spaced ones are a
 * copy.  Bilinear takes two neighbours and weighs them in 32 bits, as the
 * reference does (spec/operators.md 5.2).
 */
#include "nd.h"

#include <math.h>

enum { MAX_RUNS = 1024, FRACTION = 1024 };

struct resize {
	const struct tfl_tensor *ifm, *ofm;
	bool align_corners, half_pixel;
};

static const char *
read_resize(const struct part *p, const struct tfl_op *op, struct resize *r)
{
	bool bilinear = op->code == TFL_RESIZE_BILINEAR;
	const char *why = check_move(p, op, 2, 2);
	if (!why)
		why = check_options(p, op, bilinear ? &fb_ResizeBilinearOptions
						    : &fb_ResizeNearestNeighborOptions);
	if (why)
		return why;
	r->ifm = part_in(p, op, 0);
	r->ofm = part_out(p, op, 0);
	r->align_corners =
	    bilinear ? TFL_OPT(op, ResizeBilinearOptions, align_corners)
		     : TFL_OPT(op, ResizeNearestNeighborOptions, align_corners);
	r->half_pixel =
	    bilinear ? TFL_OPT(op, ResizeBilinearOptions, half_pixel_centers)
		     : TFL_OPT(op, ResizeNearestNeighborOptions, half_pixel_centers);
	int64_t size[2];
	int n;
	if (!part_ints(part_in(p, op, 1), size, 2, &n) || n != 2)
		return "the size is not constant";
	if (r->ifm->rank != 4 || r->ofm->rank != 4 ||
	    r->ifm->dim[0] != r->ofm->dim[0] || r->ifm->dim[3] != r->ofm->dim[3] ||
	    size[0] != r->ofm->dim[1] || size[1] != r->ofm->dim[2])
		return "the OFM is not the IFM at the given size";
	if (r->align_corners && r->half_pixel)
		return "align_corners and half_pixel_centers";
	if (r->ifm->dim[1] > MAX_RUNS || r->ifm->dim[2] > MAX_RUNS ||
	    r->ofm->dim[1] > MAX_RUNS || r->ofm->dim[2] > MAX_RUNS)
		return "more than 1024 rows or columns";
	return NULL;
}

/* ---- which input for which output --------------------------------------------------- */

struct run { /* outputs out, out + out_step, ... take in, in + in_step, ... */
	int32_t n, out, out_step, in, in_step;
};

/* runs among every `period`-th output; NULL: only count them */
static int
cut_runs(const int32_t *map, int32_t n, int32_t period, struct run *v)
{
	int count = 0;
	for (int32_t start = 0; start < period && start < n; start++)
		for (int32_t o = start; o < n;) {
			struct run r = { .n = 1, .out = o, .out_step = period,
					 .in = map[o] };
			o += period;
			if (o < n) {
				r.in_step = map[o] - r.in;
				for (; o < n && map[o] - map[o - period] == r.in_step;
				     o += period)
					r.n++;
			}
			if (v)
				v[count] = r;
			count++;
		}
	return count;
}

/* as few runs as a period gives */
static int
find_runs(struct arena *a, const int32_t *map, int32_t n, struct run **out)
{
	int32_t best = 1, least = INT32_MAX;
	for (int32_t period = 1; period <= n; period++) {
		int count = cut_runs(map, n, period, NULL);
		if (count < least) {
			least = count;
			best = period;
		}
		if (period >= least)
			break;
	}
	*out = anew(a, struct run, (size_t)least);
	return cut_runs(map, n, best, *out);
}

static void
copy_axis(struct part *p, const struct nd *from, const struct nd *to, int axis,
	  const int32_t *map)
{
	struct run *v;
	int n = find_runs(p->a, map, (int32_t)to->dim[axis], &v);
	for (int i = 0; i < n; i++) {
		struct nd x = *from, y = *to;
		nd_slice(&x, axis, v[i].in, v[i].n, v[i].in_step);
		nd_slice(&y, axis, v[i].out, v[i].n, v[i].out_step);
		nd_copy(p, &x, &y);
	}
}

/* room of v's shape but for n elements of an axis */
static struct nd
new_like(struct part *p, const struct nd *v, int type, int axis, int64_t n)
{
	struct nd r = *v;
	r.dim[axis] = n;
	struct hwc s = { .h = (int32_t)(r.dim[0] * r.dim[1]), .w = (int32_t)r.dim[2],
			 .c = (int32_t)r.dim[3] };
	r.t = part_new_tensor(p, type, s, NULL);
	r.type = type;
	r.offset = 0;
	int64_t step = 1;
	for (int i = 4; i-- > 0; step *= r.dim[i])
		r.stride[i] = step;
	return r;
}

/* ---- nearest ------------------------------------------------------------------------- */

/* float32 as the reference */
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

static bool
is_doubled(const int32_t *map, int32_t in, int32_t out)
{
	for (int32_t o = 0; o < out; o++)
		if (map[o] != o / 2)
			return false;
	return out == 2 * in;
}

static const char *
check_nearest(const struct part *p, const struct tfl_op *op)
{
	struct resize r;
	return read_resize(p, op, &r);
}

static bool
lower_nearest(struct part *p, const struct tfl_op *op)
{
	struct resize r;
	(void)read_resize(p, op, &r);
	int32_t *y = nearest_map(p->a, &r, r.ifm->dim[1], r.ofm->dim[1]);
	int32_t *x = nearest_map(p->a, &r, r.ifm->dim[2], r.ofm->dim[2]);
	bool narrow = tfl_type_bytes(r.ifm->type) <= 2;
	if (narrow && r.ifm->dim[0] == 1 &&
	    is_doubled(y, r.ifm->dim[1], r.ofm->dim[1]) &&
	    is_doubled(x, r.ifm->dim[2], r.ofm->dim[2])) {
		struct g_op *o = part_copy(p, part_ifm(p, op->in[0]),
					   part_ofm(p, op->out[0]));
		G_PUT(o, OP, upscale, (int)UPSCALE_NEAREST);
		return true;
	}
	struct nd in = nd_ifm(p, op->in[0]), out = nd_ofm(p, op->out[0]);
	struct nd mid = in;
	if (in.dim[2] != out.dim[2]) {
		mid = in.dim[1] == out.dim[1]
			  ? out
			  : new_like(p, &in, in.type, 2, out.dim[2]);
		copy_axis(p, &in, &mid, 2, x);
	}
	if (in.dim[2] == out.dim[2] || in.dim[1] != out.dim[1])
		copy_axis(p, &mid, &out, 1, y);
	return true;
}

/* ---- bilinear ------------------------------------------------------------------------ */

struct blend { /* two neighbours and the weight of the upper, in 1/1024 */
	int32_t *lower, *upper, *far, *near;
};

static struct blend
blend_of(struct arena *a, const struct resize *r, int64_t in, int64_t out)
{
	size_t n = (size_t)out;
	struct blend b = { anew(a, int32_t, n), anew(a, int32_t, n),
			   anew(a, int32_t, n), anew(a, int32_t, n) };
	int64_t scale = ((in << 10) + out / 2) / out;
	if (r->align_corners && out > 1)
		scale = (((in - 1) << 10) + (out - 1) / 2) / (out - 1);
	for (int64_t o = 0; o < out; o++) {
		int64_t at = o * scale + (r->half_pixel ? scale / 2 - 512 : 0);
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

/* lower * near + upper * far along an axis; from -> 32 bits */
static struct nd
blend_axis(struct part *p, const struct nd *from, int type, int axis, int64_t n,
	   const struct blend *b)
{
	struct nd sides[2], sum = new_like(p, from, TFL_INT32, axis, n);
	const int32_t *map[2] = { b->lower, b->upper };
	const int32_t *weight[2] = { b->near, b->far };
	struct g_operand product[2];
	struct hwc ws = { .h = 1, .w = 1, .c = 1 };
	int32_t rows = axis == 1 ? (int32_t)from->dim[0] : 1;
	*(axis == 1 ? &ws.h : &ws.w) = (int32_t)n * rows;
	for (int k = 0; k < 2; k++) {
		int32_t *w = anew(p->a, int32_t, (size_t)(n * rows));
		for (int64_t i = 0; i < n * rows; i++)
			w[i] = weight[k][i % n];
		sides[k] = new_like(p, from, from->type, axis, n);
		copy_axis(p, from, &sides[k], axis, map[k]);
		struct g_operand x = whole(&sides[k]);
		product[k] = operand_whole(part_new_tensor(p, TFL_INT32, x.shape, NULL));
		struct g_op *mul = part_op(p, OP_MUL, x, product[k]);
		op_ifm2(mul, part_const(p, type, ws, w), 0);
		op_unscaled(mul);
	}
	struct g_op *add = part_op(p, OP_ADD, product[0], whole(&sum));
	op_ifm2(add, product[1], 0);
	op_unscaled(add);
	return sum;
}

/*
 * Where every weight is a multiple of 1/n, n a power of two, the blend is the
 * mean of n neighbours of the IFM repeated n times; a mean over what is there
 * repeats the edge.  The last doubling is the pool's own.
 */
struct doubling {
	int times;	/* doublings, the last one included; 0: not possible */
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

static bool
lower_doublings(struct part *p, const struct tfl_op *op, const struct doubling *d)
{
	struct g_operand x = part_ifm(p, op->in[0]), y;
	for (int i = 1; i < d->times; i++, x = y) {
		struct hwc s = { .h = 2 * x.shape.h, .w = 2 * x.shape.w,
				 .c = x.shape.c };
		y = operand_whole(part_new_tensor(p, x.type, s, NULL));
		struct g_op *o = part_copy(p, x, y);
		G_PUT(o, OP, upscale, (int)UPSCALE_NEAREST);
	}
	struct g_op *o = part_op(p, OP_AVGPOOL, x, part_ofm(p, op->out[0]));
	struct yx one = { .y = 1, .x = 1 };
	op_kernel(o, (struct yx){ .y = d->kernel, .x = d->kernel },
		  (struct yx){ .y = d->stride, .x = d->stride }, one,
		  (struct g_pad){ .top = d->before, .left = d->before,
				  .bottom = d->after, .right = d->after });
	G_PUT(o, OP, upscale, (int)UPSCALE_NEAREST);
	op_scale(o, pool_scale((int64_t)d->kernel * d->kernel), ROUND_TFL);
	return true;
}

static const char *
check_bilinear(const struct part *p, const struct tfl_op *op)
{
	struct resize r;
	const char *why = read_resize(p, op, &r);
	return why ? why : check_maps(p, op, TYPE_MAPS);
}

/* 16 bits, that the weights of the first axis fit */
static struct nd
widened(struct part *p, const struct nd *in)
{
	struct nd v = new_like(p, in, TFL_INT16, 0, in->dim[0]);
	struct g_operand from;
	struct nd dense = *in;
	if (!nd_operand(in, &from)) {
		dense = new_like(p, in, in->type, 0, in->dim[0]);
		nd_copy(p, in, &dense);
		from = whole(&dense);
	}
	(void)part_copy(p, from, whole(&v));
	return v;
}

/* v = 1024 * high + low, low from 0 to 1023 */
static struct g_operand
high_part(struct part *p, struct g_operand v, struct g_operand *low)
{
	struct g_operand half = word_const(p, FRACTION / 2);
	struct g_operand high = word_shr(p, word_sub(p, v, half), word_const(p, 10));
	*low = word_sub(p, v, word_mul(p, word_const(p, FRACTION), high));
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
 * The second axis for 16 bits: sums of 37, as two halves of the first's
 * results.  Of the 10 lowest bits only one is left, which says that there was
 * any: that is all that rounding, halves away from 0, needs to know.
 */
static struct nd
blend_halves(struct part *p, const struct nd *rows, int64_t n,
	     const struct blend *b)
{
	struct g_operand low, rest;
	struct g_operand high = high_part(p, whole(rows), &low);
	struct nd halves[2] = { with_elements(rows, high), with_elements(rows, low) };
	halves[0] = blend_axis(p, &halves[0], TFL_INT32, 2, n, b);
	halves[1] = blend_axis(p, &halves[1], TFL_INT32, 2, n, b);
	struct g_operand carry = high_part(p, whole(&halves[1]), &rest);
	struct g_operand sum = word_add(p, whole(&halves[0]), carry);
	struct g_operand any = word_min(p, rest, word_const(p, 1));
	sum = word_add(p, word_add(p, sum, sum), any);
	return with_elements(&halves[0], sum);
}

static bool
lower_bilinear(struct part *p, const struct tfl_op *op)
{
	struct resize r;
	(void)read_resize(p, op, &r);
	struct doubling d = doubling_of(&r);
	if (d.times)
		return lower_doublings(p, op, &d);
	struct nd in = nd_ifm(p, op->in[0]);
	int64_t oh = r.ofm->dim[1], ow = r.ofm->dim[2];
	struct blend y = blend_of(p->a, &r, r.ifm->dim[1], oh);
	struct blend x = blend_of(p->a, &r, r.ifm->dim[2], ow);
	struct nd wide = widened(p, &in);
	struct nd rows = blend_axis(p, &wide, TFL_INT16, 1, oh, &y);
	bool halves = r.ifm->type == TFL_INT16;
	struct nd sum = halves ? blend_halves(p, &rows, ow, &x)
			       : blend_axis(p, &rows, TFL_INT32, 2, ow, &x);
	/* 20 or 11 fractional bits; a double rounding beyond 31 takes halves away from 0 */
	struct hwc line = { .h = (int32_t)(sum.dim[0] * oh),
			    .w = (int32_t)(ow * sum.dim[3]), .c = 1 };
	struct g_operand ofm = part_ofm(p, op->out[0]), as;
	struct g_operand room = part_room(p, ofm);
	bool ok = operand_view(room, line, &as);
	if (!ok)
		return err_set(p->e, "operator %d: no room for a line", p->op_i);
	struct g_op *o = part_op(p, OP_REDUCE_SUM,
				 operand_reshape(sum.t, line), as);
	bool is_unsigned = r.ifm->type == TFL_UINT8;
	op_scale(o, (struct npu_scale){ .mult = (uint32_t)1 << 31,
					.shift = halves ? 42 : 51 },
		 is_unsigned ? ROUND_NATURAL : ROUND_TFL);
	part_deliver(p, room, ofm);
	return true;
}

const struct family resize_families[] = {
	{ .code = TFL_RESIZE_NEAREST_NEIGHBOR, .check = check_nearest,
	  .lower = lower_nearest, .direct = true },
	{ .code = TFL_RESIZE_BILINEAR, .check = check_bilinear,
	  .lower = lower_bilinear, .direct = true },
	{ .code = 0 },
};
