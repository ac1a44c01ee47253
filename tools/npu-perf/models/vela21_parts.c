/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of Vela 2.1's estimator: ethosu-timing(7) 3.1 to 3.3. */
#include "vela21.h"

#include "base/fixed.h"
#include "target/accel.h"

static int32_t
round_up(int32_t v, int32_t step)
{
	return step > 1 ? (v + step - 1) / step * step : v;
}

/* ---- covering a plane with blocks ---------------------------------------- */

/* blocks along one axis: whole ones, and the rest in OFM elements */
struct axis {
	int32_t whole, rest;
};

static struct axis
axis_blocks(int32_t length, int32_t skirt, int32_t block, int32_t stride,
	    int32_t min_block)
{
	int32_t body = length - skirt, step = block * stride;
	struct axis a = { .whole = body / step };
	int32_t left = body - a.whole * step - 1;
	/* left is -1 if nothing is left; floor division would give 0, C truncates */
	int32_t n = left < 0 ? 0 : left / stride + 1;
	a.rest = round_up(n, min_block);
	return a;
}

struct v21_cover
v21_blocks(struct v21_plane size, struct v21_plane before,
	   struct v21_plane after, struct v21_plane clamped_after,
	   struct v21_plane block, struct v21_plane min_block,
	   struct v21_plane stride, struct v21_plane brick)
{
	struct axis y = axis_blocks(size.y, before.y + after.y, block.y,
				    stride.y, min_block.y);
	struct axis x = axis_blocks(size.x, before.x + after.x, block.x,
				    stride.x, min_block.x);
	struct v21_cover c = { .group = {
		{ (int64_t)y.whole * x.whole, block },
		{ x.whole, { y.rest, block.x } },
		{ y.whole, { block.y, x.rest } },
		{ 1, { y.rest, x.rest } },
	} };
	for (int i = 0; i < 4; i++) {
		struct v21_plane s = c.group[i].size;
		if (s.y == 0 || s.x == 0)
			continue;
		int64_t rows = round_up(before.y, brick.y) +
			       (int64_t)s.y * stride.y +
			       round_up(clamped_after.y, brick.y);
		int64_t columns = round_up(before.x, brick.x) +
				  (int64_t)s.x * stride.x +
				  round_up(clamped_after.x, brick.x);
		c.blocks += c.group[i].n;
		c.area += c.group[i].n * rows * columns;
	}
	return c;
}

/* ---- compute cycles ------------------------------------------------------- */

int32_t
v21_ifm_block_depth(enum block_class class, int32_t ifm_depth, int bits,
		    enum v21_traversal t, int32_t ofm_block_depth)
{
	int32_t depth = ofm_block_depth;
	if (class == BLOCK_CONV || class == BLOCK_REDUCE_SUM) {
		if (bits == 16 || t == V21_PART_KERNEL)
			depth = 16;
		else
			depth = bits == 8 ? 32 : 8;
	}
	return ifm_depth < depth ? ifm_depth : depth;
}

double
v21_output_cycles(const struct accel *a, const struct v21_work *w,
		  double elements, bool acc40)
{
	enum out_column col = OUT_OTHER;
	/* inputs are not rescaled if their scales are equal or a scale is unknown */
	const struct v21_tensor *i = w->ifm, *i2 = w->ifm2;
	const struct v21_tensor *o = w->resize_bilinear ? i2 : w->ofm;
	bool simple_add = !i2 || !i->has_scale || !i2->has_scale || !o->has_scale ||
			  i->scale == i2->scale;
	if (w->class == BLOCK_ELEMENTWISE && w->ifm->bits == 32)
		col = w->ifm2 ? OUT_ELTWISE32_1 : OUT_ELTWISE32_0;
	else if (w->func == PERF_MUL)
		col = w->ofm->bits == 32 ? OUT_MUL32 : OUT_MUL_OR_ACC40;
	else if (w->class != BLOCK_ELEMENTWISE && acc40)
		col = OUT_MUL_OR_ACC40;
	else if (w->func == PERF_ADD_SUB)
		col = simple_add ? OUT_ADD_SIMPLE : OUT_ADD_ADVANCED;
	else if (w->func == PERF_MAXPOOL)
		col = OUT_MAXPOOL;
	double out = a->out_cycles[col], act = a->act_cycles[w->activation];
	return elements * (out > act ? out : act);
}

bool
v21_acc40(const struct v21_work *w)
{
	return w->ifm->bits == 16 && w->class != BLOCK_POOL &&
	       w->ifm->has_scale && w->ofm->has_scale;
}

