/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the vela-2.1 estimator, function by function, with values worked out by
 * hand; the sums are in the comments (ethosu-timing(7) 3).
 */
#include "../../tools/npu-perf/models/vela21.h"

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

static const struct accel *const u256 = &accels[ACCEL_U55_256];

static struct v21_tensor
map(int32_t h, int32_t w, int32_t c, int bits)
{
	struct v21_tensor t = {
		.shape = { .n = 1, .h = h, .w = w, .c = c }, .bits = bits,
		.format = V21_NHCWB16, .area = MEM_SRAM,
		.purpose = V21_FEATURE_MAP, .compression = 1,
		.has_scale = true, .scale = 1,
	};
	t.stored = t.shape;
	return t;
}

static struct v21_tensor
weights(int32_t h, int32_t w, int32_t in, int32_t out, double compression)
{
	struct v21_tensor t = {
		.shape = { .h = h, .w = w, .in = in, .out = out }, .bits = 8,
		.format = V21_OPAQUE, .area = MEM_OFF_CHIP_FLASH,
		.purpose = V21_WEIGHTS, .compression = compression,
	};
	t.stored = t.shape;
	return t;
}

#define P(yy, xx) ((struct v21_plane){ .y = yy, .x = xx })

static void
test_blocks(void)
{
	/* 10x10 padded by 1: two rows of 4 and 2 left, one column of 8 and 2
	 * left: 2 of 4x8, 1 of 2x8, 2 of 4x2, 1 of 2x2, each with a border of
	 * 1: 2*6*10 + 4*10 + 2*6*4 + 4*4 = 224 */
	struct v21_cover c = v21_blocks(P(12, 12), P(1, 1), P(1, 1), P(1, 1),
					P(4, 8), P(2, 2), P(1, 1), P(1, 1));
	CHECK(c.blocks, 6);
	CHECK(c.area, 224);
	CHECK(c.group[0].n, 2);
	CHECK(c.group[1].n, 1);
	CHECK(c.group[1].size.y, 2);
	CHECK(c.group[2].n, 2);
	CHECK(c.group[3].size.x, 2);
	/* without a remainder: 8x8 by 4x4 is 4 blocks of 4x4 */
	c = v21_blocks(P(8, 8), P(0, 0), P(0, 0), P(0, 0), P(4, 4), P(2, 2),
		       P(1, 1), P(1, 1));
	CHECK(c.blocks, 4);
	CHECK(c.area, 64);
	/* stride 2 on 9 rows: blocks of 2 cover 4 rows, two of them 8; one row
	 * is left, (9-8-1)/2+1 = 1, at least 2 OFM rows: reads 4.  Columns: one
	 * block of 4.  2*(4*8) + 4*8 = 96.  Bricks of 1 add nothing */
	c = v21_blocks(P(9, 8), P(0, 0), P(0, 0), P(0, 0), P(2, 4), P(2, 2),
		       P(2, 2), P(1, 1));
	CHECK(c.blocks, 3);
	CHECK(c.area, 96);
	/* a skirt of 3 read in bricks of 2: 4 before, 2 after a clamped 2 */
	c = v21_blocks(P(12, 4), P(3, 0), P(5, 0), P(2, 0), P(4, 4), P(2, 2),
		       P(1, 1), P(2, 1));
	CHECK(c.blocks, 1);
	CHECK(c.area, (4 + 4 + 2) * 4);
}

static void
test_ifm_depth(void)
{
	CHECK(v21_ifm_block_depth(BLOCK_CONV, 64, 8, V21_DEPTH_FIRST, 128), 32);
	CHECK(v21_ifm_block_depth(BLOCK_CONV, 20, 8, V21_DEPTH_FIRST, 128), 20);
	CHECK(v21_ifm_block_depth(BLOCK_CONV, 64, 8, V21_PART_KERNEL, 128), 16);
	CHECK(v21_ifm_block_depth(BLOCK_CONV, 64, 16, V21_DEPTH_FIRST, 8), 16);
	CHECK(v21_ifm_block_depth(BLOCK_REDUCE_SUM, 64, 32, V21_DEFAULT, 64), 8);
	CHECK(v21_ifm_block_depth(BLOCK_FC, 784, 8, V21_DEPTH_FIRST, 128), 128);
	CHECK(v21_ifm_block_depth(BLOCK_POOL, 24, 8, V21_DEFAULT, 64), 24);
}

