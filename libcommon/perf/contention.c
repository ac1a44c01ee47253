/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline with shared bandwidth: a fluid model of one kernel and one
 * transfer at a time, each slowed to what its memories leave it.
 */
#include "perf/perf.h"

enum { QUEUE = 8 }; /* more than any engine's outstanding operations */

/* an engine: operations in order, the first one running */
struct engine {
	struct perf_step *step[QUEUE];
	int n;
	double left; /* of the running one, in cycles alone */
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

static void
finish(struct engine *g, double now)
{
	g->step[0]->end = now;
	g->n--;
	for (int i = 0; i < g->n; i++)
		g->step[i] = g->step[i + 1];
	if (g->n) {
		g->step[0]->start = now;
		g->left = g->step[0]->cycles;
	}
}

/* share of memory that an operation needs to run at its own pace */
static double
demand(const struct perf_step *s, int area)
{
	return s->cycles > 0 ? s->memory[area] / s->cycles : 0;
}

/* pace of a beside b: the least that any memory allows; fair shares */
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

/* lets time pass until an operation ends */
static void
advance(struct clock *c)
{
	struct engine *k = &c->kernels, *d = &c->dma;
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
	finish(kernel_first ? k : d, c->now);
}

/* until at most n operations of g are outstanding */
static void
wait_for(struct clock *c, const struct engine *g, int n)
{
	while (g->n > (n < 0 ? 0 : n))
		advance(c);
}

double
perf_contention(const struct perf_machine *m, struct perf_step *steps, size_t n)
{
	struct clock c = { 0 };
	for (size_t i = 0; i < n; i++) {
		struct perf_step *s = &steps[i];
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
	return c.now;
}
