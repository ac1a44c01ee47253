/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts weights into slices, one for each range of output channels, which are fetched or read in
 * place.  A slice is a multiple of the block's depth, so that slices read no feature map more
 * often than blocks do anyway.
 */
#include "slices.h"
#include "transfers.h"

#include "base/little_endian.h"
#include "base/text.h"
#include "base/threads.h"
#include "emit/emit.h"
#include "graph/facts.h"
#include "target/accel.h"

#include <math.h>
#include <string.h>

static const int64_t cut_bytes[CUTS] = { [CUT_COARSE] = 12288, [CUT_FINE] = 4096 };

/* The slices of an operation's weights: those of the input graph; else, if it runs whole, those
 * of a cut, whose sizes come near that of the cut. */
static struct g_list
cut_weights(struct sched *s, struct arena *a, int op, enum block_objective objective, bool whole,
	    enum cut cut)
{
	const struct g_op *g = s->info[op].op;
	if (!g->weights || G_HAS(g->weights, G_WEIGHTS_slices))
		return slices_from_graph(g);
	struct g_list l = { .n = 0 };
	if (cut == UNCUT || !whole || !weights_move(s) || s->info[op].shared ||
	    G_HAS(g->weights, G_WEIGHTS_at))
		return l;
	const int32_t block_depth = block_for(s, op, g->ofm.shape.h, objective)->block.c;
	const int64_t o = g->ofm.shape.c, n = weight_count(g) / cut_bytes[cut];
	const int64_t depth = n < 2 ? o : round_up_i64((o + n - 1) / n, block_depth);
	if (depth >= o)
		return l;
	l.v = anew(a, int64_t, (size_t)(o / depth) + 2);
	for (int64_t at = 0; at < o; at += depth)
		l.v[l.n++] = at;
	l.v[l.n++] = o;
	return l;
}

/* Finds or adds slice `slice` of the weights of an operation; returns its index in p->slice.
 * first: of each weights record, the index of slice 0 plus 1; its other slices follow. */
static int
add_slice(struct sched *s, struct plan *p, int *first, int op, int slice, int kernel)
{
	const struct g_op *g = s->info[op].op;
	int *zero = &first[g->weights->rec.index];
	if (*zero && *zero - 1 + slice < (int)p->n_slices &&
	    p->slice[*zero - 1 + slice].w == g->weights) {
		p->slice[*zero - 1 + slice].last = kernel;
		return *zero - 1 + slice;
	}
	if (!slice)
		*zero = (int)p->n_slices + 1;
	struct g_range depth = slice_range(p->cut_points[op], slice, g->ofm.shape.c);
	struct weights_size size = slice_size(s, op, depth);
	agrow(p->a, p->slice, p->n_slices, &p->cap_slices);
	p->slice[p->n_slices] = (struct weight_slice){
		.w = g->weights, .op = op, .index = slice, .depth = depth,
		.first = kernel, .last = kernel,
		.stream_bytes = size.stream, .scale_bytes = size.scales,
	};
	return (int)p->n_slices++;
}

/* Sets costs of kernels and slices, and the decisions about slices that follow from them. */
static void
cost_kernels(struct sched *s, struct plan *p)
{
	for (size_t i = 0; i < p->n_slices; i++) {
		memset(p->slice[i].cost, 0, sizeof(p->slice[i].cost));
		memset(p->slice[i].busy, 0, sizeof(p->slice[i].busy));
	}
	for (size_t i = 0; i < p->n_kernels; i++) {
		struct kernel *k = &p->kernel[i];
		const struct g_op *op = s->info[k->op].op;
		int32_t rows = p->stripe[k->op] ? p->stripe[k->op] : op->ofm.shape.h;
		struct weight_slice *u = k->slice >= 0 ? &p->slice[k->slice] : NULL;
		(void)stripe_cost(s, k, rows, u ? u->stream_bytes : 0,
				u ? u->scale_bytes : 0);
		for (enum held h = IN_PLACE; u && h < HELDS; h++) {
			u->cost[h] += k->cost[h];
			u->busy[h] += constants_busy(s, k, h);
		}
	}
	leave_useless(s, p);
}

