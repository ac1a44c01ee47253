/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether an OFM block fits the SHRAM: ethosu-memory(7) 8. */
#include "target/blocks85.h"

#include "base/fixed.h"
#include "target/accel.h"

static int32_t
round_up(int32_t v, int32_t step)
{
	return (v + step - 1) / step * step;
}

/* Number of stored IFM rows (columns) that the rows of a block need. */
static int32_t
needed(int32_t v, int stride, int kernel, enum upscale up)
{
	int near = up == UPSCALE_NEAREST;
	int factor = up == UPSCALE_NONE ? 1 : 2;
	return ceil_div((v - 1) * stride + min_i32(kernel, SUBKERNEL_MAX) + near,
			factor);
}

static struct hwc
block55_ifm(const struct accel *a, const struct block_query *q, struct hwc b)
{
	struct hwc ib = {
		.h = round_up(needed(b.h, q->stride_y, q->kernel_h, q->upscale),
			      a->ublock.h),
		.w = round_up(needed(b.w, q->stride_x, q->kernel_w, q->upscale),
			      a->ublock.w),
		.c = b.c,
	};
	if (q->class == BLOCK_ELEMENTWISE || q->class == BLOCK_POOL || q->class == BLOCK_DEPTHWISE)
		return ib;
	if (q->ifm_bits == 16)
		ib.c = round_up(min_i32(q->ifm.c, 16), 4);
	else
		ib.c = round_up(min_i32(q->ifm.c, q->part_kernel ? 16 : 32), 8);
	return ib;
}

struct hwc
block_accumulated(const struct accel *a, const struct block_query *q,
		  struct hwc b)
{
	if (q->ofm.h == 1 && q->kernel_h == 1 && a->ublock.h == 2)
		b.h = min_i32(b.h, 1);
	return b;
}

static struct hwc
block55_bounds(const struct accel *a, const struct block_query *q)
{
	struct hwc ofm = q->ofm;
	return (struct hwc){
		.h = round_up(min_i32(ofm.h, MAX_BLOCK_H), a->ublock.h),
		.w = round_up(min_i32(ofm.w, MAX_BLOCK_W), a->ublock.w),
		.c = round_up(min_i32(ofm.c, MAX_BLOCK_C), a->ublock.c),
	};
}

static const char *
block55_limit(const struct accel *a, const struct block_query *q, struct hwc b)
{
	if (b.h < 1 || b.w < 1 || b.c < 1)
		return "has an empty dimension";
	if (b.h > MAX_BLOCK_H || b.w > MAX_BLOCK_W || b.c > MAX_BLOCK_C)
		return "is larger than 32x64x128";
	if (b.h % a->ublock.h || b.w % a->ublock.w || b.c % a->ublock.c)
		return "is not a multiple of the accelerator's microblock";
	if (b.c < q->ofm.c && b.c % BRICK)
		return "splits the OFM depth at other than a multiple of 16";
	if (q->upscale != UPSCALE_NONE && (b.h < 2 || b.w < 2 || b.h % 2 || b.w % 2))
		return "is odd or below 2 with an upscaled IFM";
	return NULL;
}

static int
banks_of(int64_t bytes, int granule)
{
	int64_t banks = (bytes + SHRAM_BANK_BYTES - 1) / SHRAM_BANK_BYTES;
	return (int)round_up_i64(2 * banks, granule); /* double buffered */
}

static bool
block55_layout(const struct accel *a, const struct block_query *q, struct hwc b,
	     struct shram_layout *out, int *banks)
{
	if (banks)
		*banks = 0;
	if (block55_limit(a, q, b))
		return false;
	struct hwc ib = block55_ifm(a, q, b);
	int lut = a->lut_banks ? a->lut_banks : q->uses_table ? 2 : 0;
	int lut_start = a->banks - lut;
	int64_t ifm_bytes = (int64_t)ib.h * ib.w *
			    round_up(ib.c * (q->ifm_bits / 8), 8);
	int ifm = banks_of(ifm_bytes, q->ifm_bits == 32 ? a->granule_ifm32
							: a->granule_ifm);
	*out = (struct shram_layout){ .ifm_block = ib, .ublock = a->ublock };

	int used;
	if (q->class == BLOCK_ELEMENTWISE) {
		out->ib2_start = SHRAM_OUTPUT_BANKS + ifm;
		out->ib_end = out->ab_start = lut_start;
		used = SHRAM_OUTPUT_BANKS + ifm * (q->one_tensor ? 1 : 2);
	} else {
		struct hwc acc = block_accumulated(a, q, b);
		int64_t bytes = (int64_t)acc.h * acc.w * round_up(acc.c, 8) *
				(q->acc40 ? 40 : 32) / 8;
		int n = banks_of(bytes, q->acc40 ? a->granule_acc40
						 : a->granule_acc32);
		out->ab_start = lut_start - n;
		out->ib_end = SHRAM_OUTPUT_BANKS + ifm;
		used = out->ib_end + n;
	}
	if (banks)
		*banks = used + lut;
	return used <= lut_start;
}

