/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lower bound of plan_clock() for some kernels, whichever of their weights are fetched and
 * whatever the limit is.  A slice is read in place, or its first use waits for its transfer,
 * which comes after the transfers before it.  The search follows, kernel by kernel, all pairs
 * of times that kernels and transfers can reach, and drops a pair that is later in both than
 * another.
 */
#include "../costs/costs.h"
#include "clock.h"

#include <math.h>
#include <string.h>

enum { MAX_PAIRS = 8 };

struct pair {
	double kernels, transfers; /* cycles: the end of those issued so far */
};

/* A Pareto front of pairs: times of transfers rise, so times of kernels fall. */
struct front {
	struct pair v[2 * MAX_PAIRS];
	int n;
};

struct bound {
	struct sched *s;
	const struct plan *p;
	struct front now;
	double rest; /* cycles: upper bound of all transfers still to come in this node */
	double copies; /* cycles of all copies so far; weights may come before any of them */
	double *copied; /* of each copy: `copies` when it has ended */
};

static double
later(double a, double b)
{
	return a > b ? a : b;
}

static double
slice_transfer(const struct sched *s, const struct weight_slice *u)
{
	return weights_transfer(s, slice_bytes(u));
}

/* Of the scales alone. */
static double
scales_transfer(const struct sched *s, const struct weight_slice *u)
{
	return weights_transfer(s, held_bytes(u, SCALES_FETCHED));
}

/* Copies the pairs that there are, which is faster than all. */
static void
copy_front(struct front *to, const struct front *from)
{
	to->n = from->n;
	memcpy(to->v, from->v, (size_t)from->n * sizeof(*from->v));
}

/* The next pair of two fronts, by time of transfers. */
static struct pair
next_pair(const struct front *a, int *i, const struct front *b, int *j)
{
	if (*j == b->n || (*i < a->n && a->v[*i].transfers <= b->v[*j].transfers))
		return a->v[(*i)++];
	return b->v[(*j)++];
}

/* Replaces two neighbours by one pair that is as early as both: the bound stays valid. */
static void
halve(struct front *f)
{
	int n = 0;
	for (int i = 0; i < f->n; i += 2) {
		f->v[n] = f->v[i];
		if (i + 1 < f->n)
			f->v[n].kernels = f->v[i + 1].kernels;
		n++;
	}
	f->n = n;
}

/* Appends a pair, and keeps only pairs that are not later in both than another. */
static void
push(struct front *f, struct pair x)
{
	if (f->n && x.kernels >= f->v[f->n - 1].kernels &&
	    x.transfers >= f->v[f->n - 1].transfers)
		return;
	while (f->n && f->v[f->n - 1].transfers >= x.transfers &&
	       f->v[f->n - 1].kernels >= x.kernels)
		f->n--;
	f->v[f->n++] = x;
}

static void
merge(const struct front *a, const struct front *b, struct front *out)
{
	out->n = 0;
	for (int i = 0, j = 0; i < a->n || j < b->n;)
		push(out, next_pair(a, &i, b, &j));
	if (out->n > MAX_PAIRS)
		halve(out);
}

/*
 * The pairs of `was` after a kernel of some cycles.  transfer: cycles to fetch the part of its
 * weights that is held; 0 for weights in place.  Transfers that end so early that no kernel will
 * ever wait for them get the same time.
 */
static void
run_kernel(const struct bound *b, const struct front *was, enum held held, double transfer,
	   double cycles, struct front *out)
{
	out->n = 0;
	for (int i = 0; i < was->n; i++) {
		struct pair x = was->v[i];
		x.transfers += transfer;
		if (held != IN_PLACE)
			x.kernels = later(x.kernels, x.transfers);
		x.kernels += cycles;
		x.transfers = later(x.transfers, x.kernels - b->rest);
		push(out, x);
	}
}

/* Adds a kernel that is the first to use its weights. */
static void
first_use(struct bound *b, const struct kernel *k)
{
	const struct weight_slice *u = &b->p->slice[k->slice];
	const double cycles[HELDS] = { [FETCHED] = slice_transfer(b->s, u),
				       [SCALES_FETCHED] = scales_transfer(b->s, u) };
	struct front was, so_far, with;
	copy_front(&was, &b->now);
	b->rest -= cycles[FETCHED];
	b->now.n = 0;
	for (enum held h = IN_PLACE; h < HELDS; h++) {
		if (isinf(k->cost[h]))
			continue;
		run_kernel(b, &was, h, cycles[h], k->cost[h], &with);
		copy_front(&so_far, &b->now);
		merge(&so_far, &with, &b->now);
	}
}

