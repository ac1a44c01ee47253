/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cycles of a plan as a command stream: the timeline estimate (ethosu-timing(7) 8) over its
 * kernels and transfers, with the waits that the emitter puts between those that touch the same
 * bytes (ethosu-commands(7) 11.2).  Before addresses are assigned, only waits that no addresses
 * can spare are counted; the result is then a lower bound.
 */
#include "../costs/costs.h"
#include "clock.h"
#include "graph/facts.h"

#include "emit/emit.h"

#include <assert.h>

/* An operation as the emitter will see it, with rolling buffers and cut weights. */
struct copy {
	struct g_op op;
	struct g_tensor t[3];
	struct g_weights w;
};

/*
 * The bytes that the kernels and copies of a plan touch.  Those of feature maps and tables are
 * computed once; a run adds the buffers of weights and, if they are known, addresses.  Region 0
 * is the SHRAM, i + 1 is rectangle i of the plan.
 */
struct touches {
	bool with_maps; /* feature maps are listed */
	int *region; /* of each tensor; 0: no rectangle */
	int runs;
	struct touch_list {
		struct accesses now; /* of run number `run` */
		int run;
		struct accesses fixed; /* without the weights; v NULL: not computed */
	} *of; /* of each kernel */
	struct copy copy; /* of operation copied - 1 */
	int copied;
};

struct clock {
	struct sched *s;
	const struct plan *p;
	bool anew; /* the plan's kernels have the costs of another machine */
	struct place {
		int memory;
		int64_t at;
	} *place; /* of each region */
	int *of; /* of each slice: the region of its buffer */
	struct perf_clocks clocks; /* of the present node */
	struct hazards running;
	struct sent { /* the last transfers of weights and tables */
		struct accesses list;
		struct access bytes;
	} sent[DMA_QUEUE + 1];
	unsigned n_sent;
};

enum { SHRAM, OTHER_TOUCHES = 2 /* tables, and the buffer of weights */ };

static void
copy_op(struct sched *s, const struct plan *p, int op, struct copy *c)
{
	struct g_operand *const operand[] = { &c->op.ifm, &c->op.ifm2, &c->op.ofm };
	c->op = *s->info[op].op;
	for (size_t i = 0; i < ARRAY_LEN(operand); i++) {
		const struct g_tensor *t = operand[i]->t;
		if (!t)
			continue;
		const int producer = s->info[op].op->ofm.t == t ? op : s->use[t->rec.index].producer;
		c->t[i] = *t;
		operand[i]->t = &c->t[i];
		if (producer >= 0 && p->rolling[producer])
			G_PUT(&c->t[i], TENSOR, rows, p->rolling[producer]);
	}
	if (!c->op.weights)
		return;
	c->w = *c->op.weights;
	c->w.slices = p->cut_points[op];
	c->op.weights = &c->w;
}

/* Adds the bytes of feature maps that a kernel or a copy touches. */
static void
add_maps(struct sched *s, const struct plan *p, const struct kernel *k, struct accesses *l)
{
	struct touches *t = p->touches;
	struct emit_span span[EMIT_SPANS];
	for (int op = k->op; op <= k->op + k->links; op++) {
		struct g_range all = { .hi = s->info[op].op->ofm.shape.h };
		int slice = op > k->op || k->slice < 0 ? 0 : p->slice[k->slice].index;
		if (op + 1 != t->copied)
			copy_op(s, p, op, &t->copy);
		t->copied = op + 1;
		const int n = emit_spans(&t->copy.op, op > k->op ? all : k->rows, slice, span);
		for (int i = 0; i < n; i++) {
			const int r = t->region[span[i].t->rec.index];
			if (r && p->rect[r - 1].bytes) /* else no rectangle, as inside a chain */
				access_add(l, r, span[i].lo, span[i].hi, span[i].write);
		}
	}
	for (int i = 0; i < l->n && s->info[k->op].op->kind == OP_COPY; i++)
		l->v[i].hi = emit_copied_bytes(s->accel, l->v[i].hi);
}

static void
add_placed(const struct clock *c, struct accesses *l, const struct access *x)
{
	const struct place *at = &c->place[x->region];
	l->v[l->n++] = (struct access){ at->memory, at->at + x->lo, at->at + x->hi, x->write };
}

