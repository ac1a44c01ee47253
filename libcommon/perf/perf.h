/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an NPU operation costs, and when it runs.
 *
 * perf_cost costs one operation, perf_timeline places a command stream's operations
 * in time.  Both do so for one of two machines.  The calibrated one is the estimate
 * that plans are made and judged by: it agrees with Arm's model of the hardware
 * (npu-perf-accuracy(7)).  The other one is the timeline of published formulas
 * (ethosu-timing(7) 8), kept for comparison, as are the estimators of Vela 2.1,
 * Vela 3.12 and Regor 5.1, whose figures people know.
 */
#ifndef PERF_PERF_H
#define PERF_PERF_H

#include "stream/stream.h"
#include "target/target.h"

#define PERF_DISCLAIMER "this is an estimate by published formulas"
#define PERF_FITTED "this is an estimate, fitted to measurements"

/* ---- one operation, whoever describes it ------------------------------- */

/* a feature map; all zero: there is none */
struct perf_map {
	struct hwc shape; /* of the (striped) operation's access, stored elements */
	int bits;
	bool nhcwb16;
	enum mem_area area;
};

/* what the output stage does, as far as it costs: ethosu-timing(7) 2.4 */
enum perf_func { PERF_OTHER, PERF_MUL, PERF_ADD_SUB, PERF_MAXPOOL };

enum { PERF_CHAIN_READS = 4 };

struct perf_op {
	enum block_class class;
	enum perf_func func;
	enum act_column activation;
	enum upscale upscale;
	struct perf_map ifm, ifm2, ofm; /* a scalar IFM2: shape 1x1x1 */
	int kernel_h, kernel_w;		/* undilated; 1x1 for FC, elementwise */
	int stride_y, stride_x;
	int dilation_y, dilation_x;
	struct hwc block, ifm_block; /* as in SHRAM, not clipped to the maps */
	struct hwc ublock;	     /* that the block is worked on in */
	bool part_kernel, acc40;
	bool has_bias;	      /* scale records are read */
	bool fast_weights, sparse_weights;
	int64_t weight_bytes; /* encoded, of all cores; 0: none */
	int64_t scale_bytes;  /* likewise */
	enum mem_area weight_area, scale_area;
	struct perf_stage85 {
		int bits;	/* of results before a table; 0: the OFM's */
		bool divides;
		bool resizes, blends; /* RESIZE; of four elements each */
		bool moves;	/* what it makes is transposed or reversed ... */
		bool turns;	/* ... and rows become columns, or the other way */
		bool bare;	/* a copy for that, or for a table, alone */
		bool chained;	/* results stay in the unit */
		bool no_output; /* or in the accumulators */
		bool clamps;	/* to less than its type */
	} stage; /* U85 */
	/* U85: elementwise operations that work on it in the unit.  The OFM then is
	 * the last one's */
	struct perf_chain {
		int n;
		bool ended;
		double output_cycles; /* of an element, their sum */
		struct perf_map read[PERF_CHAIN_READS]; /* operands in memory */
		int n_reads;
		/* the last one reads nothing but the chain; a table or a ReLU
		 * is fused to it */
		bool ends_unary, ends_fused;
	} chain;
};


/* fills in ifm_block and ublock from block and the rest (ethosu-memory(7) 8.2) */
void perf_op_settle(struct perf_op *op, const struct accel *a);

/* accelerator and memories, with what perf_cost would compute every time */
struct perf_machine {
	const struct accel *accel;
	const struct memory_system *memory;
	double bytes_per_cycle[MEM_AREAS];
	/* the same of one channel, at most: U85's reads wait for their latency */
	double read_rate[MEM_AREAS][READ_CHANNELS], write_rate[MEM_AREAS];
	bool calibrated;
	double front_end_cycles; /* of the command stream for a kernel; 0: timeline */
};

struct perf_machine perf_machine_of(const struct accel *a,
				    const struct memory_system *m);

/*
 * The same for the calibrated estimate, by which all functions here cost as
 * measurements have it (npu-perf-accuracy(7)).
 */
struct perf_machine perf_machine_calibrated(const struct accel *a,
					    const struct memory_system *m);

/* was anything measured for this accelerator and these memories? */
bool perf_is_fitted(const struct perf_machine *m);

/* the cycles between which 8 of 10 measured networks are, by the networks that the
 * estimate was not fitted to */
struct perf_interval {
	double low, high;
};
struct perf_interval perf_interval_of(const struct perf_machine *m, double cycles);

/* ---- the cost of one kernel -------------------------------------------- */

struct perf_cost {
	double total;		  /* the larger of npu and every memory[] */
	int64_t npu;		  /* cycles, 2.4 to 2.6 */
	double memory[MEM_AREAS]; /* access cycles: burst-weighted, 2.2, 2.7 */
	double port[MEM_AREAS];	  /* of them, those that others can't use: less where
				   * a channel waits for its latency (22) */
	int64_t macs;
	int64_t blocks; /* of the OFM */
	/* accesses of 2.7, in elements */
	int64_t ifm_read, ifm2_read, ofm_write, weight_read;
	int64_t weight_passes; /* times that weights are fetched */
};

/*
 * Costs one operation (section 8, a kernel): NPU cycles of its block, and cycles
 * of every memory for feature maps, weights and scales.  Doesn't allocate;
 * needs op->ifm_block and ublock set and all extents at least 1.
 */