/* Replaces each kernel by one for each slice, by p->cut_points. */
static void
slice_kernels(struct sched *s, struct plan *p)
{
	struct kernel *whole = p->kernel;
	const size_t n = p->n_kernels;
	size_t sliced = 0;
	for (size_t i = 0; i < n; i++)
		sliced += (size_t)slice_count(p->cut_points[whole[i].op]);
	struct arena *a = arena_open();
	int *first = anew(a, int, s->g->n_weights + 1);
	if (sliced > n) /* else each is written back to its index */
		p->kernel = anew(p->a, struct kernel, sliced + 1);
	p->n_kernels = p->n_slices = 0;
	for (size_t i = 0; i < n; i++) {
		struct kernel k = whole[i];
		const int slices = slice_count(p->cut_points[k.op]);
		for (int slice = 0; slice < slices; slice++) {
			const int at = (int)p->n_kernels++;
			if (s->info[k.op].op->weights)
				k.slice = add_slice(s, p, first, k.op, slice, at);
			if (k.slice >= 0)
				k.depth = p->slice[k.slice].depth;
			p->kernel[at] = k;
		}
	}
	arena_close(a);
}

void
make_slices(struct sched *s, struct plan *p)
{
	struct arena *a = arena_open();
	bool *chained = anew(a, bool, (size_t)s->n_ops + 1);
	for (size_t i = 0; i < p->n_kernels; i++)
		chained[p->kernel[i].op] = p->kernel[i].links > 0;
	for (int i = 0; i < s->n_ops; i++)
		p->cut_points[i] = cut_weights(s, p->a, i, p->decided.op[i].objective,
						!p->stripe[i] && !chained[i],
						p->decided.op[i].cut);
	slice_kernels(s, p);
	struct same_op same = { .latest = anew(a, int, (size_t)s->n_ops + 1),
				.before = anew(a, int, p->n_kernels + 1) };
	for (int i = 0; i < s->n_ops; i++)
		same.latest[i] = -1;
	/* the tables that are loaded before kernels, none of which a node begins with, and the copies
	 * for which they wait */
	struct lut_slots held = { .turn = 0 };
	int node = -1;
	for (size_t i = 0; i < p->n_kernels; i++) {
		struct kernel *k = &p->kernel[i];
		const struct op_info *f = &s->info[k->op];
		if (f->node != node)
			held = (struct lut_slots){ .turn = 0 };
		node = f->node;
		k->awaits = s->has_copies ? copy_awaited(s, p, (int)i, &same) : -1;
		same.before[i] = same.latest[k->op];
		same.latest[k->op] = (int)i;
		if (!op_is_transfer(f->op->kind) &&
		    lut_slots_run(&held, s->accel, f->op, &k->table_slot))
			k->table_load = table_transfer(s, f->op);
	}
	arena_close(a);
	cost_kernels(s, p);
}

/* ---- exact sizes -------------------------------------------------------------- */

/* The slices that are to be measured. */
struct measure {
	struct sched *s;
	struct plan *p;
	size_t *slice, n;
	struct weights_view *view; /* of each slice */
	int64_t *count;		   /* of each slice: number of weights */
	struct text *coding;	   /* of each slice: coding of all its streams */
};

/* The block for which a slice is encoded.  It is chosen before threads begin, which only look
 * it up. */
static struct hwc
block_of(struct sched *s, const struct plan *p, const struct weight_slice *u)
{
	int32_t rows = p->stripe[u->op] ? p->stripe[u->op] : s->info[u->op].op->ofm.shape.h;
	return block_for(s, u->op, rows, p->decided.op[u->op].objective)->block;
}