/* A kernel begins after the rows that it reads have been copied. */
static void
await_copy(struct bound *b, int kernel)
{
	const int copy = b->p->kernel[kernel].awaits;
	if (copy < 0)
		return;
	struct front was;
	copy_front(&was, &b->now);
	b->now.n = 0;
	for (int i = 0; i < was.n; i++) {
		struct pair x = was.v[i];
		x.kernels = later(x.kernels, b->copied[copy]);
		push(&b->now, x);
	}
}

/* A kernel waits for its table. */
static void
await_table(struct bound *b, double load)
{
	struct front was;
	copy_front(&was, &b->now);
	b->now.n = 0;
	for (int i = 0; i < was.n; i++) {
		struct pair x = was.v[i];
		x.transfers += load;
		x.kernels = later(x.kernels, x.transfers);
		push(&b->now, x);
	}
}

/* Adds the kernels of a node, from `from` on; returns the first kernel of the next node. */
static int
bound_node(struct bound *b, int from, double *cycles)
{
	const struct plan *p = b->p;
	int node = b->s->info[p->kernel[from].op].node, k = from;
	/* the commands of a loop's test may be read while kernels of its condition still run */
	const double front_end = b->s->g->nodes[node]->loop == LOOP_TEST
				     ? 0 : b->s->machine.front_end_cycles;
	double issued = 0; /* cycles in which the front end has read the commands of all kernels */
	b->now = (struct front){ .n = 1 };
	b->rest = b->copies = 0;
	for (int i = from; i < (int)p->n_kernels &&
			   b->s->info[p->kernel[i].op].node == node; i++) {
		const struct kernel *x = &p->kernel[i];
		b->rest += x->table_load;
		if (x->slice >= 0 && p->slice[x->slice].first == i)
			b->rest += slice_transfer(b->s, &p->slice[x->slice]);
	}
	for (; k < (int)p->n_kernels; k++) {
		const struct kernel *x = &p->kernel[k];
		if (b->s->info[x->op].node != node)
			break;
		if (op_is_transfer(b->s->info[x->op].op->kind)) {
			b->copies += x->transfer;
			b->copied[k] = b->copies;
			continue;
		}
		issued += front_end;
		await_copy(b, k);
		if (x->table_load > 0)
			await_table(b, x->table_load);
		if (x->slice >= 0 && p->slice[x->slice].first == k)
			first_use(b, x);
		else
			for (int i = 0; i < b->now.n; i++)
				b->now.v[i].kernels += least_cost(x);
	}
	*cycles += later(b->now.v[b->now.n - 1].kernels, issued);
	return k;
}

/* Cycles for which the memory of constants is busy with a slice that is held as `held` says. */
static double
busy_slice(const struct sched *s, const struct plan *p, int slice, enum held held)
{
	const struct weight_slice *u = &p->slice[slice];
	double memory[MEM_AREAS] = { 0 };
	if (held != IN_PLACE)
		add_weights_memory(s, held_bytes(u, held), memory);
	double sum = memory[s->memory.const_area];
	for (int k = u->first; k <= u->last; k++)
		if (p->kernel[k].slice == slice)
			sum += constants_busy(s, &p->kernel[k], held);
	return sum;
}

/* Lower bound of the cycles for which the memory of constants is busy. */
static double
busy_flash(const struct sched *s, const struct plan *p)
{
	double copied[MEM_AREAS] = { 0 }, sum = 0;
	if (!s->machine.calibrated)
		return 0; /* the published formulas do not share a memory */
	for (int i = 0; i < (int)p->n_slices; i++) {
		const struct kernel *k = &p->kernel[p->slice[i].first];
		double least = INFINITY;
		for (enum held h = IN_PLACE; h < HELDS; h++)
			if (!isinf(k->cost[h]))
				least = fmin(least, busy_slice(s, p, i, h));
		sum += least;
	}
	for (size_t i = 0; i < p->n_kernels; i++) {
		const struct kernel *k = &p->kernel[i];
		const struct g_op *op = s->info[k->op].op;
		if (op_is_transfer(op->kind))
			add_copy_memory(s, op, k->rows.hi - k->rows.lo, copied);
	}
	return sum + copied[s->memory.const_area];
}

/* A bound by kernels alone, which is fast to compute and mostly enough. */
static double
sum_kernels(const struct plan *p)
{
	double sum = 0;
	for (size_t i = 0; i < p->n_kernels; i++)
		sum += least_cost(&p->kernel[i]);
	return sum;
}

double
plan_lower_bound(struct sched *s, const struct plan *p, double enough)
{
	struct bound b = { .s = s, .p = p };
	double cycles = sum_kernels(p);
	if (cycles >= enough)
		return cycles;
	struct arena *a = arena_open();
	b.copied = anew(a, double, p->n_kernels + 1);
	cycles = 0;
	for (int i = 0; i < (int)p->n_kernels;)
		i = bound_node(&b, i, &cycles);
	arena_close(a);
	return later(cycles, busy_flash(s, p));
}
