/* SPDX-License-Identifier: Apache-2.0 */
/* --explain: the reasons for the plan's decisions, for people and for programs. */
#include "costs/costs.h"
#include "memory/memory.h"
#include "passes.h"
#include "search/rewrites.h"

#include "base/json_out.h"
#include "emit/emit.h"
#include "graph/build.h"
#include "graph/facts.h"
#include "graph/table.h"
#include "map/map.h"
#include "stream/op.h"
#include "tflite/tflite.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A report under construction: lines, or a JSON object. */
struct report {
	struct sched *s;
	struct text *t;
	bool json;
	struct json_out j; /* into t */
	const char **label; /* of the original model's operators, as npu-report shows them */
	size_t n_labels;
	double *cycles; /* by operation, by the calibrated estimate */
	double all;	/* cycles of all streams */
};

enum { LABEL = 36 }; /* characters */

/* programs get whole names, people the user's layer */
static const char *
op_name(const struct report *r, const struct g_op *op)
{
	const struct g_tfl *t = op->tfl.n ? &op->tfl.v[op->tfl.n - 1] : NULL;
	const char *name = table_name(r->s->a, op->name, 'o', op->rec.id);
	if (r->json)
		return name;
	if (t && t->subgraph == 0 && t->index >= 0 && (size_t)t->index < r->n_labels)
		name = text_plain(r->s->a, r->label[t->index]);
	return text_shortened(r->s->a, name, LABEL);
}

static const char *
rect_name(const struct report *r, const struct rect *x)
{
	const struct sched *s = r->s;
	if (x->slice >= 0) {
		const struct weight_slice *u = &s->plan->slice[x->slice];
		return arena_printf(s->a, "buffer of %s, slice %d",
				    r->json ? table_name(s->a, u->w->name, 'w', u->w->rec.id)
					    : op_name(r, s->info[u->op].op), u->index);
	}
	for (int i = 0; !r->json && i < s->n_ops; i++) /* people know the operation that writes */
		if (s->info[i].op->ofm.t == x->t)
			return op_name(r, s->info[i].op);
	return table_name(s->a, x->t->name, 't', x->t->rec.id);
}

static bool
is_live(const struct sched *s, const struct rect *r, int64_t step)
{
	return r->place == limited_place(s) && r->bytes && r->lo <= step && r->hi >= step;
}

/* The time step of the peak: in the lifetime of the rectangle that ends highest, the first step
 * with most live bytes. */
static int64_t
peak_step(const struct sched *s)
{
	const struct plan *p = s->plan;
	const struct rect *top = NULL;
	for (size_t i = 0; i < p->n_rects; i++) {
		const struct rect *r = &p->rect[i];
		if (r->place == limited_place(s) && r->bytes &&
		    (!top || r->at + r->bytes > top->at + top->bytes))
			top = r;
	}
	int64_t best = top ? top->lo : 0, most = -1;
	for (int64_t step = best; top && step <= top->hi; step++) {
		int64_t sum = 0;
		for (size_t i = 0; i < p->n_rects; i++)
			sum += is_live(s, &p->rect[i], step) ? p->rect[i].bytes : 0;
		if (sum > most) {
			most = sum;
			best = step;
		}
	}
	return best;
}

