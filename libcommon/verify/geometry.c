/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels, padding, extents, tiles: rules 22 to 28. */
#include "verify/rules.h"

#include <inttypes.h>

static void
check_window(struct checker *c)
{
	const struct npu_op *op = &c->op;
	int64_t area = (int64_t)op->dilated_h * op->dilated_w;
	WARN_IF(op->stride_y > 3 || op->stride_x > 3, c, 22, "stride %d x %d is larger than 3",
		op->stride_y, op->stride_x);
	ERROR_IF((op->dilated_h - 1) % op->dilation_y ||
		 (op->dilated_w - 1) % op->dilation_x, c, 22,
		 "a dilated kernel of %d x %d is not possible with dilation %d x %d",
		 op->dilated_h, op->dilated_w, op->dilation_y, op->dilation_x);
	ERROR_IF(op->pad_right > 128 || op->pad_bottom > 128, c, 23,
		 "padding of %d columns on the right and %d rows below, the largest "
		 "is 128", op->pad_right, op->pad_bottom);
	WARN_IF(op->pad_top >= op->dilated_h || op->pad_bottom >= op->dilated_h ||
		op->pad_left >= op->dilated_w || op->pad_right >= op->dilated_w,
		c, 23, "padding %d, %d, %d, %d (top, left, bottom, right) is not smaller than "
		"the kernel of %d x %d",
		op->pad_top, op->pad_left, op->pad_bottom, op->pad_right,
		op->dilated_h, op->dilated_w);
	ERROR_IF(op->ifm_up_h < 1 || op->ifm_up_w < 1, c, 24,
		 "OFM, stride, kernel and padding leave %" PRId64 " x %" PRId64
		 " elements of the IFM",
		 op->ifm_up_h, op->ifm_up_w);
	if (op->kind == NPU_POOL)
		WARN_IF(op->dilated_h > 256 || area > 65536, c, 26,
			"a pooling window of %d x %d, more than 256 rows or 65536 elements",
			op->dilated_h, op->dilated_w);
	else if (c->rules->kernel_limit)
		ERROR_IF(op->dilated_h > 64 || area > 4096, c, 26,
			 "a kernel of %d x %d, more than 64 rows or 4096 elements",
			 op->dilated_h, op->dilated_w);
}

/*
 * Warns if a feature map continues in the next tile, but the base of that tile is 0.  Usually
 * the compiler meant a single tile.  Base 0 is also correct for a rolling buffer that wraps
 * around; then the distance to the first tile is a number of whole rows.
 */
static void
check_continuation(struct checker *c, const struct npu_fm *f, const char *role)
{
	bool wraps = f->stride_y > 0 && f->base[0] >= 0 &&
		     f->base[0] % f->stride_y == 0 && f->base[0] > 0;
	WARN_IF(f->shape.h > f->h0 && !f->base[2] && !wraps, c, 25,
		"%s: %d rows, but the tile has %d rows and the base of the next tile is 0", role,
		f->shape.h, f->h0);
	WARN_IF(f->shape.w > f->w0 && !f->base[1], c, 25,
		"%s: %d columns, but the tile has %d columns and the base of the next tile is 0", role,
		f->shape.w, f->w0);
}

void
check_geometry(struct checker *c)
{
	const struct npu_op *op = &c->op;
	bool one = op->kind == NPU_ELEMENTWISE;
	bool here = npu_fm_stored(&op->ifm) && !op->ifm_scalar;
	if (!one && op->kind != NPU_RESIZE)
		check_window(c);
	ERROR_IF(one && op->upscale != UPSCALE_NONE, c, 27,
		 "an elementwise operation cannot upscale its IFM");
	if (!one && here) {
		check_continuation(c, &op->ifm, "IFM");
	} else if (here) {
		WARN_IF(op->ifm.shape.h > op->ifm.h0 && !op->ifm.base[2], c, 28,
			"the first IFM tile has %d of %d rows, and the base of the next tile is 0",
			op->ifm.h0,
			op->ifm.shape.h);
		WARN_IF(op->ifm.shape.w > op->ifm.w0 && !op->ifm.base[1], c, 28,
			"the first IFM tile has %d of %d columns, and the base of the next tile is 0",
			op->ifm.w0,
			op->ifm.shape.w);
	}
	if (op->has_ifm2 && !op->ifm2_scalar && npu_fm_stored(&op->ifm2))
		WARN_IF((op->ifm2.shape.h > op->ifm2.h0 && !op->ifm2.base[2]) ||
			(op->ifm2.shape.w > op->ifm2.w0 && !op->ifm2.base[1]),
			c, 28, "the first IFM2 tile has %d x %d of %d x %d elements, and the "
			"base of the next tile is 0",
			op->ifm2.h0, op->ifm2.w0, op->ifm2.shape.h,
			op->ifm2.shape.w);
	if (npu_fm_stored(&op->ofm))
		check_continuation(c, &op->ofm, "OFM");
}