/* cycles of 100 elements on U55-256, whose columns are 0.625, 1.125, 0.5,
 * 0.375, 0.5, 0.75, 0.125, 0.25 and activations 1, 0.25, 0 */
static void
test_output(void)
{
	struct v21_tensor a = map(1, 1, 100, 8), b = a, o = a;
	struct v21_work w = { .class = BLOCK_ELEMENTWISE, .func = PERF_ADD_SUB,
			      .activation = ACT_NONE, .ifm = &a, .ifm2 = &b,
			      .ofm = &o };
	CHECK(v21_output_cycles(u256, &w, 100, false), 50); /* equal scales */
	b.scale = 2;
	CHECK(v21_output_cycles(u256, &w, 100, false), 75);
	o.has_scale = false;
	CHECK(v21_output_cycles(u256, &w, 100, false), 50);
	w.resize_bilinear = true; /* the scale of the second input counts */
	CHECK(v21_output_cycles(u256, &w, 100, false), 75);
	w.func = PERF_MUL;
	CHECK(v21_output_cycles(u256, &w, 100, false), 37.5);
	o.bits = 32;
	CHECK(v21_output_cycles(u256, &w, 100, false), 50);
	a.bits = 32;
	CHECK(v21_output_cycles(u256, &w, 100, false), 112.5); /* binary */
	w.ifm2 = NULL;
	CHECK(v21_output_cycles(u256, &w, 100, false), 62.5); /* unary */
	w = (struct v21_work){ .class = BLOCK_POOL, .func = PERF_MAXPOOL,
			       .activation = ACT_NONE, .ifm = &b, .ofm = &o };
	CHECK(v21_output_cycles(u256, &w, 100, false), 12.5);
	w.activation = ACT_RELU;
	CHECK(v21_output_cycles(u256, &w, 100, false), 25);
	w.activation = ACT_TABLE;
	CHECK(v21_output_cycles(u256, &w, 100, false), 100);
	w = (struct v21_work){ .class = BLOCK_CONV, .activation = ACT_NONE,
			       .ifm = &b, .ofm = &o };
	CHECK(v21_output_cycles(u256, &w, 100, false), 25);
	CHECK(v21_output_cycles(u256, &w, 100, true), 37.5);
	b.bits = 16;
	o.has_scale = true;
	CHECK(v21_acc40(&w), true);
	o.has_scale = false;
	CHECK(v21_acc40(&w), false);
	o.has_scale = true;
	w.class = BLOCK_POOL;
	CHECK(v21_acc40(&w), false);
}

static double
mac(enum accel_id id, enum block_class class, struct v21_tensor ifm,
    struct v21_tensor ofm, int32_t kh, int32_t kw, enum v21_traversal t,
    struct hwc block)
{
	struct v21_work w = { .class = class, .activation = ACT_NONE,
			      .ifm = &ifm, .ofm = &ofm, .kernel_h = kh,
			      .kernel_w = kw, .traversal = t, .block = block };
	return v21_mac_cycles(&accels[id], &w);
}