static void
explain_peak(struct report *r)
{
	const struct sched *s = r->s;
	const struct plan *p = s->plan;
	int64_t step = peak_step(s);
	int k = p->n_kernels ? kernel_at(s, p, step) : 0;
	const char *op = k < (int)p->n_kernels ? op_name(r, s->info[p->kernel[k].op].op) : "";
	int64_t peak = p->peak[limited_place(s)], bound = p->bound[limited_place(s)];
	if (r->json) {
		json_open(&r->j, "peak", '{');
		json_put_i64(&r->j, "bytes", peak);
		json_put_i64(&r->j, "lower_bound", bound);
		json_put_i64(&r->j, "step", step);
		json_put_string(&r->j, "operation", op);
		json_open(&r->j, "live", '[');
	} else {
		text_printf(r->t, "peak: %" PRId64 " bytes of %s (lower bound %" PRId64 ") at step "
			    "%" PRId64 ", operation %s; steps count kernels in their order, two "
			    "for each\n", peak, limited_memory(s), bound, step, op);
	}
	for (size_t i = 0; i < p->n_rects; i++) {
		const struct rect *x = &p->rect[i];
		if (!is_live(s, x, step))
			continue;
		const char *name = rect_name(r, x);
		if (!r->json) {
			text_printf(r->t, "  %8" PRId64 " bytes at 0x%-8" PRIx64 " live in steps "
				    "%" PRId64 " to %" PRId64 "  %s\n", x->bytes, (uint64_t)x->at, x->lo, x->hi,
				    name);
			continue;
		}
		json_open(&r->j, NULL, '{');
		json_put_string(&r->j, "name", name);
		json_put_i64(&r->j, "bytes", x->bytes);
		json_put_i64(&r->j, "at", x->at);
		json_open(&r->j, "live", '[');
		json_put_i64(&r->j, NULL, x->lo);
		json_put_i64(&r->j, NULL, x->hi);
		text_puts(r->t, "]}");
	}
	if (r->json)
		text_puts(r->t, "]}");
}

/* a transfer that kernels wait for */
struct waiting {
	const struct perf_row *row;
	const struct g_step *step; /* that asks for it, or runs the kernel that does */
	double cycles;		   /* that the streams take less without it */
	size_t order;
};

/* the longest first */
static int
by_waiting(const void *p, const void *q)
{
	const struct waiting *x = p, *y = q;
	if (x->cycles < y->cycles || x->cycles > y->cycles)
		return x->cycles < y->cycles ? 1 : -1;
	return (x->order > y->order) - (x->order < y->order);
}

/* The operation that a transfer is for: that of the step, or the first one that reads its weights
 * or table; NULL: a step of the graph loads a table that none reads. */
static const struct g_op *
user_of(const struct sched *s, const struct g_step *step)
{
	if (step && step->op)
		return step->op;
	for (int i = 0; step && i < s->n_ops; i++) {
		const struct g_op *op = s->info[i].op;
		if (step->weights ? op->weights == step->weights
				  : step->lut && op->lut == step->lut)
			return op;
	}
	return NULL;
}

/* what a transfer moves, for programs, and the same in front of the operation's name */
static const struct moved {
	const char *what, *words;
} table = { "table", "a lookup table of" }, weights = { "weights", "weights of" },
  constants = { "constants", "constants of" }, values = { "values", "values of" },
  input = { "input", "the network's input for" }, output = { "output", "the network's output of" };

static void
put_transfer(struct report *r, const struct waiting *x)
{
	const struct perf_row *row = x->row;
	const struct g_op *copy = x->step ? x->step->op : NULL; /* NULL: a fetch or a table */
	const struct moved *moved = row->to_shram			 ? &table
				    : row->is_weights			 ? &weights
				    : !copy || tensor_is_const(copy->ifm.t) ? &constants
				    : tensor_is_input(copy->ifm.t)	 ? &input
				    : tensor_is_output(copy->ofm.t)	 ? &output
									 : &values;
	const struct g_op *op = user_of(r->s, x->step);
	const char *name = op ? op_name(r, op) : "no operation";
	if (r->json) {
		json_open(&r->j, NULL, '{');
		json_put_string(&r->j, "what", moved->what);
		json_put_string(&r->j, "name", name);
		json_put_i64(&r->j, "bytes", row->dma_bytes);
		json_put_f64(&r->j, "cycles", rounded(row->step.cycles));
		json_put_f64(&r->j, "not_hidden", rounded(x->cycles));
		json_close(&r->j, '}');
		return;
	}
	text_printf(r->t, "  %.0f of %.0f cycles: %" PRId64 " bytes of %s %s\n", x->cycles,
		    row->step.cycles, row->dma_bytes, moved->words, name);
}

/* as in npu-report */
enum {
#define LIMIT(key, words, text) LIMIT_##key,
#include "limits.def"
	LIMITS
};
static const char *const limit_words[LIMITS] = {
#define LIMIT(key, words, text) [LIMIT_##key] = words,
#include "limits.def"
};

