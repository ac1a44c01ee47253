/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several inputs in one run: --batch.  A network for one input becomes a graph for N inputs
 * (rewrite/rewrite.h), which the search plans like any other.  choose.c chooses N and tries the
 * groupings of groupings.c.
 */
#ifndef NPU_SCHED_BATCH_H
#define NPU_SCHED_BATCH_H

#include "../sched.h"

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