static void
test_mac(void)
{
	struct hwc b = { 8, 8, 64 };
	/* 4*4*8 = 128 microblocks, two slices of 32: 4*9*128*2 = 9216; one
	 * block; output 0.25*4096 = 1024 */
	CHECK(mac(ACCEL_U55_256, BLOCK_CONV, map(8, 8, 64, 8), map(8, 8, 64, 8),
		  3, 3, V21_DEPTH_FIRST, b), 9216 + 1024);
	/* two cores halve it; output 0.125*4096 */
	CHECK(mac(ACCEL_U65_512, BLOCK_CONV, map(8, 8, 64, 8), map(8, 8, 64, 8),
		  3, 3, V21_DEPTH_FIRST, b), 4608 + 512);
	/* part-kernel: 8*6*2 = 96; 3 steps of 4, two groups of 8 channels:
	 * 4*3*2*96 = 2304; 3*2 blocks; output 768 */
	b = (struct hwc){ 12, 16, 16 };
	CHECK(mac(ACCEL_U55_256, BLOCK_CONV, map(32, 32, 16, 8),
		  map(32, 32, 16, 8), 3, 3, V21_PART_KERNEL, b),
	      2304 * 6 + 768);
	/* 16 bit: 5 steps of 2: 4*5*2*96 = 3840; 40-bit output 0.375*3072 */
	CHECK(mac(ACCEL_U55_256, BLOCK_CONV, map(32, 32, 16, 16),
		  map(32, 32, 16, 16), 3, 3, V21_PART_KERNEL, b),
	      3840 * 6 + 1152);
	/* depthwise: 7*7*2 = 98; 4*3*98 = 1176; 8 blocks; output 784 */
	b = (struct hwc){ 14, 14, 16 };
	CHECK(mac(ACCEL_U55_256, BLOCK_DEPTHWISE, map(24, 24, 32, 8),
		  map(24, 24, 32, 8), 3, 3, V21_DEPTHWISE, b),
	      1176 * 8 + 784);
	/* pool 7x7: 49*16 = 784, 8 blocks, output 0.25*512 = 128; 16 bit
	 * doubles, except on U55-32 (128/4 = 32 microblocks of 1x1x4, block
	 * 1x1x128: 49*32 = 1568, output 2*128 = 256) */
	b = (struct hwc){ 2, 2, 128 };
	CHECK(mac(ACCEL_U55_256, BLOCK_POOL, map(7, 7, 1024, 8),
		  map(1, 1, 1024, 8), 7, 7, V21_DEFAULT, b), 784 * 8 + 128);
	CHECK(mac(ACCEL_U55_256, BLOCK_POOL, map(7, 7, 1024, 16),
		  map(1, 1, 1024, 16), 7, 7, V21_DEFAULT, b), 1568 * 8 + 128);
	CHECK(mac(ACCEL_U55_32, BLOCK_POOL, map(7, 7, 1024, 16),
		  map(1, 1, 1024, 16), 7, 7, V21_DEFAULT,
		  (struct hwc){ 1, 1, 128 }), 1568 * 8 + 256);
	/* FC: IFM block as deep as the OFM's, 7 slices: 4*16*7 = 448 */
	CHECK(mac(ACCEL_U55_256, BLOCK_FC, map(1, 1, 784, 8), map(1, 1, 1008, 8),
		  1, 1, V21_DEPTH_FIRST, b), 448 * 8 + 128);
	/* Conv1D: one row high, 4-wide microblocks: 2*1*2 = 4; 4*3*4 = 48;
	 * output 0.25*128 = 32 */
	CHECK(mac(ACCEL_U55_256, BLOCK_CONV, map(1, 8, 16, 8), map(1, 8, 16, 8),
		  1, 3, V21_DEPTH_FIRST, (struct hwc){ 2, 8, 16 }), 48 + 32);
	/* 10x4 is 8x4 and 2x4: 3*7*4 = 84; 4*8*84 + 4*2*84 = 3360; 4 blocks;
	 * output 0.25*2688 = 672 */
	CHECK(mac(ACCEL_U55_256, BLOCK_CONV, map(49, 10, 1, 8),
		  map(25, 5, 64, 8), 10, 4, V21_PART_KERNEL,
		  (struct hwc){ 14, 6, 32 }), 3360 * 4 + 672);
	/* reduce-sum of 10 int32 in slices of 8: 4*1*1*2 = 8; output 8 */
	CHECK(mac(ACCEL_U55_256, BLOCK_REDUCE_SUM, map(1, 1, 10, 32),
		  map(1, 1, 1, 32), 1, 1, V21_DEPTH_FIRST,
		  (struct hwc){ 2, 2, 8 }), 8 + 8);
}

