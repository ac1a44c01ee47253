/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several inputs in one run: --batch.  A network for one input becomes a graph for
 * N of them, which the search then plans like any other.  In running order:
 * choose.c says how many and tries the ways of ways.c, repeat.c makes the graph, stack.c
 * the operands.
 */
#ifndef NPU_SCHED_BATCH_H
#define NPU_SCHED_BATCH_H

#include "../sched.h"

/*
 * Where the inputs of a batch lie in a stacked tensor: rows below rows, or, of a
 * tensor that is a vector (1x1xC), as rows and columns, so that a block of the NPU
 * is full.  In memory both are one input behind the other.
 */
struct stack {
	int32_t n;	  /* inputs */
	struct hwc grid;  /* of vectors: h * w == n */
	struct hwc *one;  /* of each tensor of the plain graph: one input of it */
	bool *stacked;	  /* of each tensor */
};

/* ---- stack.c ---------------------------------------------------------------- */

struct stack stack_open(struct arena *a, const struct graph *g, int32_t n,
			const struct accel *accel);
/* the shape of the stacked tensor that was of shape one */
struct hwc stack_hwc(const struct stack *k, struct hwc one);
/* the operand of input i; a stacked tensor has its new shape already */
struct g_operand stack_nth(const struct stack *k, const struct g_operand *o, int32_t i);
/*
 * All inputs in one operation, whose kernel or rows don't mix them: its operands go
 * to *out, a copy of op otherwise.  False: it can't be, and *out is of no use.
 */
bool stack_join(const struct stack *k, const struct g_op *op, struct g_op *out);

/* ---- repeat.c --------------------------------------------------------------- */

/*
 * The graph for n inputs: inputs, outputs and variables get n times their leading
 * dimension.  Operations with together[index] are done for all inputs before the
 * next one, by one kernel where that is possible, else with the same weights; runs
 * of the others are done input by input, with maps and transfers of their own.
 */
void batch_repeat(struct graph *g, struct arena *a, int32_t n, const struct accel *accel,
		  const bool *together);

/* ---- ways.c ----------------------------------------------------------------- */

enum { WAYS = 4 };
/*
 * Ways to do a batch, the most alike first: of each operation of the plain graph whether
 * it is done for all inputs before the next.  The last is none of them.  How many ways.
 */
size_t batch_ways(struct arena *a, const struct graph *g, bool *way[WAYS]);
/* all operations in the order in which changing a way is likely to be of use */
size_t *batch_turns(struct arena *a, const struct graph *g, const bool *way);

/* ---- choose.c --------------------------------------------------------------- */

/*
 * Plans the graph of s, as it was read, for as many inputs as were asked for and
 * fit, in the best of some ways, each by `plan`; s becomes the best one's.
 */
bool plan_batch(struct sched *s, bool (*plan)(struct sched *));

#endif