void perf_cost(const struct perf_machine *m, const struct perf_op *op,
	       struct perf_cost *out);

/* chain.c: adds a kernel that takes op's results from a chain buffer; false: op
 * leaves none there, or the chain is too long */
bool perf_chain_add(const struct perf_machine *m, struct perf_op *op,
		    const struct perf_op *next, bool chained[2]);

/*
 * cost.c: bytes that a transfer of bytes occupies its memory for: more than bytes
 * when the access pattern makes bursts shorter than the memory's (2.2).
 * block is the unclipped IFM block of a read, OFM block of a write.
 */
double perf_burst(const struct perf_machine *m, const struct perf_map *map,
		  bool write, struct hwc block, double bytes);

/* ---- when everything runs ----------------------------------------------- */

enum perf_step_kind {
	PERF_KERNEL,	  /* cycles: perf_cost's total */
	PERF_DMA,	  /* cycles: perf_dma_cycles */
	PERF_KERNEL_WAIT, /* until at most n kernels are outstanding */
	PERF_DMA_WAIT,	  /* until at most n transfers are outstanding */
};

struct perf_step {
	enum perf_step_kind kind;
	int n;
	double cycles;
	double memory[MEM_AREAS]; /* of them, busy at full bandwidth */
	double start, end; /* left by perf_timeline; a wait: when it ends */
};

/* bytes that take as long as so many rows of some bytes that an index names: each is
 * read in a burst of its memory at least */
int64_t perf_indexed_bytes(const struct perf_machine *m, int64_t rows, int64_t row,
			   enum mem_area from);
/* one transfer; to_shram: a table upload, whose destination never limits */
double perf_dma_cycles(const struct perf_machine *m, int64_t bytes,
		       enum mem_area from, enum mem_area to, bool to_shram);

/*
 * Walks the steps of one command stream in order with the three clocks of
 * section 8, fills in start and end, and returns the cycles until all is done.  On a
 * calibrated machine a kernel can't start before the front end has read its commands.
 */
double perf_timeline(const struct perf_machine *m, struct perf_step *steps,
		     size_t n);

/*
 * The timeline step by step, for who keeps no steps: begins with zeros, and is at its
 * end when both engines are.  kind, n, cycles: of a step; returns when that ends, and in
 * *start when it begins.
 */
enum { PERF_HISTORY = 8 }; /* more than any engine's outstanding operations */
struct perf_clocks {
	double t; /* the front end's */
	struct perf_engine { /* runs in order */
		double end[PERF_HISTORY]; /* of its latest operations, newest first */
	} kernels, dma;
};
double perf_clocks_run(struct perf_clocks *c, const struct perf_machine *m,
		       enum perf_step_kind kind, int n, double cycles, double *start);
double perf_clocks_end(const struct perf_clocks *c);

/*
 * The same walk, but a kernel and a transfer that run at the same time share
 * the bandwidth of each memory fairly, and slow down where it is too little.
 * A second estimate beside the timeline, which ignores that; neither was ever
 * held against silicon.
 */
double perf_contention(const struct perf_machine *m, struct perf_step *steps,
		       size_t n);

/* ---- command streams ----------------------------------------------------- */

/* memory behind a region: 0 constants, 2 cache, others the tensor arena */
enum mem_area perf_region_area(const struct memory_system *m, int region);

/* may it be costed?  A bound on every product that costing forms */
bool perf_op_fits(const struct perf_op *op);

/* one kernel or transfer of a stream, costed and placed in time */
struct perf_row {
	struct npu_op npu; /* as decoded */
	struct perf_step step;
	/* kernels */
	struct perf_op op;
	struct perf_cost cost;
	ptrdiff_t weight_dma;  /* row that fetched its weights' beginning, or -1 */
	int64_t fetched_bytes; /* of all such transfers that it is the first to use */
	/* transfers */
	int64_t dma_bytes;
	enum mem_area dma_from, dma_to; /* to: unless to_shram */
	bool to_shram, is_weights;
};

/* what one stream costs */
struct perf_run {
	struct perf_row *row; /* kernels, transfers and waits, in order */
	size_t n;
	double cycles;	      /* by the timeline */
	double contention;    /* by perf_contention */
	/* what it can't be faster than, see perf_bound */
	double kernel_cycles; /* sum of NPU cycles */
	double sram_bound;    /* sum of the larger of NPU and SRAM cycles */
	bool loops;	      /* it branches back: everything counts once */
};

bool perf_stream(struct arena *a, const struct perf_machine *m,
		 const struct npu_stream *s, struct perf_run *out,
		 struct err *e);

/* weight elements of a kernel before encoding, 0 if it has none */
int64_t perf_original_weights(const struct perf_op *op);

/*
 * Weights of several streams of one model, every distinct encoded stream
 * counted once: bytes without scale records, and elements before encoding.
 */
struct perf_weight_sum {
	int64_t encoded_bytes, original;
};

struct perf_weight_sum perf_weights(struct arena *a, const struct perf_run *run,
				    size_t n);

/*
 * Bytes of the constants' region that several streams of one model read at
 * all, each byte counted once.
 */
int64_t perf_constants_read(struct arena *a, const struct perf_run *run,
			    size_t n);

#endif
