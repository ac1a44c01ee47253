/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu-sched chooses block configurations, layouts, stripes and their rolling buffers, the times
 * at which weights are fetched, and addresses.  The search makes plans, costs them as npu-perf
 * does, and compares them.  The best plan is written into the graph.
 *
 * A folder uses only itself and the folders before it (tests/arrows.bats): network (how
 * operations use tensors; struct plan), costs (of kernels and blocks), memory (live ranges and
 * addresses), weights (slices and transfers), cascades, plans, search, split, batch.  The
 * passes beside main.c use any folder (passes.h).
 *
 * This header declares what all of them share: the network with its options and its machine.
 */
#ifndef NPU_SCHED_SCHED_H
#define NPU_SCHED_SCHED_H

#include "graph/records.h"
#include "perf/perf.h"
#include "rewrite/exact.h"
#include "weights/weights.h"

/* Goal of the plan: the fewest cycles; the fewest bytes of all that is stored, then the fewest
 * cycles; or few bytes of SRAM for few more cycles than the fastest plan. */
enum goal { GOAL_PERFORMANCE, GOAL_SIZE, GOAL_BALANCED };

/* The cycles that plans are compared by: the mean of two estimates (perf_machine_robust), or one
 * of them. */
enum model { MODEL_ROBUST, MODEL_CALIBRATED, MODEL_TIMELINE };

struct options {
	const char *input, *output;
	const char *accel, *config, *system, *mode, *part;
	bool any_accelerator; /* accept a profile made for another accelerator */
	enum goal goal;	  /* --optimise */
	enum model model;
	bool verbose;
	bool list_config, list_graph, list_allocation; /* --verbose-... */
	int effort, level;	/* 1 to 9 */
	unsigned jobs;	/* threads; 0: one per processor */
	int64_t cache_bytes; /* --arena-cache-size; 0: option absent */
	bool limited;	     /* --arena-cache-size is given */
	double within;	     /* --within, in percent; negative: option absent */
	bool allow_overflow; /* if no plan is within the SRAM of the part, take one without this limit */
	int64_t max_cycles;  /* 0: no limit */
	int64_t yield_every; /* cycles; 0: streams are not divided */
	int32_t batch;	     /* inputs in one run; 0: option absent */
	bool require_batch;  /* fail unless all of them fit */
	bool front, explain, json; /* write a report instead of the graph */
	struct rewrite_options rewrites;
	const char *plan, *keep_plan; /* files: --plan, --keep-plan; NULL: option absent */
	const char *dump; /* name of the pass after which the graph is written, or NULL */
};

/* The rows of --front, from the least memory to the fewest cycles. */
struct sched_front {
	struct sched_row {
		int64_t sram;
		double objective; /* cycles by --model */
		double cycles;	  /* by the calibrated estimate */
		/* bytes: encoded constants; command streams, roughly; memory outside of the SRAM */
		int64_t flash, streams, dram;
		const char *change; /* text: difference from the row before */
		const char *back;   /* change back to that row; "" in the first row */
	} *v;
	size_t n;
};

/* The weights for which a block is chosen: fetched ones; those in place, which are read again for
 * each block above or beside another. */
enum block_objective { BLOCKS_FOR_FETCHED, BLOCKS_FOR_IN_PLACE, BLOCK_OBJECTIVES };

struct sched {
	struct arena *a;
	struct graph *g;
	const struct accel *accel;
	struct memory_system memory;
	struct perf_machine machine; /* of the objective, by --model */
	struct perf_machine calibrated, published;
	const struct target_part *part; /* NULL: none */
	int64_t profile_bytes; /* limit of the memory profile itself; 0: none */
	int64_t limit_bytes; /* limit by --arena-cache-size, or the SRAM of part; 0: neither */
	const struct options *o;
	struct op_info *info;
	int n_ops;
	struct use *use; /* of each tensor */
	bool *shallow; /* of each tensor: try NHWC, too (bricks padded, or all pointwise) */
	int n_shallow;
	struct size_cache *sizes; /* of weights; shared by all variants */
	struct works *works; /* blocks and costs; shared by all variants */
	size_t *at_rest; /* cascades that resting variants keep; shared by all variants */
	struct hash_table *kept; /* rows kept between stripes; shared by all variants */
	struct copies *copies; /* feature maps that may be copied, or NULL */
	bool has_copies; /* some operation is a copy */
	struct plan *plan; /* the chosen plan, or NULL */
	const struct plan_text *plan_input; /* the plan of --plan, or NULL */
	const char *plan_text; /* the text of --keep-plan, or NULL */
	const struct alternative *alternative; /* the rewrite of the network; NULL: as it is */
	double best_cycles; /* of the other forms, if the fastest one is taken; 0: any form is */
	int64_t best_within; /* the question that they are the answer to: within so many bytes */
	double fastest; /* of this form within the limit, before SRAM is saved; 0: not sought */
	int64_t fastest_within; /* of this form: the limit, if it costs cycles */
	struct sched_front front; /* --front, --explain */
	struct smaller { /* with Size: a plan that is too slow for --within */
		int64_t bytes;  /* that it would save; 0: no such plan */
		double times;   /* its cycles, as a multiple of the plan's */
		int64_t within; /* percent: the least --within that finds it */
	} smaller;
	int64_t least; /* least limit that has a plan; 0: not computed */
	bool fits; /* plans are within the limit of bytes: `least` is in cycles, not in bytes */
	int effort_step; /* step of --effort that is searched now, from 0, or COARSE_STEP */
	struct node_run { /* calibrated timeline of each stream, as it will be emitted */
		const struct g_node *node;
		struct perf_run of;
		const struct emit_mark *mark; /* of its kernels and transfers (emit/emit.h) */
		size_t n_marks;
	} *run;
	size_t n_runs, cap_runs;
	struct err *e;
};

/* A higher limit counts as none: addresses in the offline plan are of 31 bits, and tfl-partition
 * refuses larger tensors. */
enum { NO_LIMIT_BYTES = INT32_MAX - 15 };
enum { ALIGN = 16 }; /* bytes: of buffers and peaks */

/* Values of --effort per step: 1 to 3 are the first.  A step searches and takes in the
 * results of the lower steps. */
enum { EFFORTS = 3 };

/* Fewer plans than any step of --effort. */
enum { COARSE_STEP = -1 };

/*
 * Percent of cycles that a plan may take more than the fastest, to need fewer bytes: --within, or
 * its default.  Without a limit on the command line, 5 % more cycles are less than estimates differ
 * by; SRAM at 2, 3 and 5 % is 1.76, 1.66 and 1.42 of Vela's on ethos-u55-256, 2.47, 1.40 and 1.30 on
 * ethos-u65-512.  With Balanced, vww takes 45 KiB instead of 184.
 */
static inline double
sched_within(const struct options *o)
{
	static const double of_goal[] = {
		[GOAL_PERFORMANCE] = 5, [GOAL_SIZE] = 100, [GOAL_BALANCED] = 10,
	};
	if (o->within >= 0)
		return o->within;
	return o->limited && o->goal == GOAL_PERFORMANCE ? 0 : of_goal[o->goal];
}

/* Relative error of sums of cycles: another order of the terms changes a sum by less. */
#define ROUNDING 1e-9

/* enum g_place to which limits apply: the NPU's own SRAM, or the arena. */
static inline int
limited_place(const struct sched *s)
{
	return s->memory.spilling ? PLACE_CACHE : PLACE_ARENA;
}

/* The name of this memory (report.c). */
const char *limited_memory(const struct sched *s);

#endif
