/* SPDX-License-Identifier: Apache-2.0 */
/* What an operation runs on, as published or as measured. */
#include "perf/perf.h"

#include <string.h>

/*
 * Where nothing was measured: the operation's cycles of the one board that was
 * (npu-perf(1), CALIBRATION), and measurements as multiples of the timeline, which
 * knew as little of that board: from the least of eight networks to the most.
 */
static const struct calibration elsewhere = {
	.operation_cycles = 180, .low = 0.68, .high = 1.59,
};

/*
 * So many bytes may be on their way, of which a burst takes the latency: section
 * 22 of ethosu-timing(7), in single precision as there.
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
		float room = (float)words / (float)(burst > 1 ? burst : 1);
		most = room < most ? room : most;
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

bool
perf_is_fitted(const struct perf_machine *m)
{
	const struct memory_system *s = m->memory;
	return s->fit.measured && s->fitted_for &&
	       !strcmp(s->fitted_for, m->accel->name);
}

static const struct calibration *
calibration_of(const struct perf_machine *m)
{
	return m->memory->fit.measured ? &m->memory->fit : &elsewhere;
}

struct perf_machine
perf_machine_calibrated(const struct accel *a, const struct memory_system *s)
{
	struct perf_machine m = perf_machine_of(a, s);
	m.calibrated = true;
	const struct calibration *c = calibration_of(&m);
	m.operation_cycles = c->operation_cycles;
	return m;
}

struct perf_interval
perf_interval_of(const struct perf_machine *m, double cycles)
{
	const struct calibration *c = perf_is_fitted(m) ? &m->memory->fit : &elsewhere;
	return (struct perf_interval){ .low = cycles * c->low,
				       .high = cycles * c->high };
}