/* Explains the transfers that kernels wait for, by the streams as they will be emitted. */
static void
explain_transfers(struct report *r)
{
	struct sched *s = r->s;
	struct waiting *v = NULL;
	size_t n = 0, cap = 0;
	double waiting = 0;
	for (size_t k = 0; k < s->n_runs; k++) {
		const struct node_run *node = &s->run[k];
		const struct perf_run *run = &node->of;
		struct perf_step *without = anew(s->a, struct perf_step, run->n + 1);
		for (size_t i = 0; i < run->n; i++) {
			const struct perf_row *row = &run->row[i];
			if (row->step.kind == PERF_KERNEL)
				waiting += fmax(0, perf_stall(run, i).transfers);
			if (row->step.kind != PERF_DMA)
				continue;
			/* the stream once more, with a transfer of no cycles */
			for (size_t m = 0; m < run->n; m++)
				without[m] = run->row[m].step;
			without[i].cycles = 0;
			const double cycles =
				run->cycles - perf_timeline(&s->calibrated, without, run->n);
			if (cycles < 1)
				continue;
			/* a table without a step of its own is for the kernel behind it */
			size_t mark = row->npu->index < 0 ? node->n_marks : (size_t)row->npu->index;
			while (mark < node->n_marks && !node->mark[mark].step)
				mark++;
			agrow(s->a, v, n, &cap);
			v[n] = (struct waiting){ .row = row, .cycles = cycles, .order = n };
			v[n++].step = mark < node->n_marks ? node->mark[mark].step : NULL;
		}
	}
	if (n)
		qsort(v, n, sizeof(*v), by_waiting);
	if (r->json)
		json_open(&r->j, "transfers", '[');
	else
		text_printf(r->t, "%s: %.0f of %.0f cycles, %.0f %%%s\n", limit_words[LIMIT_STALL],
			    waiting, r->all, r->all > 0 ? 100 * waiting / r->all : 0,
			    n ? "; a transfer of no cycles would save:" : "");
	for (size_t i = 0; i < n; i++)
		put_transfer(r, &v[i]);
	if (r->json)
		text_puts(r->t, "]");
}

/* The costs by which the search compared the plan with the rows of the front. */
struct own {
	double cycles, objective;
};

static void
put_neighbour(struct report *r, const char *key, const char *label,
	      const struct sched_row *x, const struct own *own, const char *change)
{
	if (r->json && !x) {
		json_put_null(&r->j, key);
	} else if (r->json) {
		json_open(&r->j, key, '{');
		put_costs(&r->j, x);
		json_put_string(&r->j, "change", change);
		json_close(&r->j, '}');
	} else if (x) {
		text_printf(r->t, "%s: %" PRId64 " bytes, %.0f cycles", label, x->sram, x->cycles);
		/* the cycles that decide, if they order the plans differently */
		if ((round(x->cycles) < round(own->cycles)) !=
		    (round(x->objective) < round(own->objective)))
			text_printf(r->t, " (against %.0f of this output's plan; %s, which "
				    "decides: %.0f against %.0f)", own->cycles, by_objective(r->s->o),
				    x->objective, own->objective);
		text_printf(r->t, ": %s\n", change);
	} else {
		text_printf(r->t, "%s: there is none\n", label);
	}
}

/* Explains the rows of the front next to that of the plan. */
static void
explain_neighbours(struct report *r)
{
	const struct sched_front *f = &r->s->front;
	int64_t peak = r->s->plan->peak[limited_place(r->s)];
	const struct sched_row *less = NULL, *more = NULL, *same = NULL;
	for (size_t i = 0; i < f->n; i++) {
		if (f->v[i].sram < peak)
			less = &f->v[i];
		if (f->v[i].sram == peak)
			same = &f->v[i];
		if (f->v[i].sram > peak && !more)
			more = &f->v[i];
	}
	struct own own = { .cycles = r->all, .objective = objective_of(r->s) };
	if (same)
		own = (struct own){ .cycles = same->cycles, .objective = same->objective };
	const char *back = same ? same->back : "the plan of this output is not on the front";
	if (!same && less && round(less->objective) <= round(own.objective))
		back = arena_printf(r->s->a, "%s: use --arena-cache-size=%" PRId64, back,
				    less->sram);
	put_neighbour(r, "cheaper", "next cheaper plan", less, &own, back);
	put_neighbour(r, "faster", "next faster plan", more, &own, more ? more->change : "");
}

