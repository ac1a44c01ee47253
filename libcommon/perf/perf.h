/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates how many cycles an NPU operation takes, and when each operation of a stream
 * runs.
 *
 * perf_cost estimates one operation.  perf_timeline computes the start and end of every
 * operation of a command stream.
 *
 * Both functions work for one of three kinds of struct perf_machine:
 *
 *   - calibrated: the estimate that is shown.  It agrees with Arm's simulator of the NPU
 *     (npu-perf-accuracy(7)).
 *   - published formulas (ethosu-timing(7) 8): kept for comparison, as are the
 *     estimators of Vela 2.1, Vela 3.12 and Regor 5.1, whose figures are familiar to users.
 *   - robust: the objective of the scheduler.  A kernel takes the mean of its calibrated
 *     and its published cycles, everything else is as calibrated (npu-sched-search(7)).
 */
#ifndef PERF_PERF_H
#define PERF_PERF_H

#include "target/memory.h"
#include "target/shape.h"

struct npu_op;
struct npu_stream;

#define PERF_DISCLAIMER "this is an estimate by published formulas"
#define PERF_FITTED "this is an estimate, fitted to Arm's simulator of the NPU"
#define PERF_MEASURED "this is an estimate, fitted to measurements of a device"

/* ---- description of one operation --------------------------------------- */

/* a feature map; all members are 0 if the operation has no such operand */
struct perf_fm {
	struct hwc shape; /* elements as stored, of this (striped) operation's accesses only */
	int bits;
	bool nhcwb16;
	enum mem_area area;
};

/* operation of the output stage, as far as its cycles differ: ethosu-timing(7) 2.4 */
enum perf_func { PERF_OTHER, PERF_MUL, PERF_ADD_SUB, PERF_MAXPOOL };

enum { PERF_CHAIN_READS = 4 };

struct perf_op {
	enum block_class class;
	enum perf_func func;
	enum act_column activation;
	enum upscale upscale;
	struct perf_fm ifm, ifm2, ofm; /* a scalar IFM2 has shape 1x1x1 */
	int kernel_h, kernel_w;		/* without dilation; 1x1 for FC and elementwise */
	int stride_y, stride_x;
	int dilation_y, dilation_x;
	struct hwc block, ifm_block; /* as in SHRAM, not clipped to the feature maps */
	struct hwc ublock;	     /* microblock in which the block is computed */
	bool part_kernel, acc40;
	bool has_bias;	      /* the operation reads scale records */
	bool fast_weights, sparse_weights;
	int64_t weight_bytes; /* encoded bytes of all cores; 0: no weights */
	int64_t scale_bytes;  /* bytes of scale records of all cores; 0: none */
	enum mem_area weight_area, scale_area;
	struct perf_stage85 {
		int bits;	/* bits of a result before the lookup table; 0: same as
				 * the OFM */
		bool divides;
		bool resizes, blends; /* RESIZE; bilinear RESIZE, which blends four elements */
		bool moves;	/* the output is transposed or reversed */
		bool turns;	/* transpose WHC, WCH or CWH, or reversed columns: takes
				 * more cycles than other moves */
		bool bare;	/* an unscaled copy, made only for a move or a lookup table */
		bool chained;	/* the results go to a chain buffer inside the NPU */
		bool from_chain[2]; /* the IFM, IFM2 come from one */
		bool no_output; /* the results are not stored (chain or accumulators) */
		bool clamps;	/* clamp to a range narrower than the OFM's type */
	} stage; /* used by U85 only */
	/*
	 * U85 only: elementwise operations that take this operation's results from a
	 * chain buffer.  ofm then describes the output of the last of them.
	 */
	struct perf_chain {
		int n;
		bool ended;
		double output_cycles; /* output cycles per element, summed over the chain */
		struct perf_fm read[PERF_CHAIN_READS]; /* operands that are read from memory */
		int n_reads;
		/*
		 * last_is_unary: the last operation of the chain reads only the chained
		 * operand.  last_is_fused: it has a fused table or ReLU.
		 */
		bool last_is_unary, last_is_fused;
	} chain;
};

/*
 * Sets op->ifm_block and op->ublock from op->block and the other members
 * (ethosu-memory(7) 8.2).
 */
void perf_op_set_blocks(struct perf_op *op, const struct accel *a);

/*
 * An accelerator with its memories, and the rates that perf_cost would otherwise
 * compute on every call.
 */
struct perf_machine {
	const struct accel *accel;
	const struct memory_system *memory;
	double bytes_per_cycle[MEM_AREAS];
	/*
	 * Upper bound of one channel's rate, in bytes per cycle.  On U85 the memory
	 * latency limits a channel; elsewhere it equals bytes_per_cycle.
	 */
	double read_rate[MEM_AREAS][READ_CHANNELS], write_rate[MEM_AREAS];
	bool calibrated;
	bool one_sram; /* calibrated: SRAM is busy while constants, "on-chip flash", are read */
	double front_end_cycles; /* to read a kernel's commands; 0: published formulas */
	const struct perf_machine *published; /* the other half of a robust machine, or NULL */
};

