/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the machines of the scheduler on drawn operations of four machines: a kernel of a
 * robust machine takes the mean of its calibrated and its published cycles; constants are counted
 * for every plane of blocks; constants in the SRAM of the feature maps keep it busy; and no stream
 * takes less than any one memory is busy.
 */
#include "base/arena.h"

#include "drawn.h"
#include "perf/perf.h"
#include "target/accel.h"
#include "target/target.h"

#include <math.h>
#include <stdio.h>

enum { OPERATIONS = 3000, STREAMS = 300, MOST_STEPS = 40, MOST_MESSAGES = 10 };

static int failed;

static void
expect(bool ok, const char *what, int number, double is, double want)
{
	if (!ok && failed++ < MOST_MESSAGES)
		printf("%d: %s: %.17g, not %.17g\n", number, what, is, want);
}

static bool
is_near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static const struct {
	const char *accel, *system, *mode;
} targets[] = {
	{ "ethos-u55-128", "Ethos_U55_High_End_Embedded", "Shared_Sram" },
	{ "ethos-u65-512", "Ethos_U65_High_End", "Dedicated_Sram" },
	{ "ethos-u85-256", "Ethos_U85_SYS_DRAM_Mid", "Dedicated_Sram" },
	{ "ethos-u85-256", "Ethos_U85_SYS_DRAM_Mid", "Sram_Only" },
};

static struct machines {
	struct memory_system memory;
	struct perf_machine published, calibrated, robust;
} machines[ARRAY_LEN(targets)];

static bool
load(struct arena *a, size_t i, struct err *e)
{
	struct machines *m = &machines[i];
	const struct accel *accel = accel_named(targets[i].accel, e);
	if (!accel || !memory_load(a, NULL, targets[i].system, targets[i].mode, accel, &m->memory, e))
		return false;
	m->published = perf_machine_of(accel, &m->memory);
	m->calibrated = perf_machine_calibrated(accel, &m->memory);
	m->robust = perf_machine_robust(accel, &m->memory, &m->published);
	return true;
}

static struct perf_fm
draw_map(const struct memory_system *m, struct hwc shape)
{
	return (struct perf_fm){ .shape = shape, .bits = 8, .nhcwb16 = draw(2),
				 .area = draw(2) ? m->cache_area : m->arena_area };
}

/* a convolution of 3x3 in blocks of 8x8x16 */
static struct perf_op
draw_convolution(const struct machines *m)
{
	const struct hwc shape = { .h = 8 * roll(1, 4), .w = 8 * roll(1, 4), .c = 16 * roll(1, 4) };
	const struct hwc block = { .h = 8, .w = 8, .c = 16 };
	return (struct perf_op){
		.class = BLOCK_CONV, .ifm = draw_map(&m->memory, shape),
		.ofm = draw_map(&m->memory, shape), .kernel_h = 3, .kernel_w = 3,
		.stride_y = 1, .stride_x = 1, .dilation_y = 1, .dilation_x = 1,
		.block = block, .ifm_block = { .h = 10, .w = 10, .c = 16 },
		.ublock = { .h = 2, .w = 2, .c = 8 }, .has_bias = true,
		.weight_bytes = 16 * (int64_t)roll(1, 2000), .scale_bytes = 10 * shape.c,
		.weight_area = m->memory.const_area, .scale_area = m->memory.const_area,
	};
}

static void
check_operation(int number)
{
	const struct machines *m = &machines[number % (int)ARRAY_LEN(machines)];
	struct perf_op op = draw_convolution(m);
	struct perf_cost published, calibrated, robust;
	perf_cost(&m->published, &op, &published);
	perf_cost(&m->calibrated, &op, &calibrated);
	perf_cost(&m->robust, &op, &robust);
	const double mean = (published.total + calibrated.total) / 2;
	expect(is_near(robust.total, mean), "robust cycles", number, robust.total, mean);
	for (int i = 0; i < MEM_AREAS; i++)
		expect(is_near(robust.memory[i], calibrated.memory[i]), "cycles of a memory", number,
		       robust.memory[i], calibrated.memory[i]);
	/* with constants in a memory of their own, it is busy for each plane of blocks */
	const enum mem_area from = m->memory.const_area;
	if (op.ifm.area == from || op.ofm.area == from)
		return;
	const double planes = (double)(op.ofm.shape.h / 8 * (op.ofm.shape.w / 8));
	const double once = (double)(op.weight_bytes + op.scale_bytes) /
			    m->calibrated.bytes_per_cycle[from];
	expect(is_near(calibrated.memory[from], planes * once), "cycles of constants", number,
	       calibrated.memory[from], planes * once);
	const bool one = m->memory.const_area == MEM_ON_CHIP_FLASH; /* another name of the SRAM */
	const double busy = planes * once + (one ? calibrated.memory[MEM_SRAM] : 0);
	const enum mem_area at = one ? MEM_SRAM : from;
	expect(is_near(calibrated.port[at], busy), "busy cycles", number, calibrated.port[at], busy);
	expect(calibrated.total >= busy, "cycles of a kernel", number, calibrated.total, busy);
}

static struct perf_step
draw_step(const struct machines *m)
{
	struct perf_step s = { .kind = (enum perf_step_kind)draw(4), .n = (int)draw(2) };
	if (s.kind != PERF_KERNEL && s.kind != PERF_DMA)
		return s;
	s.cycles = (double)draw(1000);
	s.port[m->memory.const_area] = (double)draw(1500);
	s.port[m->memory.cache_area] += (double)draw(1500);
	return s;
}

static void
check_stream(int number)
{
	const struct machines *m = &machines[number % (int)ARRAY_LEN(machines)];
	struct perf_step step[MOST_STEPS];
	const size_t n = (size_t)roll(1, MOST_STEPS);
	double busy[MEM_AREAS] = { 0 }, most = 0;
	for (size_t i = 0; i < n; i++) {
		step[i] = draw_step(m);
		for (int k = 0; k < MEM_AREAS; k++)
			busy[k] += step[i].port[k];
	}
	const double cycles = perf_timeline(&m->calibrated, step, n);
	for (size_t i = 0; i < n; i++)
		if (step[i].kind == PERF_KERNEL || step[i].kind == PERF_DMA)
			most = fmax(most, step[i].end);
	for (int k = 0; k < MEM_AREAS; k++)
		most = fmax(most, busy[k]);
	expect(is_near(cycles, most), "cycles of a stream", number, cycles, most);
	/* without the cycles of the front end */
	const double alone = perf_timeline(&m->published, step, n);
	expect(alone <= cycles, "published cycles of a stream", number, alone, cycles);
	expect(is_near(perf_timeline(&m->robust, step, n), cycles), "robust cycles of a stream",
	       number, perf_timeline(&m->robust, step, n), cycles);
}

int
main(void)
{
	struct arena *a = arena_open();
	struct err e = { 0 };
	for (size_t i = 0; i < ARRAY_LEN(machines); i++)
		if (!load(a, i, &e)) {
			printf("no machine %s\n", targets[i].accel);
			return 1;
		}
	for (int i = 0; i < OPERATIONS; i++)
		check_operation(i);
	for (int i = 0; i < STREAMS; i++)
		check_stream(i);
	arena_close(a);
	return failed != 0;
}
