/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline: three clocks over one command stream, ethosu-timing(7) 8. */
#include "perf/perf.h"

#include "base/fixed.h"
#include "target/accel.h"

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
	return cycles;
}

void
perf_dma_memory(const struct perf_machine *m, int64_t bytes, enum mem_area from,
		enum mem_area to, bool to_shram, double memory[MEM_AREAS])
{
	memory[from] += (double)bytes / m->bytes_per_cycle[from];
	if (from == MEM_ON_CHIP_FLASH && m->one_sram)
		memory[MEM_SRAM] += (double)bytes / m->bytes_per_cycle[from];
	if (!to_shram)
		memory[to] += (double)bytes / m->bytes_per_cycle[to];
}

/* Returns the time at which at most n operations are outstanding. */
static double
engine_wait(const struct perf_engine *g, double t, int n)
{
	return n >= PERF_HISTORY ? t : max_f64(t, g->end[n < 0 ? 0 : n]);
}

double
perf_clocks_run(struct perf_clocks *c, const struct perf_machine *m,
		enum perf_step_kind kind, int n, double cycles, const double *port,
		double *start)
{
	const bool is_dma = kind == PERF_DMA || kind == PERF_DMA_WAIT;
	struct perf_engine *g = is_dma ? &c->dma : &c->kernels;
	if (kind == PERF_KERNEL_WAIT || kind == PERF_DMA_WAIT) {
		*start = c->t;
		return c->t = engine_wait(g, c->t, n);
	}
	for (int i = 0; i < MEM_AREAS; i++)
		c->busy[i] += port[i];
	if (!is_dma)
		c->t += m->front_end_cycles;
	*start = max_f64(c->t, g->end[0]);
	for (int i = PERF_HISTORY - 1; i > 0; i--)
		g->end[i] = g->end[i - 1];
	const double end = g->end[0] = *start + cycles;
	c->t = engine_wait(g, c->t, is_dma ? m->accel->max_dma : MAX_KERNELS);
	return end;
}

double
perf_clocks_end(const struct perf_clocks *c)
{
	double end = max_f64(c->kernels.end[0], c->dma.end[0]);
	for (int i = 0; i < MEM_AREAS; i++)
		end = max_f64(end, c->busy[i]);
	return end;
}

double
perf_timeline(const struct perf_machine *m, struct perf_step *steps, size_t n)
{
	struct perf_clocks c = { 0 };
	for (size_t i = 0; i < n; i++)
		steps[i].end = perf_clocks_run(&c, m, steps[i].kind, steps[i].n,
					       steps[i].cycles, steps[i].port,
					       &steps[i].start);
	return perf_clocks_end(&c);
}
