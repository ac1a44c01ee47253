/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the worked example (ethosu-timing(7) 6.1) with the vela-3.12 estimator,
 * values of regor worked out by hand, the timeline's three clocks, and streams that
 * no compiler wrote.
 */
#include "../../tools/npu-perf/models/estimate.h"

#include "stream/commands.h"
#include "stream/stream.h"
#include "target/accel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void
check(int line, const char *what, double got, double want)
{
	if (got == want)
		return;
	failures++;
	printf("line %d: %s is %.17g, not %.17g\n", line, what, got, want);
}

#define CHECK(expr, want) check(__LINE__, #expr, (double)(expr), (double)(want))

static struct perf_fm
sram(int32_t h, int32_t w, int32_t c, bool nhcwb16)
{
	return (struct perf_fm){ .shape = { .h = h, .w = w, .c = c },
				  .bits = 8, .nhcwb16 = nhcwb16,
				  .area = MEM_SRAM };
}

static struct perf_op
one_by_one(enum block_class class, struct perf_fm ifm, struct perf_fm ofm,
	   struct hwc block)
{
	struct perf_op op = {
		.class = class, .activation = ACT_NONE, .ifm = ifm, .ofm = ofm,
		.kernel_h = 1, .kernel_w = 1, .stride_y = 1, .stride_x = 1,
		.dilation_y = 1, .dilation_x = 1, .block = block,
		.weight_area = MEM_OFF_CHIP_FLASH,
		.scale_area = MEM_OFF_CHIP_FLASH,
	};
	perf_op_set_blocks(&op, &accels[ACCEL_U55_256]);
	return op;
}

/* the three operations of ethosu-timing(7) 6 */
static struct perf_op
example(int i)
{
	struct hwc block = { 2, 2, 128 };
	if (i == 0)
		return one_by_one(BLOCK_POOL, sram(1, 1, 784, false),
				  sram(1, 1, 784, true), block);
	if (i == 2)
		return one_by_one(BLOCK_POOL, sram(1, 1, 1008, true),
				  sram(1, 1, 1008, false), block);
	struct perf_op op = one_by_one(BLOCK_FC, sram(1, 1, 784, true),
				       sram(1, 1, 1008, true), block);
	op.has_bias = true;
	op.weight_bytes = 889072;
	op.scale_bytes = 10080;
	return op;
}

static void
test_vela312(const struct perf_machine *m)
{
	static const double npu[] = { 496, 105701, 564 };
	static const double access[] = { 196, 910, 378 };
	struct perf_estimate sum = { 0 }, e;
	for (int i = 0; i < 3; i++) {
		struct perf_op op = example(i);
		struct perf_schedule s = {
			.original_weights = perf_original_weights(&op),
		};
		perf_vela312(m, &op, &s, &e);
		CHECK(e.npu, npu[i]);
		CHECK(e.memory[MEM_SRAM], access[i]);
		perf_estimate_add(&sum, &e);
	}
	/* 802816 weights are read of 790272, each with 889072/790272 bytes: the page
	 * rounds to 903184.25; scales 10080 */
	double weights = 802816.0 * 889072 / 790272;
	CHECK(sum.bytes[MEM_OFF_CHIP_FLASH][PERF_WEIGHTS][PERF_READ], weights);
	CHECK((long)(100 * (weights + 10080)), 91326425);
	CHECK(sum.memory[MEM_OFF_CHIP_FLASH], weights + 10080);
	CHECK(sum.npu, 106761);
	CHECK(sum.memory[MEM_SRAM], 1484);
	CHECK(sum.total, 496 + (weights + 10080) + 564);
	CHECK(sum.macs, 792064);
	CHECK(sum.bytes[MEM_SRAM][PERF_FEATURE_MAPS][PERF_READ], 8064);
	CHECK(sum.bytes[MEM_SRAM][PERF_FEATURE_MAPS][PERF_WRITE], 2800);
}

