/* SPDX-License-Identifier: Apache-2.0 */
/* How far two kernels may overlap: BLOCKDEP (ethosu-commands(7) 11.3). */
#include "stream/filters.h"

#include "base/fixed.h"
#include "target/accel.h"

/* Number of blocks of an OFM.  Depth is the innermost axis, height the outermost. */
struct grid {
	int64_t h, w, c;
};

static struct grid
grid_of(const struct npu_op *op)
{
	struct hwc s = op->extent, b = op->block;
	return (struct grid){ .h = (s.h + b.h - 1) / b.h,
			      .w = (s.w + b.w - 1) / b.w,
			      .c = (s.c + b.c - 1) / b.c };
}

static struct npu_box
block_box(const struct npu_op *op, struct grid g, int64_t i)
{
	struct hwc s = op->extent, b = op->block;
	int32_t z = (int32_t)(i % g.c) * b.c;
	int32_t x = (int32_t)(i / g.c % g.w) * b.w;
	int32_t y = (int32_t)(i / g.c / g.w) * b.h;
	return (struct npu_box){ .y0 = y, .y1 = min_i32(y + b.h, s.h),
				 .x0 = x, .x1 = min_i32(x + b.w, s.w),
				 .c0 = z, .c1 = min_i32(z + b.c, s.c) };
}

static int32_t
ifm_depth55(const struct npu_op *op, const struct accel *accel)
{
	int32_t c = op->ifm.shape.c;
	(void)accel;
	if (op->ifm.bits == 16)
		return min_i32((c + 3) / 4 * 4, 16);
	return min_i32((c + 7) / 8 * 8, op->part_kernel ? 16 : 32);
}

/* Stored rows (columns) [*from, *to) that output positions [o0, o1) read. */
static void
reach(int32_t o0, int32_t o1, int stride, int pad, int dilated, int64_t extent,
      enum upscale up, int32_t *from, int32_t *to)
{
	int64_t lo = (int64_t)o0 * stride - pad;
	int64_t hi = (int64_t)(o1 - 1) * stride - pad + dilated;
	int factor = up == UPSCALE_NONE ? 1 : 2;
	lo = lo < 0 ? 0 : lo;
	hi = hi > extent ? extent : hi;
	*from = (int32_t)(lo / factor);
	*to = hi <= lo ? *from : (int32_t)((hi + factor - 1) / factor);
}

/*
 * Rows (columns) that RESIZE samples for output positions [o0, o1)
 * (ethosu-commands(7) 26.10).
 */
static void
sampled(const struct npu_resize_axis *a, int32_t o0, int32_t o1, int32_t extent,
	int32_t *from, int32_t *to)
{
	int64_t lo = (int64_t)o0 * a->d + a->offset;
	int64_t hi = (int64_t)(o1 - 1) * a->d + a->offset;
	/* positions before the first row are clipped to it */
	*from = clamp_i32(lo < 0 ? 0 : lo / a->n, 0, extent - 1);
	*to = clamp_i32(hi < 0 ? 0 : hi / a->n + 1, 0, extent - 1) + 1;
}

/* Extends a box to the whole axis wherever a feature map is broadcast (extent 1). */
static struct npu_box
broadcast(struct hwc shape, struct npu_box b)
{
	if (shape.h == 1)
		b.y0 = 0, b.y1 = 1;
	if (shape.w == 1)
		b.x0 = 0, b.x1 = 1;
	if (shape.c == 1)
		b.c0 = 0, b.c1 = 1;
	return b;
}

/*
 * The OFM block of job i of op and the part of the IFM that the job reads.  False: op has
 * no job i.
 */
static bool
job_box(const struct npu_op *op, const struct accel *accel, int64_t i,
	struct npu_box *ofm, struct npu_box *ifm)
{
	static int32_t (*const depth_of[GENERATIONS])(const struct npu_op *,
						      const struct accel *) = {
		[GEN_U55] = ifm_depth55, [GEN_U65] = ifm_depth55,
		[GEN_U85] = npu_ifm_depth85,
	};
	struct grid g = grid_of(op);
	int32_t depth = 0, c = op->ifm.shape.c;
	/* depth of the IFM blocks from which an OFM block is computed; 0: the OFM block's own */
	if (op->kind == NPU_CONV || (op->kind == NPU_POOL && op->mode == NPU_POOL_REDUCE_SUM))
		depth = depth_of[accel->generation](op, accel);
	int64_t slices = depth ? (c + depth - 1) / depth : 1;
	if (i >= g.h * g.w * g.c * slices)
		return false;
	*ofm = block_box(op, g, i / slices);
	*ifm = *ofm;
	if (depth) {
		ifm->c0 = (int32_t)(i % slices) * depth;
		ifm->c1 = min_i32(ifm->c0 + depth, c);
	}
	if (op->kind == NPU_ELEMENTWISE) {
		*ifm = broadcast(op->ifm.shape, *ofm);
	} else if (op->kind == NPU_RESIZE) {
		sampled(&op->resize_y, ofm->y0, ofm->y1, op->ifm.shape.h, &ifm->y0,
			&ifm->y1);
		sampled(&op->resize_x, ofm->x0, ofm->x1, op->ifm.shape.w, &ifm->x0,
			&ifm->x1);
	} else {
		reach(ofm->y0, ofm->y1, op->stride_y, op->pad_top,
		      op->dilated_h, op->ifm_up_h, op->upscale, &ifm->y0,
		      &ifm->y1);
		reach(ofm->x0, ofm->x1, op->stride_x, op->pad_left,
		      op->dilated_w, op->ifm_up_w, op->upscale, &ifm->x0,
		      &ifm->x1);
	}
	return true;
}