static void
test_bandwidth(void)
{
	const struct accel *u512 = &accels[ACCEL_U65_512];
	struct v21_tensor t = map(8, 8, 64, 8);
	struct hwc w1 = { 2, 1, 32 }, w2 = { 2, 2, 32 };
	/* bricks of 16: two make SRAM's 32 bytes, one half of them */
	CHECK(v21_bandwidth(u256, MEM_SRAM, V21_READ, &t, w2, 1000), 1000);
	CHECK(v21_bandwidth(u256, MEM_SRAM, V21_READ, &t, w1, 1000), 2000);
	CHECK(v21_bandwidth(u256, MEM_SRAM, V21_WRITE, &t, w1, 1000), 2000);
	CHECK(v21_bandwidth(u512, MEM_SRAM, V21_WRITE, &t, w1, 1000), 1000);
	CHECK(v21_bandwidth(u256, MEM_DRAM, V21_READ, &t, w1, 1000), 8000);
	/* W = 2: a row of bricks is 32 bytes, as deep as the block */
	t = map(8, 2, 64, 8);
	CHECK(v21_bandwidth(u256, MEM_DRAM, V21_READ, &t, w1, 1000), 4000);
	/* NHWC: 8 channels at a time of 24; whole pixels of 8 */
	t = map(8, 8, 24, 8);
	t.format = V21_NHWC;
	struct hwc deep8 = { 4, 4, 8 };
	CHECK(v21_bandwidth(u256, MEM_SRAM, V21_READ, &t, deep8, 1000), 1000);
	t.avoid_nhcwb16 = true; /* only then it is estimated as NHWC */
	CHECK(v21_bandwidth(u256, MEM_SRAM, V21_READ, &t, deep8, 1000), 4000);
	t.shape.c = 8;
	CHECK(v21_bandwidth(u256, MEM_SRAM, V21_READ, &t, deep8, 1000), 1000);
	CHECK(v21_bandwidth(u256, MEM_SRAM, V21_WRITE, &t, deep8, 1000), 1000);
	/* writes of 32 of 64 channels: 16 at a time; 16-bit: 32 */
	t.shape.c = 64;
	CHECK(v21_bandwidth(u256, MEM_SRAM, V21_WRITE, &t, w2, 1000), 2000);
	t.bits = 16;
	CHECK(v21_bandwidth(u256, MEM_SRAM, V21_WRITE, &t, w2, 1000), 1000);
	struct v21_tensor k = weights(3, 3, 16, 32, 0.5);
	CHECK(v21_bandwidth(u256, MEM_OFF_CHIP_FLASH, V21_READ, &k, w1, 77), 77);
	CHECK(v21_tensor_bytes(&k), 2304);
}

/* 3x3 convolution of 10x10x16 to 32 channels, in blocks of 4x8x16 */
static struct v21_pass
convolution(struct v21_tensor t[3])
{
	t[0] = map(10, 10, 16, 8);
	t[1] = weights(3, 3, 16, 32, 0.5);
	t[2] = map(10, 10, 32, 8);
	return (struct v21_pass){
		.work = { .class = BLOCK_CONV, .activation = ACT_NONE,
			  .ifm = &t[0], .ofm = &t[2], .kernel_h = 3,
			  .kernel_w = 3, .traversal = V21_PART_KERNEL,
			  .block = { 4, 8, 16 } },
		.weights = &t[1],
		.inputs = { { &t[0], &t[1] }, 2 }, .outputs = { { &t[2] }, 1 },
		.block_ifm_depth = 16, .ifm_block = { 6, 10, 16 },
		.min_block = P(2, 2), .stride = P(1, 1), .brick = P(1, 1),
		.skirt_before = P(1, 1), .skirt_after = P(1, 1),
		.padding_before = P(1, 1), .padding_after = P(1, 1),
		.non_zero = 1, .after_npu_pass = true, .fast_area = MEM_SRAM,
	};
}

