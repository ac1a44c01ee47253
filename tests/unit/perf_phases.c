/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks how convolutions of a stream are recognised by their feature maps and scale records:
 * slices of one convolution, phases of a transposed convolution, or neither.
 */
#include "../../tools/npu-perf/models/layer.h"
#include "stream/op.h"

#include "target/accel.h"

#include <stdio.h>
#include <string.h>

static int failures;

static void
check(int line, const char *what, long long got, long long want)
{
	if (got == want)
		return;
	failures++;
	printf("line %d: %s is %lld, not %lld\n", line, what, got, want);
}

#define CHECK(expr, want) check(__LINE__, #expr, (long long)(expr), want)

enum { CHANNELS = 14, RECORD = 10, TABLE = 160, ROWS = 4 };

/* two tables of scale records; the record of each channel differs from the next one's */
static uint8_t constants[2 * TABLE];

static const struct perf_operand_info known = {
	.constants = { constants, sizeof(constants) },
};

static void
fill_constants(bool uniform)
{
	memset(constants, 0, sizeof(constants));
	for (int i = 0; i < CHANNELS * RECORD; i++) {
		constants[i] = (uint8_t)(i % RECORD + (uniform ? 0 : i / RECORD));
		constants[TABLE + i] = (uint8_t)(constants[i] + 1);
	}
}

static struct npu_op records[16]; /* of the rows below */
static size_t n_records;

static struct npu_op *
record(const struct perf_row *r)
{
	return &records[r->npu - records];
}

/* a convolution that writes h x w pixels of 14 channels from a byte offset on */
static struct perf_row
convolution(int32_t h, int32_t w, int64_t to, int64_t scales)
{
	struct npu_op *op = &records[n_records++];
	*op = (struct npu_op){
		.kind = NPU_CONV, .kernel_h = 1, .kernel_w = 1, .stride_y = 1,
		.stride_x = 1,
		.ifm = { .region = 1, .base = { 128 }, .stride_y = 8, .bits = 8,
			 .shape = { .h = 1, .w = 2, .c = 4 } },
		.ofm = { .region = 1, .base = { to }, .stride_x = 28,
			 .stride_y = 112, .bits = 8,
			 .shape = { .h = h, .w = w, .c = CHANNELS } },
		.weights = { { .at = 1000 + to, .n = 144 } },
		.scales = { { .at = scales, .n = TABLE } },
	};
	return (struct perf_row){
		.npu = op, .step.kind = PERF_KERNEL, .weight_dma = -1,
		.op = { .class = BLOCK_CONV,
			.ofm.shape = { .h = h, .w = w, .c = CHANNELS } },
	};
}

/* every other column of every other row of 2x4, and of 2x3 */
static void
test_phases(void)
{
	struct perf_row row[ROWS] = {
		convolution(1, 2, 0, 0), convolution(1, 2, 14, 0),
		convolution(1, 2, 56, 0), convolution(1, 2, 70, 0),
	};
	struct perf_run run = { .row = row, .n = ROWS };
	fill_constants(false);
	struct perf_phases p = perf_phases_at(&known, &run, 0);
	CHECK(p.end, ROWS);
	CHECK(p.h, 2);
	CHECK(p.w, 4);
	CHECK(p.row, 56);
	CHECK(p.pixel, 14);
	/* in another order */
	struct perf_row turned[ROWS] = { row[1], row[0], row[3], row[2] };
	run.row = turned;
	p = perf_phases_at(&known, &run, 0);
	CHECK(p.end, ROWS);
	CHECK(p.base, 0);
	run.row = row;
	/* one has the scale of another channel: it is no phase, and three are not
	 * enough */
	record(&row[3])->scales[0].at = TABLE;
	CHECK(perf_phases_at(&known, &run, 0).end, 0);
	record(&row[3])->scales[0].at = 0;
	/* two convolutions that write the same pixels */
	record(&row[3])->ofm.base[0] = 14;
	CHECK(perf_phases_at(&known, &run, 0).end, 0);
	record(&row[3])->ofm.base[0] = 70;
	/* two pairs of columns do not fill rows of 5 pixels */
	for (int i = 0; i < ROWS; i++)
		record(&row[i])->ofm.stride_y = 140;
	CHECK(perf_phases_at(&known, &run, 0).end, 0);
}

