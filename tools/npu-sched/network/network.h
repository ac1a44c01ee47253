/* SPDX-License-Identifier: Apache-2.0 */
/* How operations use tensors (info.c). */
#ifndef NPU_SCHED_NETWORK_H
#define NPU_SCHED_NETWORK_H

#include "../sched.h"

enum { OPERANDS = 3 }; /* IFM, IFM2, OFM */

/* What the key of a cascade takes from an operation (cascades/kept.c). */
struct kept_key {
	uint64_t shape;
	/* the last operand of the same tensor before: OPERANDS * operation + operand + 1; 0: none */
	int before[OPERANDS];
};

/* An operation, how data flows to and from it, and its blocks and costs. */
struct op_info {
	struct g_op *op;
	int node;	/* index in graph.nodes */
	int cpu_before; /* number of CPU nodes before that node */
	bool stripes;	/* the operation can run in stripes of rows */
	bool internal;	/* the OFM can be a rolling buffer */
	int last_use;	/* the last operation that reads the OFM; -1: none */
	int chain; /* enum g_chain: the operand that can come from the operation before, chained */
	int producer[2]; /* the only operation of the node that writes IFM, IFM2; -1: none */
	bool shared;	 /* another operation uses the same weights */
	bool block_from_graph; /* the input graph names the block */
	int alike;	   /* the first operation that computes the same, with the same blocks */
	struct kept_key kept;
	struct work *work[BLOCK_OBJECTIVES]; /* blocks and costs for each (costs/works.c) */
};

/* How operations and nodes use a tensor.  Indices of operations and nodes; -1: none. */
struct use {
	int producers, producer; /* operations that write the tensor: their number, the last one */
	bool plain;	/* only NPU operations of one node touch it, whole or by rows */
	int last_read;	/* the last operation that reads the tensor */
	int first_touch, last_touch; /* operations that read or write the tensor */
	int last_in;	/* the last node that has the tensor as an input */
	bool leaves;	/* the tensor is an output of some node */
};

/* info.c.  Result: s->info, s->use; anew after operations were added or removed. */
void study_ops(struct sched *s);
/* Makes operation order[i] the i-th.  Plans made before become invalid. */
void change_order(struct sched *s, const int *order);

#endif
