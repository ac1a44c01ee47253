/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cycles of a plan as a command stream: the timeline estimate (ethosu-timing(7) 8) over its
 * kernels and transfers, with the waits that the emitter puts between those that touch the same
 * bytes (ethosu-commands(7) 11.2).  Before addresses are assigned, only waits that no addresses
 * can spare are counted; the result is then a lower bound.
 */
#include "../costs/costs.h"
#include "clock.h"

#include "emit/emit.h"

#include <math.h>

/* Bytes of a feature map that a kernel reads or writes. */
struct touch {
	int rect;
	int64_t lo, hi;
	bool write;
};

struct touch_list {
	struct touch *v; /* NULL: not computed */
	int n;
};

/* An operation as the emitter will see it, with rolling buffers and cut weights. */
struct copy {
	struct g_op op;
	struct g_tensor t[3];
	struct g_weights w;
};

/* The bytes that each kernel of a plan reads and writes (its touches), computed once: the kernels
 * of a plan do not change. */
struct touches {
	int *rect_of; /* of each tensor: index of its rectangle plus 1; 0: none */
	struct touch_list *of; /* of each kernel */
	struct copy copy; /* of operation copied - 1 */
	int copied;
};

/* A transfer: a part of a weight slice; a copy; or, if both are -1, a table. */
struct moved {
	int slice, copy; /* copy: index of the kernel, or -1 */
	int64_t lo, hi; /* addresses, of a table in the memory for tables */
};

struct clock {
	struct sched *s;
	const struct plan *p;
	bool placed;	/* the plan has addresses */
	bool anew; /* the plan's kernels have the costs of another machine */
	const struct rect **of; /* of each slice: the rectangle of its buffer, if placed */
	struct perf_clocks clocks; /* of the present node */
	int kernel[MAX_KERNELS], n_kernels; /* kernels that may still run, oldest first */
	struct moved dma[DMA_QUEUE];
	int n_dma;
};

static void
copy_operand(struct sched *s, const struct plan *p, int op, struct g_operand *o,
	     struct g_tensor *t)
{
	if (!o->t)
		return;
	const struct use *u = &s->use[o->t->rec.index];
	int producer = s->info[op].op->ofm.t == o->t ? op : u->producer;
	*t = *o->t;
	o->t = t;
	if (producer >= 0 && p->rolling[producer])
		G_PUT(t, TENSOR, rows, p->rolling[producer]);
}

static void
copy_op(struct sched *s, const struct plan *p, int op, struct copy *c)
{
	c->op = *s->info[op].op;
	copy_operand(s, p, op, &c->op.ifm, &c->t[0]);
	copy_operand(s, p, op, &c->op.ifm2, &c->t[1]);
	copy_operand(s, p, op, &c->op.ofm, &c->t[2]);
	if (!c->op.weights)
		return;
	c->w = *c->op.weights;
	c->w.slices = p->cut_points[op];
	c->op.weights = &c->w;
}

static void
add_touches(const struct plan *p, const struct emit_span *span, int n, struct touch_list *l)
{
	for (int i = 0; i < n; i++) {
		int r = p->touches->rect_of[span[i].t->rec.index] - 1;
		if (r < 0 || !p->rect[r].bytes) /* no rectangle, as inside a chain */
			continue;
		l->v[l->n++] = (struct touch){ .rect = r, .lo = span[i].lo,
					       .hi = span[i].hi,
					       .write = span[i].write };
	}
}

static void
begin_touches(struct sched *s, struct plan *p)
{
	struct touches *t = p->touches = anew(p->a, struct touches, 1);
	t->of = anew(p->a, struct touch_list, p->n_kernels + 1);
	t->rect_of = anew(p->a, int, s->g->n_tensors + 1);
	for (size_t i = 0; i < p->n_maps; i++)
		t->rect_of[p->rect[i].t->rec.index] = (int)i + 1;
}

/* The touches of a kernel.  Without addresses only called for copies and kernels next to
 * them. */
