/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The OFM block of every operation: of all that fit the SHRAM the one with the
 * least estimated time; among equals the one that needs fewest banks, then the
 * smallest.  A block that covers an axis in as many pieces as a smaller one
 * can't be faster, so only the smallest for each number of pieces is tried.
 */
#include "sched.h"

enum { MAX_SIZES = 64 };

struct sizes {
	int32_t v[MAX_SIZES];
	int n;
};

/* for 1, 2, ... pieces of the axis: the smallest size in steps of unit */
static struct sizes
sizes_of(int32_t extent, int32_t most, int32_t unit, int32_t split_unit)
{
	struct sizes s = { .n = 0 };
	for (int32_t b = unit; b <= most && s.n < MAX_SIZES; b += unit) {
		if (b < extent && b % split_unit)
			continue;
		bool same = s.n && ceil_div(extent, b) == ceil_div(extent, s.v[s.n - 1]);
		if (!same)
			s.v[s.n++] = b;
	}
	return s;
}

struct choice {
	struct hwc block;
	struct shram_layout layout;
	double cycles;
	int banks;
	bool found;
};

static bool
better(const struct choice *a, const struct choice *b)
{
	if (!b->found || a->cycles != b->cycles)
		return !b->found || a->cycles < b->cycles;
	return a->banks < b->banks;
}

static void
try_block(const struct sched *s, const struct g_op *op,
	  const struct block_query *q, struct hwc block, struct choice *best)
{
	struct choice c = { .block = block, .found = true };
	if (!block_layout(s->accel, q, block, &c.layout, &c.banks))
		return;
	struct perf_op p = sched_perf_op(s, op, block, c.layout.ifm_block);
	struct perf_cost cost;
	perf_cost(&s->machine, &p, &cost);
	c.cycles = cost.total;
	if (better(&c, best))
		*best = c;
}

static struct choice
search(const struct sched *s, const struct g_op *op, int32_t rows)
{
	struct block_query q = op_block_query(op, rows);
	struct hwc most = block_bounds(s->accel, q.ofm), u = s->accel->ublock;
	int32_t even = q.upscale == UPSCALE_NONE ? 1 : 2;
	struct sizes h = sizes_of(rows, most.h, u.h > even ? u.h : even, 1);
	struct sizes w = sizes_of(q.ofm.w, most.w, u.w > even ? u.w : even, 1);
	struct sizes c = sizes_of(q.ofm.c, most.c, u.c, BRICK);
	struct choice best = { .found = false };
	for (int k = 0; k < c.n; k++)
		for (int i = 0; i < h.n; i++)
			for (int j = 0; j < w.n; j++)
				try_block(s, op, &q,
					  (struct hwc){ .h = h.v[i], .w = w.v[j],
							.c = c.v[k] },
					  &best);
	return best;
}

static void
choose_traversal(struct g_op *op)
{
	if (G_HAS(op, G_OP_traversal) || op->kind != OP_CONV)
		return;
	bool part = block_part_kernel(op->ifm.shape.c, op->kernel.y * op->kernel.x,
				      op_ifm_bits(op));
	G_PUT(op, OP, traversal, part ? PART_KERNEL : DEPTH_FIRST);
}

/* operations that share weights share the block: they are alike (batches) */
static const struct g_op *
twin_before(const struct graph *g, size_t i)
{
	for (size_t k = 0; k < i && g->ops[i]->weights; k++)
		if (g->ops[k]->weights == g->ops[i]->weights)
			return g->ops[k];
	return NULL;
}

static bool
given_block(struct sched *s, const struct g_op *op, struct choice *c)
{
	struct block_query q = op_block_query(op, op->ofm.shape.h);
	c->block = op->block;
	c->found = block_layout(s->accel, &q, op->block, &c->layout, &c->banks);
	return c->found || graph_err(s->g, op, s->e, "block %dx%dx%d of op o%d does "
				     "not fit", op->block.h, op->block.w,
				     op->block.c, op->rec.id);
}

bool
choose_blocks(struct sched *s)
{
	for (size_t i = 0; i < s->g->n_ops; i++) {
		struct g_op *op = s->g->ops[i];
		struct choice c = { .found = false };
		choose_traversal(op);
		const struct g_op *twin = twin_before(s->g, i);
		if (!G_HAS(op, G_OP_block) && twin)
			G_PUT(op, OP, block, twin->block);
		if (G_HAS(op, G_OP_block)) {
			if (!given_block(s, op, &c))
				return false;
		} else {
			c = search(s, op, op->ofm.shape.h);
		}
		if (!c.found)
			return graph_err(s->g, op, s->e, "no block of op o%d fits the "
					 "SHRAM of %s", op->rec.id, s->accel->name);
		G_PUT(op, OP, block, c.block);
		if (!G_HAS(op, G_OP_ib))
			G_PUT(op, OP, ib, c.layout.ib_end);
		if (!G_HAS(op, G_OP_ab))
			G_PUT(op, OP, ab, c.layout.ab_start);
		if (!G_HAS(op, G_OP_ib2) && op->ifm2.t)
			G_PUT(op, OP, ib2, c.layout.ib2_start);
	}
	return true;
}
