/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the OFM block of an operation: of all blocks that fit the SHRAM, the one of least
 * estimated time, for weights that were fetched or are read in place.  Ties go to the block of
 * fewest banks.  Among blocks that the calibrated estimate cannot tell apart, the shallowest is
 * taken, because weights are cut at multiples of its depth, and of these the one that the
 * published formulas find the fastest.  A block that covers an axis in as many pieces as a
 * smaller one cannot be faster, so only the smallest for each number of pieces is tried.
 */
#include "costs.h"

#include "base/fixed.h"
#include "graph/facts.h"

/* the calibrated estimate cannot tell blocks apart that differ by less than this factor */
static const double AS_FAST = 1.01; /* as report.c and npu-sched(1) say, too */

/*
 * Cycles that a block counts beside those of an estimate; blocks over the same rows and columns
 * count once if they have weights, so that these can be cut at a small depth.  The measurements
 * of npu-perf-accuracy(7) cannot tell so few cycles from none, and the formulas of Vela charge
 * more: many small blocks are chosen only where they gain more than that.
 */
static const double BLOCK_CYCLES = 12;

struct block_search {
	struct sched *s;
	const struct g_op *op;
	int first, links; /* the operation; number of operations chained to it */
	struct block_query q;
	struct perf_op kernel;
	struct fold fold;
	double as_fast; /* above 0: blocks of at most so many cycles count as equally fast */
	double by_formulas; /* cycles of best by the published formulas; 0: not computed */
	struct block_choice best;
	double cycles;
	int banks;
	bool found;
	struct block_reason reason;
};

/* Cycles of the kernel in such blocks on a machine, with BLOCK_CYCLES. */
static double
priced_cycles(const struct block_search *x, const struct perf_machine *m,
	      const struct block_choice *c)
{
	struct perf_op op = x->kernel;
	const struct perf_cost cost = cost_on(m, &op, c);
	const int64_t plane = (int64_t)ceil_div(x->q.ofm.h, c->block.h) *
			      ceil_div(x->q.ofm.w, c->block.w);
	return cost.total + BLOCK_CYCLES * (double)(x->op->weights ? plane : cost.blocks);
}

/* Notes the best block that is not taken. */
static void
note_next(struct block_search *x, struct hwc block, double cycles)
{
	if (x->reason.next_cycles > 0 && x->reason.next_cycles <= cycles)
		return;
	x->reason.next = block;
	x->reason.next_cycles = cycles;
}

static void
try_block(struct block_search *x, struct hwc block)
{
	struct block_choice c = { .rows = x->q.ofm.h, .fold = x->fold,
				  .block = block };
	int banks;
	if (!block_layout(x->s->accel, &x->q, block, &c.layout, &banks))
		return;
	double cycles = priced_cycles(x, &x->s->machine, &c);
	x->reason.fitting++;
	bool taken;
	if (x->as_fast == 0) {
		taken = !x->found ||
			(cycles != x->cycles ? cycles < x->cycles : banks < x->banks);
	} else if (cycles > x->as_fast) {
		taken = false;
	} else { /* of the fastest: a shallower one, or one not deeper that the formulas prefer */
		const double by_formulas = priced_cycles(x, &x->s->published, &c);
		const int deeper = x->op->weights ? c.block.c - x->best.block.c : 0;
		taken = !(x->by_formulas > 0) || deeper < 0 ||
			(deeper == 0 && by_formulas < x->by_formulas);
		if (taken)
			x->by_formulas = by_formulas;
	}
	if (!taken) {
		note_next(x, block, cycles);
		return;
	}
	if (x->found)
		note_next(x, x->best.block, x->cycles);
	x->best = c;
	x->cycles = cycles;
	x->banks = banks;
	x->found = true;
}

