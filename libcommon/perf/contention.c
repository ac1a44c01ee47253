/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline with shared bandwidth.  A fluid model: at most one kernel and one
 * transfer run at a time, each slowed down to its share of the memories.
 */
#include "perf/perf.h"

#include "base/fixed.h"
#include "target/accel.h"

enum { QUEUE = 8 }; /* exceeds the outstanding operations of any engine */

/* An engine executes its operations in order; step[0] is running. */
struct engine {
	struct perf_step *step[QUEUE];
	int n;
	double left; /* cycles that the running operation still needs at full bandwidth */
};

struct clock {
	struct engine kernels, dma;
	double now;
};

static void
push(struct engine *g, struct perf_step *s, double now)
{
	if (g->n == 0) {
		s->start = now;
		g->left = s->cycles;
	}
	g->step[g->n++] = s;
}

/* fraction of a memory's bandwidth that an operation needs at full speed */
static double
demand(const struct perf_step *s, int area)
{
	return s->cycles > 0 ? s->memory[area] / s->cycles : 0;
}

/*
 * Speed of a, 0 to 1, while b runs beside it: limited by the memory with the smallest
 * fair share.
 */
static double
pace(const struct perf_step *a, const struct perf_step *b)
{
	double least = 1;
	for (int i = 0; i < MEM_AREAS; i++) {
		double want = demand(a, i), other = demand(b, i);
		if (want + other <= 1 || want <= 0.5)
			continue;
		double share = other < 0.5 ? 1 - other : 0.5;
		if (share / want < least)
			least = share / want;
	}
	return least;
}

/* Advances the time until at most n operations of g are outstanding. */
static void
wait_for(struct clock *c, const struct engine *g, int n)
{
	struct engine *k = &c->kernels, *d = &c->dma;
	while (g->n > (n < 0 ? 0 : n)) { /* to the end of the next operation */
		double kp = 1, dp = 1;
		if (k->n && d->n) {
			kp = pace(k->step[0], d->step[0]);
			dp = pace(d->step[0], k->step[0]);
		}
		double kt = k->n ? k->left / kp : 0, dt = d->n ? d->left / dp : 0;
		bool kernel_first = k->n && (!d->n || kt <= dt);
		double t = kernel_first ? kt : dt;
		c->now += t;
		if (k->n)
			k->left -= t * kp;
		if (d->n)
			d->left -= t * dp;
		struct engine *done = kernel_first ? k : d;
		done->step[0]->end = c->now;
		done->n--;
		for (int i = 0; i < done->n; i++)
			done->step[i] = done->step[i + 1];
		if (done->n) {
			done->step[0]->start = c->now;
			done->left = done->step[0]->cycles;
		}
	}
}

double
perf_contention(const struct perf_machine *m, struct perf_step *steps, size_t n)
{
	struct clock c = { 0 };
	double busy[MEM_AREAS] = { 0 };
	for (size_t i = 0; i < n; i++) {
		struct perf_step *s = &steps[i];
		for (int k = 0; k < MEM_AREAS; k++)
			busy[k] += s->port[k];
		struct engine *g = s->kind == PERF_DMA || s->kind == PERF_DMA_WAIT
				       ? &c.dma : &c.kernels;
		switch (s->kind) {
		case PERF_KERNEL:
			push(g, s, c.now);
			wait_for(&c, g, MAX_KERNELS);
			break;
		case PERF_DMA:
			push(g, s, c.now);
			wait_for(&c, g, m->accel->max_dma);
			break;
		case PERF_KERNEL_WAIT:
		case PERF_DMA_WAIT:
			s->start = c.now;
			wait_for(&c, g, s->n);
			s->end = c.now;
			break;
		}
	}
	wait_for(&c, &c.kernels, 0);
	wait_for(&c, &c.dma, 0);
	double end = c.now;
	for (int k = 0; k < MEM_AREAS; k++)
		end = max_f64(end, busy[k]);
	return end;
}