/* dot products of one sub-kernel of e elements over nu microblocks */
static int64_t
sub_kernel(const struct accel *a, const struct v21_work *w, int64_t nu,
	   int32_t ifm_block_depth, int64_t e)
{
	bool wide = w->ifm->bits == 16;
	int32_t slices = ceil_div(w->ifm->shape.c, ifm_block_depth);
	if (w->class == BLOCK_POOL)
		return (e > 4 ? e : 4) * nu *
		       (wide && a->id != ACCEL_U55_32 ? 2 : 1);
	if (w->class == BLOCK_DEPTHWISE)
		return 4 * ((e + 3) / 4) * nu * (wide ? 2 : 1);
	if (w->class != BLOCK_CONV || w->traversal != V21_PART_KERNEL)
		return 4 * e * nu * slices;
	int64_t steps = wide ? (e + 1) / 2 : (e + 3) / 4;
	return 4 * steps * ceil_div(ifm_block_depth, 8) * nu * slices;
}

/*
 * Dot products of all sub-kernels.  At most four sizes differ: along each axis, n full
 * ones and one rest.
 */
static int64_t
all_sub_kernels(const struct accel *a, const struct v21_work *w, int64_t nu,
		int32_t ifm_block_depth)
{
	int32_t full_y = ceil_div(w->kernel_h, SUBKERNEL_MAX) - 1;
	int32_t full_x = ceil_div(w->kernel_w, SUBKERNEL_MAX) - 1;
	int64_t last_y = w->kernel_h - (int64_t)full_y * SUBKERNEL_MAX;
	int64_t last_x = w->kernel_w - (int64_t)full_x * SUBKERNEL_MAX;
	const struct {
		int64_t n, elements;
	} kind[] = {
		{ (int64_t)full_y * full_x, SUBKERNEL_MAX * SUBKERNEL_MAX },
		{ full_y, SUBKERNEL_MAX * last_x },
		{ full_x, last_y * SUBKERNEL_MAX },
		{ 1, last_y * last_x },
	};
	int64_t sum = 0;
	for (size_t i = 0; i < ARRAY_LEN(kind); i++)
		sum += kind[i].n * sub_kernel(a, w, nu, ifm_block_depth,
					      kind[i].elements);
	return sum;
}

double
v21_mac_cycles(const struct accel *a, const struct v21_work *w)
{
	struct hwc ub = a->ublock, b = w->block;
	/* "Conv1D": the large arrays compute even rows one at a time */
	bool weighted = w->class == BLOCK_CONV || w->class == BLOCK_FC ||
			w->class == BLOCK_DEPTHWISE;
	if (ub.h == 2 && weighted && w->ofm->shape.h == 1 && w->ofm->shape.w % 2 == 0 &&
	    w->kernel_h == 1) {
		ub.w = 4;
		ub.h = b.h = 1;
	}
	int64_t nu = (int64_t)ceil_div(b.w, ub.w) * (b.h / ub.h) * (b.c / ub.c);
	int32_t depth = v21_ifm_block_depth(w->class, w->ifm->shape.c,
					    w->ifm->bits, w->traversal, b.c);
	int64_t sum = all_sub_kernels(a, w, nu, max_i32(depth, 1));
	double mac = (double)sum / a->cores;
	double blocks = (double)ceil_div(w->ofm->shape.h, b.h) *
			ceil_div(w->ofm->shape.w, b.w) *
			ceil_div(w->ofm->shape.c, b.c);
	double out = v21_output_cycles(a, w, (double)hwc_elements(b),
				       v21_acc40(w));
	return mac > out ? mac * blocks + out : out * blocks + mac;
}

/* ---- memory ---------------------------------------------------------------- */

double
v21_tensor_bytes(const struct v21_tensor *t)
{
	const struct v21_shape *s = &t->stored;
	double elements = t->purpose == V21_WEIGHTS ? (double)s->h * s->w * s->in * s->out
						    : (double)s->n * s->h * s->w * s->c;
	return elements * (t->bits / 8) * t->compression;
}

static int64_t
burst_length(const struct accel *a, enum v21_direction d,
	     const struct v21_tensor *t, struct hwc b)
{
	int64_t e = t->bits / 8, whole = e * b.c * b.w;
	if (!t->avoid_nhcwb16 || t->format == V21_NHCWB16) {
		if (BRICK * t->shape.w * e == b.c)
			return whole;
		return BRICK * e * b.w * (d == V21_WRITE ? a->cores : 1);
	}
	bool pixel = t->shape.c * e == b.c;
	if (d == V21_READ)
		return pixel ? whole : e * b.c;
	if (b.c <= BRICK && pixel)
		return whole;
	int64_t n = BRICK * e * a->cores;
	n = n < b.c * e ? n : b.c * e;
	return n < 64 ? n : 64;
}

double
v21_bandwidth(const struct accel *a, int area, enum v21_direction d,
	      const struct v21_tensor *t, struct hwc block, double bytes)
{
	if (t->format == V21_OPAQUE)
		return bytes;
	double most = area == MEM_SRAM ? 32 : 128;
	double burst = (double)burst_length(a, d, t, block);
	return burst > 0 && burst < most ? bytes * (most / burst) : bytes;
}
