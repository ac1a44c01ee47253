/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks decoder tables, addresses and block dependencies with values worked out from
 * ethosu-commands(7) and ethosu-memory(7).
 */
#include "stream/op.h"
#include "stream/stream.h"

#include "target/accel.h"

#include <stdio.h>
#include <string.h>

static int failed;

static void
expect(const char *what, int64_t got, int64_t want)
{
	if (got == want)
		return;
	failed++;
	printf("%s: %lld, want %lld\n", what, (long long)got, (long long)want);
}

/* ---- tables ------------------------------------------------------------- */

/* fields are inside the param's bits and do not overlap */
static void
test_fields(const struct npu_command_info *r, enum generation_id generation)
{
	const struct npu_field *f[NPU_FIELDS_MAX];
	int n = npu_command_fields(r, generation, f);
	uint32_t used = 0;
	for (int k = 0; k < n; k++) {
		uint32_t mask = ((1u << f[k]->width) - 1) << f[k]->lsb;
		expect(f[k]->name, used & mask, 0);
		used |= mask;
		if (strcmp(f[k]->set, "number") != 0)
			expect(f[k]->set, !npu_enum_name(f[k]->set, 0), 0);
	}
	expect(r->name, used >> 16, 0);
}

static void
test_tables(void)
{
	for (int i = 0; i < NPU_REGS; i++) {
		const struct npu_command_info *r = &npu_registers[i];
		bool cmd1 = r->payload != NPU_PARAM;
		expect(r->name, r->code >> 14, cmd1);
		if (!cmd1)
			expect(r->name, r->code >> 8, 1);
		for (int k = 0; k < i; k++)
			if (npu_registers[k].code == r->code)
				expect(r->name, npu_registers[k].products &
						    r->products, 0);
		for (int g = 0; g < GENERATIONS; g++)
			test_fields(r, (enum generation_id)g);
	}
	expect("DMA_WAIT", npu_operation(NPU_OP_DMA_WAIT)->code, 0x11);
	expect("no operation", npu_operation(4) == NULL, 1);
}

/* signed strides carry their sign in the param on both products (ethosu-commands(7) 1) */
static void
test_strides(void)
{
	static const struct {
		uint32_t payload;
		uint16_t param;
		int64_t want;
	} t[] = {
		{ 16, 0, 16 },
		{ 0xfffffff0, 0xffff, -16 },
		{ 0xfffffff0, 0x00ff, -16 },
		{ 0xfffffff0, 0, 0xfffffff0 },
		{ 0, 1, (int64_t)1 << 32 },
	};
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct npu_registers r = { 0 };
		r.value[NPU_OFM_STRIDE_X] = t[i].payload;
		r.high[NPU_OFM_STRIDE_X] = t[i].param;
		expect("stride", npu_stride(&r, NPU_OFM_STRIDE_X), t[i].want);
	}
}

/* ---- addresses (ethosu-memory(7) 5) ------------------------------------- */

static struct npu_fm
nhwc(int64_t base, int32_t h, int32_t w, int32_t c, int bits)
{
	int64_t e = bits / 8;
	return (struct npu_fm){ .region = 1, .base = { base }, .h0 = h, .h1 = h,
				.w0 = w, .shape = { h, w, c },
				.stride_y = w * c * e, .stride_x = c * e,
				.stride_c = e, .bits = bits };
}

static struct npu_fm
bricks(int64_t base, int32_t h, int32_t w, int32_t c, int bits)
{
	int64_t e = bits / 8;
	struct npu_fm f = nhwc(base, h, w, c, bits);
	f.bricks = true;
	f.stride_c = BRICK * e * w;
	f.stride_x = BRICK * e;
	f.stride_y = e * w * ((c + 15) / 16 * 16);
	return f;
}

struct runs {
	int64_t at[64], n[64], total;
	int count;
};

static bool
note(void *ctx, int64_t at, int64_t n)
{
	struct runs *r = ctx;
	if (r->count < 64) {
		r->at[r->count] = at;
		r->n[r->count] = n;
	}
	r->count++;
	r->total += n;
	return true;
}

