/* SPDX-License-Identifier: Apache-2.0 */
/* How operations use tensors (info.c).  Caches of the costs (costs.h) are kept with each
 * operation. */
#ifndef NPU_SCHED_NETWORK_H
#define NPU_SCHED_NETWORK_H

#include "../sched.h"

/* Size of weight slices: uncut, or about 12 or 4 KB wherever weights can be cut. */
enum cut { UNCUT, CUT_COARSE, CUT_FINE, CUTS, ANY_CUT = CUTS };

/* An operation, how data flows to and from it, and its cached blocks and costs. */
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
	int alike;	 /* the first operation of the same work, whose op_info has the choices */
	struct block_choice *choice; /* at most MAX_CHOICES, one for each number of rows */
	size_t n_choices, cap_choices;
	struct chain_choice *chained; /* [CHAIN_LENGTH], by number of links; or NULL */
	struct cached_cost *memo; /* hash table (find_cost), at most MAX_CACHED_COSTS */
	size_t n_cost_slots;
	struct cached_stripe_cost *in_stripes; /* at most MAX_CACHED_STRIPES */
	size_t n_stripes, cap_stripes;
	double lower_bound[CUTS + 1]; /* cycles, by enum cut (whole_lower_bound) */
	bool has_lower_bounds;
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

/* True for up to 16 weights records: one choice matters much, and all can be tried. */
static inline bool
has_few_weights(const struct sched *s)
{
	enum { FEW = 16 };
	return s->g->n_weights <= FEW;
}

#endif
