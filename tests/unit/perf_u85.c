/* SPDX-License-Identifier: Apache-2.0 */
/* Checks numbers worked out in ethosu-timing(7) 22 and 26, chains, and decoders. */
#include "perf/cost.h"

#include "target/accel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;

static void
check(int line, const char *what, double got, double want, double within)
{
	if (fabs(got - want) <= within)
		return;
	failures++;
	printf("line %d: %s is %.17g, not %.17g\n", line, what, got, want);
}

#define CHECK(expr, want) check(__LINE__, #expr, (double)(expr), (double)(want), 0)
/* the page's numbers have two decimals */
#define NEAR(expr, want) check(__LINE__, #expr, (double)(expr), (double)(want), 0.005)

static struct arena *arena;

static struct perf_machine
machine(enum accel_id id, struct memory_system *s)
{
	const char *system = id < ACCEL_U65_256 ? "Ethos_U55_Deep_Embedded"
						: "Ethos_U85_SYS_DRAM_Mid";
	const char *mode = id < ACCEL_U65_256 ? "Shared_Sram" : "Dedicated_Sram";
	struct err e = { 0 };
	if (!memory_load(arena, NULL, system, mode, &accels[id], s, &e))
		abort();
	return perf_machine_of(&accels[id], s);
}

/* ethosu-timing(7) 22: the reads of a channel wait for the latency of a memory */
static void
test_channels(void)
{
	struct memory_system s;
	struct perf_machine m = machine(ACCEL_U85_256, &s);
	NEAR(m.read_rate[MEM_SRAM][READ_IFM], 20.48);
	NEAR(m.read_rate[MEM_DRAM][READ_WEIGHTS], 3.28);
	CHECK(m.bytes_per_cycle[MEM_DRAM], 12);
	m = machine(ACCEL_U85_128, &s);
	NEAR(m.read_rate[MEM_DRAM][READ_COPY], 1.64);
	/* a transfer has this rate and the latency */
	NEAR(perf_dma_cycles(&m, 16384, MEM_DRAM, MEM_SRAM, false),
	     16384 / m.read_rate[MEM_DRAM][READ_COPY] + 500);
	m = machine(ACCEL_U55_256, &s);
	CHECK(m.read_rate[MEM_SRAM][READ_COPY], m.bytes_per_cycle[MEM_SRAM]);
}

static struct perf_op
dense(struct hwc ofm, int32_t depth, struct hwc block, struct hwc ublock,
      const struct accel *a)
{
	struct perf_fm in = { .shape = { .h = ofm.h, .w = ofm.w, .c = depth },
			       .bits = 8, .area = MEM_SRAM };
	struct perf_op op = {
		.class = BLOCK_CONV, .activation = ACT_NONE, .ifm = in, .ofm = in,
		.kernel_h = 1, .kernel_w = 1, .stride_y = 1, .stride_x = 1,
		.dilation_y = 1, .dilation_x = 1, .block = block, .ublock = ublock,
		.weight_area = MEM_SRAM, .scale_area = MEM_SRAM,
	};
	op.ofm.shape = ofm;
	perf_op_set_blocks(&op, a);
	return op;
}

/* 26, "Peak check": products of a block in cycles */
static void
test_peak(void)
{
	const struct accel *a = &accels[ACCEL_U85_2048];
	struct hwc block = { .h = 8, .w = 8, .c = 16 };
	struct perf_op op = dense(block, 64, block,
				  (struct hwc){ .h = 4, .w = 4, .c = 16 }, a);
	struct perf_tiling t = perf_tiling_of(&op);
	CHECK(t.ifm.c, 64);
	CHECK(8 * 8 * 16 * 64 / perf_mac85(a, &op, &t, 1), 2048);
	CHECK(perf_blocks85(&op, &t), 1);
	a = &accels[ACCEL_U85_128];
	block = (struct hwc){ .h = 4, .w = 8, .c = 8 };
	op = dense(block, 64, block, (struct hwc){ .h = 1, .w = 2, .c = 8 }, a);
	t = perf_tiling_of(&op);
	CHECK(4 * 8 * 8 * 64 / perf_mac85(a, &op, &t, 1), 128);
	op.sparse_weights = true;
	CHECK(4 * 8 * 8 * 64 / perf_mac85(a, &op, &t, 1), 256);
}

/*
 * ethosu-timing(7) 26: four decoders make 32 weights a cycle of dense ones, the fast
 * one 64
 */
static void
test_decoders(void)
{
	struct memory_system s;
	struct perf_machine m = machine(ACCEL_U85_2048, &s);
	struct hwc ofm = { .h = 1, .w = 1, .c = 1024 };
	struct perf_op op = dense(ofm, 1024, ofm,
				  (struct hwc){ .h = 1, .w = 4, .c = 64 }, m.accel);
	struct perf_cost c;
	op.weight_bytes = 1024 * 512;
	perf_cost(&m, &op, &c);
	CHECK(c.npu, 1024 * 1024 / 32);
	op.weight_bytes = 1024 * 1024;
	op.fast_weights = true;
	perf_cost(&m, &op, &c);
	CHECK(c.npu >= 1024 * 1024 / 32, 1);
}

static struct perf_op
sum_of(struct hwc shape, int bits)
{
	struct perf_fm f = { .shape = shape, .bits = bits, .area = MEM_SRAM };
	struct perf_op op = {
		.class = BLOCK_ELEMENTWISE, .func = PERF_ADD_SUB,
		.activation = ACT_NONE, .ifm = f, .ifm2 = f, .ofm = f,
		.kernel_h = 1, .kernel_w = 1, .stride_y = 1, .stride_x = 1,
		.dilation_y = 1, .dilation_x = 1,
		.block = { .h = 16, .w = 16, .c = 16 },
	};
	perf_op_set_blocks(&op, &accels[ACCEL_U85_256]);
	return op;
}

/* ethosu-timing(7) 21: a chain's output cycles are the sum of its members' */
static void
test_chain(void)
{
	struct memory_system s;
	struct perf_machine m = machine(ACCEL_U85_256, &s);
	struct hwc shape = { .h = 64, .w = 64, .c = 16 };
	struct perf_op first = sum_of(shape, 8), next = sum_of(shape, 8);
	next.stage.from_chain[0] = true;
	CHECK(perf_output85(m.accel, &first), 0.25);
	CHECK(perf_chain_add(&m, &first, &next), false);
	first.stage.chained = true;
	next.activation = ACT_TABLE;
	CHECK(perf_chain_add(&m, &first, &next), true);
	CHECK(first.chain.n_reads, 1);
	CHECK(first.chain.output_cycles, 0.25);
	struct perf_cost c;
	perf_cost(&m, &first, &c);
	CHECK(c.npu, 64 * 64 * 16 / 2);
	/* the chain ended there */
	CHECK(perf_chain_add(&m, &first, &next), false);
	/* words into a chain buffer, and a division */
	struct perf_op words = sum_of(shape, 32);
	CHECK(perf_output85(m.accel, &words), 0.5);
	words = sum_of(shape, 8);
	words.stage.divides = true;
	CHECK(perf_output85(m.accel, &words), 33);
	/* a stand-alone transpose takes only the activation's cycles */
	words = sum_of(shape, 16);
	words.stage = (struct perf_stage85){ .moves = true, .turns = true,
					     .bare = true };
	CHECK(perf_output85(&accels[ACCEL_U85_1024], &words), 0.125);
}

int
main(void)
{
	arena = arena_open();
	test_channels();
	test_peak();
	test_decoders();
	test_chain();
	arena_close(arena);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
