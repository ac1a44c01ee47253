/* SPDX-License-Identifier: Apache-2.0 */
/* The rules by which an OFM block fits the accelerator's SHRAM. */
#ifndef TARGET_BLOCKS_H
#define TARGET_BLOCKS_H

#include "target/shape.h"

struct accel;

/* True if a result depends on all channels of the IFM. */
static inline bool
block_class_is_deep(enum block_class c)
{
	return c == BLOCK_CONV || c == BLOCK_FC || c == BLOCK_MATMUL ||
	       c == BLOCK_REDUCE_SUM;
}

/*
 * The properties of an operation that decide whether a block fits.  The shapes are
 * those of the operation, or of one stripe of it.
 */
struct block_query {
	enum block_class class;
	struct hwc ifm, ofm; /* ifm: the larger input of an elementwise operation */
	int ifm_bits;
	int kernel_h, kernel_w; /* size after dilation */
	int stride_y, stride_x;
	enum upscale upscale;
	enum out_order order; /* ofm and blocks are in the order before reordering */
	bool bricks;	  /* the OFM is stored as NHCWB16 */
	int up_x, down_x; /* RESIZE: grid units per IFM and OFM column */
	bool part_kernel, sparse;
	bool uses_table;
	bool acc40;
	bool one_tensor; /* elementwise operation with a scalar operand */
	/*
	 * U85: ublock is the microblock to use.  With ublock.c 0, it is the microblock
	 * that suits the operation and pads the OFM `whole` least; with whole.c 0,
	 * `ofm` is used instead.
	 */
	struct hwc ublock, whole;
	bool repeats_h, repeats_w, repeats_c; /* elementwise: an operand is broadcast along
					       * this axis */
};

struct shram_layout {
	struct hwc ifm_block, ublock;
	int ib_end, ab_start, ib2_start; /* bank numbers; ib2 is for elementwise operations
					  * only */
};

/*
 * Computes the SHRAM layout of an OFM block, by ethosu-memory(7) 8.2.  Returns false if
 * the block does not fit, or breaks the limits of 8.1. *banks (may be NULL) is set to
 * the number of banks that the block needs.
 */
bool block_layout(const struct accel *a, const struct block_query *q,
		  struct hwc block, struct shram_layout *out, int *banks);

/* Returns the limit of ethosu-memory(7) 8.1 that a block breaks, or NULL. */
const char *block_limit(const struct accel *a, const struct block_query *q,
			struct hwc block);

/* Returns the IFM block that an OFM block needs: ethosu-memory(7) 8.2; U85: 28.2. */
struct hwc block_ifm(const struct accel *a, const struct block_query *q,
		     struct hwc block);
/*
 * U85: depth of an IFM block in the IFM buffer, in elements, rounded up to whole
 * allocation units.  ublock: microblock of the operation; bits: size of an element.
 */
int32_t block85_ifm_held(const struct accel *a, struct hwc ublock, int32_t depth,
			 int bits);

/* Returns the block in the accumulators: "Conv1D adjustment", ethosu-memory(7) 8.2. */
struct hwc block_accumulated(const struct accel *a, const struct block_query *q,
			     struct hwc block);

/* Returns the largest useful block for this OFM, rounded up to the microblock. */
struct hwc block_bounds(const struct accel *a, const struct block_query *q);

/* Block extents are multiples of these; the depth may also be the whole OFM depth. */
struct hwc block_step(const struct accel *a, const struct block_query *q);

/* Returns the microblock in which the operation is computed. */
struct hwc block_ublock(const struct accel *a, const struct block_query *q);

/*
 * Sizes of a block along an axis that can be the fastest: for 1, 2, ... pieces of the axis, the
 * smallest size in steps of unit, at most `most`.  A size below the extent is a multiple of
 * split_unit.
 */
enum { MAX_BLOCK_SIZES = 64 };
struct block_sizes {
	int32_t v[MAX_BLOCK_SIZES];
	int n;
};
struct block_sizes block_sizes_of(int32_t extent, int32_t most, int32_t unit,
				  int32_t split_unit);

/*
 * True if part-kernel-first traversal is at least as efficient as depth-first:
 * ethosu-weights(7) 2.5, where "beats" means >=.
 */
bool block_part_kernel(const struct accel *a, int ifm_depth, int kernel_elements,
		       int ifm_bits, bool sparse);

#endif