static void
measure_one(void *ctx, size_t i)
{
	struct measure *m = ctx;
	struct weight_slice *u = &m->p->slice[m->slice[i]];
	struct g_op op = *m->s->info[u->op].op;
	struct g_weights w = *op.weights;
	op.block = block_of(m->s, m->p, u);
	w.slices = m->p->cut_points[u->op];
	op.weights = &w;
	u->stream_bytes = u->scale_bytes = 0;
	for (int core = 0; core < emit_streams(m->s->accel, &op); core++) {
		struct weights_order ord =
		    emit_weights_order(m->s->accel, &op, u->index, core);
		size_t channels = (size_t)weights_order_channels(&ord);
		if (!channels)
			continue;
		u->scale_bytes +=
		    (int64_t)weights_scales_size(emit_scale_records(&ord));
		if (op.fast) {
			u->stream_bytes += (int64_t)stream_cost(m->s, &op, &m->view[i], &ord);
			continue;
		}
		struct arena *a = arena_open();
		struct bytes coding;
		uint8_t length[4];
		u->stream_bytes += (int64_t)weights_cost_coding(a, &m->view[i], &ord,
								m->s->o->level, &coding);
		store_le32(length, (uint32_t)coding.n);
		text_put(&m->coding[i], length, sizeof(length));
		text_put(&m->coding[i], coding.p, coding.n);
		arena_close(a);
	}
}

/* Sets the exact sizes of p's slices: those of the cache, and those that threads measure.  False:
 * an error. */
static bool
measure_all(struct sched *s, struct plan *p)
{
	struct measure m = { .s = s, .p = p };
	m.slice = anew(p->a, size_t, p->n_slices + 1);
	m.view = anew(p->a, struct weights_view, p->n_slices + 1);
	m.count = anew(p->a, int64_t, p->n_slices + 1);
	m.coding = anew(p->a, struct text, p->n_slices + 1);
	for (size_t i = 0; i < p->n_slices; i++) {
		struct weight_slice *u = &p->slice[i];
		const struct g_op *op = s->info[u->op].op;
		const struct cached_size *memo = find_cached_size(s, u, block_of(s, p, u).c);
		if (memo) {
			u->stream_bytes = memo->stream_bytes;
			u->scale_bytes = memo->scale_bytes;
			continue;
		}
		m.slice[m.n] = i;
		m.count[m.n] = weight_count(op) / op->ofm.shape.c * (u->depth.hi - u->depth.lo);
		if (!emit_weights_view(p->a, s->g, u->w, &m.view[m.n++], s->e))
			return false;
	}
	threads_for(s->o->jobs, m.n, m.count, measure_one, &m);
	for (size_t i = 0; i < m.n; i++) {
		const struct weight_slice *u = &p->slice[m.slice[i]];
		int32_t depth = block_of(s, p, u).c;
		struct bytes coding = { .p = (const uint8_t *)m.coding[i].p,
					.n = m.coding[i].n };
		if (!find_cached_size(s, u, depth))
			add_cached_size(s, u, depth, coding);
		text_free(&m.coding[i]);
	}
	return true;
}

struct bytes
slice_coding(struct sched *s, const struct plan *p, size_t slice)
{
	const struct weight_slice *u = &p->slice[slice];
	const struct cached_size *k = find_cached_size(s, u, block_of(s, p, u).c);
	return k ? k->coding : (struct bytes){ .p = NULL };
}

/*
 * Bytes of the command streams, roughly: registers keep their values, so that a kernel is short if
 * much of the kernel before stays.  The numbers are a fit to 133 plans of nine networks for U55, U65
 * and U85, whose streams differ from the sum by 15 % (root mean square).
 */
