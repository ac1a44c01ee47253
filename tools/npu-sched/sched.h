/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu-sched chooses block configurations, layouts, stripes and their rolling buffers, the times
 * at which weights are fetched, and addresses.
 *
 * A plan (struct plan) holds these decisions as a value: the kernels in order, the weight
 * slices that they use, the transfers between them, and a rectangle of memory and time for
 * every tensor and buffer.  The search makes plans, costs them by the timeline estimate and
 * compares them.  The best plan is written into the graph.  Functions are declared under the
 * name of their file, in the order in which they run.
 *
 * A folder uses only itself and the folders before it (tests/arrows.bats): network (how
 * operations use tensors), costs (of kernels and blocks), memory (live ranges and addresses),
 * weights (slices and transfers), cascades, plans, search, split, batch.  The passes beside
 * main.c use any folder.
 */
#ifndef NPU_SCHED_SCHED_H
#define NPU_SCHED_SCHED_H

#include "graph/build.h"
#include "graph/facts.h"
#include "perf/perf.h"
#include "weights/weights.h"

/* Goal of the plan: the fewest cycles; the fewest bytes of all memory areas together, then
 * the fewest cycles; or the least bytes times a power of the cycles (point_weight). */
enum goal { GOAL_PERFORMANCE, GOAL_SIZE, GOAL_BALANCED };

struct options {
	const char *input, *output;
	const char *accel, *config, *system, *mode, *part;
	bool any_accelerator; /* accept a profile made for another accelerator */
	enum goal goal;	  /* --optimise */
	bool by_timeline; /* --model=timeline */
	bool verbose;
	bool list_config, list_graph, list_allocation; /* --verbose-... */
	int effort, level;	/* 1 to 9 */
	unsigned jobs;	/* threads; 0: one per processor */
	int64_t cache_bytes; /* --arena-cache-size; 0: option absent */
	int64_t max_cycles;  /* 0: no limit */
	int32_t batch;	     /* inputs in one run; 0: option absent */
	bool require_batch;  /* fail unless all of them fit */
	bool front, explain, json; /* write a report instead of the graph */
	const char *dump; /* name of the pass after which the graph is written, or NULL */
};

/* The rows of --front, from the least memory to the fewest cycles. */
struct sched_front {
	struct sched_row {
		int64_t sram;
		double cycles;
		const char *change; /* text: difference from the row before */
		const char *back;   /* change back to that row; "" in the first row */
	} *v;
	size_t n;
};

/* Extents in which an operation sees its dense feature maps (folds.c).  ofm.c 0: their own. */
struct fold {
	struct hwc ofm, ifm2; /* the IFM has the extents of the OFM */
};

/* The block of an operation that runs in stripes of `rows` rows. */
struct block_choice {
	int32_t rows;
	struct fold fold; /* none unless the operation runs whole */
	struct hwc block;
	struct shram_layout layout;
};

/* The cached block of a chain, whose operations run whole. */
struct chain_choice {
	bool memo;   /* searched before */
	bool is_one; /* the operations are a chain; then block is valid */
	struct block_choice block;
};

/* From so many operations on, caches of each operation are small. */
enum { MANY_OPS = 4096 };

enum { MAX_CHOICES = 32, MAX_CACHED_COSTS = 32, MAX_CACHED_STRIPES = 32 };

/* The part of a weight slice that is in fast memory: none, all, or its scales alone. */
enum held { IN_PLACE, FETCHED, SCALES_FETCHED, HELDS };

/* The cached cost of a kernel of an operation.  The key is all that the cost depends on. */
struct cached_cost {
	struct cost_key { /* compared by memcmp: must have no padding */
		int64_t stream_bytes, scale_bytes;
		int32_t links, stripe, rows, ifm_rows, depth, none;
	} key;
	double cost[HELDS], flash;
};

/* The cached cost of an operation in stripes of `stripe` rows: the sum over its kernels. */
struct cached_stripe_cost {
	int32_t stripe;
	bool fits;	/* a block fits the SHRAM, so cost is valid */
	double cost[2]; /* cycles with weights read in place [0], fetched before [1] */
};

/* Size of weight slices: uncut, or about 32, 12 or 4 KB wherever weights can be cut. */
enum cut { UNCUT, CUT_COARSE, CUT_MEDIUM, CUT_FINE, CUTS, ANY_CUT = CUTS };

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

/* One kernel of the NPU: an operation, a stripe of its rows or a slice of its channels.  Or
 * one copy of rows by the DMA engine, which runs beside the kernels. */
