/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each axis is a list of which input position an output position takes; evenly
 * spaced ones are a copy (nputools-lowering(7) 5.2).
 */
#include "resize.h"

#include <math.h>

enum { MAX_RUNS = 1024 };

const char *
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

static bool
is_like(const int32_t *key, int32_t a, int32_t b)
{
	return !key || key[a] == key[b];
}

/* runs among every `period`-th output; NULL: only count them */
static int
cut_runs(const int32_t *map, const int32_t *key, int32_t n, int32_t period,
	 struct run *v)
{
	int count = 0;
	for (int32_t start = 0; start < period && start < n; start++)
		for (int32_t o = start; o < n;) {
			struct run r = { .n = 1, .out = o, .out_step = period,
					 .in = map[o] };
			o += period;
			if (o < n && is_like(key, o, r.out)) {
				r.in_step = map[o] - r.in;
				for (; o < n && map[o] - map[o - period] == r.in_step &&
				       is_like(key, o, r.out);
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
int
find_runs(struct arena *a, const int32_t *map, const int32_t *key, int32_t n,
	  struct run **out)
{
	int32_t best = 1, least = INT32_MAX;
	for (int32_t period = 1; period <= n; period++) {
		int count = cut_runs(map, key, n, period, NULL);
		if (count < least) {
			least = count;
			best = period;
		}
		if (period >= least)
			break;
	}
	*out = anew(a, struct run, (size_t)least);
	return cut_runs(map, key, n, best, *out);
}

void
copy_axis(struct part *p, const struct nd *from, const struct nd *to, int axis,
	  const int32_t *map)
{
	struct run *v;
	int n = find_runs(p->a, map, NULL, (int32_t)to->dim[axis], &v);
	for (int i = 0; i < n; i++) {
		struct nd x = *from, y = *to;
		nd_slice(&x, axis, v[i].in, v[i].n, v[i].in_step);
		nd_slice(&y, axis, v[i].out, v[i].n, v[i].out_step);
		nd_copy(p->l, &x, &y);
	}
}

struct nd
new_like(struct part *p, const struct nd *v, int type, int axis, int64_t n)
{
	struct nd r = *v;
	r.dim[axis] = n;
	struct hwc s = { .h = (int32_t)(r.dim[0] * r.dim[1]), .w = (int32_t)r.dim[2],
			 .c = (int32_t)r.dim[3] };
	r.t = low_tensor(p->l, type, s, NULL);
	r.type = type;
	r.offset = 0;
	int64_t step = 1;
	for (int i = 4; i-- > 0; step *= r.dim[i])
		r.stride[i] = step;
	return r;
}

void
copy_axes(struct part *p, const struct tfl_op *op, const int32_t *y, const int32_t *x)
{
	const struct tfl_tensor *a = part_in(p, op, 0), *b = part_out(p, op, 0);
	struct nd in = nd_ifm(p, op->in[0]);
	if (a->dim[1] == b->dim[1] && a->dim[2] == b->dim[2]) {
		nd_result(p, op->out[0], &in);
		return;
	}
	struct nd out = nd_ofm(p, op->out[0]), mid = in;
	if (in.dim[2] != out.dim[2]) {
		mid = in.dim[1] == out.dim[1]
			  ? out
			  : new_like(p, &in, in.type, 2, out.dim[2]);
		copy_axis(p, &in, &mid, 2, x);
	}
	if (in.dim[2] == out.dim[2] || in.dim[1] != out.dim[1])
		copy_axis(p, &mid, &out, 1, y);
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
	if (sample_nearest(p, op, &r, y, x))
		return true;
	bool narrow = tfl_type_bytes(r.ifm->type) <= 2;
	if (narrow && r.ifm->dim[0] == 1 &&
	    is_doubled(y, r.ifm->dim[1], r.ofm->dim[1]) &&
	    is_doubled(x, r.ifm->dim[2], r.ofm->dim[2])) {
		struct g_operand ofm = part_ofm(p, op->out[0]);
		struct g_op *o = low_copy(p->l, part_ifm(p, op->in[0]), ofm);
		G_PUT(o, OP, upscale, (int)UPSCALE_NEAREST);
		return true;
	}
	copy_axes(p, op, y, x);
	return true;
}

const struct family resize_families[] = {
	{ .code = TFL_RESIZE_NEAREST_NEIGHBOR, .check = check_nearest,
	  .lower = lower_nearest, .direct = true },
	{ .code = TFL_RESIZE_BILINEAR, .check = check_bilinear,
	  .lower = lower_bilinear, .direct = true },
	{ .code = 0 },
};
