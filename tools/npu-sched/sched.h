/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu-sched: block configurations, layouts, stripes and rolling buffers, when
 * weights are fetched, addresses.
 *
 * A plan is all of that as a value: the kernels in order, the weights they
 * use, the transfers between them, a rectangle of memory and time for every
 * tensor and buffer.  Plans are made, costed by the timeline estimate and
 * compared; the best one is written into the graph.  The functions stand under
 * the name of their file, in running order.
 *
 * Folders, each of which uses those before it alone (tests/arrows.bats): network (what
 * operations do with tensors), costs (of kernels and blocks), memory (live ranges and
 * addresses), weights (slices and transfers), cascades, plans, search, split, batch.
 * The passes beside main.c use any.
 */
#ifndef NPU_SCHED_SCHED_H
#define NPU_SCHED_SCHED_H

#include "graph/graph.h"
#include "perf/perf.h"
#include "weights/weights.h"

/* what is asked of a plan: the fewest cycles; the least memory, of all places together, and
 * of that the fewest cycles; or a small memory at a fair price (point_weight) */
enum goal { GOAL_PERFORMANCE, GOAL_SIZE, GOAL_BALANCED };

struct options {
	const char *input, *output;
	const char *accel, *config, *system, *mode, *part;
	bool any_accelerator; /* a profile of another's */
	enum goal goal;	  /* --optimise */
	bool by_timeline; /* --model */
	bool verbose;
	bool list_config, list_graph, list_allocation; /* --verbose-... */
	int effort, level;
	unsigned jobs;
	int64_t cache_bytes; /* --arena-cache-size, 0: none */
	int64_t max_cycles;  /* 0: any number */
	int32_t batch;	     /* inputs in one run, 0: not said */
	bool require_batch;  /* so many, not fewer */
	bool front, explain, json; /* are written instead of the graph */
	const char *dump; /* the graph after this pass */
};

/* what --front lists: from the least memory to the fewest cycles */
struct sched_front {
	struct sched_row {
		int64_t sram;
		double cycles;
		const char *change; /* against the row before */
		const char *back;   /* and of that one against this */
	} *v;
	size_t n;
};

/* the extents of an operation's maps where it takes them for others; 0: its own */
struct fold {
	struct hwc ofm, ifm2; /* the IFM has the OFM's */
};

/* the block of an operation run in stripes of so many rows */
struct block_choice {
	int32_t rows;
	struct fold fold; /* of whole operations only */
	struct hwc block;
	struct shram_layout layout;
};

/* of a chain, whole */
struct chain_choice {
	bool known, is_one;
	struct block_choice block;
};

enum { MAX_CHOICES = 32, KNOWN_COSTS = 32, KNOWN_STRIPES = 32 };

/* what of a weight slice is in fast memory: all, or its scales alone */
enum held { IN_PLACE, FETCHED, SCALES_FETCHED, HELDS };

/* a kernel of an operation, as far as its cost goes, and that */
struct cost_known {
	struct cost_key { /* compared as bytes: no padding */
		int64_t stream_bytes, scale_bytes;
		int32_t links, stripe, rows, ifm_rows, depth, none;
	} key;
	double cost[HELDS], flash;
};

/* an operation in stripes of so many rows: all kernels together */
struct stripe_known {
	int32_t stripe;
	bool fits;
	double cost[2]; /* cycles; weights read in place, fetched before */
};

/* how weights are cut: in slices of about so many bytes, wherever that is possible */
enum cut { UNCUT, CUT_COARSE, CUT_MEDIUM, CUT_FINE, CUTS, ANY_CUT = CUTS };

