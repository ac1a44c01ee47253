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

struct perf_machine
perf_machine_of(const struct accel *a, const struct memory_system *m)
{
	struct perf_machine p = { .accel = a, .memory = m };
	for (int i = 0; i < MEM_AREAS; i++)
		p.bytes_per_cycle[i] =
		    memory_bytes_per_cycle(m, a, (enum mem_area)i);
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