static void
test_buffering(const struct perf_machine *m)
{
	struct perf_op op = example(1);
	struct perf_schedule s = {
		.original_weights = 790272, .source = MEM_OFF_CHIP_FLASH,
		.full_cycles = 5000, .first_cycles = 1000, .slack = 300,
		.own_slack = 50, .lut_cycles = 20, .moved_bytes = 899152,
	};
	struct perf_estimate e;
	op.weight_area = op.scale_area = MEM_SRAM;
	/* scales come with a latency of 32: bias term 160, command 3261 */
	double alone = 12800 * 8 + 3261;
	perf_vela312(m, &op, &s, &e);
	CHECK(e.npu, alone); /* in place: 20 are hidden */
	s.buffering = PERF_SINGLE_BUFFER;
	perf_vela312(m, &op, &s, &e);
	CHECK(e.npu, alone + 5000 - 300 + 20);
	/* buffered weights cost no access but are reported */
	CHECK(e.memory[MEM_SRAM], 910);
	CHECK(e.bytes[MEM_SRAM][PERF_WEIGHTS][PERF_WRITE], 899152);
	CHECK(e.bytes[MEM_OFF_CHIP_FLASH][PERF_WEIGHTS][PERF_READ], 899152);
	s.buffering = PERF_DOUBLE_BUFFER;
	perf_vela312(m, &op, &s, &e);
	CHECK(e.npu, alone + 700 + 20);
	s.full_cycles = 200000;
	perf_vela312(m, &op, &s, &e);
	CHECK(e.npu, 200000 - 300 + 50 + 20);
	/* 1000 B: 1000 cycles and latency 64 of flash, against 125 of SRAM */
	CHECK(perf_vela312_copy(m, 1000, MEM_OFF_CHIP_FLASH, MEM_SRAM), 1064);
	CHECK(perf_vela312_copy(m, 1001, MEM_SRAM, MEM_OFF_CHIP_FLASH), 1001);
	CHECK(perf_regor_copy(m, 1000, MEM_OFF_CHIP_FLASH, MEM_SRAM), 1064);
}

static void
test_regor(const struct perf_machine *m)
{
	struct perf_op op = example(0);
	/* 4*16 microblocks, times 4: 256; output 128 at 1.0; 98 of 16 microblocks:
	 * 6.125 blocks; 256*6.125 + 128, filled and drained in 48 cycles each */
	CHECK(perf_regor_op(m, &op), 1568 + 128 + 48 + 48);
	/* 12800 * 126/16 = 100800; command (12 + 12800 + 320)/4 = 3283; fill
	 * 36, drain 48 */
	op = example(1);
	CHECK(perf_regor_op(m, &op), 100800 + 3283 + 36 + 48);
	struct perf_schedule s = { .original_weights = 790272 };
	struct perf_estimate e;
	perf_regor(m, &op, &s, &e);
	CHECK(e.memory[MEM_OFF_CHIP_FLASH], 889072 + 10080);
	CHECK(e.total, 889072 + 10080);
	/* clamped, the output takes 0.25 a element, the bias still 320 */
	op.activation = ACT_RELU;
	CHECK(perf_regor_op(m, &op), 100800 + 3283 + 36 + 48);
	op = example(0);
	op.activation = ACT_RELU; /* output 32, below command 72 */
	CHECK(perf_regor_op(m, &op), 1568 + 72 + 48 + 48);
	/* ADD 16x16x32: at least a table's 1.0 an element */
	op = one_by_one(BLOCK_ELEMENTWISE, sram(16, 16, 32, true),
			sram(16, 16, 32, true), (struct hwc){ 16, 16, 32 });
	op.ifm2 = op.ifm;
	op.func = PERF_ADD_SUB;
	CHECK(perf_regor_op(m, &op), 8192);
	op.activation = ACT_RELU; /* 0.75 for the sum */
	CHECK(perf_regor_op(m, &op), 6144);
}

static void
test_timeline(const struct memory_system *mem, const struct perf_machine *m)
{
	/* a third kernel occupies the front end until the first has ended, so that
	 * the transfer starts at 100; a wait for kernels delays the next one */
	struct perf_step s[] = {
		{ .kind = PERF_KERNEL, .cycles = 100 },
		{ .kind = PERF_KERNEL, .cycles = 100 },
		{ .kind = PERF_KERNEL, .cycles = 100 },
		{ .kind = PERF_DMA, .cycles = 50 },
		{ .kind = PERF_KERNEL_WAIT, .n = 1 },
		{ .kind = PERF_DMA, .cycles = 10 },
		{ .kind = PERF_KERNEL_WAIT, .n = 0 },
		{ .kind = PERF_DMA_WAIT, .n = 0 },
		{ .kind = PERF_KERNEL, .cycles = 5 },
	};
	CHECK(perf_timeline(m, s, ARRAY_LEN(s)), 305);
	CHECK(s[2].start, 200);
	CHECK(s[3].start, 100);
	CHECK(s[5].start, 200);
	CHECK(s[6].end, 300);
	CHECK(s[8].start, 300);

	/* U55 has one transfer at a time, U65 two */
	struct perf_step d[] = {
		{ .kind = PERF_DMA, .cycles = 100 },
		{ .kind = PERF_DMA, .cycles = 100 },
		{ .kind = PERF_KERNEL, .cycles = 7 },
	};
	CHECK(perf_timeline(m, d, ARRAY_LEN(d)), 200);
	CHECK(d[2].start, 100);
	struct perf_machine u65 = perf_machine_of(&accels[ACCEL_U65_256], mem);
	CHECK(perf_timeline(&u65, d, ARRAY_LEN(d)), 200);
	CHECK(d[1].start, 100);
	CHECK(d[2].start, 0);
	CHECK(perf_timeline(m, NULL, 0), 0);

	/* 1024 B of flash at 1 B/cycle; a copy to flash is limited by writing */
	CHECK(perf_dma_cycles(m, 1024, MEM_OFF_CHIP_FLASH, MEM_SRAM, false),
	      1024 + 64);
	CHECK(perf_dma_cycles(m, 1024, MEM_SRAM, MEM_OFF_CHIP_FLASH, false),
	      1024);
	CHECK(perf_dma_cycles(m, 1024, MEM_SRAM, MEM_OFF_CHIP_FLASH, true),
	      128 + 32);
}

