/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forms of a network.  choose.c chooses between the network as it is and its rewrites: with split
 * sums of products (rewrite/rewrite.h), or by the rules CHOSEN of schema/rewrites.def.
 */
#ifndef NPU_SCHED_SPLIT_H
#define NPU_SCHED_SPLIT_H

#include "../sched.h"

#include "rewrite/rewrite.h"

struct alternative {
	/* of the record `network` of a plan: "split", or the last rule that was applied */
	const char *name;
	struct split sums; /* of "split" */
};

/* Plans the graph of s in each of its forms by `plan`.  s becomes the best one. */
bool plan_alternatives(struct sched *s, bool (*plan)(struct sched *));

#endif
