/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles of kernels, and the blocks, layouts and extents with which they run. */
#ifndef NPU_SCHED_COSTS_H
#define NPU_SCHED_COSTS_H

#include "../network/network.h"
#include "../network/plan.h"
#include "base/fixed.h"
#include "target/blocks.h"

#include "base/hash_table.h"
#include "perf/work.h"

/* Extents in which an operation sees its dense feature maps (folds.c).  ofm.c 0: their own. */
struct fold {
	struct hwc ofm, ifm2; /* the IFM has the extents of the OFM */
};

/* The block of an operation that runs in stripes of `rows` rows, or of a chain of whole
 * operations.  No depth: no block fits, or the operations are no chain. */
struct block_choice {
	int32_t rows;
	uint64_t chain; /* chain_key(); 0: none */
	struct fold fold; /* none unless the operation runs whole */
	struct hwc block;
	struct shram_layout layout;
	struct block_choice *next; /* of the same work; NULL: none */
};

enum { MAX_CACHED_COSTS = 8 };

/* The cached cost of a kernel of an operation. */
struct cached_cost {
	uint64_t key; /* hash of all that the cost depends on; 0: no cost */
	double cost[HELDS], busy[HELDS][AXI_PORTS];
};

/* The cached cost of an operation in stripes of `stripe` rows: the sum over its kernels. */
struct cached_stripe_cost {
	int32_t stripe;
	bool fits;	/* a block fits the SHRAM, so cost is valid */
	double cost[2]; /* cycles with weights read in place [0], fetched before [1] */
	double paced[2]; /* the same as sums of paced_cost() */
	struct cached_stripe_cost *next; /* of the same work; NULL: none */
};

/* works.c: blocks and costs of an operation, as they become known. */
struct work {
	int64_t id; /* from 1 */
	struct block_choice *choice; /* one for each number of rows and chain */
	struct cached_cost **cost; /* hash table (find_cost), at most MAX_CACHED_COSTS */
	size_t n_slots;
	struct cached_stripe_cost *in_stripes;
	double lower_bound[CUTS + 1]; /* cycles, by enum cut (whole_lower_bound) */
	bool has_lower_bounds;
};

/* All works, by their keys. */
struct works {
	struct arena *a;
	struct hash_table table;
	int64_t n;
};

/* The exact size of some channels of a weights record, encoded for blocks of one depth. */
struct cached_size {
	const struct g_weights *w;
	struct g_range depth;
	int32_t block_depth;
	int64_t stream_bytes, scale_bytes;
	struct bytes coding; /* of each stream: length as 32 bits, then its coding */
	int next;	     /* the next size of the same weights; -1: none */
};

/* All exact sizes, by weights record. */
struct size_cache {
	struct arena *a;
	struct cached_size *v;
	size_t n, cap;
	struct cached_size_list {
		int first, last; /* in v; -1: none */
		/* sums over measured slices, to estimate others */
		int64_t bytes, channels;
	} *of;
};

/* traversal.c: number of weights of one filter in a traversal, over all IFM channels, padding included. */
int64_t padded_weights(const struct g_op *op, int traversal);
/* copies.c: finds the copies that pay while kernels run.  Needs: s->info, with copies.  False: none. */
bool weigh_copies(struct sched *s);
/* Indexes of p->kernel: the last kernel of each operation so far, and of each kernel the one of
 * its operation before it; -1: none. */
struct same_op {
	int *latest, *before;
};
/* The last copy, as an index of p->kernel, for which a kernel waits; -1: none. */
int copy_awaited(const struct sched *s, const struct plan *p, int kernel, const struct same_op *same);
/* Cycles for which no kernel runs because the node begins with this copy: the next
 * operations wait for its first `rows` rows.  0: op is no such copy. */
double leading_copy(const struct sched *s, int op, int32_t rows);

