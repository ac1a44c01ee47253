/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the extent of feature maps as the Linux driver does. */
#include "linux/walk.h"

#define FM(n)                                                                  \
	.region = NPU_##n##_REGION, .precision = NPU_##n##_PRECISION,          \
	.w0 = NPU_##n##_WIDTH0_M1, .h0 = NPU_##n##_HEIGHT0_M1,                 \
	.h1 = NPU_##n##_HEIGHT1_M1, .base = NPU_##n##_BASE0,                   \
	.stride_x = NPU_##n##_STRIDE_X, .stride_y = NPU_##n##_STRIDE_Y,        \
	.stride_c = NPU_##n##_STRIDE_C

const struct linux_fm linux_ifm = {
	FM(IFM), .size_bit = 2, .shape = { NPU_IFM_DEPTH_M1, NPU_REGS }
};
const struct linux_fm linux_ifm2 = {
	FM(IFM2), .size_bit = 2, .shape = { NPU_REGS }
};
const struct linux_fm linux_ofm = {
	FM(OFM), .size_bit = 1,
	.shape = { NPU_OFM_DEPTH_M1, NPU_OFM_WIDTH_M1, NPU_OFM_HEIGHT_M1, NPU_REGS }
};

enum { TILES_2X2, TILES_3X1, CHAINED };

/* ---- feature maps --------------------------------------------------------- */

/* U85 has a storage field; U65 has the rounding mode in the same bits. */
static uint32_t
storage_of(const struct linux_walk *k, const struct linux_fm *m)
{
	return k->u65 ? TILES_2X2 : linux_value(k, m->precision) >> 14;
}

static bool
fm_is_set(struct linux_walk *k, const struct linux_fm *m)
{
	if (!linux_is_set(k, m->region) || !linux_is_set(k, m->precision) ||
	    !linux_are_set(k, m->shape))
		return false;
	uint32_t storage = storage_of(k, m);
	if (storage == CHAINED)
		return true;
	if (storage > CHAINED)
		return linux_refuse(k, LINUX_STORAGE,
				    "%s stores no feature map",
				    npu_registers[m->precision].name);
	bool bricks = linux_value(k, m->precision) >> 6 & 3;
	const enum npu_reg more[] = {m->w0,
				     m->h0,
				     m->h1,
				     m->stride_y,
				     bricks ? m->stride_c : m->stride_x,
				     NPU_REGS};
	return linux_are_set(k, more);
}

/* Returns the tile of element (y, x), and makes (y, x) relative to the tile. */
static int
tile_of(const struct linux_walk *k, const struct linux_fm *m, uint32_t *x,
	uint32_t *y)
{
	uint32_t height[] = {linux_value(k, m->h0), linux_value(k, m->h1)};
	int tile = 0;
	if (storage_of(k, m) == TILES_3X1) {
		for (int i = 1; i >= 0; i--) {
			if (*y <= height[i])
				continue;
			*y -= height[i] + 1;
			return i + 1;
		}
		return 0;
	}
	if (*x > linux_value(k, m->w0)) {
		*x -= linux_value(k, m->w0) + 1;
		tile = 1;
	}
	if (*y > height[tile]) {
		*y -= height[tile] + 1;
		tile += 2;
	}
	return tile;
}

/* Adds a * b to *sum.  Returns false if the result exceeds 64 bits. */
static bool
add(uint64_t *sum, uint64_t a, uint64_t b)
{
	uint64_t product;
	return !__builtin_mul_overflow(a, b, &product) &&
	       !__builtin_add_overflow(*sum, product, sum);
}

/* Says of a refused feature map that a stride is negative: then the number of bytes is huge. */
static bool
blame_stride(struct linux_walk *k, const struct linux_fm *m)
{
	bool bricks = linux_value(k, m->precision) >> 6 & 3;
	const enum npu_reg strides[] = {m->stride_y,
					bricks ? m->stride_c : m->stride_x};
	for (size_t i = 0; i < ARRAY_LEN(strides); i++)
		if (npu_stride(&k->regs, strides[i]) < 0)
			return linux_add_reason(k, ": the driver reads the negative "
						   "stride %s without its sign",
						npu_registers[strides[i]].name);
	return false;
}

static bool
use_element(struct linux_walk *k, const struct linux_fm *m, uint32_t x,
	    uint32_t y, uint32_t c)
{
	uint64_t element = 1U
			   << (linux_value(k, m->precision) >> m->size_bit & 3);
	int tile = tile_of(k, m, &x, &y);
	enum npu_reg base = (enum npu_reg)((int)m->base + tile);
	if (!linux_is_set(k, base))
		return false;
	uint64_t at = (uint64_t)npu_address(&k->regs, base);
#define STRIDE(r) ((uint64_t)npu_address(&k->regs, r))
	bool ok = add(&at, y, STRIDE(m->stride_y));
	if (linux_value(k, m->precision) >> 6 & 3)
		ok = ok && add(&at, c / BRICK, STRIDE(m->stride_c)) &&
		     add(&at, BRICK * x + c % BRICK, element);
	else
		ok = ok && add(&at, x, STRIDE(m->stride_x)) &&
		     add(&at, c, element);
#undef STRIDE
	if (!ok || !add(&at, 1, element))
		return linux_refuse(k, LINUX_EXTENT,
				    "an address of %s has more than 64 bits",
				    npu_registers[base].name);
	return linux_use_bytes(k, linux_value(k, m->region) & 7, at) || blame_stride(k, m);
}

