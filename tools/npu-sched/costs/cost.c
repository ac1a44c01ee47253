/* SPDX-License-Identifier: Apache-2.0 */
/* Describes kernels in the estimator's terms, and caches their costs. */
#include "costs.h"

#include "base/hash.h"
#include "emit/emit.h"
#include "graph/facts.h"
#include "target/accel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

bool
weights_move(const struct sched *s)
{
	/* constants in a memory as fast as SRAM are read in place */
	return s->memory.const_area == MEM_OFF_CHIP_FLASH ||
	       s->memory.const_area == MEM_DRAM;
}

double
transfer_share(const struct sched *s)
{
	enum mem_area from = s->memory.const_area;
	return s->machine.read_rate[from][READ_COPY] / s->machine.bytes_per_cycle[from];
}

enum mem_area
sched_area(const struct sched *s, const struct g_tensor *t)
{
	return perf_region_area(&s->memory, emit_region_of(&s->memory, t));
}

struct perf_op
kernel_op(const struct sched *s, const struct kernel *k, const struct fold *fold,
	  int64_t stream_bytes, int64_t scale_bytes, enum held held)
{
	struct g_op ops[CHAIN_LENGTH];
	bool is_one = chain_ops(s, k->op, k->links, fold, ops);
	assert(is_one);
	bool whole = k->links || fold->ofm.c;
	const struct g_range rows = { .hi = ops[0].ofm.shape.h }, depth = { .hi = ops[0].ofm.shape.c };
	struct perf_op p = perf_work_of(&s->machine, ops, k->links, whole ? rows : k->rows,
					whole ? depth : k->depth);
	p.has_bias = stream_bytes > 0;
	p.weight_bytes = stream_bytes;
	p.scale_bytes = scale_bytes;
	if (!weights_move(s))
		held = IN_PLACE;
	p.weight_area = held == FETCHED ? s->memory.cache_area : s->memory.const_area;
	p.scale_area = held == IN_PLACE ? s->memory.const_area : s->memory.cache_area;
	return p;
}

double
least_cost(const struct kernel *k)
{
	return fmin(fmin(k->cost[IN_PLACE], k->cost[FETCHED]), k->cost[SCALES_FETCHED]);
}

/* Cycles of a kernel whose weights are held as `held` says. */
static void
set_cost(struct sched *s, struct perf_op *p, const struct block_choice *b, enum held held,
	 struct cached_cost *out)
{
	const struct perf_cost c = cost_on(&s->machine, p, b);
	out->cost[held] = c.total;
	for (int i = 0; i < AXI_PORTS; i++)
		out->busy[held][i] = c.port[s->memory.axi[i]];
}

/* Cycles of a kernel for each enum held. */
static void
cost_held(struct sched *s, const struct kernel *k, const struct block_choice *b, int64_t stream,
	  int64_t scales, struct cached_cost *out)
{
	struct perf_op p = kernel_op(s, k, &b->fold, stream, scales, IN_PLACE);
	set_cost(s, &p, b, IN_PLACE, out);
	out->cost[FETCHED] = out->cost[IN_PLACE];
	memcpy(out->busy[FETCHED], out->busy[IN_PLACE], sizeof(out->busy[FETCHED]));
	out->cost[SCALES_FETCHED] = INFINITY;
	if (!stream || !weights_move(s))
		return;
	p.scale_area = s->memory.cache_area;
	/* It can pay to fetch scales alone: they are read through a channel of their own, which
	 * waits for the latency of a slow memory more often than the channel of weights. */
	const double *rate = s->machine.read_rate[s->memory.const_area];
	if (s->accel->cores == 1 && rate[READ_SCALES] < rate[READ_WEIGHTS])
		set_cost(s, &p, b, SCALES_FETCHED, out);
	p.weight_area = s->memory.cache_area;
	set_cost(s, &p, b, FETCHED, out);
}

void
sched_machines(struct sched *s)
{
	s->published = perf_machine_of(s->accel, &s->memory);
	s->calibrated = perf_machine_calibrated(s->accel, &s->memory);
	switch (s->o->model) {
	case MODEL_ROBUST:
		s->machine = perf_machine_robust(s->accel, &s->memory, &s->published);
		break;
	case MODEL_CALIBRATED:
		s->machine = s->calibrated;
		break;
	case MODEL_TIMELINE:
		s->machine = s->published;
		break;
	}
}

struct perf_cost
cost_on(const struct perf_machine *m, struct perf_op *p, const struct block_choice *b)
{
	struct perf_cost c;
	p->block = b->block;
	p->ifm_block = b->layout.ifm_block;
	p->ublock = b->layout.ublock;
	perf_cost(m, p, &c);
	return c;
}

/* All that the cost of a kernel of one work depends on.  It is hashed, so it has no padding. */
struct cost_key {
	uint64_t chain;
	int64_t stream_bytes, scale_bytes;
	int32_t stripe, rows, ifm_rows, depth;
};

/* The cache entry for a key, which may hold another cost or none.  If the key would share an
 * entry with another cost, the cache grows, up to its full size. */
static struct cached_cost *
find_cost(struct sched *s, struct work *w, uint64_t key)
{
	enum { FIRST_COSTS = 4 };
	while (w->n_slots < MAX_CACHED_COSTS) {
		const struct cached_cost *k = w->cost ? w->cost[key % w->n_slots] : NULL;
		if (w->cost && (!k || !k->key || k->key == key))
			break;
		const size_t n = w->n_slots ? 2 * w->n_slots : FIRST_COSTS;
		struct cached_cost **cost = anew(s->works->a, struct cached_cost *, n);
		for (size_t i = 0; i < w->n_slots; i++)
			if (w->cost[i])
				cost[w->cost[i]->key % n] = w->cost[i];
		w->cost = cost;
		w->n_slots = n;
	}
	struct cached_cost **k = &w->cost[key % w->n_slots];
	if (!*k)
		*k = anew(s->works->a, struct cached_cost, 1);
	return *k;
}