static const char *
block_text(const struct sched *s, struct hwc b)
{
	return arena_printf(s->a, "%dx%dx%d", b.h, b.w, b.c);
}

/* Why an operation has its block, as text.  in_place: chosen for weights that are read in place. */
static const char *
reason_of(const struct sched *s, int32_t depth, const struct block_reason *b, bool in_place)
{
	const char *next = arena_printf(s->a, "%s with %.0f cycles", block_text(s, b->next),
					b->next_cycles);
	const char *if_read = in_place ? "for weights read in place, " : "";
	switch (b->why) {
	case BLOCK_FROM_GRAPH:
		return "fixed in the graph";
	case BLOCK_FOR_WEIGHTS:
		return arena_printf(s->a, "weights are encoded for depth %d; else the fastest is %s",
				    depth, next);
	case BLOCK_AS_FAST:
		return arena_printf(s->a, "%sat most 1 %% slower than %s", if_read, next);
	case BLOCK_FASTEST:
		break;
	}
	if (b->next_cycles == 0)
		return "the only one that fits";
	return arena_printf(s->a, "%sthe fastest of %d that fit: %.0f cycles, next %s", if_read,
			    b->fitting, b->cycles, next);
}

/* Sums the cycles of all operations. */
static void
count_cycles(struct report *r)
{
	const struct sched *s = r->s;
	r->cycles = anew(s->a, double, (size_t)s->n_ops + 1);
	for (size_t n = 0; n < s->n_runs; n++) {
		const struct perf_run *run = &s->run[n].of;
		r->all += run->cycles;
		for (size_t i = 0; i < run->n; i++) {
			const int mark = run->row[i].npu->index;
			const struct g_step *step = mark >= 0 && (size_t)mark < s->run[n].n_marks
							    ? s->run[n].mark[mark].step : NULL;
			bool counts = run->row[i].step.kind == PERF_KERNEL ||
				      run->row[i].step.kind == PERF_DMA;
			for (int k = 0; counts && step && step->op && k < s->n_ops; k++)
				if (s->info[k].op == step->op)
					r->cycles[k] += run->row[i].step.cycles;
		}
	}
}

struct rank {
	double cycles;
	int i;
};

/* the longest first */
static int
by_cycles(const void *p, const void *q)
{
	const struct rank *x = p, *y = q;
	if (x->cycles < y->cycles || x->cycles > y->cycles)
		return x->cycles < y->cycles ? 1 : -1;
	return (x->i > y->i) - (x->i < y->i);
}

/* The rule that made several kernels of an operator, in brackets behind the name of each; else "". */
static const char *
rewrite_text(const struct sched *s, const struct g_op *op)
{
	const struct g_tfl *t = op->tfl.n ? &op->tfl.v[op->tfl.n - 1] : NULL;
	int kernels = 0;
	for (int i = 0; t && i < s->n_ops; i++) {
		const struct g_op *o = s->info[i].op;
		kernels += !op_is_transfer(o->kind) && has_operator(&o->tfl, *t);
	}
	for (size_t i = 0; kernels > 1 && !op_is_transfer(op->kind) && i < s->g->n_rewrites; i++)
		if (has_operator(&s->g->rewrites[i]->tfl, *t))
			return arena_printf(s->a, " (made by the rewrite %s)",
					    s->g->rewrites[i]->rule);
	return "";
}