/* The bytes that a kernel or a copy touches. */
static const struct accesses *
touches_of(const struct clock *c, int kernel)
{
	const struct kernel *k = &c->p->kernel[kernel];
	struct touch_list *t = &c->p->touches->of[kernel];
	if (t->run == c->p->touches->runs)
		return &t->now;
	t->run = c->p->touches->runs;
	if (!t->fixed.v) {
		const struct g_op *op = c->s->info[k->op].op;
		const int spans = c->p->touches->with_maps ? EMIT_SPANS * (k->links + 1) : 0;
		t->fixed.v = anew(c->p->a, struct access, (size_t)(OTHER_TOUCHES + spans));
		if (spans)
			add_maps(c->s, c->p, k, &t->fixed);
		if (!op_is_transfer(op->kind))
			access_shram(&t->fixed, SHRAM, c->s->accel, op);
		t->now.v = anew(c->p->a, struct access, (size_t)t->fixed.n + 1);
	}
	t->now.n = 0;
	for (int i = 0; i < t->fixed.n; i++)
		add_placed(c, &t->now, &t->fixed.v[i]);
	const enum held held = held_of(c->p, k);
	if (held)
		add_placed(c, &t->now, &(struct access){
			.region = c->of[k->slice],
			.hi = held_bytes(&c->p->slice[k->slice], held) });
	return &t->now;
}

/* Runs a step of the stream: a wait, until at most n kernels or transfers still run, or a step
 * of some cycles that keeps memories busy. */
static void
run_step(struct clock *c, enum perf_step_kind kind, int n, double cycles, const double *memory)
{
	double start;
	(void)perf_clocks_run(&c->clocks, &c->s->machine, kind, n, cycles, memory, &start);
}

static void
start_transfer(struct clock *c, const struct accesses *l, double cycles, const double *memory)
{
	const struct touch_list *of = c->p->touches->of;
	for (int i = 0; i < c->running.n_kernels; i++)
		(void)touches_of(c, (int)((const struct touch_list *)c->running.kernel[i] - of));
	const struct hazard_waits w = hazard_dma(&c->running, c->s->accel, l);
	if (w.kernel >= 0)
		run_step(c, PERF_KERNEL_WAIT, w.kernel, 0, NULL);
	if (w.dma >= 0)
		run_step(c, PERF_DMA_WAIT, w.dma, 0, NULL);
	run_step(c, PERF_DMA, 0, cycles, memory);
}

/* Starts a transfer that writes these bytes. */
static void
send(struct clock *c, int region, int64_t lo, int64_t hi, double cycles, const double *memory)
{
	struct sent *x = &c->sent[c->n_sent++ % ARRAY_LEN(c->sent)];
	assert(lo < hi);
	*x = (struct sent){ .list = { .v = &x->bytes } };
	add_placed(c, &x->list, &(struct access){ region, lo, hi, true });
	start_transfer(c, &x->list, cycles, memory);
}

static void
run_kernel(struct clock *c, int i)
{
	struct sched *s = c->s;
	const struct kernel *k = &c->p->kernel[i];
	const enum held held = held_of(c->p, k);
	const int n = hazard_kernel(&c->running, c->running.n_dma ? touches_of(c, i)
								  : &c->p->touches->of[i].now);
	if (n >= 0)
		run_step(c, PERF_DMA_WAIT, n, 0, NULL);
	if (c->anew) { /* the cost on the machine of this clock */
		const int32_t stripe = c->p->stripe[k->op];
		const struct weight_slice *u = k->slice < 0 ? NULL : &c->p->slice[k->slice];
		const struct block_choice *b =
			kernel_block(s, k, stripe ? stripe : s->info[k->op].op->ofm.shape.h);
		struct perf_op p = kernel_op(s, k, &b->fold, u ? u->stream_bytes : 0,
					     u ? u->scale_bytes : 0, held);
		const struct perf_cost cost = cost_on(&s->machine, &p, b);
		run_step(c, PERF_KERNEL, 0, cost.total, cost.port);
		return;
	}
	double memory[MEM_AREAS] = { 0 };
	for (int port = 0; port < AXI_PORTS; port++)
		memory[s->memory.axi[port]] = k->busy[held][port];
	run_step(c, PERF_KERNEL, 0, k->cost[held], memory);
}