/* an operation and its place in the flow */
struct op_info {
	struct g_op *op;
	int node;	/* index of its node */
	int cpu_before; /* CPU nodes in front of that one */
	bool stripes;	/* may be run in stripes of rows */
	bool internal;	/* its OFM may be a rolling buffer */
	int last_use;	/* the last operation that reads its OFM, or -1 */
	int chain;	/* enum g_chain: what it may take from the operation before it */
	int producer[2]; /* of IFM and IFM2 where those are internal, or -1 */
	bool shared;	 /* others have its weights, too */
	bool given_block; /* the graph says which */
	int alike;	 /* the first operation of the same work: has the choices */
	struct block_choice *choice; /* up to MAX_CHOICES */
	size_t n_choices, cap_choices;
	struct chain_choice *chained; /* [CHAIN_LENGTH], by links, or NULL */
	struct cost_known *known; /* a place for each hash: find_cost; up to KNOWN_COSTS */
	size_t n_known;
	struct stripe_known *in_stripes; /* up to KNOWN_STRIPES */
	size_t n_stripes, cap_stripes;
	double lower_bound[CUTS + 1]; /* whole_lower_bound */
	bool lower_bounds_known;
};

/* what operations and nodes do with a tensor */
struct use {
	int producers, producer; /* operations that write it; the last one */
	bool plain;	/* only NPU operations of one node, as a whole */
	int last_read;	/* operation, or -1 */
	int first_touch, last_touch; /* operations that read or write it, or -1 */
	int last_in;	/* node that takes it in, or -1 */
	bool leaves;	/* it is a result of some node */
};

/* a run of the NPU: an operation, or rows or channels of it; or of its DMA engine,
 * which copies rows meanwhile */
struct kernel {
	int op;
	int links; /* so many operations behind it are chained to it: they run with it */
	struct g_range rows, depth;
	int slice;	/* weights, -1: none */
	double cost[HELDS]; /* cycles; INFINITY where scales alone are never fetched */
	double flash;	/* of them: the flash is busy unless all was fetched */
	double transfer; /* cycles of the DMA engine: a copy, which costs no others */
};

/* one slice of a weights record */
struct weight_slice {
	struct g_weights *w;
	int op;	   /* the first operation that uses it */
	int index; /* of the record's slices */
	struct g_range depth;
	int64_t stream_bytes, scale_bytes; /* all cores */
	int first, last; /* kernels that use it */
	enum held held;
	int start; /* the first transfer comes before this kernel */
	double arrival; /* of its last byte, on the clock of the walk */
	int64_t at; /* of its buffer, where that was planned with addresses */
};

struct fetch {
	int slice, before; /* before this kernel */
	int64_t lo, hi;	  /* bytes of the slice */
};

/* bytes while they are live.  Rectangles of a group keep their distances. */
struct rect {
	struct g_tensor *t; /* or: */
	int slice;	    /* a buffer for it */
	int place;	    /* enum g_place */
	int64_t bytes, lo, hi, at;
	int group;	/* rectangle that stands for its group */
	int next;	/* the next one of the group, -1 at the end */
	int64_t offset; /* from the group's first byte */
	struct g_tensor *over; /* the tensor that it is written over */
	bool fixed;
};

/* transfers stay below a limit by the sum of bytes, so that the peak may be higher;
 * or their buffers find room between the maps where they lie */
enum fit { SUMMED, BETWEEN, FITS };

/* work spent on addresses: of plans that are compared, few or many at a time, and of one
 * whose bytes are to be as few as they can be */
enum care { QUICK, TRY, LAST };

enum { MOST_EXCEPTIONS = 64 }; /* the first slices of a plan */

struct fitting {
	int64_t limit; /* of transfers */
	enum fit how;
	enum care care;
	int64_t most; /* a higher peak is of no use: INT64_MAX, or less work */
	double ahead; /* cycles before their use that weights may be fetched; 0: any */
	double worth; /* slices that are not worth more stay in place (slice_worth); 0: none */
	uint64_t exceptions; /* bit i: but for slice i, which does if others would not */
};