static void
search_blocks(struct block_search *x, int32_t only_depth)
{
	/* the microblock is the same for all blocks */
	x->q.ublock = block_ublock(x->s->accel, &x->q);
	struct hwc most = block_bounds(x->s->accel, &x->q);
	struct hwc u = block_step(x->s->accel, &x->q);
	struct block_sizes h = block_sizes_of(x->q.ofm.h, most.h, u.h, 1);
	struct block_sizes w = block_sizes_of(x->q.ofm.w, most.w, u.w, 1);
	struct block_sizes c = block_sizes_of(x->q.ofm.c, most.c, u.c, BRICK);
	/* in the estimate bursts are as deep as blocks, even where a block is a brick and
	 * deeper than the feature map */
	if (c.n < MAX_BLOCK_SIZES && c.v[c.n - 1] >= x->q.ofm.c && c.v[c.n - 1] < most.c)
		c.v[c.n++] = most.c;
	if (only_depth) {
		c.n = 1;
		c.v[0] = only_depth;
	}
	for (int k = 0; k < c.n; k++)
		for (int i = 0; i < h.n; i++)
			for (int j = 0; j < w.n; j++)
				try_block(x, (struct hwc){ .h = h.v[i], .w = w.v[j],
							   .c = c.v[k] });
	/* wider ones, too: each block of an elementwise operation costs a part of its memories'
	 * latency */
	struct hwc b = x->best.block;
	bool spans = x->found && b.w >= x->q.ofm.w;
	for (b.w *= 2; spans && b.w <= most.w; b.w *= 2)
		try_block(x, b);
}

static const struct fold own_extents = { .ofm.c = 0 };

static struct block_search
search_of(struct sched *s, int i, int32_t rows, enum block_objective objective)
{
	const struct g_op *op = s->info[i].op;
	struct block_search x = { .s = s, .op = op, .first = i, .q = op_block_query(op, rows) };
	/* a stripe in the middle has no padding above or below */
	int64_t top = rows < op->ofm.shape.h ? (op->ofm.shape.h - rows) / 2 : 0;
	struct kernel k = { .op = i, .rows = { .lo = top, .hi = top + rows },
			    .depth = { .lo = 0, .hi = op->ofm.shape.c } };
	struct weights_size w = whole_size(s, i);
	x.kernel = kernel_op(s, &k, &own_extents, w.stream, w.scales,
			     objective == BLOCKS_FOR_IN_PLACE ? IN_PLACE : FETCHED);
	return x;
}

/* Searches the block of an operation, or of a chain, in its own extents and, if it is whole, in
 * those of folds.  depth: the only one, 0: any. */
static void
search_for(struct block_search *x, int32_t depth)
{
	struct fold fold[1 + MAX_FOLDS];
	int n = 0;
	if (G_HAS(x->op, G_OP_block)) {
		x->best.rows = x->q.ofm.h;
		x->best.block = x->op->block;
		x->found = block_layout(x->s->accel, &x->q, x->op->block, &x->best.layout, NULL);
		return;
	}
	if (x->links) {
		fold[n++] = own_extents;
	} else {
		search_blocks(x, depth);
		if (x->found && x->s->machine.calibrated) {
			x->as_fast = x->cycles * AS_FAST;
			search_blocks(x, depth);
		}
	}
	if (x->q.ofm.h == x->op->ofm.shape.h)
		n += list_folds(x->op, &fold[n]);
	for (int i = 0; i < n; i++) {
		struct g_op ops[CHAIN_LENGTH];
		const struct kernel k = { .op = x->first, .links = x->links };
		struct block_search y = { .s = x->s, .op = ops, .fold = fold[i] };
		if (!chain_ops(x->s, x->first, x->links, &fold[i], ops))
			continue;
		/* what is folded, or leads a chain here, has no weights */
		y.kernel = kernel_op(x->s, &k, &fold[i], 0, 0, FETCHED);
		y.q = op_block_query(&ops[0], ops[0].ofm.shape.h);
		search_blocks(&y, 0);
		if (!y.found || (x->found && y.cycles >= x->cycles))
			continue;
		y.best.rows = x->q.ofm.h;
		x->best = y.best;
		x->cycles = y.cycles;
		x->found = true;
	}
}

