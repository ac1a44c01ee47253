/* SPDX-License-Identifier: Apache-2.0 */
/* Three clocks over one command stream: ethosu-timing(7) 8. */
#include "perf/perf.h"

#include "base/fixed.h"

enum { HISTORY = 8 }; /* more than any engine's outstanding operations */

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

/* an engine runs in order; ends of its latest operations, newest first */
struct engine {
	double end[HISTORY];
};

static void
engine_run(struct engine *g, double t, struct perf_step *s)
{
	s->start = max_f64(t, g->end[0]);
	s->end = s->start + s->cycles;
	for (int i = HISTORY - 1; i > 0; i--)
		g->end[i] = g->end[i - 1];
	g->end[0] = s->end;
}

/* when at most n operations are outstanding */
static double
engine_wait(const struct engine *g, double t, int n)
{
	return n >= HISTORY ? t : max_f64(t, g->end[n < 0 ? 0 : n]);
}

double
perf_timeline(const struct perf_machine *m, struct perf_step *steps, size_t n)
{
	struct engine kernels = { 0 }, dma = { 0 };
	double t = 0; /* the front end's clock */
	if (m->calibrated)
		return perf_contention(m, steps, n);
	for (size_t i = 0; i < n; i++) {
		struct perf_step *s = &steps[i];
		switch (s->kind) {
		case PERF_KERNEL:
			engine_run(&kernels, t, s);
			t = engine_wait(&kernels, t, MAX_KERNELS);
			break;
		case PERF_DMA:
			engine_run(&dma, t, s);
			t = engine_wait(&dma, t, m->accel->max_dma);
			break;
		case PERF_KERNEL_WAIT:
		case PERF_DMA_WAIT:
			s->start = t;
			t = engine_wait(s->kind == PERF_DMA_WAIT ? &dma : &kernels,
					t, s->n);
			s->end = t;
			break;
		}
	}
	return max_f64(kernels.end[0], dma.end[0]);
}