static void
test_contention(const struct perf_machine *m)
{
	/* A kernel needs SRAM for all of its 100 cycles, a transfer for 80 of its
	 * 100.  With half of the SRAM each, the kernel's speed is 1/2 and the
	 * transfer's 0.5/0.8.  The transfer ends at 160, with 20 cycles of the kernel
	 * left.  The kernel then runs alone until 180. */
	struct perf_step s[] = {
		{ .kind = PERF_DMA, .cycles = 100, .memory = { [MEM_SRAM] = 80 } },
		{ .kind = PERF_KERNEL, .cycles = 100, .memory = { 100 } },
	};
	CHECK(perf_contention(m, s, ARRAY_LEN(s)), 180);
	CHECK(s[0].end, 160);
	/* a user that needs less than half gets what it needs: 0.25 and 0.75 of 1 */
	s[0].memory[MEM_SRAM] = 25;
	CHECK(perf_contention(m, s, ARRAY_LEN(s)), 125);
	CHECK(s[0].end, 100);
	/* different memories, or only one user: the timeline */
	s[0].memory[MEM_SRAM] = 0;
	s[0].memory[MEM_DRAM] = 100;
	CHECK(perf_contention(m, s, ARRAY_LEN(s)), 100);
	CHECK(perf_contention(m, s + 1, 1), 100);
	/* a copy inside of one memory: it reads and writes on one port */
	s[0].port[MEM_SRAM] = 200;
	CHECK(perf_contention(m, s, 1), 200);
	/* waits as in the timeline */
	struct perf_step w[] = {
		{ .kind = PERF_KERNEL, .cycles = 100 },
		{ .kind = PERF_KERNEL, .cycles = 100 },
		{ .kind = PERF_KERNEL, .cycles = 100 },
		{ .kind = PERF_DMA, .cycles = 50 },
		{ .kind = PERF_KERNEL_WAIT, .n = 1 },
		{ .kind = PERF_DMA, .cycles = 10 },
		{ .kind = PERF_KERNEL_WAIT, .n = 0 },
		{ .kind = PERF_KERNEL, .cycles = 5 },
	};
	CHECK(perf_contention(m, w, ARRAY_LEN(w)), 305);
	CHECK(w[3].start, 100);
	CHECK(w[5].start, 200);
	CHECK(perf_contention(m, NULL, 0), 0);
}

/* ---- streams that no compiler wrote ---------------------------------------- */

static uint32_t
word(enum npu_reg reg, uint16_t param)
{
	return npu_code_word(&npu_registers[reg], param);
}

static const char *
refusal(struct arena *a, const struct perf_machine *m, const uint32_t *w,
	size_t n)
{
	static struct err e;
	struct npu_stream s = { .accel = m->accel, .word = w, .n_words = n };
	struct perf_run run;
	e = (struct err){ 0 };
	return perf_stream(a, m, &s, &run, &e) ? "" : e.text;
}

static void
test_refusals(struct arena *a, const struct perf_machine *m)
{
	uint32_t huge[] = {
		word(NPU_OFM_HEIGHT_M1, 0xffff), word(NPU_OFM_WIDTH_M1, 0xffff),
		word(NPU_OFM_DEPTH_M1, 0xffff), word(NPU_IFM_DEPTH_M1, 0xffff),
		word(NPU_KERNEL_HEIGHT_M1, 0xffff), NPU_OP_CONV,
	};
	CHECK(strcmp(refusal(a, m, huge, ARRAY_LEN(huge)),
		     "word 5: conv is too large for an estimate"), 0);
	uint32_t empty[] = { word(NPU_IFM_PAD_TOP, 5), NPU_OP_POOL };
	CHECK(strcmp(refusal(a, m, empty, ARRAY_LEN(empty)),
		     "word 1: max reads an empty IFM"), 0);
	uint32_t junk[] = { 0xffffffff };
	CHECK(strlen(refusal(a, m, junk, 1)) > 0, true);
	CHECK(strlen(refusal(a, m, NULL, 0)), 0);
}