static bool
block55_part_kernel(int ifm_depth, int kernel_elements, int ifm_bits, bool sparse)
{
	(void)sparse;
	if (ifm_depth <= 8)
		return true;
	int unit = ifm_bits == 8 ? 32 : 16, element = ifm_bits == 8 ? 4 : 2;
	double depth = (double)ifm_depth / round_up(ifm_depth, unit);
	double part = (double)ifm_depth / round_up(ifm_depth, 8) *
		      ((double)kernel_elements / round_up(kernel_elements, element));
	return part >= depth;
}

/* ---- one function for each generation --------------------------------------- */

static struct hwc
block55_ublock(const struct accel *a, const struct block_query *q)
{
	(void)q;
	return a->ublock;
}

static bool
any_bits_part_kernel(int ifm_depth, int kernel_elements, int ifm_bits,
		     bool sparse)
{
	(void)ifm_bits;
	return block85_part_kernel(ifm_depth, kernel_elements, sparse);
}

static const struct rules {
	struct hwc (*ublock)(const struct accel *a, const struct block_query *q);
	struct hwc (*bounds)(const struct accel *a, const struct block_query *q);
	const char *(*limit)(const struct accel *a, const struct block_query *q,
			     struct hwc b);
	struct hwc (*ifm)(const struct accel *a, const struct block_query *q,
			  struct hwc b);
	bool (*layout)(const struct accel *a, const struct block_query *q,
		       struct hwc b, struct shram_layout *out, int *banks);
	bool (*part_kernel)(int ifm_depth, int kernel_elements, int ifm_bits,
			    bool sparse);
} rules[GENERATIONS] = {
#define BANKED                                                               \
	{ block55_ublock, block55_bounds, block55_limit, block55_ifm,        \
	  block55_layout, block55_part_kernel }
	[GEN_U55] = BANKED,
	[GEN_U65] = BANKED,
	[GEN_U85] = { block85_ublock, block85_bounds, block85_limit, block85_ifm,
		      block85_layout, any_bits_part_kernel },
};

struct hwc
block_ublock(const struct accel *a, const struct block_query *q)
{
	return rules[a->generation].ublock(a, q);
}

struct hwc
block_bounds(const struct accel *a, const struct block_query *q)
{
	return rules[a->generation].bounds(a, q);
}

const char *
block_limit(const struct accel *a, const struct block_query *q, struct hwc b)
{
	return rules[a->generation].limit(a, q, b);
}

struct hwc
block_ifm(const struct accel *a, const struct block_query *q, struct hwc b)
{
	return rules[a->generation].ifm(a, q, b);
}

bool
block_layout(const struct accel *a, const struct block_query *q, struct hwc b,
	     struct shram_layout *out, int *banks)
{
	return rules[a->generation].layout(a, q, b, out, banks);
}

bool
block_part_kernel(const struct accel *a, int ifm_depth, int kernel_elements,
		  int ifm_bits, bool sparse)
{
	return rules[a->generation].part_kernel(ifm_depth, kernel_elements,
						ifm_bits, sparse);
}

struct hwc
block_step(const struct accel *a, const struct block_query *q)
{
	struct hwc u = block_ublock(a, q);
	int32_t even = q->upscale == UPSCALE_NONE ? 1 : 2;
	/*
	 * ORDER_HCW: columns become channels and must fill bricks.  ORDER_REVERSE_C: a
	 * block is one brick deep.
	 */
	bool bricks = q->order == ORDER_HCW && q->bricks;
	int32_t w = bricks ? BRICK : even;
	if (q->class == BLOCK_RESIZE)
		return (struct hwc){ .h = 1, .w = 1, .c = BRICK };
	return (struct hwc){ .h = u.h > even ? u.h : even, .w = u.w > w ? u.w : w,
			     .c = q->order == ORDER_REVERSE_C ? BRICK : u.c };
}

struct block_sizes
block_sizes_of(int32_t extent, int32_t most, int32_t unit, int32_t split_unit)
{
	struct block_sizes s = { .n = 0 };
	for (int32_t b = unit; b <= most && s.n < MAX_BLOCK_SIZES; b += unit) {
		if (b < extent && b % split_unit)
			continue;
		bool same = s.n && ceil_div(extent, b) == ceil_div(extent, s.v[s.n - 1]);
		if (!same)
			s.v[s.n++] = b;
	}
	return s;
}