static const struct touch_list *
touches_of(struct sched *s, const struct plan *p, int kernel)
{
	const struct kernel *k = &p->kernel[kernel];
	struct touches *t = p->touches;
	struct touch_list *l = &t->of[kernel];
	struct emit_span span[EMIT_SPANS];
	if (l->v)
		return l;
	l->v = anew(p->a, struct touch, (size_t)EMIT_SPANS * (size_t)(k->links + 1));
	for (int op = k->op; op <= k->op + k->links; op++) {
		struct g_range all = { .hi = s->info[op].op->ofm.shape.h };
		int slice = op > k->op || k->slice < 0 ? 0 : p->slice[k->slice].index;
		if (op + 1 != t->copied)
			copy_op(s, p, op, &t->copy);
		t->copied = op + 1;
		add_touches(p, span,
			    emit_spans(&t->copy.op, op > k->op ? all : k->rows, slice, span),
			    l);
	}
	for (int i = 0; i < l->n && s->info[k->op].op->kind == OP_COPY; i++)
		l->v[i].hi = emit_copied_bytes(s->accel, l->v[i].hi);
	return l;
}

/* Without spilling, the cache is the arena. */
static int
region(const struct sched *s, int place)
{
	return place == PLACE_CACHE && !s->memory.spilling ? PLACE_ARENA : place;
}

static bool
uses_table(const struct clock *c, int kernel)
{
	return op_has_table(c->s->info[c->p->kernel[kernel].op].op);
}

static bool
overlap(const struct moved *m, int64_t lo, int64_t hi)
{
	return lo < m->hi && m->lo < hi;
}

/* Do touches of two kernels overlap, one of them a write? */
static bool
meet(const struct clock *c, const struct touch *a, const struct touch *b)
{
	const struct rect *r = &c->p->rect[a->rect], *q = &c->p->rect[b->rect];
	if (!a->write && !b->write)
		return false;
	if (r == q)
		return a->lo < b->hi && b->lo < a->hi;
	return c->placed && region(c->s, r->place) == region(c->s, q->place) &&
	       r->at + a->lo < q->at + b->hi && q->at + b->lo < r->at + a->hi;
}

/* Does this touch of a copy write to the buffer of a kernel's weights? */
static bool
meets_weights(const struct clock *c, int kernel, const struct touch *a)
{
	const struct plan *p = c->p;
	const struct rect *r = &p->rect[a->rect];
	int slice = p->kernel[kernel].slice;
	if (!c->placed || !a->write || slice < 0 || p->slice[slice].held == IN_PLACE ||
	    region(c->s, r->place) != region(c->s, limited_place(c->s)))
		return false;
	int64_t at = c->of[slice]->at;
	int64_t end = at + held_bytes(&p->slice[slice], p->slice[slice].held);
	return r->at + a->lo < end && at < r->at + a->hi;
}

/* Do feature maps of two kernels, or copies, overlap? */
static bool
feature_maps_overlap(const struct clock *c, int kernel, int other)
{
	const struct touch_list *a = touches_of(c->s, c->p, other);
	const struct touch_list *b = touches_of(c->s, c->p, kernel);
	for (int i = 0; i < a->n; i++)
		for (int k = 0; k < b->n; k++)
			if (meet(c, &a->v[i], &b->v[k]))
				return true;
	return false;
}

static bool
conflict_with_copy(const struct clock *c, int kernel, int copy)
{
	const struct touch_list *l = touches_of(c->s, c->p, copy);
	for (int i = 0; i < l->n; i++)
		if (meets_weights(c, kernel, &l->v[i]))
			return true;
	return feature_maps_overlap(c, kernel, copy);
}

/* Does a transfer of weights overwrite feature maps of a kernel or a copy? */
static bool
overwrites_feature_maps(const struct clock *c, int kernel, const struct moved *weights)
{
	if (!c->placed)
		return false;
	const struct touch_list *l = touches_of(c->s, c->p, kernel);
	for (int i = 0; i < l->n; i++) {
		const struct touch *t = &l->v[i];
		const struct rect *r = &c->p->rect[t->rect];
		if (region(c->s, r->place) == region(c->s, limited_place(c->s)) &&
		    overlap(weights, r->at + t->lo, r->at + t->hi))
			return true;
	}
	return false;
}