struct perf_machine perf_machine_of(const struct accel *a,
				    const struct memory_system *m);

/*
 * Makes the machine of the calibrated estimate: all functions of this header then give
 * the cycles that measurements support (npu-perf-accuracy(7)).
 */
struct perf_machine perf_machine_calibrated(const struct accel *a,
					    const struct memory_system *m);

/*
 * Makes the machine of the scheduler's objective.  published: that of perf_machine_of(),
 * which must live as long as the result.
 */
struct perf_machine perf_machine_robust(const struct accel *a, const struct memory_system *m,
					const struct perf_machine *published);

/* true if the calibration includes measurements of this accelerator with these memories */
bool perf_is_fitted(const struct perf_machine *m);

/*
 * Interval, in cycles, around an estimate of `cycles`.  The interval contains the
 * measured cycles of 8 of 10 networks, if each network is estimated by a fit without
 * that network.
 */
struct perf_interval {
	double low, high;
};
struct perf_interval perf_interval_of(const struct perf_machine *m, double cycles);

/* ---- the cost of one kernel -------------------------------------------- */

/* ethosu-timing(7) 2.2 to 2.7; for port, ethosu-timing(7) 22 */
struct perf_cost {
	double total;		  /* by the published formulas: the largest of npu and
				   * all memory[]; calibrated: calibrated.c; robust: the
				   * mean of both */
	int64_t npu;		  /* cycles of NPU computation */
	double memory[MEM_AREAS]; /* cycles of access, weighted by bursts */
	double port[MEM_AREAS];	  /* cycles of memory[] in which the memory's port is
				   * busy; smaller than memory[] if a channel waits for
				   * its latency, larger if the memory holds the
				   * constants under another name (one_sram) */
	int64_t macs;
	int64_t blocks; /* number of OFM blocks */
	/* accesses in elements (ethosu-timing(7) 2.7) */
	int64_t ifm_read, ifm2_read, ofm_write, weight_read;
	int64_t weight_passes; /* number of times that all weights are fetched */
};

/*
 * Estimates one operation (ethosu-timing(7) 8, a kernel): the NPU cycles of its blocks,
 * and the cycles of each memory for feature maps, weights and scales.
 *
 * Requires op->ifm_block and op->ublock to be set and all extents to be at least 1.
 * Does not allocate.
 */
void perf_cost(const struct perf_machine *m, const struct perf_op *op,
	       struct perf_cost *out);

/*
 * chain.c: appends the operation next, which reads the results of op from a chain
 * buffer, to op->chain.  Returns false if op does not write to a chain buffer, or if the
 * chain is too long.
 */
bool perf_chain_add(const struct perf_machine *m, struct perf_op *op,
		    const struct perf_op *next);

/* calibrated.c: true if a feature map of op is in DRAM: each of its blocks then takes longer */
bool perf_touches_dram(const struct perf_op *op);

/*
 * cost.c: returns the bytes of bandwidth that a transfer of `bytes` uses up.  The
 * result exceeds `bytes` if the access pattern makes bursts shorter than the memory's
 * (ethosu-timing(7) 2.2).
 *
 * block: the unclipped IFM block for a read, the OFM block for a write.
 */
double perf_burst(const struct perf_machine *m, const struct perf_fm *f,
		  bool write, struct hwc block, double bytes);

/* ---- timeline ------------------------------------------------------------ */

enum perf_step_kind {
	PERF_KERNEL,	  /* cycles: total of perf_cost */
	PERF_DMA,	  /* cycles: result of perf_dma_cycles */
	PERF_KERNEL_WAIT, /* waits until at most n kernels are outstanding */
	PERF_DMA_WAIT,	  /* waits until at most n transfers are outstanding */
};

struct perf_step {
	enum perf_step_kind kind;
	int n;
	double cycles;
	double memory[MEM_AREAS]; /* cycles of each memory at full bandwidth, part of cycles */
	double port[MEM_AREAS];	  /* cycles for which each memory's port is busy */
	double start, end; /* in cycles, set by perf_timeline */
};

/*
 * Returns the bytes that a contiguous transfer could copy in the time of an indexed
 * one: `rows` rows of `row` bytes, each at least one burst of its memory.
 */
int64_t perf_indexed_bytes(const struct perf_machine *m, int64_t rows, int64_t row,
			   enum mem_area from);
/*
 * Returns the cycles of one transfer.  to_shram: a table upload; its destination never
 * limits the rate.
 */
double perf_dma_cycles(const struct perf_machine *m, int64_t bytes,
		       enum mem_area from, enum mem_area to, bool to_shram);
/* Adds the cycles for which the same transfer keeps each memory busy. */
void perf_dma_memory(const struct perf_machine *m, int64_t bytes, enum mem_area from,
		     enum mem_area to, bool to_shram, double memory[MEM_AREAS]);

/*
 * Walks over the n steps of one command stream in order, with the three clocks of
 * ethosu-timing(7) 8.  Sets start and end of each step and returns the cycle at which all
 * operations are done.  The result is no less than the cycles for which all operations
 * together keep any one memory busy.  On a calibrated machine, a kernel starts only
 * after the front end has read its commands.
 */