static int64_t
command_bytes(const struct sched *s, const struct plan *p)
{
	enum { WITH_WEIGHTS = 130, WITHOUT_WEIGHTS = 50, NEXT_STRIPE = 20, OTHER_STRIPE = 90,
	       CHAIN_LINK = 220 };
	struct arena *a = arena_open();
	bool *seen = anew(a, bool, (size_t)s->n_ops + 1);
	int64_t bytes = 0;
	for (size_t i = 0; i < p->n_kernels; i++) {
		const int op = p->kernel[i].op;
		bytes += seen[op] ? (p->kernel[i - 1].op == op ? NEXT_STRIPE : OTHER_STRIPE)
				  : (s->info[op].op->weights ? WITH_WEIGHTS : WITHOUT_WEIGHTS);
		bytes += CHAIN_LINK * p->kernel[i].links;
		seen[op] = true;
	}
	arena_close(a);
	return bytes;
}

bool
measure_slices(struct sched *s, struct plan *p)
{
	if (!measure_all(s, p))
		return false;
	cost_kernels(s, p);
	p->stored = p->commands = command_bytes(s, p);
	for (size_t i = 0; i < p->n_slices; i++)
		p->stored += slice_bytes(&p->slice[i]);
	return true;
}

bool
measure_whole(struct sched *s)
{
	enum { SHARE = 4 };
	struct plan *p = plan_new(s);
	find_works(s);
	p->kernel = anew(p->a, struct kernel, (size_t)s->n_ops + 1);
	for (int i = 0; i < s->n_ops; i++) {
		const struct g_op *op = s->info[i].op;
		struct kernel k = { .op = i, .slice = -1,
				    .rows = { .lo = 0, .hi = op->ofm.shape.h },
				    .depth = { .lo = 0, .hi = op->ofm.shape.c } };
		if (!op->weights)
			continue;
		if (!whole_block(s, i))
			return plan_close(p),
			       graph_err(s->g, op, s->e, "no block of op o%d fits the "
					 "SHRAM of %s", op->rec.id, s->accel->name);
		p->kernel[p->n_kernels++] = k;
	}
	for (int i = 0; i < s->n_ops; i++) {
		/* Weights of more than a quarter of the profile's own limit are hardly ever fetched
		 * whole, beside feature maps and the next weights.  Plans have them in slices, so
		 * that these are measured first, not the whole. */
		const struct g_op *op = s->info[i].op;
		const bool large = op->weights && s->profile_bytes &&
				   weight_count(op) > s->profile_bytes / SHARE;
		p->cut_points[i] = cut_weights(s, p->a, i, BLOCKS_FOR_FETCHED, true,
					       large ? CUT_COARSE : UNCUT);
	}
	slice_kernels(s, p);
	bool ok = measure_all(s, p);
	for (size_t i = 0; ok && i < p->n_slices; i++)
		estimate_by(s, &p->slice[i]);
	plan_close(p);
	return ok;
}

/* ---- bounds ------------------------------------------------------------------- */

double
whole_lower_bound(struct sched *s, int op, enum block_objective objective, enum cut cut)
{
	const struct g_op *g = s->info[op].op;
	struct work *w = s->info[op].work[objective];
	const int32_t h = g->ofm.shape.h;
	if (!w->has_lower_bounds) {
		struct arena *a = arena_open();
		w->lower_bound[ANY_CUT] = INFINITY;
		for (enum cut c = UNCUT; c < CUTS; c++) {
			struct g_list l = cut_weights(s, a, op, objective, true, c);
			const bool cut_anew = c == UNCUT || l.n;
			double sum = cut_anew ? 0 : w->lower_bound[UNCUT];
			for (int i = 0; cut_anew && i < slice_count(l); i++) {
				struct kernel k = { .op = op, .objective = objective, .rows = { .hi = h },
						    .depth = slice_range(l, i, g->ofm.shape.c) };
				struct weights_size size = slice_size(s, op, k.depth);
				(void)stripe_cost(s, &k, h, size.stream, size.scales);
				sum += least_cost(&k);
			}
			w->lower_bound[c] = sum;
			w->lower_bound[ANY_CUT] = fmin(w->lower_bound[ANY_CUT], sum);
		}
		w->has_lower_bounds = true;
		arena_close(a);
	}
	return w->lower_bound[cut] + leading_copy(s, op, h);
}