/* random registers and operations: any answer is allowed, but no undefined behaviour */
static void
test_random(struct arena *a, const struct perf_machine *m)
{
	enum { STREAMS = 20000, WORDS = 40 };
	static const uint16_t ops[] = { NPU_OP_CONV, NPU_OP_DEPTHWISE,
					NPU_OP_POOL, NPU_OP_ELEMENTWISE,
					NPU_OP_DMA_START, NPU_OP_DMA_WAIT,
					NPU_OP_KERNEL_WAIT };
	uint64_t seed = 1;
	int costed = 0;
	for (int i = 0; i < STREAMS; i++) {
		uint32_t w[WORDS];
		size_t n = 0;
		while (n + 2 < WORDS) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			uint32_t r = (uint32_t)(seed >> 32);
			const struct npu_command_info *c =
			    &npu_registers[r % NPU_REGS];
			if (!(c->products & NPU_U55) || r % 4 == 0)
				c = &npu_registers[NPU_OFM_DEPTH_M1];
			/* mostly small numbers, so that some can be estimated */
			uint16_t param = (uint16_t)(r >> 16);
			param = r % 3 ? param & 1 : param;
			if (r % 13 == 0) {
				w[n++] = ops[r / 13 % ARRAY_LEN(ops)] |
					 (uint32_t)(param & 3) << 16;
				continue;
			}
			w[n++] = npu_code_word(c, param);
			if (c->code & 0x4000)
				w[n++] = r % 5 ? r & 0xffff : r;
		}
		struct npu_stream s = { .accel = m->accel, .word = w,
					.n_words = n };
		struct perf_run run;
		struct err e = { 0 };
		if (!perf_stream(a, m, &s, &run, &e))
			continue;
		costed++;
		struct perf_estimate *row = anew(a, struct perf_estimate, run.n);
		struct perf_operand_info nothing = { .n_places = 0 };
		for (int k = 0; k < PERF_MODELS; k++)
			(void)perf_estimate_run(m, (enum perf_model)k, &nothing,
						&run, row);
		(void)perf_constants_read(a, &run, 1);
		(void)perf_weights(a, &run, 1);
	}
	printf("%d of %d random streams could be costed\n", costed, STREAMS);
	CHECK(costed > STREAMS / 100, true);
}

/*
 * Keyword spotter on 256 MACs with Ethos_U85_SYS_Flash_High, as Vela 5.1 reports it:
 * a 1x1 convolution of 25x5x64 in slices of 48 and 16 channels.  3,568 bytes are
 * fetched before the convolution begins.  Flash has 4,128 - 3,568 bytes left to copy,
 * and records for four blocks.
 */
static void
test_regor85(struct arena *a)
{
	struct memory_system mem;
	struct err e = { 0 };
	if (!memory_load(a, NULL, "Ethos_U85_SYS_Flash_High", "Shared_Sram",
			 &accels[ACCEL_U85_256], &mem, &e))
		abort();
	struct perf_machine m = perf_machine_of(&accels[ACCEL_U85_256], &mem);
	struct perf_op op = one_by_one(BLOCK_CONV, sram(25, 5, 64, true),
				       sram(25, 5, 64, true),
				       (struct hwc){ 16, 4, 32 });
	op.ublock = (struct hwc){ 2, 2, 8 };
	op.has_bias = true;
	op.weight_bytes = 4128;
	op.scale_bytes = 640;
	op.weight_area = op.scale_area = MEM_SRAM;
	struct perf_schedule s = {
		.buffering = PERF_DOUBLE_BUFFER, .source = MEM_OFF_CHIP_FLASH,
		.moved_bytes = 4768, .first_bytes = 3568,
	};
	struct perf_estimate out;
	perf_regor85(&m, &op, &s, &out);
	CHECK(out.memory[MEM_OFF_CHIP_FLASH], 560 + 4 * 640);
	CHECK(out.bytes[MEM_SRAM][PERF_WEIGHTS][PERF_READ], 4 * 4128);
	s.first_bytes = 0;
	perf_regor85(&m, &op, &s, &out);
	CHECK(out.memory[MEM_OFF_CHIP_FLASH], 4128 + 4 * 640);
}

int
main(void)
{
	struct arena *a = arena_open();
	struct memory_system mem;
	struct err e = { 0 };
	const struct accel *accel = &accels[ACCEL_U55_256];
	if (!memory_load(a, NULL, "Ethos_U55_High_End_Embedded", "Shared_Sram",
			 accel, &mem, &e)) {
		printf("%s\n", e.text);
		return EXIT_FAILURE;
	}
	struct perf_machine m = perf_machine_of(accel, &mem);
	test_vela312(&m);
	test_buffering(&m);
	test_regor(&m);
	test_regor85(a);
	test_timeline(&mem, &m);
	test_contention(&m);
	test_refusals(a, &m);
	test_random(a, &m);
	arena_close(a);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
