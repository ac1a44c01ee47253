/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels, padding, extents, tiles: rules 22 to 28. */
#include "verify/rules.h"

#include <inttypes.h>

static void
check_window(struct checker *c)
{
	const struct npu_op *op = &c->op;
	int64_t area = (int64_t)op->dilated_h * op->dilated_w;
	WARN_IF(op->stride_y > 3 || op->stride_x > 3, c, 22, "stride %d x %d",
		op->stride_y, op->stride_x);
	ERROR_IF((op->dilated_h - 1) % op->dilation_y ||
		 (op->dilated_w - 1) % op->dilation_x, c, 22,
		 "a dilated kernel of %d x %d with dilation %d x %d",
		 op->dilated_h, op->dilated_w, op->dilation_y, op->dilation_x);
	ERROR_IF(op->pad_right > 128 || op->pad_bottom > 128, c, 23,
		 "padding right %d, bottom %d", op->pad_right, op->pad_bottom);
	WARN_IF(op->pad_top >= op->dilated_h || op->pad_bottom >= op->dilated_h ||
		op->pad_left >= op->dilated_w || op->pad_right >= op->dilated_w,
		c, 23, "padding %d, %d, %d, %d is not below the kernel's %d x %d",
		op->pad_top, op->pad_left, op->pad_bottom, op->pad_right,
		op->dilated_h, op->dilated_w);
	ERROR_IF(op->ifm_up_h < 1 || op->ifm_up_w < 1, c, 24,
		 "the IFM extent that follows is %" PRId64 " x %" PRId64,
		 op->ifm_up_h, op->ifm_up_w);
	if (op->kind == NPU_POOL)
		WARN_IF(op->dilated_h > 256 || area > 65536, c, 26,
			"pooling over %d x %d", op->dilated_h, op->dilated_w);
	else if (c->rules->kernel_limit)
		ERROR_IF(op->dilated_h > 64 || area > 4096, c, 26,
			 "a kernel of %d x %d", op->dilated_h, op->dilated_w);
}

/*
 * Rows or columns beyond the first tile are in the next one.  A generator that meant a
 * single tile leaves the base of the next one at 0.  But base 0 is also that of a wrapped
 * rolling buffer, if the distance to the first tile is a number of whole rows.
 */
static void
check_continuation(struct checker *c, const struct npu_fm *f, const char *role)
{
	bool wraps = f->stride_y > 0 && f->base[0] >= 0 &&
		     f->base[0] % f->stride_y == 0 && f->base[0] > 0;
	WARN_IF(f->shape.h > f->h0 && !f->base[2] && !wraps, c, 25,
		"%s: %d rows in a tile of %d, the next tile at 0", role,
		f->shape.h, f->h0);
	WARN_IF(f->shape.w > f->w0 && !f->base[1], c, 25,
		"%s: %d columns in a tile of %d, the next tile at 0", role,
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
		 "elementwise with an upscaled IFM");
	if (!one && here) {
		check_continuation(c, &op->ifm, "IFM");
	} else if (here) {
		WARN_IF(op->ifm.shape.h > op->ifm.h0 && !op->ifm.base[2], c, 28,
			"IFM tiles have %d of the OFM's %d rows", op->ifm.h0,
			op->ifm.shape.h);
		WARN_IF(op->ifm.shape.w > op->ifm.w0 && !op->ifm.base[1], c, 28,
			"IFM tiles have %d of the OFM's %d columns", op->ifm.w0,
			op->ifm.shape.w);
	}
	if (op->has_ifm2 && !op->ifm2_scalar && npu_fm_stored(&op->ifm2))
		WARN_IF((op->ifm2.shape.h > op->ifm2.h0 && !op->ifm2.base[2]) ||
			(op->ifm2.shape.w > op->ifm2.w0 && !op->ifm2.base[1]),
			c, 28, "IFM2 tiles have %d x %d of %d x %d elements",
			op->ifm2.h0, op->ifm2.w0, op->ifm2.shape.h,
			op->ifm2.shape.w);
	if (npu_fm_stored(&op->ofm))
		check_continuation(c, &op->ofm, "OFM");
}