/* the output of the second convolution is that of the first one's next channels */
static void
test_slices(void)
{
	struct perf_row row[2] = { convolution(1, 4, 0, 0),
				   convolution(1, 4, 14, TABLE) };
	struct perf_run run = { .row = row, .n = 2 };
	row[0].weight_dma = row[1].weight_dma = 0;
	fill_constants(false);
	struct perf_layer l = perf_layer_at(&known, &run, 0);
	CHECK(l.next, 2);
	CHECK(l.op.ofm.shape.c, 2 * CHANNELS);
	/* the same channels again are not further ones ... */
	record(&row[1])->scales[0].at = 0;
	CHECK(perf_layer_at(&known, &run, 0).next, 1);
	/* ... unless all of them have the same scale, or no constants are available */
	fill_constants(true);
	CHECK(perf_layer_at(&known, &run, 0).next, 2);
	fill_constants(false);
	struct perf_operand_info nothing = { .n_places = 0 };
	CHECK(perf_layer_at(&nothing, &run, 0).next, 2);
	/* the same operation written twice is one operation, with its own depth */
	row[1] = row[0];
	l = perf_layer_at(&known, &run, 0);
	CHECK(l.next, 2);
	CHECK(l.op.ofm.shape.c, CHANNELS);
}

/* a tensor by its bytes; an earlier kernel's output at the same bytes */
static void
test_places(void)
{
	struct perf_tensor tensor = { .region = 1, .at = 64, .bits = 16,
				     .shape = { .h = 3, .w = 4, .c = 5 } };
	struct perf_operand_info some = { .place = &tensor, .n_places = 1 };
	struct perf_row row = convolution(1, 2, 64, 0);
	struct perf_run run = { .row = &row, .n = 1 };
	struct perf_tensor out;
	CHECK(perf_operand_holding(&some, 1, 64 + 119) == &tensor, 1);
	CHECK(perf_operand_holding(&some, 1, 64 + 120) == NULL, 1);
	CHECK(perf_operand_holding(&some, 2, 64) == NULL, 1);
	CHECK(perf_operand_at(&some, &run, 0, 1, 64, &out), 1);
	CHECK(out.shape.h, 3);
	CHECK(perf_operand_at(&some, &run, 0, 1, 65, &out), 0);
	CHECK(perf_operand_at(&some, &run, 1, 1, 64, &out), 1);
	CHECK(out.shape.c, CHANNELS);
}

/* an IFM of every other column of a tensor reads all of it, unless the tensor is too
 * large */
static void
test_seen(void)
{
	struct perf_machine m = { .accel = &accels[ACCEL_U85_256] };
	struct perf_tensor tensor = { .region = 1, .at = 0, .bits = 8,
				     .shape = { .h = 5, .w = 6, .c = 16 } };
	struct perf_operand_info some = { .place = &tensor, .n_places = 1 };
	struct perf_phases none = { .end = 0 };
	struct perf_row row = convolution(5, 3, 4096, 0);
	struct perf_run run = { .row = &row, .n = 1 };
	struct hwc read = { .h = 5, .w = 2, .c = 16 };
	record(&row)->ifm = (struct npu_fm){ .region = 1, .base = { 32 }, .shape = read,
				       .stride_x = 32, .stride_y = 96, .bits = 8 };
	row.op.ifm = (struct perf_fm){ .shape = read, .bits = 8 };
	row.op.kernel_h = row.op.kernel_w = 1;
	struct perf_op op = row.op;
	perf_regor85_see(&m, &some, &run, &none, &row, &op);
	CHECK(op.ifm.shape.h, 5);
	CHECK(op.ifm.shape.w, 4); /* from the third on */
	tensor.shape = (struct hwc){ .h = 1 << 30, .w = 1 << 20, .c = 16 };
	record(&row)->ifm.stride_y = 16 << 20;
	op = row.op;
	perf_regor85_see(&m, &some, &run, &none, &row, &op);
	CHECK(op.ifm.shape.h, 5);
	CHECK(op.ifm.shape.w, 2);
}

int
main(void)
{
	test_seen();
	test_phases();
	test_slices();
	test_places();
	return failures ? 1 : 0;
}