/* Do a kernel and a transfer touch the same bytes? */
static bool
conflict(const struct clock *c, int kernel, const struct moved *m)
{
	const struct plan *p = c->p;
	int slice = p->kernel[kernel].slice;
	if (m->copy >= 0)
		return conflict_with_copy(c, kernel, m->copy);
	/* without banks for tables, any kernel may use the banks that hold one */
	if (m->slice < 0)
		return uses_table(c, kernel) || !c->s->accel->lut_banks;
	enum held held = held_of(p, &p->kernel[kernel]);
	if (held && slice == m->slice)
		return true;
	if (!c->placed)
		return false;
	if (held && overlap(m, c->of[slice]->at,
			    c->of[slice]->at + held_bytes(&p->slice[slice], held)))
		return true;
	return overwrites_feature_maps(c, kernel, m);
}

static bool
is_table(const struct moved *m)
{
	return m->slice < 0 && m->copy < 0;
}

/* Do two transfers touch the same bytes? */
static bool
transfers_conflict(const struct clock *c, const struct moved *m, const struct moved *n)
{
	if (is_table(m) || is_table(n))
		return is_table(m) && is_table(n) && overlap(m, n->lo, n->hi);
	if (m->copy >= 0 && n->copy >= 0)
		return feature_maps_overlap(c, m->copy, n->copy);
	if (m->copy >= 0 || n->copy >= 0)
		return m->copy >= 0 ? overwrites_feature_maps(c, m->copy, n)
				    : overwrites_feature_maps(c, n->copy, m);
	return c->placed && overlap(m, n->lo, n->hi);
}

/* Runs a step of the stream: a wait, until at most n kernels or transfers still run, or a step
 * of some cycles that keeps memories busy. */
static void
run_step(struct clock *c, enum perf_step_kind kind, int n, double cycles, const double *memory)
{
	double start;
	(void)perf_clocks_run(&c->clocks, &c->s->machine, kind, n, cycles, memory, &start);
}

/* Waits for the youngest kernel in conflict with a transfer; younger kernels may still run. */
static void
wait_for_kernels(struct clock *c, const struct moved *m)
{
	for (int i = c->n_kernels - 1; i >= 0; i--) {
		if (!conflict(c, c->kernel[i], m))
			continue;
		int younger = c->n_kernels - 1 - i;
		memmove(c->kernel, c->kernel + i + 1,
			(size_t)younger * sizeof(*c->kernel));
		c->n_kernels = younger;
		run_step(c, PERF_KERNEL_WAIT, younger, 0, NULL);
		return;
	}
}

/* Waits for transfer i; younger ones may still run. */
static void
wait_for_transfer(struct clock *c, int i)
{
	int younger = c->n_dma - 1 - i;
	memmove(c->dma, c->dma + i + 1, (size_t)younger * sizeof(*c->dma));
	c->n_dma = younger;
	run_step(c, PERF_DMA_WAIT, younger, 0, NULL);
}

/* Waits for transfers in conflict, if the accelerator lets one overtake another. */
static void
wait_for_transfers(struct clock *c, const struct moved *m)
{
	int i = accel_lacks(c->s->accel, LACK_OVERTAKING) ? -1 : c->n_dma - 1;
	while (i >= 0 && !transfers_conflict(c, m, &c->dma[i]))
		i--;
	if (i >= 0)
		wait_for_transfer(c, i);
}

static void
start_transfer(struct clock *c, struct moved m, double cycles, const double *memory)
{
	wait_for_kernels(c, &m);
	wait_for_transfers(c, &m);
	if (c->n_dma == c->s->accel->max_dma)
		memmove(c->dma, c->dma + 1, (size_t)--c->n_dma * sizeof(*c->dma));
	c->dma[c->n_dma++] = m;
	run_step(c, PERF_DMA, 0, cycles, memory);
}

static void
fetch(struct clock *c, const struct fetch *f)
{
	const struct sched *s = c->s;
	int64_t at = c->placed ? c->of[f->slice]->at : 0;
	double memory[MEM_AREAS] = { 0 };
	add_weights_memory(s, f->hi - f->lo, memory);
	start_transfer(c, (struct moved){ .slice = f->slice, .copy = -1,
					  .lo = at + f->lo, .hi = at + f->hi },
		       weights_transfer(s, f->hi - f->lo), memory);
}