/* layouts.c.  Needs: s->info.  Chooses NHWC instead of bricks for the tensors of s->shallow. */
enum dense {
	DENSE_NO_SLOWER, /* where NHWC is no slower */
	DENSE_CHEAP,	 /* where the operations that touch it take 5 % more cycles at most */
	DENSE_ALL	 /* everywhere: the fewest bytes */
};
void pack_shallow_maps(struct sched *s, enum dense dense);
/*
 * Chooses NHWC where it is no slower, only for feature maps that have left the NPU's
 * own SRAM.
 */
void pack_left_maps(struct sched *s);
/* Does a feature map that is in the same area in two variants of a graph have two layouts? */
bool layouts_differ(const struct sched *a, const struct sched *b);

/* sizes.c.  Result: s->sizes, empty.  All variants share this cache. */
void begin_sizes(struct sched *s);
/* Number of weights of an operation, before encoding */
int64_t weight_count(const struct g_op *op);
/* Bytes of a weight stream that op reads, exactly as npu-wenc will encode it. */
size_t stream_cost(const struct sched *s, const struct g_op *op,
		   const struct weights_view *v, const struct weights_order *ord);
/* The cached size of the same channels for blocks of the same depth; NULL: not measured. */
const struct cached_size *find_cached_size(const struct sched *s, const struct weight_slice *u,
				    int32_t block_depth);
void add_cached_size(struct sched *s, const struct weight_slice *u, int32_t block_depth,
	       struct bytes coding);
/* Adds a measured slice to those by which sizes of other slices are estimated. */
void estimate_by(struct sched *s, const struct weight_slice *u);

/* folds.c: Extents in which a pointwise operation can see its dense feature maps, for their
 * present layouts.  list_folds() lists those that may be faster and returns their number;
 * fold_op() changes the operation to one of them. */
enum { MAX_FOLDS = 8 };
bool is_pointwise(const struct g_op *op); /* does the same with each element */
/* The operand is all elements of its tensor, contiguous in NHWC. */
bool is_dense(const struct g_operand *o);
bool can_fold(const struct g_op *op);
int list_folds(const struct g_op *op, struct fold v[MAX_FOLDS]);
void fold_op(struct g_op *op, const struct fold *f);

/* works.c.  Result: s->works, empty.  All variants share them. */
void begin_costs(struct sched *s);
/* Finds the works of all operations, for the present layouts and areas of tensors. */
void find_works(struct sched *s);
/*
 * The works of operation i after its tensors changed, without those of all others.  The operation
 * is alike only one that shares its weights.
 */
void renew_work(struct sched *s, int i);
/* The key of the chain of whole operations that begins with op; 0: no links. */
uint64_t chain_key(const struct sched *s, int op, int links);

/* blocks.c */
/* The fastest block for stripes of `rows` rows and an objective; operations that share weights have
 * that for fetched ones.  NULL: no block fits, or op is a copy. */
const struct block_choice *block_for(struct sched *s, int op, int32_t rows,
				     enum block_objective objective);
/* The same of the whole operation, for fetched weights. */
static inline const struct block_choice *
whole_block(struct sched *s, int op)
{
	return block_for(s, op, s->info[op].op->ofm.shape.h, BLOCKS_FOR_FETCHED);
}

/* The block of a kernel in stripes of `rows` rows; of a chain: that of its first operation if this
 * has weights, else the fastest for all of them.  NULL: none fits, or the operations are no chain. */
const struct block_choice *kernel_block(struct sched *s, const struct kernel *k, int32_t rows);

/* Why an operation has its block. */
enum block_why {
	BLOCK_FROM_GRAPH, /* the input graph names it */
	BLOCK_FASTEST,
	BLOCK_FOR_WEIGHTS, /* stripes share the depth for which the weights are encoded */
	BLOCK_AS_FAST	  /* at most AS_FAST slower, and preferred */
};
struct block_reason {
	enum block_why why;
	int fitting;	 /* number of blocks that fit the SHRAM and can be the fastest */
	double cycles;	 /* of the fastest block */
	struct hwc next; /* the best block but the one taken */
	double next_cycles; /* 0: no other block fits */
};
/* For the graph with the plan, in which operations have the extents of their folds. */
struct block_reason block_reason(struct sched *s, int op, int32_t rows,
				 enum block_objective objective);

