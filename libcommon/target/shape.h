/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes, and the numbers that all accelerators share. */
#ifndef TARGET_SHAPE_H
#define TARGET_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

struct hwc {
	int32_t h, w, c;
};

static inline int64_t
hwc_elements(struct hwc s)
{
	return (int64_t)s.h * s.w * s.c;
}

static inline bool
hwc_equal(struct hwc a, struct hwc b)
{
	return a.h == b.h && a.w == b.w && a.c == b.c;
}

enum upscale { UPSCALE_NONE, UPSCALE_NEAREST, UPSCALE_ZEROS };

/*
 * The order in which results are stored: with columns and channels exchanged, or with
 * one axis reversed.
 */
enum out_order { ORDER_HWC, ORDER_HCW, ORDER_REVERSE_H, ORDER_REVERSE_W,
	     ORDER_REVERSE_C };

/* operations as the rules of target/blocks.h tell them apart */
enum block_class {
	BLOCK_CONV, BLOCK_DEPTHWISE, BLOCK_FC, BLOCK_POOL, BLOCK_REDUCE_SUM,
	BLOCK_ELEMENTWISE, BLOCK_MATMUL, BLOCK_RESIZE,
};

/* U85: units that read memory; each has a limit of outstanding data: ethosu-timing(7) 22 */
enum read_channel { READ_COPY, READ_STREAM, READ_WEIGHTS, READ_FAST_WEIGHTS,
		    READ_IFM, READ_SCALES, READ_CHANNELS };
/* activations, as the cycles of the output stage tell them apart: ethosu-timing(7) 1 */
enum act_column { ACT_TABLE, ACT_RELU, ACT_NONE, ACT_COLUMNS };

enum {
	SHRAM_BANK_BYTES = 1024,
	SHRAM_OUTPUT_BANKS = 2, /* output staging, at the start of SHRAM */
	LUT_BYTES = 2048,	/* table memory, at the end of SHRAM */
	BRICK = 16,		/* channels of an NHCWB16 brick */
	MAX_KERNELS = 2,	/* outstanding kernel operations */
	DMA_QUEUE = 4,		/* outstanding transfers, for all accelerators */
	MAX_BLOCK_H = 32, MAX_BLOCK_W = 64, MAX_BLOCK_C = 128,
	SUBKERNEL_MAX = 8,
};

#endif