struct plan {
	struct arena *a; /* of everything in it */
	struct kernel *kernel;
	size_t n_kernels;
	struct weight_slice *slice;
	size_t n_slices, cap_slices;
	struct fetch *fetch;
	size_t n_fetches, cap_fetches;
	int32_t *rolling; /* of each operation: rows of its OFM, 0: all */
	int32_t *stripe;	  /* rows at a time, 0: all */
	struct g_tensor **over; /* that each OFM is written over, or NULL */
	int64_t *lead;		/* bytes by which the OFM begins before it */
	struct g_list *ends; /* of the slices of each operation's weights, n 0: one */
	struct rect *rect;
	size_t n_rects, n_maps; /* the maps come first, then buffers */
	int64_t *map_bytes;	/* of all maps, at each kernel */
	/* of each map, when packed alone: the order of its group, its address */
	int *map_rank;
	int64_t *map_at;
	struct touches *touches; /* of kernels: clock.c */
	double cycles;
	double plain; /* cycles before other weights stayed in place: what others must beat */
	double bound_known; /* plan_bound's, of transfers as they are; 0: unknown */
	bool beside_placed; /* addresses outside of the limited place */
	double ahead, worth; /* as the fitting has them */
	double used_ahead; /* of `ahead`, by transfers: with so much they would be the same */
	uint64_t exceptions;
	struct fitting fitting; /* how transfers and addresses were found */
	int64_t need; /* bytes live at the fullest kernel: no addresses yet */
	int64_t asked; /* for transfers: limits from here on change nothing */
	int64_t peak[PLACES], bound[PLACES];
	int64_t promising; /* place_rects tried no exchanges if its `most` was less */
};

/* the exact bytes of some channels of a weights record */
struct size_known {
	const struct g_weights *w;
	struct g_range depth;
	int32_t block_depth;
	int64_t stream_bytes, scale_bytes;
	struct bytes coding; /* of each stream: 32 bits of length, the coding */
	int next;	     /* of the same weights, -1: none */
};

/* whatever was measured, by weights record */
struct sizes_known {
	struct arena *a;
	struct size_known *v;
	size_t n, cap;
	struct known_list {
		int first, last; /* -1: none */
		/* by which others are estimated: what so many channels take */
		int64_t bytes, channels;
	} *of;
};

/* which weights blocks are to suit: those that were fetched, those that are cut into
 * slices, at multiples of a block's depth, those that are read in place for each block
 * that is above or beside another; tried in that order */
enum block_objective { BLOCKS_FOR_FETCHED, BLOCKS_FOR_SLICED, BLOCKS_FOR_IN_PLACE, BLOCK_OBJECTIVES };

struct sched {
	struct arena *a;
	struct graph *g;
	const struct accel *accel;
	struct memory_system memory;
	struct perf_machine machine;
	struct perf_machine published; /* costs by the published formulas */
	int64_t profile_bytes; /* the limit of the profile itself, 0: none */
	const struct options *o;
	struct op_info *info;
	int n_ops;
	struct use *use; /* of each tensor */
	bool *shallow; /* of each tensor: bricks would be padded, or in nobody's way */
	int n_shallow;
	enum block_objective objective; /* of blocks */
	struct sizes_known *sizes; /* of weights: all variants share it */
	struct hash_table *searched; /* blocks, and this */
	size_t *at_rest; /* cascades that are kept of variants */
	struct hash_table *kept; /* between stripes, and this */
	struct copies *copies; /* maps that may be copied, or NULL */
	bool has_copies; /* some operation is one */
	struct plan *plan; /* the one that was chosen */
	struct sched_front front; /* --front, --explain */
	struct steep { /* with Size: where little more memory would save many cycles */
		int64_t bytes; /* more; 0: it would not */
		double cycles; /* that would be left, a share */
	} steep;
	int64_t least; /* limit, or cycles, that there is a plan for; 0: nobody asked */
	int effort_step; /* of --effort, up to the one that is asked for, for now */
	double below; /* of another form's plan; 0: any.  Slower ones are of no interest */
	struct rival { /* with Size or Balanced, that plan; cycles 0: there is none */
		int64_t total;	/* bytes of all places */
		double cycles;
		double slowest; /* slower ones are of no interest; 0: any are */
	} rival;
	/* cycles of the fastest plan of all, and within the profile's own limit; 0: none,
	 * or not searched yet */
	struct anchors {
		double fastest, within;
	} anchors;
	struct perf_run *run; /* of each stream, as it will be emitted */
	size_t n_runs, cap_runs;
	struct err *e;
};

