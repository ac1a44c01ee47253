/* SPDX-License-Identifier: Apache-2.0 */
/* Dependencies between the operations of a node, and the memory of their feature maps. */
#ifndef NPU_SCHED_FLOW_H
#define NPU_SCHED_FLOW_H

#include "../network/network.h"
#include "../sched.h"

/* A feature map and the operations that touch it. */
struct flow_map {
	int64_t bytes;
	bool live_in, live_out; /* live before the node's first operation; after its last */
	int *user, n_users;
	size_t cap_users;
};

/* One list of numbers for each operation i: v[first[i]] ... v[first[i + 1] - 1]. */
struct flow_lists {
	int *first, *v;
};

/* Indices of operations count from the node's first operation. */
struct flow {
	int first, n;
	struct flow_map *map;
	size_t n_maps;
	struct flow_lists before, after; /* operations that must run earlier; later */
	struct flow_lists maps;		 /* touched by each operation */
	int *covered; /* feature map whose bytes its result may reuse; -1: none */
};

/* The flow of n operations of one node, from `first` on.  note: scratch for each tensor of the
 * graph; all zeros before and after the call. */
struct flow *flow_find(struct sched *s, struct arena *a, int first, int n, int *note);

#endif
