/* SPDX-License-Identifier: Apache-2.0 */
/* Reports for people and for programs: --front, the plans that more SRAM buys, and --explain,
 * the reasons for the plan's decisions. */
#include "costs/costs.h"
#include "memory/memory.h"
#include "passes.h"

#include "base/json_out.h"
#include "emit/emit.h"
#include "graph/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- the front ---------------------------------------------------------------- */

/* Cycles as npu-perf prints them. */
static double
rounded(double cycles)
{
	return round(cycles * 1000) / 1000;
}

/* The result of --batch, as members of a JSON object. */
static void
put_batch(const struct sched *s, const struct json_out *j)
{
	const struct g_model *m = s->g->n_models ? s->g->models[0] : NULL;
	if (!m || !G_HAS(m, G_MODEL_desired_batch))
		return;
	json_put_i64(j, "desired_batch_size", m->desired_batch);
	json_put_i64(j, "actual_batch_size", m->actual_batch);
}

static void
put_costs(const struct json_out *j, const struct sched_row *r)
{
	json_put_i64(j, "sram", r->sram);
	json_put_f64(j, "cycles", rounded(r->cycles));
	json_put_f64(j, "objective", rounded(r->objective));
}

static void
put_rows(const struct sched *s, const struct json_out *j)
{
	for (size_t i = 0; i < s->front.n; i++) {
		const struct sched_row *r = &s->front.v[i];
		json_open(j, NULL, '{');
		put_costs(j, r);
		json_put_i64(j, "flash", r->flash);
		json_put_i64(j, "streams", r->streams);
		json_put_i64(j, "dram", r->dram);
		json_put_string(j, "change", r->change);
		json_close(j, '}');
	}
}

/* The target of the plans; a reader compares fronts of several, whose clocks may differ. */
static void
put_target(const struct sched *s, const struct json_out *j)
{
	json_put_string(j, "accelerator", s->accel->name);
	if (s->memory.part)
		json_put_string(j, "part", s->memory.part);
	json_put_f64(j, "core_clock", s->memory.clock);
	if (graph_is_for_linux(s->g))
		json_put_string(j, "driver", driver_names[DRIVER_LINUX]);
}

void
print_front(const struct sched *s, struct text *t)
{
	if (s->o->json) {
		const struct json_out j = { .t = t, .style = JSON_SPACED };
		json_root(&j, '{');
		put_target(s, &j);
		put_batch(s, &j);
		json_open(&j, "front", '[');
		put_rows(s, &j);
		text_puts(t, "]}\n");
		return;
	}
	text_puts(t, "sram\tcycles\tobjective\tchange\tflash\tstreams\tdram\n");
	for (size_t i = 0; i < s->front.n; i++) {
		const struct sched_row *r = &s->front.v[i];
		text_printf(t, "%" PRId64 "\t", r->sram);
		text_double(t, rounded(r->cycles));
		text_putc(t, '\t');
		text_double(t, rounded(r->objective));
		text_printf(t, "\t%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\n", r->change, r->flash,
			    r->streams, r->dram);
	}
}

/* ---- an explanation ------------------------------------------------------------- */

/* A report under construction: lines, or a JSON object. */
struct report {
	struct sched *s;
	struct text *t;
	bool json;
	struct json_out j; /* into t */
};

static const char *
op_name(const struct sched *s, const struct g_op *op)
{
	return table_name(s->a, op->name, 'o', op->rec.id);
}