static struct runs
runs_of(const struct npu_fm *f)
{
	struct runs r = { .count = 0 };
	(void)npu_fm_runs(f, npu_fm_box(f), note, &r);
	return r;
}

static void
test_addresses(void)
{
	struct npu_fm f = nhwc(100, 4, 5, 3, 16);
	expect("nhwc", npu_fm_address(&f, 2, 3, 1), 100 + 2 * 30 + 3 * 6 + 2);
	struct runs r = runs_of(&f);
	expect("a dense map is one run", r.count, 1);
	expect("of all its bytes", r.n[0], 4 * 5 * 3 * 2);

	f = bricks(0, 4, 5, 40, 8);
	expect("bricks", npu_fm_address(&f, 2, 3, 35),
	       2 * 5 * 48 + 2 * 5 * 16 + 3 * 16 + 3);
	r = runs_of(&f);
	expect("two full bricks a row, 5 parts of one", r.count, 4 * (2 + 5));
	expect("only c < C", r.total, 4 * 5 * 40);

	/* four tiles (ethosu-memory(7) 5.1) */
	f = nhwc(0, 4, 5, 1, 8);
	f.h0 = 3;
	f.h1 = 2;
	f.w0 = 4;
	f.base[1] = 1000;
	f.base[2] = 2000;
	f.base[3] = 3000;
	expect("tile 0", npu_fm_address(&f, 2, 3, 0), 13);
	expect("tile 1", npu_fm_address(&f, 1, 4, 0), 1005);
	expect("tile 2", npu_fm_address(&f, 3, 2, 0), 2002);
	expect("tile 3", npu_fm_address(&f, 2, 4, 0), 3000);
	expect("each byte once", runs_of(&f).total, 20);
	struct npu_range tile[4];
	expect("tiles", npu_fm_extent(&f, npu_fm_box(&f), tile), 4);
	expect("tile 3's extent", tile[3].n, 5 + 1);
	expect("nests", npu_fm_nests(&f), 1);

	/* reversed columns (ethosu-memory(7) 5.3): the base is the highest address */
	f = nhwc(12, 1, 5, 3, 8);
	f.stride_x = -3;
	expect("reversed", npu_fm_address(&f, 0, 4, 2), 2);
	(void)npu_fm_extent(&f, npu_fm_box(&f), tile);
	expect("from", tile[0].at, 0);
	expect("bytes", tile[0].n, 15);
	f.stride_x = 2;
	expect("columns that overlap", npu_fm_nests(&f), 0);
}

/* the rolling buffer of ethosu-memory(7) 5.6: 7 rows from row 12 of 14 */
static void
test_rolling(void)
{
	struct npu_fm f = nhwc(12 * 10752, 7, 112, 96, 8);
	f.h0 = f.h1 = 2;
	expect("row 1", npu_fm_address(&f, 1, 0, 0), 13 * 10752);
	expect("row 2 wraps", npu_fm_address(&f, 2, 0, 0), 0);
	expect("row 6", npu_fm_address(&f, 6, 0, 0), 4 * 10752);
}

static void
test_overlap(void)
{
	/* channels 0-7 and 8-15 of one NHWC map: interleaved, and apart */
	struct npu_fm a = nhwc(0, 4, 4, 8, 8), b = a;
	a.stride_x = b.stride_x = 16;
	a.stride_y = b.stride_y = 64;
	b.base[0] = 8;
	expect("woven", npu_fm_overlap(&a, npu_fm_box(&a), &b, npu_fm_box(&b),
			      NULL),
	       0);
	b.base[0] = 7;
	expect("by one byte",
	       npu_fm_overlap(&a, npu_fm_box(&a), &b, npu_fm_box(&b),
			      NULL), 1);
	b.region = 2;
	expect("another region",
	       npu_fm_overlap(&a, npu_fm_box(&a), &b, npu_fm_box(&b),
			      NULL), 0);
}

/* ---- BLOCKDEP (ethosu-commands(7) 11.3) ---------------- */