enum { NO_LIMIT_BYTES = 1 << 30 }; /* limits from here on are none */

enum { ALIGN = 16 }; /* of buffers and peaks */

enum { EFFORTS = 3 }; /* numbers that --effort takes for a step, which is the search of one of
		       * its own and of all steps below: 1 to 3 are the first */

/* cycles added up in another order differ by a smaller share */
#define ROUNDING 1e-9

/* enum g_place that limits are for: the NPU's own SRAM, or the arena */
static inline int
limited_place(const struct sched *s)
{
	return s->memory.spilling ? PLACE_CACHE : PLACE_ARENA;
}

/* tables.c.  Leaves: tables only where the accelerator can use them */
bool separate_tables(struct sched *s);
/* stages.c: what the accelerator's output stage lacks */
bool complete_stages(struct sched *s);
/* sparse.c.  Leaves: op->sparse where the weights are so and U85 gains */
bool find_sparse(struct sched *s);

/* constants.c.  Leaves: copies in fast memory of operands read again and again */
bool fetch_constants(struct sched *s);

/* copies.c.  Leaves: copies in the NPU's SRAM of what nodes take in and give */
bool list_copies(struct sched *s);

/* formats.c.  Leaves: layout and area of every tensor */
bool choose_formats(struct sched *s);

/* info.c.  Leaves: s->info, s->use */
bool study_ops(struct sched *s);
/* operation order[i] becomes the i-th; plans made before are of no use then */
void change_order(struct sched *s, const int *order);

/* the same for operations that have come or gone */
void restudy_ops(struct sched *s);

/* traversal.c.  Needs: s->info.  Leaves: traversal of every convolution */
bool choose_traversals(struct sched *s);
/* weights of a kernel and all its IFM channels, padding included, in a traversal */
int64_t padded_weights(const struct g_op *op, int traversal);
/* costs/decoders.c.  Leaves: op->fast where U85's fast decoder saves cycles or bytes */
bool choose_decoders(struct sched *s);

/* order.c: an order in which whole maps need less memory than now; NULL: there is none */
int *find_order(struct sched *s);

/* search.c.  Needs: s->info.  Leaves: s->plan */
bool search_plan(struct sched *s);

/* apply.c.  Needs: s->plan.  Leaves: blocks, slices, steps, buffers, addresses */
bool apply_plan(struct sched *s);

/* predict.c.  Needs: the above.  Leaves: cycles on the target record */
bool predict_cycles(struct sched *s);

/* report.c: --front and --explain */
void print_front(const struct sched *s, struct text *t);
bool print_explanation(struct sched *s, struct text *t);

/* listing.c: what was decided, in the layout of the reference's log */
void print_config(const struct sched *s, struct text *t);
void print_graph(const struct sched *s, struct text *t);
void print_allocation(const struct sched *s, struct text *t);

/* ---- what they are made of ---------------------------------------------- */

/* copies.c: the graph with the copies that pay, or without any; what was studied
 * before is of no use then */
void use_copies(struct sched *s, bool use);
/* needs: s->info, with copies.  Finds those that pay where they move while kernels
 * run; false: none */
bool weigh_copies(struct sched *s);
/* the last copy, a kernel of the plan, that a kernel waits for; -1: none */
int copy_awaited(const struct sched *s, const struct plan *p, int kernel);
/* cycles for which nothing runs while so many rows are copied: the node begins with
 * that, and what follows waits for it */
double leading_copy(const struct sched *s, int op, int32_t rows);
/* tensors of copies that no plan uses leave the graph */
void drop_unused_copies(struct sched *s);

/* layouts.c.  Needs: s->info.  NHWC instead of bricks for maps whose depth is no
 * multiple of 16: for all of them, or where that is no slower */
void pack_shallow_maps(struct sched *s, int all);
/* the same of those that have left the NPU's own SRAM: where that is no slower */
void pack_left_maps(struct sched *s);

