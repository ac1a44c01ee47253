/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of products in pieces (rewrite/rewrite.h).  choose.c chooses between the network as it is
 * and its rewrites with split sums.
 */
#ifndef NPU_SCHED_SPLIT_H
#define NPU_SCHED_SPLIT_H

#include "../sched.h"

/* Plans the graph of s in each of its rewrites by `plan`.  s becomes the best one. */
bool plan_split(struct sched *s, bool (*plan)(struct sched *));

#endif
