/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the cost model that several estimators share: ethosu-timing(7) 2.2 and 2.5. */
#ifndef PERF_COST_H
#define PERF_COST_H

#include "base/fixed.h"
#include "perf/perf.h"

/* Constants of ethosu-timing(7) 2.5, steps 6 and 7.  A scale record has 10 bytes. */
enum { BIAS_RECORD_BYTES = 10, BIAS_BURST = 256, COMMAND_DEPTH = 4 };

static inline struct hwc
clipped(struct hwc a, struct hwc limit)
{
	return (struct hwc){ .h = a.h < limit.h ? a.h : limit.h,
			     .w = a.w < limit.w ? a.w : limit.w,
			     .c = a.c < limit.c ? a.c : limit.c };
}

/* depth as stored: rounded up to whole bricks in NHCWB16 (ethosu-timing(7) 2.6) */
static inline int64_t
stored_depth(const struct perf_fm *f)
{
	return f->nhcwb16 ? round_up_i64(f->shape.c, BRICK) : f->shape.c;
}

static inline int64_t
stored_elements(const struct perf_fm *f)
{
	return (int64_t)f->shape.h * f->shape.w * stored_depth(f);
}

/* the blocks of an operation, clipped to its feature maps, and their number */
struct perf_tiling {
	struct hwc ifm, ofm; /* extents of the clipped blocks */
	struct hwc n;	     /* number of OFM blocks per axis */
	int sub_kernels_y, sub_kernels_x;
};

struct perf_tiling perf_tiling_of(const struct perf_op *op);

/* memory cycles to read one IFM block and to write one OFM block: ethosu-timing(7) 2.3 */
struct block_memory {
	double ifm, ofm;
};
struct block_memory perf_block_memory(const struct perf_machine *m,
				      const struct perf_op *op);

/*
 * Sums cycles(ctx, elements) over all sub-kernels, which have at most four different
 * sizes.
 */
double perf_sub_kernels(const struct perf_op *op, const struct perf_tiling *t,
			double (*cycles)(void *ctx, int64_t e), void *ctx);

int64_t perf_whole_cycles(double cycles);

/*
 * calibrated.c: sets npu, memory[], port[] and total of *c, whose blocks, MACs and
 * accesses have been counted.  Recounts ifm_read and weight_passes.
 *
 * element_cycles: cycles per element in the output stage, including a chain's.
 */
void perf_cost_calibrated(const struct perf_machine *m, const struct perf_op *op,
			  const struct perf_tiling *t, double element_cycles,
			  struct perf_cost *c);

/* cost85.c: NPU cycles of U85 (ethosu-timing(7) 23 and 24) */
void perf_cost85_mac(const struct perf_machine *m, const struct perf_op *op,
		     struct perf_tiling *t, struct perf_cost *c);
/*
 * Parts of perf_cost85_mac:
 *
 *   perf_output85   output cycles per element, without a chain's
 *   perf_element85  output cycles per element, with a chain's and RESIZE's blending
 *   perf_mac85      cycles of the dot products of a block; pool: factor of pools
 *   perf_blocks85   number of OFM blocks, partial blocks counted as fractions
 */
double perf_output85(const struct accel *a, const struct perf_op *op);
double perf_element85(const struct accel *a, const struct perf_op *op);
double perf_mac85(const struct accel *a, const struct perf_op *op,
		  const struct perf_tiling *t, int pool);
double perf_blocks85(const struct perf_op *op, const struct perf_tiling *t);
void perf_cost85_elementwise(const struct perf_machine *m,
			     const struct perf_op *op, struct perf_cost *c);

/* ---- cost.c ---------------------------------------------------------------- */

/*
 * where Vela 3.12 and Regor differ: ethosu-timing(7) 2.5, step 4, and
 * ethosu-timing(7) 4.3
 */
struct perf_rules {
	bool conv1d_depthwise; /* depthwise has the Conv1D arrangement too */
	int pool8, pool16;     /* factors of pooling, except on U55-32 */
};

/*
 * Dot-product cycles of one block, summed over the cores.  Adjusts the block
 * height of t for Conv1D.
 */
int64_t perf_block_mac(const struct accel *a, const struct perf_op *op,
		       struct perf_rules rules, struct perf_tiling *t);

/*
 * Returns the bytes of one contiguous access, by the table of 2.2.  pixel_bytes: number
 * that is compared with the block's depth to detect whole pixels in NHWC.
 */
int64_t perf_access_bytes(const struct perf_fm *f, bool write, struct hwc b,
			  int cores, int64_t pixel_bytes);

#endif