double perf_timeline(const struct perf_machine *m, struct perf_step *steps,
		     size_t n);

/*
 * perf_timeline one step at a time, for callers that do not store the steps.  A zeroed
 * struct perf_clocks is the initial state.
 *
 * perf_clocks_run adds a step of this kind, n, cycles and port (struct perf_step), sets
 * *start to the cycle at which the step starts, and returns the cycle at which it ends.
 * port is NULL for a wait.  perf_clocks_end returns the cycle at which both engines
 * and all memories are done.
 */
enum { PERF_HISTORY = 8 }; /* exceeds the outstanding operations of any engine */
struct perf_clocks {
	double t; /* time of the front end, in cycles */
	struct perf_engine { /* executes its operations in order */
		double end[PERF_HISTORY]; /* end cycles of its latest operations, newest
					   * first */
	} kernels, dma;
	double busy[MEM_AREAS]; /* cycles for which each memory's port was busy */
};
double perf_clocks_run(struct perf_clocks *c, const struct perf_machine *m,
		       enum perf_step_kind kind, int n, double cycles,
		       const double *port, double *start);
double perf_clocks_end(const struct perf_clocks *c);

/*
 * Does the same walk as perf_timeline with shared bandwidth: a kernel and a transfer
 * that run at the same time share each memory fairly and slow down where its bandwidth
 * is too small.  No port is busy for longer than the result.  This is a second estimate
 * beside the timeline, which ignores sharing.
 * It came no nearer to the measurements of npu-perf-accuracy(7), and is only reported.
 */
double perf_contention(const struct perf_machine *m, struct perf_step *steps,
		       size_t n);

/* ---- records --------------------------------------------------------------- */

/*
 * work.c: describes a kernel (npu_is_kernel), whether it is decoded from a stream or from a graph
 * (emit_record).  Its ifm_block is not set.
 */
void perf_describe(const struct perf_machine *m, const struct npu_op *op, struct perf_op *out);

/*
 * Returns the memory area of a region: region 0 is constants, 2 is cache, any other is
 * the tensor arena.
 */
enum mem_area perf_region_area(const struct memory_system *m, int region);

/* ---- command streams ----------------------------------------------------- */

/*
 * Returns true if op is small enough for perf_cost: bounds every product that perf_cost
 * computes.
 */
bool perf_op_fits(const struct perf_op *op);

/* one kernel, transfer or wait of a stream with its cost and its time */
struct perf_row {
	const struct npu_op *npu; /* the record of the operation */
	struct perf_step step;
	/* kernels only */
	struct perf_op op;
	struct perf_cost cost;
	ptrdiff_t weight_dma;  /* index of the row that fetched the first byte of its
				* weights; -1: none */
	int64_t fetched_bytes; /* by all weight transfers that this kernel is the first
				* to use */
	/* transfers only */
	int64_t dma_bytes;
	enum mem_area dma_from, dma_to; /* dma_to is unused if to_shram */
	bool to_shram, is_weights;
};

/* the estimate of one stream */
struct perf_run {
	struct perf_row *row; /* kernels, transfers and waits, in execution order */
	size_t n;
	double cycles;	      /* result of perf_timeline */
	double contention;    /* result of perf_contention */
	/* lower bounds on cycles */
	double kernel_cycles; /* sum of the kernels' NPU cycles */
	double sram_bound;    /* sum over kernels of the larger of NPU and SRAM cycles */
	bool loops;	      /* the stream branches backwards; each operation counts once */
	double front_end_cycles; /* of the machine */
};

/*
 * The cycles before a kernel's row in which no kernel ran: at the end of this time the front end
 * reads the kernel's commands; before, the NPU waits for transfers (schema/limits.def).
 */
struct perf_stall {
	double transfers, start;
};
struct perf_stall perf_stall(const struct perf_run *run, size_t row);

bool perf_stream(struct arena *a, const struct perf_machine *m,
		 const struct npu_stream *s, struct perf_run *out,
		 struct err *e);
/* The same estimate of the n operations of a stream, whose records must live as long as *out. */
bool perf_records(struct arena *a, const struct perf_machine *m, const struct npu_op *op,
		  size_t n, struct perf_run *out, struct err *e);

/*
 * Returns the number of a kernel's weight elements before encoding, 0 if it has no
 * weights.
 */
int64_t perf_original_weights(const struct perf_op *op);

/*
 * Returns where the weights of a core are stored before any transfer to a buffer; n is 0
 * if the row is no kernel, or if the core has no weights.
 */
struct npu_range perf_weight_source(const struct perf_run *run, const struct perf_row *row,
				    int core);

/*
 * Sums the weights of n streams of one model, each distinct encoded stream once: bytes
 * without scale records, and elements before encoding.
 */
struct perf_weight_sum {
	int64_t encoded_bytes, original;
};

struct perf_weight_sum perf_weights(struct arena *a, const struct perf_run *run,
				    size_t n);

/*
 * Returns the bytes of the constants' region that n streams of one model read, each
 * byte counted once.
 */
int64_t perf_constants_read(struct arena *a, const struct perf_run *run,
			    size_t n);

#endif
