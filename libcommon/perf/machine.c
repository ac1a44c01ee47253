/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the machine of an estimate: rates as published, or as calibrated. */
#include "perf/perf.h"

#include "target/accel.h"

#include <string.h>

/*
 * Values for accelerators without measurements.  low and high: measured cycles as
 * multiples of the estimate, for the networks of npu-perf-accuracy(7), each left out of
 * the fit.  front_end: cycles per kernel to process its commands, beside the latency of
 * the memory that holds them.
 */
static const struct {
	double front_end, low, high;
} unmeasured[GENERATIONS] = {
	[GEN_U55] = { 0, 0.90, 1.08 },
	[GEN_U65] = { 0, 0.88, 1.15 },
	[GEN_U85] = { 230, 0.87, 1.15 },
};

/*
 * Bytes per cycle of one channel: the bytes that may be in flight divided by the
 * latency.  The formula is that of ethosu-timing(7) 22, computed in single precision as
 * that section requires.
 */
static double
channel_rate(double rate, const struct mem_props *p, int latency, int outstanding,
	     int words)
{
	const float used = 0.8F;
	int burst = p->burst_bytes / 16;
	float most = (float)(outstanding * p->ports) * used;
	if (!latency || !p->max_reads)
		return rate;
	if (words) {
		float word_limit = (float)words / (float)(burst > 1 ? burst : 1);
		most = word_limit < most ? word_limit : most;
	}
	float bytes = (float)p->burst_bytes * most / (float)latency * used;
	return (double)bytes < rate ? (double)bytes : rate;
}

static void
find_channels(struct perf_machine *p)
{
	for (int i = 0; i < MEM_AREAS; i++) {
		const struct mem_props *mem = &p->memory->mem[i];
		double rate = p->bytes_per_cycle[i];
		p->write_rate[i] = rate;
		if (p->accel->read_words[0])
			p->write_rate[i] = channel_rate(rate, mem, mem->write_latency,
							mem->max_writes, 0);
		for (int k = 0; k < READ_CHANNELS; k++)
			p->read_rate[i][k] =
			    p->accel->read_words[k]
				? channel_rate(rate, mem, mem->read_latency,
					       mem->max_reads,
					       p->accel->read_words[k])
				: rate;
	}
}

struct perf_machine
perf_machine_of(const struct accel *a, const struct memory_system *m)
{
	struct perf_machine p = { .accel = a, .memory = m };
	for (int i = 0; i < MEM_AREAS; i++)
		p.bytes_per_cycle[i] =
		    memory_bytes_per_cycle(m, a, (enum mem_area)i);
	find_channels(&p);
	return p;
}

/*
 * Each port of an SRAM has a path of its own.  The ports of another memory share one
 * path: more ports only allow more requests in flight.  Constants in the SRAM of the
 * feature maps are read through its ports, too.
 */
struct perf_machine
perf_machine_calibrated(const struct accel *a, const struct memory_system *m)
{
	struct perf_machine p = { .accel = a, .memory = m, .calibrated = true,
				  .one_sram = memory_has_one_sram(m) };
	for (int i = 0; i < MEM_AREAS; i++) {
		const bool is_sram = i == MEM_SRAM || (i == MEM_ON_CHIP_FLASH && p.one_sram);
		p.bytes_per_cycle[i] = a->axi_bytes * m->mem[i].clock_scale *
				       (is_sram ? m->mem[i].ports : 1);
	}
	find_channels(&p);
	p.front_end_cycles = unmeasured[a->generation].front_end +
			     m->mem[m->const_area].read_latency +
			     m->fit.operation_cycles;
	return p;
}

struct perf_machine
perf_machine_robust(const struct accel *a, const struct memory_system *m,
		    const struct perf_machine *published)
{
	struct perf_machine p = perf_machine_calibrated(a, m);
	p.published = published;
	return p;
}

bool
perf_is_fitted(const struct perf_machine *m)
{
	const struct memory_system *s = m->memory;
	return s->fit.measured && s->fitted_for &&
	       !strcmp(s->fitted_for, m->accel->name);
}

struct perf_interval
perf_interval_of(const struct perf_machine *m, double cycles)
{
	enum generation_id g = m->accel->generation;
	const struct calibration *c = perf_is_fitted(m) ? &m->memory->fit : NULL;
	return (struct perf_interval){
		.low = cycles * (c ? c->low : unmeasured[g].low),
		.high = cycles * (c ? c->high : unmeasured[g].high),
	};
}
