/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The estimator of Vela 2.1 (late 2020): ethosu-timing(7) 3.  It works on passes, not
 * on command streams.  A pass is an operation with the tensors that it reads and
 * writes.  Its cycles are the maximum of compute cycles and the cycles of each memory.
 * perf_estimate (estimate.h) makes passes of a stream.
 */
#ifndef PERF_VELA21_H
#define PERF_VELA21_H

#include "perf/perf.h"

/* The kinds of cycles of a pass; the total is the maximum of the others. */
enum v21_cycles {
	V21_NPU, V21_CPU, V21_SRAM, V21_DRAM, V21_ON_CHIP_FLASH,
	V21_OFF_CHIP_FLASH, V21_TOTAL, V21_CYCLES
};

enum v21_macs { V21_NN_MACS, V21_HARDWARE_MACS, V21_MACS };
enum v21_direction { V21_READ, V21_WRITE, V21_DIRECTIONS };

enum { V21_SHRAM = MEM_AREAS, V21_AREAS }; /* tables are in SHRAM */
enum v21_purpose { V21_FEATURE_MAP, V21_WEIGHTS, V21_SCRATCH, V21_LUT,
		   V21_PURPOSES };
enum v21_format { V21_NHWC, V21_NHCWB16, V21_OPAQUE };
enum v21_traversal { V21_DEFAULT, V21_DEPTH_FIRST, V21_PART_KERNEL,
		     V21_DEPTHWISE };

/*
 * Shape of a tensor.  Weights have h, w, input depth, output depth, and no n; those of
 * FC have h = w = 1.
 */
struct v21_shape {
	int32_t n, h, w, c; /* feature maps */
	int32_t in, out;    /* weights: input and output depth; the kernel is h, w */
};

struct v21_tensor {
	struct v21_shape shape, stored; /* stored: as it is transferred */
	int bits;
	enum v21_format format;
	bool avoid_nhcwb16; /* false: costed as NHCWB16 */
	int area;	    /* enum mem_area or V21_SHRAM */
	enum v21_purpose purpose;
	double compression; /* transferred bytes per stored byte */
	bool has_scale;
	float scale;
};

double v21_tensor_bytes(const struct v21_tensor *t); /* of one whole transfer */

/* ---- parts ------------------------------------------------------------- */

struct v21_plane { /* a vertical and a horizontal value */
	int32_t y, x;
};

/* blocks of one size that cover a part of the OFM */
struct v21_group {
	int64_t n;
	struct v21_plane size;
};

struct v21_cover {
	int64_t blocks, area;	   /* area: IFM elements read per channel */
	struct v21_group group[4]; /* body, bottom row, right column, corner */
};

/*
 * Covers an IFM plane of size (with padding) with blocks, and counts the elements that
 * they read. before/after: the plane's skirt. clamped_after: the skirt limited to the
 * reach of one sub-kernel. brick: granularity of reads.
 */
struct v21_cover v21_blocks(struct v21_plane size, struct v21_plane before,
			    struct v21_plane after,
			    struct v21_plane clamped_after,
			    struct v21_plane block, struct v21_plane min_block,
			    struct v21_plane stride, struct v21_plane brick);

int32_t v21_ifm_block_depth(enum block_class class, int32_t ifm_depth, int bits,
			    enum v21_traversal t, int32_t ofm_block_depth);

/* the properties of an operation that determine its compute cycles */
struct v21_work {
	enum block_class class;
	enum perf_func func;
	enum act_column activation;
	const struct v21_tensor *ifm, *ifm2, *ofm; /* ifm2: NULL if unary */
	bool resize_bilinear;
	int32_t kernel_h, kernel_w;
	enum v21_traversal traversal;
	struct hwc block;
};

double v21_output_cycles(const struct accel *a, const struct v21_work *w,
			 double elements, bool acc40);
/* 16-bit IFM, not a pool, and IFM and OFM have scales */
bool v21_acc40(const struct v21_work *w);
/* for convolution, depthwise, FC, pooling, reduce-sum */
double v21_mac_cycles(const struct accel *a, const struct v21_work *w);

/*
 * Bytes that a transfer of bytes of t occupies its memory for.  They are more than
 * bytes if the block makes bursts shorter than 32 bytes (SRAM) or 128 bytes.
 */
double v21_bandwidth(const struct accel *a, int area, enum v21_direction d,
		     const struct v21_tensor *t, struct hwc block,
		     double bytes);

/* ---- passes ------------------------------------------------------------- */

enum v21_placement { V21_ON_NPU, V21_ON_CPU, V21_MEMORY_ONLY,
		     V21_STARTUP };

struct v21_metrics {
	double bytes[V21_AREAS][V21_PURPOSES][V21_DIRECTIONS];
	double macs[V21_MACS];
	double cycles[V21_CYCLES];
	int64_t blocks;
};

enum { V21_MAX_TENSORS = 8 };

struct v21_list {
	const struct v21_tensor *tensor[V21_MAX_TENSORS];
	int n;
};

struct v21_pass {
	enum v21_placement placement;
	struct v21_work work;	       /* if on the NPU */
	const struct v21_tensor *weights; /* NULL: no weights */
	struct v21_list inputs, outputs, intermediates;
	int32_t block_ifm_depth; /* of the block configuration */
	struct hwc ifm_block;	 /* determines the read bursts */
	struct v21_plane min_block, stride, brick;
	struct v21_plane skirt_before, skirt_after;
	struct v21_plane padding_before, padding_after;
	double non_zero;	/* FC: share of constant inputs that are not 0 */
	double dma_bytes[MEM_AREAS]; /* of transfers that the pass starts, by source */
	bool after_npu_pass;	/* the pass before hides the transfers */
	double cpu_cycles;	/* if on the CPU */
	/* the tensors that a rewrite moves to fast storage, and whether outputs move too */
	struct v21_list to_fast;
	bool outputs_to_fast;
	enum mem_area fast_area;
};

void v21_pass_metrics(const struct perf_machine *m, const struct v21_pass *p,
		      struct v21_metrics *out);

/* computes memory cycles and the total from bytes and the other cycles */
void v21_summarise(const struct perf_machine *m, struct v21_metrics *x);

#endif