static void
load_table(struct clock *c, const struct kernel *k)
{
	const struct sched *s = c->s;
	const struct g_op *op = s->info[k->op].op;
	const int64_t at = (int64_t)k->table_slot * LUT_SLOT_BYTES;
	double memory[MEM_AREAS] = { 0 };
	add_table_memory(s, op, memory);
	start_transfer(c, (struct moved){ .slice = -1, .copy = -1, .lo = at,
					  .hi = at + lut_bytes(op->lut) },
		       k->table_load, memory);
}

static void
run_copy(struct clock *c, int i)
{
	const struct sched *s = c->s;
	const struct kernel *k = &c->p->kernel[i];
	const struct g_op *op = s->info[k->op].op;
	const int64_t rows = k->rows.hi - k->rows.lo;
	double memory[MEM_AREAS] = { 0 };
	add_copy_memory(s, op, rows, memory);
	start_transfer(c, (struct moved){ .slice = -1, .copy = i }, copy_transfer(s, op, rows),
		       memory);
}

/* Costs a kernel on the machine of this clock. */
static struct kernel
cost_anew(const struct clock *c, const struct kernel *of)
{
	struct kernel k = *of;
	struct sched *s = c->s;
	const int32_t stripe = c->p->stripe[k.op];
	const struct weight_slice *u = k.slice < 0 ? NULL : &c->p->slice[k.slice];
	const enum held held = held_of(c->p, &k);
	const struct block_choice *b =
		kernel_block(s, &k, stripe ? stripe : s->info[k.op].op->ofm.shape.h);
	struct perf_op p = kernel_op(s, &k, &b->fold, u ? u->stream_bytes : 0,
				     u ? u->scale_bytes : 0, held);
	const struct perf_cost cost = cost_in_blocks(s, &p, b);
	k.cost[held] = cost.total;
	for (int port = 0; port < AXI_PORTS; port++)
		k.busy[held][port] = cost.port[s->memory.axi[port]];
	return k;
}

static void
run_kernel(struct clock *c, int i)
{
	const struct kernel k = c->anew ? cost_anew(c, &c->p->kernel[i]) : c->p->kernel[i];
	int d = c->n_dma - 1;
	while (d >= 0 && !conflict(c, i, &c->dma[d]))
		d--;
	if (d >= 0)
		wait_for_transfer(c, d);
	if (c->n_kernels == MAX_KERNELS)
		memmove(c->kernel, c->kernel + 1,
			(size_t)--c->n_kernels * sizeof(*c->kernel));
	c->kernel[c->n_kernels++] = i;
	enum held held = held_of(c->p, &k);
	double memory[MEM_AREAS] = { 0 };
	for (int port = 0; port < AXI_PORTS; port++)
		memory[c->s->memory.axi[port]] = k.busy[held][port];
	run_step(c, PERF_KERNEL, 0, k.cost[held], memory);
}

/* Runs the kernels of a node, from `from` on, and those of a loop's test behind its condition:
 * no branch is between the two, so nothing waits.  *f: the next transfer. */
static int
run_node(struct clock *c, int from, size_t *f)
{
	const struct plan *p = c->p;
	int node = c->s->info[p->kernel[from].op].node, k = from;
	c->clocks = (struct perf_clocks){ .t = 0 };
	c->n_kernels = c->n_dma = 0;
	for (; k < (int)p->n_kernels; k++) {
		const struct op_info *o = &c->s->info[p->kernel[k].op];
		if (o->node != node && c->s->g->nodes[o->node]->loop != LOOP_TEST)
			break;
		node = o->node;
		for (; *f < p->n_fetches && p->fetch[*f].before == k; ++*f)
			fetch(c, &p->fetch[*f]);
		if (op_is_transfer(o->op->kind)) {
			run_copy(c, k);
			continue;
		}
		if (p->kernel[k].table_load > 0)
			load_table(c, &p->kernel[k]);
		run_kernel(c, k);
	}
	return k;
}

static double
run_all(struct sched *s, struct plan *p, bool placed, bool anew)
{
	struct arena *a = arena_open();
	struct clock c = { .s = s, .p = p, .placed = placed, .anew = anew };
	double cycles = 0;
	size_t f = 0;
	if ((placed || s->has_copies) && !p->touches)
		begin_touches(s, p);
	c.of = anew(a, const struct rect *, p->n_slices + 1);
	for (size_t i = p->n_maps; i < p->n_rects; i++)
		c.of[p->rect[i].slice] = &p->rect[i];
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