static void
test_pass(const struct perf_machine *m)
{
	struct v21_tensor t[3];
	struct v21_metrics x;
	struct v21_pass p = convolution(t);
	/* cover as in test_blocks: 6 blocks, area 224, 100 OFM elements.
	 * IFM 224*16, twice for 32 channels in blocks of 16: 7168.
	 * Weights 4608 halved, fetched 6 times: 13824.  OFM 3200.
	 * Hardware: 100*16*32 with 12 of 9 kernel elements.
	 * NPU: 4*2*2 = 16; 4*3*2*16 = 384; 3*2*2 blocks; output 128 */
	v21_pass_metrics(m, &p, &x);
	CHECK(x.bytes[MEM_SRAM][V21_FEATURE_MAP][V21_READ], 7168);
	CHECK(x.bytes[MEM_SRAM][V21_FEATURE_MAP][V21_WRITE], 3200);
	CHECK(x.bytes[MEM_OFF_CHIP_FLASH][V21_WEIGHTS][V21_READ], 13824);
	CHECK(x.macs[V21_NN_MACS], 10 * 10 * 9 * 16 * 32);
	CHECK(x.macs[V21_HARDWARE_MACS], 100 * 16 * 32 * 12);
	CHECK(x.cycles[V21_NPU], 384 * 12 + 128);
	CHECK(x.cycles[V21_SRAM], (7168 + 3200) / 8);
	CHECK(x.cycles[V21_OFF_CHIP_FLASH], 13824);
	CHECK(x.cycles[V21_TOTAL], 13824);
	CHECK(x.blocks, 12);

	/* weights moved to SRAM: (10368 + 13824)/8 = 3024 < NPU */
	p.to_fast = (struct v21_list){ { &t[1] }, 1 };
	v21_pass_metrics(m, &p, &x);
	CHECK(x.cycles[V21_OFF_CHIP_FLASH], 0);
	CHECK(x.cycles[V21_SRAM], 3024);
	CHECK(x.cycles[V21_TOTAL], 4736);

	/* the output is forced to SRAM although its place is DRAM; an intermediate is
	 * written and read in place */
	p = convolution(t);
	t[2].area = MEM_DRAM;
	struct v21_tensor mid = map(1, 1, 400, 8);
	mid.area = MEM_DRAM;
	p.intermediates = (struct v21_list){ { &mid }, 1 };
	v21_pass_metrics(m, &p, &x);
	CHECK(x.bytes[MEM_DRAM][V21_FEATURE_MAP][V21_WRITE], 3600);
	CHECK(x.bytes[MEM_DRAM][V21_FEATURE_MAP][V21_READ], 400);
	p.outputs_to_fast = true;
	v21_pass_metrics(m, &p, &x);
	CHECK(x.bytes[MEM_DRAM][V21_FEATURE_MAP][V21_WRITE], 400);
	CHECK(x.bytes[MEM_SRAM][V21_FEATURE_MAP][V21_WRITE], 3200);

	/* depth-first multiplies 9 elements by 16 channels, no rounding */
	p = convolution(t);
	p.work.traversal = V21_DEPTH_FIRST;
	v21_pass_metrics(m, &p, &x);
	CHECK(x.macs[V21_HARDWARE_MACS], 100 * 16 * 32 * 9);
	/* transfers of a first pass are not hidden: 5000 B at 1 B/cycle.  4*9*16*1 =
	 * 576; 576*12 + 128 = 7040 */
	p.after_npu_pass = false;
	p.dma_bytes[MEM_OFF_CHIP_FLASH] = 5000;
	v21_pass_metrics(m, &p, &x);
	CHECK(x.cycles[V21_NPU], 7040 + 5000);
}