static const char *
rect_name(const struct sched *s, const struct rect *r)
{
	const struct weight_slice *u = r->slice < 0 ? NULL : &s->plan->slice[r->slice];
	if (!u)
		return table_name(s->a, r->t->name, 't', r->t->rec.id);
	return arena_printf(s->a, "buffer of %s, slice %d",
			    table_name(s->a, u->w->name, 'w', u->w->rec.id), u->index);
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
put_live(const struct json_out *j, const char *name, const struct rect *x)
{
	json_open(j, NULL, '{');
	json_put_string(j, "name", name);
	json_put_i64(j, "bytes", x->bytes);
	json_put_i64(j, "at", x->at);
	json_open(j, "live", '[');
	json_put_i64(j, NULL, x->lo);
	json_put_i64(j, NULL, x->hi);
	text_puts(j->t, "]}");
}

static void
explain_peak(struct report *r)
{
	const struct sched *s = r->s;
	const struct plan *p = s->plan;
	int64_t step = peak_step(s);
	int k = p->n_kernels ? kernel_at(s, p, step) : 0;
	const char *op = k < (int)p->n_kernels ? op_name(s, s->info[p->kernel[k].op].op) : "";
	int64_t peak = p->peak[limited_place(s)], bound = p->bound[limited_place(s)];
	if (r->json) {
		json_open(&r->j, "peak", '{');
		json_put_i64(&r->j, "bytes", peak);
		json_put_i64(&r->j, "lower_bound", bound);
		json_put_i64(&r->j, "step", step);
		json_put_string(&r->j, "operation", op);
		json_open(&r->j, "live", '[');
	} else {
		text_printf(r->t, "peak: %" PRId64 " bytes (lower bound %" PRId64 ") at time step "
			    "%" PRId64 ", operation %s\n", peak, bound, step, op);
	}
	for (size_t i = 0; i < p->n_rects; i++) {
		const struct rect *x = &p->rect[i];
		if (!is_live(s, x, step))
			continue;
		if (r->json)
			put_live(&r->j, rect_name(s, x), x);
		else
			text_printf(r->t, "  %8" PRId64 " bytes at 0x%-8" PRIx64 " live %" PRId64
				    ":%" PRId64 "  %s\n", x->bytes, (uint64_t)x->at, x->lo, x->hi,
				    rect_name(s, x));
	}
	if (r->json)
		text_puts(r->t, "]}");
}

/* Steps of a stream, with and without a transfer, to find the cycles that kernels wait for
 * it. */
struct exposed {
	const struct perf_step *step;
	struct perf_step *without;
	size_t n;
	double cycles;
};

static double
wait_for(const struct sched *s, struct exposed *x, size_t transfer)
{
	memcpy(x->without, x->step, x->n * sizeof(*x->step));
	x->without[transfer].cycles = 0;
	return x->cycles - perf_timeline(&s->calibrated, x->without, x->n);
}

static void
put_transfer(struct report *r, const struct perf_row *row, double wait)
{
	const char *what = row->to_shram ? "table" : row->is_weights ? "weights" : "constants";
	if (r->json) {
		json_open(&r->j, NULL, '{');
		json_put_string(&r->j, "what", what);
		json_put_i64(&r->j, "bytes", row->dma_bytes);
		json_put_f64(&r->j, "cycles", rounded(row->step.cycles));
		json_put_f64(&r->j, "not_hidden", rounded(wait));
		json_close(&r->j, '}');
		return;
	}
	text_printf(r->t, "  %.0f of %.0f cycles: %" PRId64 " bytes of %s\n", wait,
		    row->step.cycles, row->dma_bytes, what);
}

/* Explains transfers, by the streams as they will be emitted. */
static bool
explain_transfers(struct report *r)
{
	struct sched *s = r->s;
	bool first = true;
	if (r->json)
		json_open(&r->j, "transfers", '[');
	else
		text_puts(r->t, "transfers that are not hidden:\n");
	for (size_t n = 0; n < s->n_runs; n++) {
		const struct perf_run *run = &s->run[n].of;
		struct perf_step *step = anew(s->a, struct perf_step, 2 * run->n + 1);
		for (size_t i = 0; i < run->n; i++)
			step[i] = run->row[i].step;
		struct exposed x = { .step = step, .without = step + run->n, .n = run->n,
				     .cycles = run->cycles };
		for (size_t i = 0; i < run->n; i++) {
			const struct perf_row *row = &run->row[i];
			double wait = row->step.kind == PERF_DMA ? wait_for(s, &x, i) : 0;
			if (wait < 1)
				continue;
			put_transfer(r, row, wait);
			first = false;
		}
	}
	text_puts(r->t, r->json ? "]" : first ? "  none\n" : "");
	return true;
}

static void
put_neighbour(struct report *r, const char *key, const char *label,
	      const struct sched_row *x, const char *change)
{
	if (r->json && !x) {
		json_put_null(&r->j, key);
	} else if (r->json) {
		json_open(&r->j, key, '{');
		put_costs(&r->j, x);
		json_put_string(&r->j, "change", change);
		json_close(&r->j, '}');
	} else if (x) {
		text_printf(r->t, "%s: %" PRId64 " bytes, %.0f cycles: %s\n", label, x->sram,
			    x->cycles, change);
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
	const struct sched_row *less = NULL, *more = NULL, *own = NULL;
	for (size_t i = 0; i < f->n; i++) {
		if (f->v[i].sram < peak)
			less = &f->v[i];
		if (f->v[i].sram == peak)
			own = &f->v[i];
		if (f->v[i].sram > peak && !more)
			more = &f->v[i];
	}
	put_neighbour(r, "cheaper", "next cheaper plan", less,
		      own ? own->back : "this plan is not on the front");
	put_neighbour(r, "faster", "next faster plan", more, more ? more->change : "");
}

static const char *
block_text(const struct sched *s, struct hwc b)
{
	return arena_printf(s->a, "%dx%dx%d", b.h, b.w, b.c);
}

/* Why an operation has its block, as text. */
static const char *
reason_of(const struct sched *s, int32_t depth, const struct block_reason *b)
{
	const char *next = arena_printf(s->a, "%s with %.0f cycles", block_text(s, b->next),
					b->next_cycles);
	switch (b->why) {
	case BLOCK_FROM_GRAPH:
		return "fixed in the graph";
	case BLOCK_FOR_WEIGHTS:
		return arena_printf(s->a, "weights are encoded for depth %d; else the fastest is %s",
				    depth, next);
	case BLOCK_AS_FAST:
		return arena_printf(s->a, "at most 1 %% slower than %s", next);
	case BLOCK_FASTEST:
		break;
	}
	if (b->next_cycles == 0)
		return "the only one that fits";
	return arena_printf(s->a, "the fastest of %d that fit: %.0f cycles, next %s", b->fitting,
			    b->cycles, next);
}

static const char *
traversal_text(const struct sched *s, const struct g_op *op)
{
	if (op->kind != OP_CONV)
		return "";
	int64_t depth = padded_weights(op, DEPTH_FIRST), part = padded_weights(op, PART_KERNEL);
	return arena_printf(s->a, "%s: pads a kernel to %" PRId64 " weights, the other "
				  "traversal to %" PRId64, traversal_names[op->traversal],
			    op->traversal == DEPTH_FIRST ? depth : part,
			    op->traversal == DEPTH_FIRST ? part : depth);
}

/* Was the block of operation i chosen by the chain that begins with it?  True if the operation
 * has no weights, and no block in the input graph. */
static bool
is_chosen_by_chain(const struct sched *s, int i)
{
	const struct plan *p = s->plan;
	for (size_t k = 0; k < p->n_kernels; k++)
		if (p->kernel[k].op == i && p->kernel[k].links > 0)
			return !s->info[i].op->weights && !s->info[i].block_from_graph;
	return false;
}

static void
explain_op(struct report *r, int i)
{
	struct sched *s = r->s;
	const struct g_op *op = s->info[i].op;
	int32_t rows = s->plan->stripe[i] ? s->plan->stripe[i] : op->ofm.shape.h;
	struct block_reason b = block_reason(s, i, rows, s->plan->decided.op[i].objective);
	const char *why = op_is_transfer(op->kind) ? "the DMA engine needs none"
			  : op->chain		     ?
	    "the block of the chain's first operation"
			  : is_chosen_by_chain(s, i) ? "the fastest for its chain"
						     : reason_of(s, op->block.c, &b);
	const char *traversal = traversal_text(s, op);
	if (r->json) {
		json_open(&r->j, NULL, '{');
		json_put_string(&r->j, "name", op_name(s, op));
		json_put_string(&r->j, "kind", op_names[op->kind]);
		json_put_i64(&r->j, "rows", rows);
		json_put_string(&r->j, "block", block_text(s, op->block));
		json_put_string(&r->j, "why", why);
		if (*traversal)
			json_put_string(&r->j, "traversal", traversal);
		json_close(&r->j, '}');
		return;
	}
	text_printf(r->t, "  o%d %s %s: block %s%s: %s\n", op->rec.id, op_names[op->kind],
		    op_name(s, op), block_text(s, op->block),
		    s->plan->stripe[i] ? arena_printf(s->a, " for stripes of %d rows", rows) : "",
		    why);
	if (*traversal)
		text_printf(r->t, "      %s\n", traversal);
}

bool
print_explanation(struct sched *s, struct text *t)
{
	struct report r = { .s = s, .t = t, .json = s->o->json,
			    .j = { .t = t, .style = JSON_SPACED } };
	if (r.json) {
		json_root(&r.j, '{');
		put_batch(s, &r.j);
	}
	explain_peak(&r);
	if (!explain_transfers(&r))
		return false;
	explain_neighbours(&r);
	if (r.json)
		json_open(&r.j, "operations", '[');
	else
		text_puts(t, "operations:\n");
	for (int i = 0; i < s->n_ops; i++)
		explain_op(&r, i);
	if (r.json)
		text_puts(t, "]}\n");
	return true;
}
