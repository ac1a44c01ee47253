/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESIZE by copying: for each axis, a list of the input position that each output
 * position takes (nputools-lowering(7) 5.2): lower/runs.h.
 */
#include "resize.h"

#include <math.h>

enum { MAX_EXTENT = 1024 };

const char *
read_resize(const struct part *p, struct lop *o)
{
	const struct tfl_op *op = o->op;
	struct resize *r = o->own = anew(p->a, struct resize, 1);
	bool bilinear = op->code == TFL_RESIZE_BILINEAR;
	const char *why = check_move(p, op);
	if (!why)
		why = check_options(p, op, bilinear ? &fb_ResizeBilinearOptions
						    : &fb_ResizeNearestNeighborOptions);
	if (why)
		return why;
	r->ifm = o->ifm;
	r->ofm = o->ofm;
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
	if (!family_rank(op, r->ifm) || !family_rank(op, r->ofm) ||
	    r->ifm->dim[0] != r->ofm->dim[0] || r->ifm->dim[3] != r->ofm->dim[3] ||
	    size[0] != r->ofm->dim[1] || size[1] != r->ofm->dim[2])
		return "the OFM's shape does not match the requested size";
	if (r->align_corners && r->half_pixel)
		return "align_corners and half_pixel_centers are both set";
	if (r->ifm->dim[1] > MAX_EXTENT || r->ifm->dim[2] > MAX_EXTENT ||
	    r->ofm->dim[1] > MAX_EXTENT || r->ofm->dim[2] > MAX_EXTENT)
		return "more than 1024 rows or columns";
	return NULL;
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
	struct nd out = nd_ofm(p, op->out[0]);
	(void)low_copy_pixels(p->l, &in, &out, y, x);
}

/* ---- nearest ------------------------------------------------------------------------- */

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

static const char *
lower_nearest(struct part *p, const struct lop *o)
{
	const struct resize *r = o->own;
	int32_t *y = nearest_map(p->a, r, r->ifm->dim[1], r->ofm->dim[1]);
	int32_t *x = nearest_map(p->a, r, r->ifm->dim[2], r->ofm->dim[2]);
	if (!sample_nearest(p, o->op, r, y, x))
		copy_axes(p, o->op, y, x);
	return NULL;
}

const struct family family_nearest = {
	.read = read_resize, .lower = lower_nearest, .direct = true,
};
const struct family family_bilinear = {
	.read = read_bilinear, .lower = lower_bilinear, .direct = true,
};
