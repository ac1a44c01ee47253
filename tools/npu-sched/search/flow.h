/* SPDX-License-Identifier: Apache-2.0 */
/* What the operations of a node need of one another, and their memory. */
#ifndef NPU_SCHED_FLOW_H
#define NPU_SCHED_FLOW_H

#include "../sched.h"

/* a map and the operations that touch it */
struct flow_map {
	int64_t bytes;
	bool there, stays; /* before the node's first operation; after its last */
	int *user, n_users;
	size_t cap_users;
};

/* lists of numbers, one for each operation: v[first[i]] ... v[first[i + 1] - 1] */
struct flow_lists {
	int *first, *v;
};

/* operations are counted from the node's first */
struct flow {
	int first, n;
	struct flow_map *map;
	size_t n_maps;
	struct flow_lists before, after; /* operations that must run first; last */
	struct flow_lists maps;		 /* that it touches */
	int *covered; /* map that its result may take the place of, or -1 */
};

/* of the n operations of one node from `first` on; note: zeros, and zeros again
 * afterwards, for each tensor of the graph */
struct flow *flow_find(struct sched *s, struct arena *a, int first, int n, int *note);

#endif