/*
 * The part of IFM2 that the job reads: as large as the OFM block, or, of a matrix product,
 * the filters of the block's channels.
 */
static struct npu_box
second_box(const struct npu_op *op, struct npu_box ofm, struct npu_box ifm)
{
	if (op->weights_ifm2)
		return (struct npu_box){ .y1 = 1, .x0 = ofm.c0, .x1 = ofm.c1,
					 .c0 = ifm.c0, .c1 = ifm.c1 };
	return broadcast(op->ifm2.shape, ofm);
}

/* True if the IFM (which 0) or IFM2 (1) is read from memory. */
static bool
reads(const struct npu_op *op, int which)
{
	if (which)
		return op->has_ifm2 && !op->ifm2_scalar &&
		       npu_fm_stored(&op->ifm2);
	return !op->ifm_scalar && npu_fm_stored(&op->ifm);
}

/* A fast test: true if the extents of an input and of the OFM share no bytes. */
static bool
extents_disjoint(const struct npu_fm *in, const struct npu_fm *out)
{
	return in->region != out->region ||
	       !npu_fm_extents_overlap(in, npu_fm_box(in), out, npu_fm_box(out));
}

int
blockdep_max(const struct npu_op *prev, const struct npu_op *cur,
	     const struct accel *accel, uint64_t *steps)
{
	if (!accel->lut_banks && npu_uses_table(prev) && !npu_uses_table(cur))
		return 0;
	int most = accel_generation(accel)->max_blockdep;
	bool turned = prev->transpose != NPU_HWC || prev->reverse != NPU_FORWARD;
	if (prev->acc_kept || !npu_fm_stored(&prev->ofm) ||
	    ((!reads(cur, 0) || extents_disjoint(&cur->ifm, &prev->ofm)) &&
	     (!reads(cur, 1) || extents_disjoint(&cur->ifm2, &prev->ofm))))
		return most;
	if (turned) /* the addresses of the blocks are not in the order of their numbers */
		return 0;
	struct grid g = grid_of(prev);
	int64_t n = g.h * g.w * g.c;
	for (int sum = 0; sum < most; sum++)
		for (int i = 0; i <= sum; i++) {
			/* does job i of cur read bytes that the j-th block of prev from its end
			 * writes? */
			int64_t j = sum - i;
			struct npu_box ofm, ifm;
			if (j >= n || !job_box(cur, accel, i, &ofm, &ifm))
				continue;
			struct npu_box out = block_box(prev, g, n - 1 - j);
			if (reads(cur, 0) &&
			    npu_fm_overlap(&cur->ifm, ifm, &prev->ofm, out, steps))
				return sum;
			if (reads(cur, 1) &&
			    npu_fm_overlap(&cur->ifm2, second_box(cur, ofm, ifm),
					   &prev->ofm, out, steps))
				return sum;
		}
	return most;
}

bool
npu_block_overwritten(const struct npu_op *op, const struct accel *accel, int which,
		      uint64_t *steps)
{
	enum { MOST = 256 }; /* blocks: each is compared with all blocks before it */
	struct grid g = grid_of(op);
	struct npu_box ofm, ifm;
	if (op->kind != NPU_ELEMENTWISE || g.h * g.w * g.c > MOST)
		return false;
	for (int64_t i = 1; job_box(op, accel, i, &ofm, &ifm); i++)
		for (int64_t k = 0; k < i; k++)
			if (npu_fm_overlap(which ? &op->ifm2 : &op->ifm,
					   which ? second_box(op, ofm, ifm) : ifm, &op->ofm,
					   block_box(op, g, k), steps))
				return *steps > 0;
	return false;
}