struct kernel {
	int op;
	int links; /* number of operations behind `op` that are chained to it and run with it */
	struct g_range rows, depth;
	int slice;	/* the weight slice that the kernel uses; -1: no weights */
	double cost[HELDS]; /* cycles; INFINITY: fetching the scales alone is no option */
	double flash;	/* cycles for which the kernel keeps the memory of the constants busy; do
			 * not count if the weights are FETCHED */
	double transfer; /* of a copy: cycles of the DMA engine (cost is 0); else 0 */
};

/* One slice of a weights record. */
struct weight_slice {
	struct g_weights *w;
	int op;	   /* the first operation that uses the slice */
	int index; /* among the slices of the record, from 0 */
	struct g_range depth;
	int64_t stream_bytes, scale_bytes; /* sums over all cores */
	int first, last; /* the first and the last kernel that use the slice */
	enum held held;
	int start; /* the buffer is live from before this kernel */
	double arrival; /* cycles, on the clock of the walk: the last byte is in the buffer */
	int64_t at; /* address of the buffer, if the walk assigned addresses */
};

struct fetch {
	int slice, before; /* the transfer starts before kernel `before` */
	int64_t lo, hi;	  /* range of bytes of the slice */
};

/* A rectangle of bytes and time steps: a feature map or a weight buffer while it is live.
 * Rectangles of a group keep their distances in memory. */
struct rect {
	struct g_tensor *t; /* the feature map; NULL: a weight buffer */
	int slice;	    /* the weight slice in the buffer; -1: a feature map */
	int place;	    /* memory area, enum g_place */
	int64_t bytes, lo, hi, at;	/* bytes 0: no address; lo, hi: time steps, inclusive */
	int group;	/* index of the rectangle that represents its group */
	int next;	/* the next rectangle of the group; -1: none */
	int64_t offset; /* bytes from the group's first byte */
	struct g_tensor *over; /* the tensor whose bytes the feature map overwrites, or NULL */
	bool fixed; /* the address is that of the graph */
};

/* How transfers stay below a limit: by the sum of live bytes (the peak can be higher), or
 * with addresses for their buffers between the feature maps, which do not move. */
enum fit { SUMMED, BETWEEN, FITS };

/* Work spent on packing: many plans are compared, few are, or one plan shall have the least
 * peak that packing can reach. */
enum care { QUICK, TRY, LAST };

enum { MOST_EXCEPTIONS = 64 }; /* one bit each, for the first slices of a plan */

struct fitting {
	int64_t limit; /* bytes of feature maps and buffers together */
	enum fit how;
	enum care care;
	int64_t most; /* bytes: the caller cannot use higher peaks; or INT64_MAX */
	double ahead; /* weights are fetched at most so many cycles before their use; 0: any */
	double worth; /* slices of no higher slice_worth() stay in place; 0: none do */
	uint64_t exceptions; /* bit i inverts the decision of `worth` for slice i */
};