static void
explain_op(struct report *r, int i)
{
	struct sched *s = r->s;
	const struct g_op *op = s->info[i].op;
	int32_t rows = s->plan->stripe[i] ? s->plan->stripe[i] : op->ofm.shape.h;
	const enum block_objective objective = s->plan->decided.op[i].objective;
	struct block_reason b = block_reason(s, i, rows, objective);
	/* a chain chooses the block of its first operation, unless weights or the graph do */
	bool by_chain = false;
	for (size_t k = 0; k < s->plan->n_kernels; k++)
		by_chain |= s->plan->kernel[k].op == i && s->plan->kernel[k].links > 0;
	by_chain &= !op->weights && !s->info[i].block_from_graph;
	const char *why = op_is_transfer(op->kind) ? "the DMA engine needs none"
			  : op->chain		     ?
	    "the block of the chain's first operation"
			  : by_chain ? "the fastest for its chain"
				     : reason_of(s, op->block.c, &b, op->weights && !s->info[i].shared &&
						       objective == BLOCKS_FOR_IN_PLACE);
	const char *traversal = "";
	if (op->kind == OP_CONV) {
		const bool deep = op->traversal == DEPTH_FIRST;
		const int64_t depth = padded_weights(op, DEPTH_FIRST);
		const int64_t part = padded_weights(op, PART_KERNEL);
		traversal = arena_printf(s->a, "%s: pads a kernel to %" PRId64 " weights, the "
					 "other traversal to %" PRId64, traversal_names[op->traversal],
					 deep ? depth : part, deep ? part : depth);
	}
	if (r->json) {
		json_open(&r->j, NULL, '{');
		json_put_string(&r->j, "name", op_name(r, op));
		json_put_string(&r->j, "kind", op_names[op->kind]);
		json_put_f64(&r->j, "cycles", rounded(r->cycles[i]));
		json_put_i64(&r->j, "rows", rows);
		json_put_string(&r->j, "block", block_text(s, op->block));
		json_put_string(&r->j, "why", why);
		if (*traversal)
			json_put_string(&r->j, "traversal", traversal);
		json_close(&r->j, '}');
		return;
	}
	text_printf(r->t, "  %.0f cycles, %.1f %%: o%d %s %s%s: block %s%s: %s\n", r->cycles[i],
		    r->all > 0 ? 100 * r->cycles[i] / r->all : 0, op->rec.id, op_names[op->kind],
		    op_name(r, op), rewrite_text(s, op), block_text(s, op->block),
		    s->plan->stripe[i] ? arena_printf(s->a, " for stripes of %d rows", rows) : "",
		    why);
	if (*traversal)
		text_printf(r->t, "      %s\n", traversal);
}

static void
explain_operations(struct report *r)
{
	const size_t n = (size_t)r->s->n_ops;
	struct rank *v = anew(r->s->a, struct rank, n + 1);
	for (size_t i = 0; i < n; i++)
		v[i] = (struct rank){ .cycles = r->cycles[i], .i = (int)i };
	qsort(v, n, sizeof(*v), by_cycles);
	if (r->json)
		json_open(&r->j, "operations", '[');
	else
		text_puts(r->t, "operations without waits, the longest first:\n");
	for (size_t i = 0; i < n; i++)
		explain_op(r, v[i].i);
	if (r->json)
		text_puts(r->t, "]}\n");
}

void
print_explanation(struct sched *s, struct text *t)
{
	struct report r = { .s = s, .t = t, .json = s->o->json,
			    .j = { .t = t, .style = JSON_SPACED } };
	if (r.json) {
		json_root(&r.j, '{');
		put_batch(s, &r.j);
	}
	/* the labels of npu-report */
	struct tfl_model *m;
	struct npu_map map = { .n_layers = 0 };
	if (graph_model(s->g, &m, &(struct err){ 0 }) && m->n_subgraphs) {
		map_take_layers(s->a, s->g, m, &map);
		r.n_labels = map.n_layers;
		r.label = map_short_labels(s->a, map_labels(s->a, &map), map.n_layers, LABEL);
		map_number_labels(s->a, r.label, map.n_layers, LABEL);
	}
	count_cycles(&r);
	explain_peak(&r);
	explain_transfers(&r);
	explain_neighbours(&r);
	explain_operations(&r);
}