/* Runs the kernels of a node, from `from` on, and those of a loop's test behind its condition:
 * no branch is between the two, so nothing waits.  *f: the next transfer. */
static int
run_node(struct clock *c, int from, size_t *f)
{
	struct sched *s = c->s;
	const struct plan *p = c->p;
	int node = s->info[p->kernel[from].op].node, k = from;
	c->clocks = (struct perf_clocks){ .t = 0 };
	c->running = (struct hazards){ 0 };
	for (; k < (int)p->n_kernels; k++) {
		const struct kernel *x = &p->kernel[k];
		const struct op_info *o = &s->info[x->op];
		if (o->node != node && s->g->nodes[o->node]->loop != LOOP_TEST)
			break;
		node = o->node;
		for (; *f < p->n_fetches && p->fetch[*f].before == k; ++*f) {
			const struct fetch *w = &p->fetch[*f];
			double memory[MEM_AREAS] = { 0 };
			add_weights_memory(s, w->hi - w->lo, memory);
			send(c, c->of[w->slice], w->lo, w->hi, weights_transfer(s, w->hi - w->lo),
			     memory);
		}
		double memory[MEM_AREAS] = { 0 };
		if (op_is_transfer(o->op->kind)) {
			const int64_t rows = x->rows.hi - x->rows.lo;
			add_copy_memory(s, o->op, rows, memory);
			start_transfer(c, touches_of(c, k), copy_transfer(s, o->op, rows), memory);
			continue;
		}
		if (x->table_load > 0) {
			const int64_t at = accel_lut_base(s->accel) + x->table_slot * LUT_SLOT_BYTES;
			add_table_memory(s, o->op, memory);
			send(c, SHRAM, at, at + lut_bytes(o->op->lut), x->table_load, memory);
		}
		run_kernel(c, k);
	}
	return k;
}

static double
run_all(struct sched *s, struct plan *p, bool placed, bool by_machine)
{
	struct arena *a = arena_open();
	struct clock c = { .s = s, .p = p, .anew = by_machine };
	/* without addresses, feature maps only matter beside copies */
	const bool with_maps = placed || s->has_copies;
	double cycles = 0;
	size_t f = 0;
	if (!p->touches || (with_maps && !p->touches->with_maps)) {
		struct touches *t = p->touches = anew(p->a, struct touches, 1);
		t->with_maps = with_maps;
		t->of = anew(p->a, struct touch_list, p->n_kernels + 1);
		t->region = with_maps ? anew(p->a, int, s->g->n_tensors + 1) : NULL;
		for (size_t i = 0; with_maps && i < p->n_maps; i++)
			t->region[p->rect[i].t->rec.index] = (int)i + 1;
	}
	p->touches->runs++;
	c.of = anew(a, int, p->n_slices + 1);
	for (size_t i = p->n_maps; i < p->n_rects; i++)
		c.of[p->rect[i].slice] = (int)i + 1;
	/* before addresses are assigned, each rectangle is a memory of its own */
	c.place = anew(a, struct place, p->n_rects + 1);
	c.place[SHRAM].memory = -1; /* no rectangle's number, and no g_place */
	for (size_t i = 0; i < p->n_rects; i++) {
		const struct rect *r = &p->rect[i];
		const bool is_arena = !s->memory.spilling && r->place == PLACE_CACHE;
		c.place[i + 1] = placed ? (struct place){ is_arena ? PLACE_ARENA : r->place, r->at }
					: (struct place){ .memory = (int)i };
	}
	for (int i = 0; i < (int)p->n_kernels;) {
		i = run_node(&c, i, &f);
		cycles += perf_clocks_end(&c.clocks);
	}
	arena_close(a);
	return cycles;
}

double
plan_clock(struct sched *s, struct plan *p)
{
	return run_all(s, p, true, false);
}

double
plan_bound(struct sched *s, struct plan *p)
{
	return run_all(s, p, false, false);
}

double
plan_estimate(struct sched *s, struct plan *p)
{
	struct sched by = *s;
	by.machine = s->calibrated;
	return run_all(&by, p, true, true);
}
