/* SPDX-License-Identifier: Apache-2.0 */
/* What the estimators share: the parts of 2.2 and 2.5. */
#ifndef PERF_COST_H
#define PERF_COST_H

#include "base/fixed.h"
#include "perf/perf.h"

/* sources: 2.5 steps 6 and 7; a scale record is 10 bytes */
enum { BIAS_RECORD_BYTES = 10, BIAS_BURST = 256, COMMAND_DEPTH = 4 };

static inline struct hwc
clipped(struct hwc a, struct hwc limit)
{
	return (struct hwc){ .h = a.h < limit.h ? a.h : limit.h,
			     .w = a.w < limit.w ? a.w : limit.w,
			     .c = a.c < limit.c ? a.c : limit.c };
}

/* depth as stored: whole bricks in NHCWB16 (2.6) */
static inline int64_t
stored_depth(const struct perf_map *f)
{
	return f->nhcwb16 ? round_up_i64(f->shape.c, BRICK) : f->shape.c;
}

static inline int64_t
stored_elements(const struct perf_map *f)
{
	return (int64_t)f->shape.h * f->shape.w * stored_depth(f);
}

/* the clipped blocks of an operation, and how many make up its OFM */
struct perf_tiling {
	struct hwc ifm, ofm; /* block extents */
	struct hwc n;	     /* OFM blocks */
	int sub_kernels_y, sub_kernels_x;
};

struct perf_tiling perf_tiling_of(const struct perf_op *op);

/* what one block needs of its memories: 2.3 */
struct block_memory {
	double ifm, ofm;
};
struct block_memory perf_block_memory(const struct perf_machine *m,
				      const struct perf_op *op);

/* the sum over all sub-kernels, of which at most four sizes differ */
double perf_sub_kernels(const struct perf_op *op, const struct perf_tiling *t,
			double (*cycles)(void *ctx, int64_t e), void *ctx);

int64_t perf_whole(double cycles);

/*
 * calibrated.c: fills in npu, memory[], port[] and total of a cost whose blocks and
 * accesses are counted, and counts IFM reads and weight passes anew.  element_cycles:
 * of the output stage, with those of a chain.
 */
void perf_cost_calibrated(const struct perf_machine *m, const struct perf_op *op,
			  const struct perf_tiling *t, double element_cycles,
			  struct perf_cost *c);

/* cost85.c: NPU cycles of U85 (ethosu-timing(7) 23 and 24) */
void perf_cost85_mac(const struct perf_machine *m, const struct perf_op *op,
		     struct perf_tiling *t, struct perf_cost *c);
/* its parts: cycles of an element's output, of a block's products (pool: a factor of
 * pools), and how many blocks there are, partial ones in part */
double perf_output85(const struct accel *a, const struct perf_op *op);
/* cycles of an element's output with its chain; RESIZE: of what it blends, too */
double perf_element85(const struct accel *a, const struct perf_op *op);
double perf_mac85(const struct accel *a, const struct perf_op *op,
		  const struct perf_tiling *t, int pool);
double perf_blocks85(const struct perf_op *op, const struct perf_tiling *t);
void perf_cost85_elementwise(const struct perf_machine *m,
			     const struct perf_op *op, struct perf_cost *c);

/* ---- cost.c ---------------------------------------------------------------- */

/* where Vela 3.12 and Regor differ in 2.5 step 4 (4.3) */
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
 * Bytes of one contiguous access, the table of 2.2.  pixel_bytes: what is
 * compared with the block's depth to find whole pixels in NHWC.
 */
int64_t perf_access_bytes(const struct perf_map *f, bool write, struct hwc b,
			  int cores, int64_t pixel_bytes);

#endif