/* sizes.c: weights of an operation, not encoded */
int64_t weight_count(const struct g_op *op);
/* bytes of a stream that op reads, as npu-wenc will encode it */
size_t stream_cost(const struct sched *s, const struct g_op *op,
		   const struct weights_view *v, const struct weights_order *ord);
/* what was measured before: the same channels in the same blocks; NULL: nothing */
const struct size_known *find_known(const struct sched *s, const struct weight_slice *u,
				    int32_t block_depth);
void add_known(struct sched *s, const struct weight_slice *u, int32_t block_depth,
	       struct bytes coding);
/* a slice whose size is known counts among what others are estimated by */
void estimate_by(struct sched *s, const struct weight_slice *u);

/* folds.c: may its maps, in the layouts that they have now, be seen in other extents?
 * those that may be faster, and how many; the operation in them */
enum { MAX_FOLDS = 8 };
bool is_pointwise(const struct g_op *op); /* the same with each element, wherever */
/* a tensor's elements, all of them, one behind the other */
bool is_dense(const struct g_operand *o);
bool can_fold(const struct g_op *op);
int list_folds(const struct g_op *op, struct fold v[MAX_FOLDS]);
void fold_op(struct g_op *op, const struct fold *f);

/* cascades/kept.c.  Leaves: s->kept, of cascades, which many variants have in common: none
 * yet */
void begin_kept(struct sched *s);
/* blocks.c.  Leaves: s->searched, of searches for blocks, in the same way */
void begin_costs(struct sched *s);
/* finds operations of the same work, for the layouts and areas that
 * tensors have now; forgets all choices */
void forget_blocks(struct sched *s);
/* the fastest block for stripes of `rows`; NULL if none fits, or it is a copy */
const struct block_choice *block_for(struct sched *s, int op, int32_t rows);

/* the same of an operation and those that are linked to it: the block that the first one
 * has for its weights, or else the fastest one; NULL: they are no chain */
const struct block_choice *chain_block_for(struct sched *s, int op, int links);
static inline const struct block_choice *
kernel_block(struct sched *s, const struct kernel *k, int32_t rows)
{
	return k->links ? chain_block_for(s, k->op, k->links) : block_for(s, k->op, rows);
}

/* why the block is what it is */
struct block_reason {
	bool given;	/* in the graph */
	int fitting;	/* blocks that fit the SHRAM, of those that can be the fastest */
	int32_t depth;	/* that the weights are encoded for, where it is not its own; or 0 */
	double cycles;	/* of the chosen one, as a whole; 0: another one would be faster */
	struct hwc next; /* the best of the others */
	double next_cycles; /* 0: there is none */
};
struct block_reason block_reason(struct sched *s, int op, int32_t rows);

/* known.c: after forget_blocks; blocks and costs of operations whose maps lie as they do in
 * `from`, another variant of the same graph and objective */
void take_costs(struct sched *s, const struct sched *from);

/* cost.c */
bool weights_move(const struct sched *s); /* does fetching ever pay? */
/* what a transfer takes of the bandwidth of the constants' memory, up to 1: the rest is
 * for kernels that read there meanwhile */
double transfer_share(const struct sched *s);
/* cycles however its weights are held, at the least */
double least_cost(const struct kernel *k);
/* one operation, alone: as libcommon/perf/stream.c describes the decoded kernel */
struct perf_op op_work(const struct sched *s, const struct g_op *op, const struct kernel *k);
bool takes_ifm2_first(const struct g_op *op); /* on U85 */
/* the estimate that --model names, and the published formulas beside it */
void sched_machines(struct sched *s);
/* a kernel with weights that are held so; in blocks */
struct perf_op kernel_op(struct sched *s, const struct kernel *k,
			 int64_t stream_bytes, int64_t scale_bytes, enum held held);
struct perf_cost cost_in_blocks(const struct sched *s, struct perf_op *p,
				const struct block_choice *b);
/* the same on another machine */
struct perf_cost cost_on(const struct perf_machine *m, struct perf_op *p,
			 const struct block_choice *b);