static void
test_other_passes(const struct perf_machine *m)
{
	struct v21_tensor ifm = map(1, 1, 784, 8), ofm = map(1, 1, 1008, 8);
	struct v21_tensor k = weights(1, 1, 784, 1008, 1);
	struct v21_metrics x;
	struct v21_pass p = {
		.work = { .class = BLOCK_FC, .activation = ACT_NONE,
			  .ifm = &ifm, .ofm = &ofm, .kernel_h = 1,
			  .kernel_w = 1, .traversal = V21_DEPTH_FIRST,
			  .block = { 2, 2, 128 } },
		.weights = &k, .inputs = { { &ifm, &k }, 2 },
		.outputs = { { &ofm }, 1 }, .block_ifm_depth = 32,
		.ifm_block = { 2, 2, 32 }, .non_zero = 0.5,
		.after_npu_pass = true,
	};
	/* 800*1024 with whole blocks; half the inputs are zero */
	v21_pass_metrics(m, &p, &x);
	CHECK(x.macs[V21_NN_MACS], 800 * 1024);
	CHECK(x.macs[V21_HARDWARE_MACS], 800 * 1024);
	CHECK(x.bytes[MEM_OFF_CHIP_FLASH][V21_WEIGHTS][V21_READ], 395136);
	CHECK(x.bytes[MEM_SRAM][V21_FEATURE_MAP][V21_READ], 784);
	CHECK(x.cycles[V21_NPU], 3712);
	CHECK(x.cycles[V21_TOTAL], 395136);
	CHECK(x.blocks, 8);

	/* elementwise: output cycles of 784 elements, no MACs */
	p = (struct v21_pass){
		.work = { .class = BLOCK_ELEMENTWISE, .func = PERF_MUL,
			  .activation = ACT_NONE, .ifm = &ifm, .ifm2 = &ifm,
			  .ofm = &ifm, .block = { 2, 2, 128 } },
		.inputs = { { &ifm }, 1 }, .outputs = { { &ifm }, 1 },
		.ifm_block = { 2, 2, 128 }, .after_npu_pass = true,
	};
	v21_pass_metrics(m, &p, &x);
	CHECK(x.cycles[V21_NPU], 0.375 * 784);
	CHECK(x.macs[V21_NN_MACS], 0);

	/* pooling counts no operations of the network; 4 for its 2x2 kernel, a
	 * quarter of the channels: 8*8 elements, 16 channels */
	struct v21_tensor in = map(16, 16, 16, 8), out = map(8, 8, 16, 8);
	p = (struct v21_pass){
		.work = { .class = BLOCK_POOL, .func = PERF_MAXPOOL,
			  .activation = ACT_NONE, .ifm = &in, .ofm = &out,
			  .kernel_h = 2, .kernel_w = 2, .block = { 8, 8, 16 } },
		.inputs = { { &in }, 1 }, .outputs = { { &out }, 1 },
		.block_ifm_depth = 16, .ifm_block = { 16, 16, 16 },
		.min_block = P(2, 2), .stride = P(2, 2), .brick = P(1, 1),
		.after_npu_pass = true,
	};
	v21_pass_metrics(m, &p, &x);
	CHECK(x.macs[V21_NN_MACS], 0);
	/* input depth 1 rounded to 16/4 = 4 */
	CHECK(x.macs[V21_HARDWARE_MACS], 64 * 4 * 16 * 4);
	CHECK(x.bytes[MEM_SRAM][V21_FEATURE_MAP][V21_READ], 16 * 16 * 16);

	/* reduce-sum has no stored weights, so that no stage reads its IFM */
	struct v21_tensor sum = map(16, 16, 1, 8);
	p.work = (struct v21_work){ .class = BLOCK_REDUCE_SUM,
				    .activation = ACT_NONE, .ifm = &in,
				    .ofm = &sum, .kernel_h = 1, .kernel_w = 1,
				    .traversal = V21_DEPTH_FIRST,
				    .block = { 8, 8, 8 } };
	p.outputs = (struct v21_list){ { &sum }, 1 };
	p.stride = P(1, 1);
	v21_pass_metrics(m, &p, &x);
	CHECK(x.bytes[MEM_SRAM][V21_FEATURE_MAP][V21_READ], 0);
	CHECK(x.macs[V21_NN_MACS], 256 * 16);

	p.placement = V21_ON_CPU;
	p.cpu_cycles = 12345;
	v21_pass_metrics(m, &p, &x);
	CHECK(x.cycles[V21_CPU], 12345);
	CHECK(x.cycles[V21_TOTAL], 12345);
	p.placement = V21_MEMORY_ONLY;
	v21_pass_metrics(m, &p, &x);
	CHECK(x.cycles[V21_TOTAL], 0);
	p.placement = V21_STARTUP;
	v21_pass_metrics(m, &p, &x);
	CHECK(x.cycles[V21_SRAM], 0);
}

static void
test_sums(const struct perf_machine *m)
{
	struct v21_metrics x = { .cycles = { [V21_NPU] = 10, [V21_CPU] = 7 } };
	x.bytes[MEM_SRAM][V21_WEIGHTS][V21_READ] = 100;
	x.bytes[MEM_SRAM][V21_LUT][V21_WRITE] = 60;
	x.bytes[MEM_OFF_CHIP_FLASH][V21_SCRATCH][V21_READ] = 15;
	x.bytes[V21_SHRAM][V21_LUT][V21_WRITE] = 1e9; /* never counts */
	v21_summarise(m, &x);
	CHECK(x.cycles[V21_SRAM], 20);
	CHECK(x.cycles[V21_OFF_CHIP_FLASH], 15);
	CHECK(x.cycles[V21_DRAM], 0);
	CHECK(x.cycles[V21_TOTAL], 20);
}

int
main(void)
{
	struct arena *a = arena_open();
	struct memory_system mem;
	struct err e = { 0 };
	if (!memory_load(a, NULL, "Ethos_U55_High_End_Embedded", "Shared_Sram",
			 u256, &mem, &e)) {
		printf("%s\n", e.text);
		return EXIT_FAILURE;
	}
	struct perf_machine m = perf_machine_of(u256, &mem);
	test_blocks();
	test_ifm_depth();
	test_output();
	test_mac();
	test_bandwidth();
	test_pass(&m);
	test_other_passes(&m);
	test_sums(&m);
	arena_close(a);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
