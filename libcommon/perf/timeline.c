/* SPDX-License-Identifier: Apache-2.0 */
/* Three clocks over one command stream: ethosu-timing(7) 8. */
#include "perf/perf.h"

#include "base/fixed.h"

int64_t
perf_indexed_bytes(const struct perf_machine *m, int64_t rows, int64_t row,
		   enum mem_area from)
{
	int burst = m->memory->mem[from].burst_bytes;
	return rows * (row < burst ? burst : row);
}

double
perf_dma_cycles(const struct perf_machine *m, int64_t bytes, enum mem_area from,
		enum mem_area to, bool to_shram)
{
	double cycles = (double)bytes / m->read_rate[from][READ_COPY] +
			m->memory->mem[from].read_latency;
	if (!to_shram)
		cycles = max_f64(cycles, (double)bytes / m->write_rate[to]);
	return cycles + m->operation_cycles;
}

static void
engine_run(struct perf_engine *g, double t, struct perf_step *s)
{
	s->start = max_f64(t, g->end[0]);
	s->end = s->start + s->cycles;
	for (int i = PERF_HISTORY - 1; i > 0; i--)
		g->end[i] = g->end[i - 1];
	g->end[0] = s->end;
}

/* when at most n operations are outstanding */
static double
engine_wait(const struct perf_engine *g, double t, int n)
{
	return n >= PERF_HISTORY ? t : max_f64(t, g->end[n < 0 ? 0 : n]);
}

void
perf_clocks_run(struct perf_clocks *c, const struct perf_machine *m, struct perf_step *s)
{
	switch (s->kind) {
	case PERF_KERNEL:
		engine_run(&c->kernels, c->t, s);
		c->t = engine_wait(&c->kernels, c->t, MAX_KERNELS);
		break;
	case PERF_DMA:
		engine_run(&c->dma, c->t, s);
		c->t = engine_wait(&c->dma, c->t, m->accel->max_dma);
		break;
	case PERF_KERNEL_WAIT:
	case PERF_DMA_WAIT:
		s->start = c->t;
		c->t = engine_wait(s->kind == PERF_DMA_WAIT ? &c->dma : &c->kernels,
				   c->t, s->n);
		s->end = c->t;
		break;
	}
}

double
perf_clocks_end(const struct perf_clocks *c)
{
	return max_f64(c->kernels.end[0], c->dma.end[0]);
}

double
perf_timeline(const struct perf_machine *m, struct perf_step *steps, size_t n)
{
	struct perf_clocks c = { 0 };
	if (m->calibrated)
		return perf_contention(m, steps, n);
	for (size_t i = 0; i < n; i++)
		perf_clocks_run(&c, m, &steps[i]);
	return perf_clocks_end(&c);
}