struct plan {
	struct arena *a; /* of everything in the plan */
	struct kernel *kernel;
	size_t n_kernels;
	struct weight_slice *slice;
	size_t n_slices, cap_slices;
	struct fetch *fetch;
	size_t n_fetches, cap_fetches;
	int32_t *rolling; /* of each operation: rows of its OFM that are kept; 0: all */
	int32_t *stripe;	  /* of each operation: rows at a time; 0: all */
	struct g_tensor **over; /* of each operation: tensor that its OFM overwrites, or NULL */
	int64_t *lead;		/* bytes by which the OFM begins before the tensor of `over` */
	struct g_list *cut_points; /* of each operation: bounds of its slices; n 0: one */
	struct rect *rect;
	size_t n_rects, n_maps; /* in rect, feature maps come before buffers */
	int64_t *map_bytes;	/* of all feature maps in the limited area, at each kernel */
	/* of feature maps packed without buffers: rank of the group in the order; address */
	int *map_rank;
	int64_t *map_at;
	struct touches *touches; /* cache of clock.c: bytes that each kernel touches */
	double cycles;
	bool beside_placed; /* addresses outside of the limited area are assigned */
	double used_ahead; /* down to this value, a smaller `ahead` changes no transfer */
	bool is_walked; /* plan_fetches() has decided its transfers */
	struct fitting fitting; /* how the present transfers and addresses were found */
	int64_t need; /* bytes live at the fullest kernel: a sum, without addresses */
	int64_t asked; /* bytes: with this limit or a higher one, transfers are the same */
	int64_t peak[PLACES], bound[PLACES]; /* bytes of each area: peak, its lower bound */
	int64_t promising; /* bytes: if `most` was less, place_rects() tried no exchanges */
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

/* The weights for which blocks are chosen, in the order in which they are tried: fetched
 * weights; weights that are cut into slices, at multiples of a block's depth; weights in
 * place, which are read again for each block above or beside another. */
enum block_objective { BLOCKS_FOR_FETCHED, BLOCKS_FOR_SLICED, BLOCKS_FOR_IN_PLACE, BLOCK_OBJECTIVES };

struct sched {
	struct arena *a;
	struct graph *g;
	const struct accel *accel;
	struct memory_system memory;
	struct perf_machine machine;
	struct perf_machine published; /* the machine of the published formulas */
	int64_t profile_bytes; /* limit of the memory profile itself; 0: none */
	const struct options *o;
	struct op_info *info;
	int n_ops;
	struct arena *costs; /* memory of all op_info.memo; NULL: that of `a` */
	struct use *use; /* of each tensor */
	bool *shallow; /* of each tensor: try NHWC, too (bricks padded, or all pointwise) */
	int n_shallow;
	enum block_objective objective; /* the weights for which blocks are chosen */
	struct size_cache *sizes; /* of weights; shared by all variants */
	struct hash_table *searched; /* results of block searches; shared by all variants */
	size_t *at_rest; /* cascades that resting variants keep; shared by all variants */
	struct hash_table *kept; /* rows kept between stripes; shared by all variants */
	struct copies *copies; /* feature maps that may be copied, or NULL */
	bool has_copies; /* some operation is a copy */
	struct plan *plan; /* the chosen plan, or NULL */
	struct sched_front front; /* --front, --explain */
	struct steep { /* with Size: little more memory would save many cycles */
		int64_t bytes; /* that would be added; 0: no such plan */
		double cycles; /* that would be left, as a share of the plan's: 0 to 1 */
	} steep;
	int64_t least; /* least limit that has a plan, bytes or cycles; 0: not computed */
	int effort_step; /* step of --effort that is searched now, from 0 */
	/* the best plan of another rewrite; cycles 0: none */
	struct incumbent {
		int64_t total;	/* bytes of all memory areas */
		double cycles;
		double slowest; /* plans of more cycles are useless; 0: no limit */
	} incumbent;
	struct perf_run *run; /* timeline of each stream, as it will be emitted */
	size_t n_runs, cap_runs;
	struct err *e;
};

/* A higher limit counts as none: addresses in the offline plan are of 31 bits, and tfl-partition
 * refuses larger tensors. */
enum { NO_LIMIT_BYTES = INT32_MAX - 15 };
enum { ALIGN = 16 }; /* bytes: of buffers and peaks */

/* Values of --effort per step: 1 to 3 are the first.  A step searches and takes in the
 * results of the lower steps. */
enum { EFFORTS = 3 };

/* Relative error of sums of cycles: another order of the terms changes a sum by less. */
#define ROUNDING 1e-9

/* enum g_place to which limits apply: the NPU's own SRAM, or the arena. */
static inline int
limited_place(const struct sched *s)
{
	return s->memory.spilling ? PLACE_CACHE : PLACE_ARENA;
}

/* The passes, in running order.  False: an error, which is in s->e. */
/* tables.c.  Result: table lookups only where the accelerator has them */
bool separate_tables(struct sched *s);
/* stages.c.  Result: no operation needs what the accelerator's output stage lacks */
bool complete_stages(struct sched *s);
/* sparse.c.  Result: op->sparse where weights have that format and U85 gains by it */
bool find_sparse(struct sched *s);
/* constants.c.  Result: copies in fast memory of operands that are read again and again */
bool fetch_constants(struct sched *s);
/* copies.c.  Result: s->copies: copies in the NPU's SRAM of inputs and outputs of nodes */
bool list_copies(struct sched *s);
/* formats.c.  Result: layout and area of every tensor */
bool choose_formats(struct sched *s);
/* info.c.  Result: s->info, s->use */
void study_ops(struct sched *s);
/* Makes operation order[i] the i-th.  Plans made before become invalid. */
void change_order(struct sched *s, const int *order);
/* Makes s->info and s->use anew after operations were added or removed. */
void restudy_ops(struct sched *s);
/* traversal.c.  Needs: s->info.  Result: traversal of every convolution */
bool choose_traversals(struct sched *s);
/* Number of weights of one filter in a traversal, over all IFM channels, padding included. */
int64_t padded_weights(const struct g_op *op, int traversal);
/* costs/decoders.c.  Result: op->fast where U85's fast decoder saves cycles or bytes */
bool choose_decoders(struct sched *s);
/* order.c: an order in which whole feature maps need less memory than now; NULL: none found */
int *find_order(struct sched *s);
/* search.c.  Needs: s->info.  Result: s->plan */
bool search_plan(struct sched *s);
/* apply.c.  Needs: s->plan.  Result: blocks, slices, steps, buffers, addresses */
bool apply_plan(struct sched *s);
/* predict.c.  Needs: the above.  Result: cycles on the target record */
bool predict_cycles(struct sched *s);

/* report.c: --front and --explain */
void print_front(const struct sched *s, struct text *t);
bool print_explanation(struct sched *s, struct text *t);
/* listing.c: the options --verbose-..., in the layout of the reference's log */
void print_config(const struct sched *s, struct text *t);
void print_graph(const struct sched *s, struct text *t);
void print_allocation(const struct sched *s, struct text *t);

/* ---- parts of the passes --------------------------------------------------- */

/* copies.c: switches the graph to the copies that pay, or to none.  s->info becomes invalid. */
void use_copies(struct sched *s, bool use);
/* Finds the copies that pay while kernels run.  Needs: s->info, with copies.  False: none. */
bool weigh_copies(struct sched *s);
/* The last copy, as an index of p->kernel, for which a kernel waits; -1: none. */
int copy_awaited(const struct sched *s, const struct plan *p, int kernel);
/* Cycles for which no kernel runs because the node begins with this copy: the next
 * operations wait for its first `rows` rows.  0: op is no such copy. */
double leading_copy(const struct sched *s, int op, int32_t rows);
/* Removes tensors of copies that the plan does not use from the graph. */
void drop_unused_copies(struct sched *s);

/* layouts.c.  Needs: s->info.  Chooses NHWC instead of bricks for the tensors of s->shallow:
 * for all of them, or only where NHWC is no slower. */
void pack_shallow_maps(struct sched *s, int all);
/*
 * Chooses NHWC where it is no slower, only for feature maps that have left the NPU's
 * own SRAM.
 */
void pack_left_maps(struct sched *s);

/* sizes.c: number of weights of an operation, before encoding */
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

/* cascades/kept.c.  Result: s->kept, empty.  All variants share this cache. */
void begin_kept(struct sched *s);
/* blocks.c.  Result: s->searched, empty.  All variants share this cache. */
void begin_costs(struct sched *s);
/* Finds operations of the same work, for the present layouts and areas of tensors.  Drops
 * all cached blocks and costs. */
void forget_blocks(struct sched *s);
/* The fastest block for stripes of `rows` rows; NULL: no block fits, or op is a copy. */
const struct block_choice *block_for(struct sched *s, int op, int32_t rows);

/* The block of a chain: that of its first operation if this has weights, else the fastest
 * for all of them.  NULL: the operations are no chain. */
const struct block_choice *chain_block_for(struct sched *s, int op, int links);
static inline const struct block_choice *
kernel_block(struct sched *s, const struct kernel *k, int32_t rows)
{
	return k->links ? chain_block_for(s, k->op, k->links) : block_for(s, k->op, rows);
}

/* Why an operation has its block. */
struct block_reason {
	bool from_graph;	/* the input graph names the block */
	int fitting;	/* number of blocks that fit the SHRAM and can be the fastest */
	int32_t depth;	/* depth of the encoded weights, if the fastest block has another; or 0 */
	double cycles;	/* of the chosen block; 0: another block would be faster */
	struct hwc next; /* the best other block */
	double next_cycles; /* 0: no other block fits */
};
struct block_reason block_reason(struct sched *s, int op, int32_t rows);

/* memo.c: takes over blocks and costs of operations whose feature maps have the same
 * layouts and areas in `from`, a variant of the same objective.  Needs: forget_blocks(). */
void take_costs(struct sched *s, const struct sched *from);

/* cost.c */
bool weights_move(const struct sched *s); /* true if fetching weights can save cycles */
/* Frees the cached costs of kernels.  Needs: s->costs. */
void drop_cached_costs(struct sched *s);
/* Share of the bandwidth of the constants' memory that a transfer takes, 0 to 1.  Kernels
 * that read from the memory meanwhile have the rest. */
double transfer_share(const struct sched *s);
/* The least cycles of a kernel over all enum held. */
double least_cost(const struct kernel *k);
/* The work of an unchained kernel, as libcommon/perf/stream.c describes the decoded one. */
struct perf_op op_work(const struct sched *s, const struct g_op *op, const struct kernel *k);
bool takes_ifm2_first(const struct g_op *op); /* on U85: operands are swapped */
/* Sets s->machine to the estimate that --model names, and s->published. */
void sched_machines(struct sched *s);
/* The work of a kernel whose weights are held as `held` says; its cost with a block. */
struct perf_op kernel_op(struct sched *s, const struct kernel *k,
			 int64_t stream_bytes, int64_t scale_bytes, enum held held);
struct perf_cost cost_in_blocks(const struct sched *s, struct perf_op *p,
				const struct block_choice *b);
/* The same cost on another machine. */
struct perf_cost cost_on(const struct perf_machine *m, struct perf_op *p,
			 const struct block_choice *b);
/* Sets cost, flash and transfer of a kernel, with the block for stripes of `stripe` rows.
 * Uses cached costs.  False: no block fits. */
bool stripe_cost(struct sched *s, struct kernel *k, int32_t stripe,
	       int64_t stream_bytes, int64_t scale_bytes);
/* Cycles to fetch bytes of weights; to load the table of an operation, 0: it has none. */
double weights_transfer(const struct sched *s, int64_t bytes);
double table_transfer(const struct sched *s, const struct g_op *op);
/* Cycles to copy `rows` rows; 0: op is no copy. */
double copy_transfer(const struct sched *s, const struct g_op *op, int64_t rows);
/* Cost of an operation in stripes of `stripe` rows; NULL: no block fits. */
const struct cached_stripe_cost *op_cost(struct sched *s, int op, int32_t stripe);
enum mem_area sched_area(const struct sched *s, const struct g_tensor *t);

/*
 * chains.c: chain_ops() copies operation `first`, folded, and the `links` operations behind it
 * to out, as they will be in the graph but for their blocks.  out holds CHAIN_LENGTH.  False:
 * the operations are no chain.  chain_work() describes them as one kernel of the estimator.
 */
bool chain_ops(const struct sched *s, int first, int links, const struct fold *fold,
	       struct g_op *out);
struct perf_op chain_work(const struct sched *s, const struct g_op *ops, int links);

/*
 * slices.c: make_slices() cuts weights into slices of estimated size; measure_slices()
 * replaces these sizes by exact ones.  False: an error.
 */
void make_slices(struct sched *s, struct plan *p, enum cut cut);
bool measure_slices(struct sched *s, struct plan *p);
/* Coding of a measured slice (GRAPH_CODING); empty: not measured, or of the fast decoder. */
struct bytes slice_coding(struct sched *s, const struct plan *p, size_t slice);
/* Measures all weights records; later estimates are in proportion to them.  False: an error. */
bool measure_whole(struct sched *s);
/* Lower bound of an operation's cycles when it runs whole, wherever its weights are.  Needs:
 * a block fits. */
double whole_lower_bound(struct sched *s, int op, enum cut cut);
/* costs/sizes.c: estimated bytes of an operation's weights; 0: it has none */
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

/* weights/fetch.c: decides which weight slices are fetched when; sets p->cycles.  SUMMED: by the sum of bytes.  BETWEEN: buffers get addresses between the feature
 * maps, which stay where pack_maps() put them. */
void plan_fetches(struct sched *s, struct plan *p, struct fitting f);

/* clock.c: cycles of the stream that will be emitted; their lower bound for any addresses. */
double plan_clock(struct sched *s, struct plan *p);
double plan_bound(struct sched *s, struct plan *p);

/* lower_bound.c: lower bound of the cycles of any plan of these kernels, whatever is fetched
 * and whatever the limit is.  Stops at any bound that reaches `enough`. */
double plan_lower_bound(struct sched *s, const struct plan *p, double enough);
/* network/plan.c: a plan without kernels and decisions.  The caller closes it. */
struct plan *plan_new(struct sched *s);
void plan_close(struct plan *p); /* NULL is allowed */
static inline int64_t
slice_bytes(const struct weight_slice *u)
{
	return u->stream_bytes + u->scale_bytes;
}

/* The bytes of a slice that are fetched.  Scales come before weights. */
static inline int64_t
held_bytes(const struct weight_slice *u, enum held held)
{
	return held == IN_PLACE ? 0 : held == FETCHED ? slice_bytes(u) : u->scale_bytes;
}

/* The part of a kernel's weights in fast memory; IN_PLACE for a kernel without weights. */
static inline enum held
held_of(const struct plan *p, const struct kernel *k)
{
	return k->slice >= 0 ? p->slice[k->slice].held : IN_PLACE;
}

#endif