static struct npu_op
kernel(enum npu_op_kind kind, struct npu_fm ifm, struct npu_fm ofm,
       struct hwc block)
{
	return (struct npu_op){
		.kind = kind, .mode = NPU_POOL_AVERAGE, .ifm = ifm, .ofm = ofm,
		.extent = ofm.shape, .block = block, .kernel_h = 1, .kernel_w = 1, .dilated_h = 1,
		.dilated_w = 1, .stride_y = 1, .stride_x = 1, .dilation_y = 1,
		.dilation_x = 1, .ifm_up_h = ifm.shape.h,
		.ifm_up_w = ifm.shape.w,
	};
}

/* the log's three kernels: Quantize, dense 784 to 1008, Quantize */
static void
test_log(void)
{
	const struct accel *a = accel_find("ethos-u55-256");
	struct hwc block = { 2, 2, 128 };
	struct npu_fm in = nhwc(0, 1, 1, 784, 8);
	struct npu_fm mid = bricks(1008, 1, 1, 784, 8);
	struct npu_fm out = bricks(0, 1, 1, 1008, 8);
	struct npu_fm last = nhwc(1008, 1, 1, 1008, 8);
	mid.is_signed = out.is_signed = true;
	struct npu_op first = kernel(NPU_POOL, in, mid, block);
	struct npu_op dense = kernel(NPU_CONV, mid, out, block);
	struct npu_op final = kernel(NPU_POOL, out, last, block);
	/* channels 0 to 95 against 512 to 783 */
	expect("dense", blockdep_max(&first, &dense, a, NULL), 3);
	/* a pool's blocks have the OFM block's depth: 0 to 383, 640 to 1007 */
	expect("last pool", blockdep_max(&dense, &final, a, NULL), 3);
	/* one block each: the whole block is needed */
	first.ofm.shape.c = first.extent.c = dense.ifm.shape.c = 128;
	expect("one block", blockdep_max(&first, &dense, a, NULL), 0);
	/* two blocks: the first job does not read the last block */
	first.ofm.shape.c = first.extent.c = dense.ifm.shape.c = 256;
	expect("two blocks", blockdep_max(&first, &dense, a, NULL), 1);
}

static void
test_blockdep(void)
{
	const struct accel *a = accel_find("ethos-u55-128");
	const struct accel *small = accel_find("ethos-u55-64");
	struct npu_fm x = nhwc(0, 16, 16, 16, 8), y = nhwc(8192, 16, 16, 16, 8);
	struct npu_fm z = nhwc(16384, 16, 16, 16, 8);
	struct hwc rows = { 4, 16, 16 };
	struct npu_op one = kernel(NPU_POOL, x, y, rows);
	struct npu_op two = kernel(NPU_POOL, y, z, rows);
	/* four blocks of rows: the first job needs the fourth block from the end */
	expect("rows", blockdep_max(&one, &two, a, NULL), 3);
	two.block.h = 8; /* its second job needs the last block */
	expect("taller blocks", blockdep_max(&one, &two, a, NULL), 1);
	two = kernel(NPU_POOL, x, z, rows);
	expect("no dependence", blockdep_max(&one, &two, a, NULL), 3);
	/* halo of a 3x3: rows 0 to 4 are in blocks 0 and 1 */
	two = kernel(NPU_DEPTHWISE, y, z, rows);
	two.dilated_h = two.kernel_h = 3;
	two.pad_top = two.pad_bottom = 1;
	expect("halo", blockdep_max(&one, &two, a, NULL), 2);
	/* the second operand, broadcast over rows: its row is in all blocks */
	two = kernel(NPU_ELEMENTWISE, x, z, rows);
	two.has_ifm2 = two.ifm2_broadcast.h = true;
	two.ifm2 = y;
	two.ifm2.base[0] += 15 * y.stride_y;
	two.ifm2.shape.h = 1;
	expect("broadcast", blockdep_max(&one, &two, a, NULL), 0);
	/* tables and accumulators share banks on small parts (ethosu-memory(7) 8.3) */
	one.activation = NPU_ACT_TABLE0;
	one.table.n = 256;
	two = kernel(NPU_POOL, x, z, rows);
	expect("table", blockdep_max(&one, &two, small, NULL), 0);
	expect("table of its own", blockdep_max(&one, &two, a, NULL), 3);
}