/* both, and what is read in place, for the block of stripes, which is not asked twice */
bool stripe_cost(struct sched *s, struct kernel *k, int32_t stripe,
	       int64_t stream_bytes, int64_t scale_bytes);
/* cycles to fetch bytes of weights, and the table of an operation; 0: it has none */
double weights_transfer(const struct sched *s, int64_t bytes);
double table_transfer(const struct sched *s, const struct g_op *op);
/* cycles to copy so many rows; 0: it is no copy */
double copy_transfer(const struct sched *s, const struct g_op *op, int64_t rows);
/* NULL: no block fits */
const struct stripe_known *op_cost(struct sched *s, int op, int32_t stripe);
enum mem_area sched_area(const struct sched *s, const struct g_tensor *t);

/*
 * chains.c: operation `first` and those behind it that are linked to it as they will be in
 * the graph, but for blocks, where the first one is folded so.  out has room for
 * CHAIN_LENGTH; false: they are no chain.  Those operations, one and its links, as a kernel
 * in the estimator's terms.
 */
bool chain_ops(const struct sched *s, int first, int links, const struct fold *fold,
	       struct g_op *out);
struct perf_op chain_work(const struct sched *s, const struct g_op *ops, int links);

/* slices.c: cut weights into weight slices; estimate or measure their bytes */
void make_slices(struct sched *s, struct plan *p, enum cut cut);
bool measure_slices(struct sched *s, struct plan *p);
/* how a measured slice's streams are coded (GRAPH_CODING); empty: not known, or by the
 * fast decoder's format */
struct bytes slice_coding(struct sched *s, const struct plan *p, size_t slice);
/* every weights record, in one slice or several; from then on estimates are in proportion */
bool measure_whole(struct sched *s);
/* cycles of an operation as a whole at least, whatever becomes of its weights; it has
 * a block */
double whole_lower_bound(struct sched *s, int op, enum cut cut);
/* costs/sizes.c: estimated bytes of an operation's weights; zero: it has none */
struct weights_size {
	int64_t stream, scales;
};
struct weights_size slice_size(const struct sched *s, int op, struct g_range depth);
struct weights_size whole_size(const struct sched *s, int op);

static inline struct g_list
given_slices(const struct g_op *op)
{
	if (op->weights && G_HAS(op->weights, G_WEIGHTS_slices))
		return op->weights->slices;
	return (struct g_list){ .n = 0 };
}

/* slices as the ends of their channels; none: they are one */
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

/* plans/strategies.c, weights/fetch.c: which weight slices are fetched when, below limit;
 * sets p->cycles.  By the sum of bytes, or with addresses for the buffers between the maps,
 * which lie as pack_maps left them. */
void plan_fetches(struct sched *s, struct plan *p, int64_t limit);
void plan_fetches_between(struct sched *s, struct plan *p, int64_t limit);

/* clock.c: cycles of what will be emitted; the same with whatever addresses, at
 * the least */
double plan_clock(struct sched *s, struct plan *p);
double plan_bound(struct sched *s, struct plan *p);

/* lower_bound.c: no plan of these kernels takes fewer cycles, whatever becomes of its
 * weights and whatever room there is.  A lower one that is `enough` will do. */
double plan_lower_bound(struct sched *s, const struct plan *p, double enough);

/* network/plan.c */
struct plan *plan_new(struct sched *s);
void plan_close(struct plan *p); /* NULL is allowed */
static inline int64_t
slice_bytes(const struct weight_slice *u)
{
	return u->stream_bytes + u->scale_bytes;
}

/* of them, what is fetched: scales come first */
static inline int64_t
held_bytes(const struct weight_slice *u, enum held held)
{
	return held == IN_PLACE ? 0 : held == FETCHED ? slice_bytes(u) : u->scale_bytes;
}

/* a kernel without weights costs the same in any case */
static inline enum held
held_of(const struct plan *p, const struct kernel *k)
{
	return k->slice >= 0 ? p->slice[k->slice].held : IN_PLACE;
}

#endif