bool
stripe_cost(struct sched *s, struct kernel *k, int32_t stripe, int64_t stream_bytes,
	  int64_t scale_bytes)
{
	const struct op_info *f = &s->info[k->op];
	k->transfer = copy_transfer(s, f->op, k->rows.hi - k->rows.lo);
	if (op_is_transfer(f->op->kind)) {
		k->cost[IN_PLACE] = k->cost[FETCHED] = k->cost[SCALES_FETCHED] = 0;
		memset(k->busy, 0, sizeof(k->busy));
		return true;
	}
	struct emit_rows in = emit_ifm_rows(f->op, k->rows);
	const struct cost_key v = { .chain = chain_key(s, k->op, k->links), .stripe = stripe,
				    .rows = (int32_t)(k->rows.hi - k->rows.lo),
				    .ifm_rows = in.hi - in.lo,
				    .depth = (int32_t)(k->depth.hi - k->depth.lo),
				    .stream_bytes = stream_bytes, .scale_bytes = scale_bytes };
	uint64_t key = hash_xxh3(&v, sizeof(v));
	key += !key; /* 0 is an empty entry */
	struct cached_cost *cached = find_cost(s, f->work[k->objective], key);
	if (cached->key != key) {
		const struct block_choice *b = kernel_block(s, k, stripe);
		if (!b)
			return false;
		*cached = (struct cached_cost){ .key = key };
		cost_held(s, k, b, stream_bytes, scale_bytes, cached);
	}
	memcpy(k->cost, cached->cost, sizeof(k->cost));
	memcpy(k->busy, cached->busy, sizeof(k->busy));
	return true;
}

double
weights_transfer(const struct sched *s, int64_t bytes)
{
	return perf_dma_cycles(&s->machine, bytes, s->memory.const_area,
			       s->memory.cache_area, false);
}

double
table_transfer(const struct sched *s, const struct g_op *op)
{
	return perf_dma_cycles(&s->machine, lut_bytes(op->lut), s->memory.const_area,
			       MEM_SRAM, true);
}

/* Bytes that a transfer moves for `rows` rows; all columns that IFM2 names, at once. */
static int64_t
copied_bytes(const struct sched *s, const struct g_op *op, int64_t rows)
{
	int64_t column = (int64_t)op->ofm.shape.c * graph_type_bytes(op->ofm.type);
	if (op->kind != OP_COPY)
		return perf_indexed_bytes(&s->machine, hwc_elements(op->ifm2.shape), column,
					  sched_area(s, op->ifm.t));
	int64_t row = op->ofm.shape.w * column;
	if (op->ofm.t->layout == LAYOUT_NHCWB16)
		row = tensor_strides(op->ofm.t).y;
	/* rows before the last ones are multiples of 16 bytes */
	return emit_copied_bytes(s->accel, rows * row);
}

double
copy_transfer(const struct sched *s, const struct g_op *op, int64_t rows)
{
	if (!op_is_transfer(op->kind))
		return 0;
	return perf_dma_cycles(&s->machine, copied_bytes(s, op, rows), sched_area(s, op->ifm.t),
			       sched_area(s, op->ofm.t), false);
}

void
add_copy_memory(const struct sched *s, const struct g_op *op, int64_t rows,
		double memory[MEM_AREAS])
{
	perf_dma_memory(&s->machine, copied_bytes(s, op, rows), sched_area(s, op->ifm.t),
			sched_area(s, op->ofm.t), false, memory);
}

void
add_weights_memory(const struct sched *s, int64_t bytes, double memory[MEM_AREAS])
{
	perf_dma_memory(&s->machine, bytes, s->memory.const_area, s->memory.cache_area, false,
			memory);
}

void
add_table_memory(const struct sched *s, const struct g_op *op, double memory[MEM_AREAS])
{
	perf_dma_memory(&s->machine, lut_bytes(op->lut), s->memory.const_area, MEM_SRAM, true,
			memory);
}

const struct cached_stripe_cost *
op_cost(struct sched *s, int op, int32_t stripe, enum block_objective objective)
{
	struct work *w = s->info[op].work[objective];
	struct cached_stripe_cost *b = w->in_stripes;
	while (b && b->stripe != stripe)
		b = b->next;
	if (b)
		return b->fits ? b : NULL;
	b = anew(s->works->a, struct cached_stripe_cost, 1);
	b->stripe = stripe;
	b->fits = true;
	b->next = w->in_stripes;
	w->in_stripes = b;
	/* the sum over all stripes, in slices if the input graph has them */
	const struct g_op *g = s->info[op].op;
	struct g_list slices = slices_from_graph(g);
	const int32_t h = g->ofm.shape.h;
	for (int i = 0; i < slice_count(slices); i++) {
		struct kernel k = { .op = op, .objective = objective, .slice = -1,
				    .depth = slice_range(slices, i, g->ofm.shape.c) };
		struct weights_size size = slice_size(s, op, k.depth);
		for (int32_t at = 0; at < h; at += stripe) {
			k.rows.lo = at;
			k.rows.hi = h - at < stripe ? h : at + stripe;
			if (!stripe_cost(s, &k, stripe, size.stream, size.scales)) {
				b->fits = false;
				return NULL;
			}
			for (enum held held = IN_PLACE; held <= FETCHED; held++) {
				b->cost[held] += k.cost[held];
				b->paced[held] += paced_cost(s, k.cost[held]);
			}
		}
	}
	return b;
}