static struct block_choice *
find_choice(const struct work *w, int32_t rows, uint64_t chain)
{
	struct block_choice *b = w->choice;
	while (b && (b->rows != rows || b->chain != chain))
		b = b->next;
	return b;
}

static struct block_choice *
keep_choice(struct sched *s, struct work *w, const struct block_choice *b)
{
	struct block_choice *kept = anew(s->works->a, struct block_choice, 1);
	*kept = *b;
	kept->next = w->choice;
	return w->choice = kept;
}

const struct block_choice *
block_for(struct sched *s, int op, int32_t rows, enum block_objective objective)
{
	const int first = s->info[op].alike;
	objective = s->info[op].shared ? BLOCKS_FOR_FETCHED : objective;
	const struct g_op *g = s->info[first].op;
	struct work *w = s->info[first].work[objective];
	const int32_t whole = g->ofm.shape.h;
	if (op_is_transfer(g->kind))
		return NULL;
	const struct block_choice *cached = find_choice(w, rows, 0);
	if (cached)
		return cached->block.c ? cached : NULL;
	struct block_search x = search_of(s, first, rows, objective);
	int32_t depth = 0;
	/* weights are encoded for one depth, which all stripes share */
	if (g->weights && rows != whole) {
		const struct block_choice *b = block_for(s, first, whole, objective);
		depth = b && b->block.c <= block_bounds(s->accel, &x.q).c ? b->block.c : 0;
	}
	search_for(&x, depth);
	if (!x.found)
		x.best = (struct block_choice){ .rows = rows };
	cached = keep_choice(s, w, &x.best);
	return cached->block.c ? cached : NULL;
}

const struct block_choice *
kernel_block(struct sched *s, const struct kernel *k, int32_t rows)
{
	const int op = k->op, links = k->links;
	if (!links)
		return block_for(s, op, rows, k->objective);
	struct work *w = s->info[op].work[k->objective];
	const struct g_op *lead = s->info[op].op;
	const int32_t whole = lead->ofm.shape.h;
	const uint64_t chain = chain_key(s, op, links);
	const struct block_choice *cached = find_choice(w, whole, chain);
	if (!cached) {
		struct g_op ops[CHAIN_LENGTH];
		struct block_search x = { .s = s, .op = lead, .first = op, .links = links,
					  .q = op_block_query(lead, whole) };
		if (lead->weights || G_HAS(lead, G_OP_block)) {
			/* weights keep the block for which they are encoded */
			const struct block_choice *b = block_for(s, op, whole, k->objective);
			x.found = b != NULL;
			if (b)
				x.best = *b;
		} else {
			search_for(&x, 0);
		}
		if (!x.found || !chain_ops(s, op, links, &x.best.fold, ops))
			x.best = (struct block_choice){ .block.c = 0 };
		x.best.rows = whole;
		x.best.chain = chain;
		cached = keep_choice(s, w, &x.best);
	}
	return cached->block.c ? cached : NULL;
}

struct block_reason
block_reason(struct sched *s, int i, int32_t rows, enum block_objective objective)
{
	const struct g_op *op = s->info[i].op;
	const bool in_stripes = rows < op->ofm.shape.h;
	struct block_search x = search_of(s, i, in_stripes ? rows : op->ofm.shape.h,
					  s->info[i].shared ? BLOCKS_FOR_FETCHED : objective);
	search_blocks(&x, 0);
	x.reason.why = s->info[i].block_from_graph ? BLOCK_FROM_GRAPH : BLOCK_FASTEST;
	x.reason.cycles = x.cycles;
	if (x.reason.why == BLOCK_FASTEST && x.found && !hwc_equal(x.best.block, op->block)) {
		const bool other_depth = op->weights && op->block.c != x.best.block.c;
		x.reason.why = in_stripes && other_depth ? BLOCK_FOR_WEIGHTS : BLOCK_AS_FAST;
		x.reason.next = x.best.block;
		x.reason.next_cycles = x.cycles;
	}
	return x.reason;
}