/* cost.c */
bool weights_move(const struct sched *s); /* true if fetching weights can save cycles */
/* Cycles for which a kernel keeps the memory of the constants busy. */
static inline double
constants_busy(const struct sched *s, const struct kernel *k, enum held held)
{
	return k->busy[held][s->memory.const_area == s->memory.axi[1]];
}
/* Share of the bandwidth of the constants' memory that a transfer takes, 0 to 1.  Kernels
 * that read from the memory meanwhile have the rest. */
double transfer_share(const struct sched *s);
/* The least cycles of a kernel over all enum held. */
double least_cost(const struct kernel *k);
/* Sets s->machine to the estimate that --model names, and s->published. */
void sched_machines(struct sched *s);
/* The work of a kernel with the fold of its block, whose weights are held as `held` says; its
 * cost with that block on a machine. */
struct perf_op kernel_op(const struct sched *s, const struct kernel *k, const struct fold *fold,
			 int64_t stream_bytes, int64_t scale_bytes, enum held held);
struct perf_cost cost_on(const struct perf_machine *m, struct perf_op *p,
			 const struct block_choice *b);
/* Sets cost, busy and transfer of a kernel, with the block for stripes of `stripe` rows.
 * Uses cached costs.  False: no block fits. */
bool stripe_cost(struct sched *s, struct kernel *k, int32_t stripe,
	       int64_t stream_bytes, int64_t scale_bytes);
/* Cycles to fetch bytes of weights; to load the table of an operation. */
double weights_transfer(const struct sched *s, int64_t bytes);
double table_transfer(const struct sched *s, const struct g_op *op);
/* Cycles to copy `rows` rows; 0: op is no copy. */
double copy_transfer(const struct sched *s, const struct g_op *op, int64_t rows);
/* Add the cycles for which such a transfer keeps each memory busy. */
void add_weights_memory(const struct sched *s, int64_t bytes, double memory[MEM_AREAS]);
void add_table_memory(const struct sched *s, const struct g_op *op, double memory[MEM_AREAS]);
void add_copy_memory(const struct sched *s, const struct g_op *op, int64_t rows,
		     double memory[MEM_AREAS]);
/* Cycles from one kernel to the next, which starts no sooner than the front end has read its
 * commands.  An upper estimate, no bound: the front end may be ahead by two kernels.
 * Stripes of a copy are priced like kernels, which wait for them: at their own cost alone, 30
 * random networks take 0.2 to 1.5 % more cycles. */
static inline double
paced_cost(const struct sched *s, double cycles)
{
	return max_f64(cycles, s->machine.front_end_cycles);
}
/* Cost of an operation in stripes of `stripe` rows; NULL: no block fits. */
const struct cached_stripe_cost *op_cost(struct sched *s, int op, int32_t stripe,
					 enum block_objective objective);
enum mem_area sched_area(const struct sched *s, const struct g_tensor *t);

/*
 * chains.c: copies operation `first`, folded, and the `links` operations behind it to out, as
 * they will be in the graph but for their blocks.  out holds CHAIN_LENGTH.  False: the
 * operations are no chain.
 */
bool chain_ops(const struct sched *s, int first, int links, const struct fold *fold,
	       struct g_op *out);

/* sizes.c: estimated bytes of an operation's weights; 0: it has none */
struct weights_size {
	int64_t stream, scales;
};
struct weights_size slice_size(const struct sched *s, int op, struct g_range depth);
struct weights_size whole_size(const struct sched *s, int op);

static inline struct g_list
slices_from_graph(const struct g_op *op)
{
	if (op->weights && G_HAS(op->weights, G_WEIGHTS_slices))
		return op->weights->slices;
	return (struct g_list){ .n = 0 };
}

/* Slices are listed by their bounds in channels; an empty list is one slice. */
static inline int
slice_count(struct g_list l)
{
	return l.n ? (int)l.n - 1 : 1;
}

static inline struct g_range
slice_range(struct g_list l, int i, int64_t channels)
{
	return (struct g_range){ .lo = l.n ? l.v[i] : 0, .hi = l.n ? l.v[i + 1] : channels };
}

#endif