/* two pairs of shipped files, as npu-dis(1) describes them */
static void
test_field(void)
{
	const struct accel *a = accel_find("ethos-u55-64");
	struct npu_fm x = bricks(0, 5, 5, 96, 8), y = bricks(2400, 5, 5, 96, 8);
	struct npu_op pool = kernel(NPU_POOL, x, y, (struct hwc){ 4, 4, 64 });
	struct npu_fm edged = y; /* its first row and column are read twice */
	edged.shape = (struct hwc){ 6, 6, 96 };
	edged.h0 = edged.h1 = edged.w0 = 1;
	for (int i = 1; i < 4; i++)
		edged.base[i] = edged.base[0];
	struct npu_op resize = kernel(NPU_DEPTHWISE, edged,
				      nhwc(8192, 5, 5, 96, 8),
				      (struct hwc){ 6, 10, 16 });
	resize.dilated_h = resize.dilated_w = 2;
	/* pixel 4,4 of channels 0 to 63 is in the last block but one */
	expect("edges by tiles", blockdep_max(&pool, &resize, a, NULL), 1);

	a = accel_find("ethos-u55-256");
	x = bricks(0, 1, 1, 256, 8);
	y = nhwc(4032, 1, 1, 1000, 8);
	struct npu_op dense = kernel(NPU_CONV, x, y,
				     (struct hwc){ 2, 2, 128 });
	struct npu_fm row = nhwc(4032, 1, 1000, 1, 8);
	struct npu_op max = kernel(NPU_POOL, row, bricks(5040, 1, 1, 1, 8),
				   (struct hwc){ 2, 2, 8 });
	max.mode = NPU_POOL_MAX;
	max.dilated_w = 1000;
	/* one job reads the output of eight blocks, with another shape */
	expect("reshaped", blockdep_max(&dense, &max, a, NULL), 0);
}

/* from files of Vela 5.1: MoveNet, and the last resize of DeepLab */
static void
test_resize(void)
{
	const struct accel *a = accel_find("ethos-u85-128");
	struct npu_fm x = bricks(0, 12, 12, 32, 8), y = bricks(16384, 24, 24, 32, 8);
	struct npu_op pool = kernel(NPU_POOL, y, x, (struct hwc){ 2, 12, 32 });
	struct npu_op resize = kernel(NPU_RESIZE, x, y, (struct hwc){ 1, 12, 16 });
	resize.mode = NPU_RESIZE_BILINEAR;
	resize.resize_y = resize.resize_x =
	    (struct npu_resize_axis){ .n = 4, .d = 2, .offset = -1 };
	/* its first row is in the first of six blocks */
	expect("samples", blockdep_max(&pool, &resize, a, NULL), 5);
	/* of three blocks, the last one has rows 8 to 11: row 14 samples rows 7 and 8 */
	pool.block.h = 4;
	expect("taller", blockdep_max(&pool, &resize, a, NULL), 2);
	/* four rows lower: the first job samples the second of three blocks */
	resize.block = (struct hwc){ 1, 24, 32 };
	resize.resize_y.offset = 16;
	expect("begins lower", blockdep_max(&pool, &resize, a, NULL), 1);
	resize.resize_y = (struct npu_resize_axis){ .n = 1, .d = 1, .offset = -3 };
	pool.block.h = 1; /* rows trail the jobs: the output of the last blocks is needed
			   * late */
	expect("clipped", blockdep_max(&pool, &resize, a, NULL), 7);
}

int
main(void)
{
	test_resize();
	test_tables();
	test_strides();
	test_addresses();
	test_rolling();
	test_overlap();
	test_log();
	test_blockdep();
	test_field();
	printf("stream: %d failed\n", failed);
	return failed != 0;
}