bool
linux_use_fm(struct linux_walk *k, const struct linux_fm *m, uint32_t x,
	      uint32_t y, uint32_t c)
{
	if (!fm_is_set(k, m))
		return false;
	if (storage_of(k, m) == CHAINED)
		return true;
	if (storage_of(k, m) == TILES_3X1) { /* the rows that can have the largest address */
		uint32_t h0 = linux_value(k, m->h0), h1 = linux_value(k, m->h1);
		return use_element(k, m, x, 0, c) &&
		       (h0 >= h1 || h1 > y || use_element(k, m, x, h1, c)) &&
		       (h1 >= y || use_element(k, m, x, h1 + 1, c)) &&
		       use_element(k, m, x, y, c);
	}
	return use_element(k, m, 0, 0, c) && use_element(k, m, 0, y, c) &&
	       use_element(k, m, x, 0, c) && use_element(k, m, x, y, c);
}

bool
linux_use_ofm(struct linux_walk *k)
{
	if (!linux_use_fm(k, &linux_ofm, linux_value(k, NPU_OFM_WIDTH_M1),
			   linux_value(k, NPU_OFM_HEIGHT_M1),
			   linux_value(k, NPU_OFM_DEPTH_M1)))
		return false;
	if (storage_of(k, &linux_ofm) != CHAINED)
		k->use->written[linux_value(k, NPU_OFM_REGION) & 7] = true;
	return true;
}

/* ---- windows -------------------------------------------------------------- */

struct axis { /* height or width of a window: its registers, and its bits of KERNEL_STRIDE */
	enum npu_reg out, kernel, before, after;
	int low, high, dilation;
};
static const struct axis rows = {NPU_OFM_HEIGHT_M1,
				 NPU_KERNEL_HEIGHT_M1,
				 NPU_IFM_PAD_TOP,
				 NPU_IFM_PAD_BOTTOM,
				 1,
				 9,
				 4};
static const struct axis columns = {NPU_OFM_WIDTH_M1,
				    NPU_KERNEL_WIDTH_M1,
				    NPU_IFM_PAD_LEFT,
				    NPU_IFM_PAD_RIGHT,
				    0,
				    6,
				    3};

/*
 * The last row or column of the IFM that a window reads.  stretched: the driver's number,
 * which stretches a dilated kernel a second time.
 */
static int32_t
last_read(const struct linux_walk *k, const struct axis *a, bool stretched)
{
	uint32_t s = linux_value(k, NPU_KERNEL_STRIDE);
	uint32_t stride = (s >> a->high & 1) * 2 + (s >> a->low & 1) + 1;
	uint32_t kernel = linux_value(k, a->kernel);
	uint32_t padding = (linux_value(k, a->before) & 0x7f) +
			   (linux_value(k, a->after) & 0xff);
	if (stretched && s >> a->dilation & 1)
		kernel *= 2;
	return (int32_t)(linux_value(k, a->out) * stride + kernel - padding);
}

bool
linux_use_window(struct linux_walk *k)
{
	static const enum npu_reg window[] = {
	    NPU_KERNEL_WIDTH_M1, NPU_KERNEL_HEIGHT_M1,
	    NPU_KERNEL_STRIDE,	 NPU_IFM_PAD_TOP,
	    NPU_IFM_PAD_LEFT,	 NPU_IFM_PAD_RIGHT,
	    NPU_IFM_PAD_BOTTOM,	 NPU_REGS};
	if (!linux_are_set(k, window))
		return false;
	int32_t y = last_read(k, &rows, true), x = last_read(k, &columns, true);
	if (x < 0 || y < 0)
		return linux_refuse(
		    k, LINUX_PADDING,
		    "the padding is greater than the windows: the "
		    "last row and column of the IFM would be %d and %d",
		    y, x);
	k->reckoning = DRIVER_ONLY;
	uint32_t depth = linux_value(k, NPU_IFM_DEPTH_M1);
	bool ok = linux_use_fm(k, &linux_ifm, (uint32_t)x, (uint32_t)y, depth);
	/*
	 * The part that the NPU reads: the kernel registers contain the dilation, and an
	 * upscaled IFM has half the rows and columns.
	 */
	int upscaled = linux_value(k, NPU_IFM_UPSCALE) ? 1 : 0;
	y = last_read(k, &rows, false);
	x = last_read(k, &columns, false);
	k->reckoning = TOUCHED_ONLY;
	ok = ok && linux_use_fm(k, &linux_ifm, x < 0 ? 0 : (uint32_t)x >> upscaled,
				y < 0 ? 0 : (uint32_t)y >> upscaled, depth);
	k->reckoning = EXACT;
	return ok;
}
