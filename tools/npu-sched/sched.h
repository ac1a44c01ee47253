/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu-sched: block configurations, layouts, the order of steps, addresses.
 * The passes stand under the name of their file, in running order; each says
 * what it needs and what it leaves behind.
 */
#ifndef NPU_SCHED_SCHED_H
#define NPU_SCHED_SCHED_H

#include "graph/graph.h"
#include "perf/perf.h"

struct options {
	const char *input, *output;
	const char *accel, *config, *system, *mode;
	const char *dump; /* pass after which the graph is printed */
	bool size;	  /* --optimise=Size */
	bool verbose;
	int64_t cache_bytes; /* --arena-cache-size, 0: none */
};

struct sched {
	struct arena *a;
	struct graph *g;
	const struct accel *accel;
	struct memory_system memory;
	struct perf_machine machine;
	const struct options *o;
	struct err *e;
};

/* formats.c.  Leaves: layout and area of every tensor */
bool choose_formats(struct sched *s);

/* blocks.c.  Needs: layouts.  Leaves: block, ib, ab, traversal of every op */
bool choose_blocks(struct sched *s);

/* steps.c.  Leaves: a step for every operation, in order */
bool make_steps(struct sched *s);

/* live.c.  Needs: steps.  Leaves: live of every tensor in the arena */
bool find_lives(struct sched *s);

/* place.c.  Needs: live ranges.  Leaves: addresses, area records */
bool place_tensors(struct sched *s);

/* cost.c: an operation as the estimator sees it, with op->block and layouts */
struct perf_op sched_perf_op(const struct sched *s, const struct g_op *op,
			     struct hwc block, struct hwc ifm_block);

/* where an operand's bytes are */
enum mem_area sched_area(const struct sched *s, const struct g_tensor *t);

#endif
