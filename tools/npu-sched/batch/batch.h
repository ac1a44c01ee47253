/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several inputs in one run: --batch.  A network for one input becomes a graph for N inputs,
 * which the search plans like any other.  In running order: choose.c chooses N and tries the
 * groupings of groupings.c, repeat.c makes the graph, stack.c makes the operands.
 */
#ifndef NPU_SCHED_BATCH_H
#define NPU_SCHED_BATCH_H

#include "../sched.h"

/*
 * Layout of the inputs of a batch in a stacked tensor.  The inputs are rows below rows.  Of a
 * vector (1x1xC) they are rows and columns, so that a block of the NPU is full.  In memory both
 * are one input behind the other.
 */
struct stack {
	int32_t n;	  /* number of inputs */
	struct hwc grid;  /* of vectors: h * w == n */
	struct hwc *one;  /* of each tensor of the original graph: its shape for one input */
	bool *stacked;	  /* of each tensor: true if it is stacked */
};

/* ---- stack.c ---------------------------------------------------------------- */

struct stack stack_open(struct arena *a, const struct graph *g, int32_t n,
			const struct accel *accel);
/* The shape of a stacked tensor whose shape for one input is `one`. */
struct hwc stack_hwc(const struct stack *k, struct hwc one);
/* The operand for input i.  Needs: stacked tensors have their new shapes. */
struct g_operand stack_nth(const struct stack *k, const struct g_operand *o, int32_t i);
/*
 * Joins all inputs in one operation, if its kernel does not mix them: *out is a copy of op with
 * the operands of all inputs.  False: impossible, and *out is undefined.
 */
bool stack_join(const struct stack *k, const struct g_op *op, struct g_op *out);

/* ---- repeat.c --------------------------------------------------------------- */

/*
 * Makes the graph for n inputs: inputs, outputs and variables get n times their leading
 * dimension.  Operation i with together[i] runs for all inputs before the next operation: as
 * one kernel where possible, else as kernels that share their weights.  Runs of other
 * operations are done input by input, with feature maps and transfers of their own.
 */
void batch_repeat(struct graph *g, struct arena *a, int32_t n, const struct accel *accel,
		  const bool *together);

/* ---- groupings.c ----------------------------------------------------------------- */

enum { MAX_GROUPINGS = 4 };
/*
 * Lists groupings and returns their number.  For each operation of the original graph, a
 * grouping says whether it runs for all inputs before the next operation.  The first grouping
 * has all operations, the last has none.
 */
size_t batch_groupings(struct arena *a, const struct graph *g, bool *joint_ops[MAX_GROUPINGS]);
/* All operations, in the order in which changing them in a grouping is most likely to help. */
size_t *batch_turns(struct arena *a, const struct graph *g, const bool *joint_ops);

/* ---- choose.c --------------------------------------------------------------- */

/*
 * Plans the graph of s, as it was read, for as many of the requested inputs as fit, in the best
 * of some groupings.  Each is planned by `plan`.  s becomes the best one.
 */
bool plan_batch(struct sched *s, bool (*plan)(struct sched *));

#endif
