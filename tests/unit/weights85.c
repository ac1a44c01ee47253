/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests U85's order of weights, its fast format and its scale records
 * (ethosu-weights(7) 22 to 25): vectors of another encoder, and a round trip of random
 * tensors through either format on every accelerator.
 *
 * weights85 [COUNT [SEED]]
 */
#include "stream/filters.h"

#include "drawn.h"
#include "views.h"
#include "target/accel.h"

#include <stdio.h>
#include <stdlib.h>
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

/* ---- small vectors of the order (ethosu-weights(7) 22.2) ----------------- */

static void
test_depth_first(void)
{
	uint8_t w[16];
	int16_t out[512];
	struct weights_order ord = {
		.traversal = WEIGHTS_DEPTH_FIRST, .block_depth = 16, .ou = 8,
		.ifm_bits = 8, .dilation_y = 1, .dilation_x = 1, .end = 8,
		.cores = 1, .quads = 1, .ifm_depth = 64, .stride_y = 1,
		.stride_x = 1 };
	for (int i = 0; i < 16; i++)
		w[i] = (uint8_t)(i + 1);
	struct weights_view v = view_ohwi(w, 8, 1, 1, 2);
	expect("values", (int64_t)weights_order_count(&ord, 1, 1, 2), 512);
	weights_reorder(&v, &ord, out);
	for (int o = 0; o < 8; o++)
		for (int i = 0; i < 2; i++)
			expect("depth first", out[o * 8 + i], o * 2 + i + 1);
	for (int i = 64; i < 512; i++)
		expect("padding", out[i], 0);
}

/* the channels of each stream: the first ones of each group of lanes */
static void
test_quads(void)
{
	uint8_t w[64];
	for (int i = 0; i < 64; i++)
		w[i] = (uint8_t)(i + 1);
	static const struct {
		int n, ou;
	} all[] = { { 2, 16 }, { 4, 16 }, { 4, 64 } };
	for (size_t t = 0; t < ARRAY_LEN(all); t++)
		for (int k = 0; k < all[t].n; k++) {
			int n = all[t].n, ou = all[t].ou, at = 0;
			int16_t out[64 * 64];
			struct weights_order ord = {
				.traversal = WEIGHTS_DEPTH_FIRST,
				.block_depth = 64, .ou = ou, .ifm_bits = 8,
				.dilation_y = 1, .dilation_x = 1, .end = 64,
				.core = k, .cores = n, .quads = 1,
				.ifm_depth = 64, .stride_y = 1, .stride_x = 1 };
			struct weights_view v = view_ohwi(w, 64, 1, 1, 1);
			weights_reorder(&v, &ord, out);
			/* the first lanes of microblock 0 have its channels */
			for (int z = 4 * k; z < ou; z += 4 * n)
				for (int q = 0; q < 4; q++, at += 8)
					expect("quad", out[at], z + q + 1);
		}
}

/* 3x3 part-kernel: elements as y * 3 + x + 1, then padding */
static void
test_phases(int stride, const int want[10])
{
	uint8_t w[9];
	int16_t out[16 * 10 * 16];
	struct weights_order ord = {
		.traversal = WEIGHTS_PART_KERNEL, .block_depth = 16, .ou = 8,
		.ifm_bits = 8, .dilation_y = 1, .dilation_x = 1, .end = 1,
		.cores = 1, .quads = 1, .ifm_depth = 16, .stride_y = stride,
		.stride_x = stride };
	for (int i = 0; i < 9; i++)
		w[i] = (uint8_t)(i + 1);
	struct weights_view v = view_ohwi(w, 1, 3, 3, 1);
	expect("values", (int64_t)weights_order_count(&ord, 3, 3, 1),
	       10 * 16 * 8);
	weights_reorder(&v, &ord, out);
	for (int e = 0; e < 10; e++)
		expect("element", out[e * 8 * 16], want[e]);
}

/* ---- 4: vectors of the fast format ---------------------------------------- */

struct vector {
	const char *what;
	int n;
	int16_t w[20];
	bool plain;
	int at; /* of the bytes below */
	int bytes;
	uint8_t want[24];
};

static const struct vector vectors[] = {
	{ "two bits", 6, { 0, 5, -3, 0, 5, 0 }, false, 32, 2, { 0x24, 0x01 } },
	{ "two bits' table", 6, { 0, 5, -3, 0, 5, 0 }, false, 15, 2,
	  { 0x14, 0x1c } },
	{ "two bits' mark", 6, { 0, 5, -3, 0, 5, 0 }, false, 0, 1, { 0x02 } },
	{ "four bits", 10, { 1, -1, 2, -2, 3, -3, 4, -4, 5, -5 }, false, 32, 5,
	  { 0x10, 0x32, 0x54, 0x76, 0x98 } },
	{ "four bits' table", 10, { 1, -1, 2, -2, 3, -3, 4, -4, 5, -5 }, false,
	  14, 12, { 0x02, 0x06, 0x10, 0x28, 0x60, 0xe0, 0x00, 0x82, 0x04, 0x0a,
		    0x16, 0x00 } },
	{ "raw", 20, { 0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120,
		       130, 140, 150, 160, 170, 180, 190 }, false, 32, 20,
	  { 0xc1, 0xcb, 0xd5, 0xdf, 0xe9, 0xf3, 0xfd, 0x07, 0x11, 0x1b, 0x25,
	    0x2f, 0x39, 0x43, 0x4d, 0x57, 0x61, 0x6b, 0x75, 0x7f } },
	{ "raw, negative", 20, { 0, -10, -20, -30, -40, -50, -60, -70, -80, -90,
				 -100, -110, -120, -130, -140, -150, -160, -170,
				 -180, -190 }, false, 32, 20,
	  { 0x3e, 0x34, 0x2a, 0x20, 0x16, 0x0c, 0x02, 0xf8, 0xee, 0xe4, 0xda,
	    0xd0, 0xc6, 0xbc, 0xb2, 0xa8, 0x9e, 0x94, 0x8a, 0x80 } },
	{ "raw, its adjustment", 20, { 0, 10, 20, 30, 40, 50, 60, 70, 80, 90,
				       100, 110, 120, 130, 140, 150, 160, 170,
				       180, 190 }, false, 13, 1, { 0xc1 } },
	{ "no table", 6, { 0, 5, -3, 0, 5, 0 }, true, 32, 6,
	  { 0x00, 0x05, 0xfd, 0x00, 0x05, 0x00 } },
};

static void
test_vectors(void)
{
	for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
		const struct vector *t = &vectors[i];
		struct arena *a = arena_open();
		struct bytes b = weights_fast_encode(a, t->w, (size_t)t->n,
						     t->plain);
		expect(t->what, (int64_t)b.n, 64);
		expect(t->what, memcmp(b.p + t->at, t->want, (size_t)t->bytes),
		       0);
		arena_close(a);
	}
	struct arena *a = arena_open();
	int16_t far[17];
	for (int i = 0; i < 17; i++)
		far[i] = (int16_t)(i * 17 - 130);
	expect("too wide", weights_fast_encode(a, far, 17, false).p == NULL, 1);
	arena_close(a);
}

/* ---- 5: scale records ----------------------------------------------------- */

static void
test_records(void)
{
	static const uint8_t narrow[10] = { 0xfb, 0xff, 0xff, 0xff, 0x55, 0x55,
					    0x55, 0x55, 0x26, 0x00 };
	static const uint8_t wide[10] = { 0x40, 0x42, 0x0f, 0x00, 0x00, 0x00,
					  0x55, 0x55, 0x16, 0x00 };
	struct weights_scale s = { .bias = -5, .scale = 0x55555555, .shift = 38 };
	struct weights_scale w = { .bias = 1000000, .scale = 0x5555, .shift = 22 };
	struct weights_scale back;
	uint8_t p[10];
	struct err e = { 0 };
	expect("pack", weights_scale85_pack(&s, false, p, &e), 1);
	expect("record", memcmp(p, narrow, 10), 0);
	expect("unpack", weights_scale85_unpack(p, false, &back, &e), 1);
	expect("bias", back.bias, -5);
	expect("wide", weights_scale85_pack(&w, true, p, &e), 1);
	expect("wide record", memcmp(p, wide, 10), 0);
	expect("a multiplier of 31 bits", weights_scale85_pack(&s, true, p, &e),
	       0);
	s.bias = INT64_C(1) << 31;
	expect("a bias of 33 bits", weights_scale85_pack(&s, false, p, &e), 0);
	memcpy(p, narrow, 10);
	p[9] = 1;
	expect("byte 9", weights_scale85_unpack(p, false, &back, &e), 0);
}

/* ---- round trips ---------------------------------------------------------- */

struct trial {
	struct npu_op op;
	const struct accel *accel;
	int32_t o, h, w, i;
	uint8_t *weights;
};

static void
draw_trial(struct arena *a, struct trial *t)
{
	struct npu_op *op = &t->op;
	*t = (struct trial){ .accel = &accels[roll(ACCEL_U85_128, ACCEL_U85_2048)] };
	op->kind = roll(0, 2) ? NPU_CONV : NPU_DEPTHWISE;
	op->part_kernel = op->kind == NPU_CONV && roll(0, 1);
	op->sparse_weights = op->kind == NPU_CONV && !roll(0, 3);
	op->ublock = t->accel->ublocks[roll(0, t->accel->n_ublocks - 1)];
	op->ifm.bits = roll(0, 2) ? 8 : 16;
	op->dilation_y = roll(1, 2);
	op->dilation_x = roll(1, 2);
	op->stride_y = roll(1, 3);
	op->stride_x = roll(1, 3);
	t->o = roll(1, 150);
	t->h = roll(1, 10);
	t->w = roll(1, 10);
	t->i = op->kind == NPU_DEPTHWISE ? 1 : roll(1, 150);
	op->extent.c = t->o;
	op->block.c = op->ublock.c * roll(1, 4);
	size_t n = (size_t)t->o * (size_t)t->h * (size_t)t->w * (size_t)t->i;
	t->weights = anew(a, uint8_t, n);
	int few = roll(0, 2) ? 255 : roll(1, 15);
	for (size_t k = 0; k < n; k++)
		t->weights[k] = (uint8_t)(roll(0, few) - few / 2);
}

static void
test_fast(struct arena *a, const struct trial *t, int16_t *const *stream,
	  size_t count, const struct weights_view *v, const struct weights_dest *to)
{
	int n = t->accel->streams;
	struct weights_order ord = npu_filter_order(&t->op, t->accel, 0);
	int16_t *split[NPU_MAX_STREAMS];
	struct err e = { 0 };
	for (int k = 0; k < n; k++)
		split[k] = anew(a, int16_t, count);
	int16_t *joined = anew(a, int16_t, count * (size_t)n);
	size_t chunk = weights_fast_chunk(&ord);
	expect("whole chunks", (int64_t)(count % chunk), 0);
	weights_fast_join((const int16_t *const *)stream, n, count, chunk, joined);
	struct bytes b = weights_fast_encode(a, joined, count * (size_t)n,
					     t->op.sparse_weights);
	struct bytes own = weights_fast_encode_view(a, v, &ord);
	expect("fast bytes", (int64_t)own.n, (int64_t)b.n);
	expect("fast cost", (int64_t)weights_fast_cost_view(v, &ord), (int64_t)b.n);
	expect("fast stream", own.n == b.n && !memcmp(own.p, b.p, b.n), 1);
	struct weights_values values;
	expect("fast decoder", weights_fast_decode(a, b, count * (size_t)n,
						   &values, &e), 1);
	weights_fast_split(values.v, n, count, chunk, split);
	for (int k = 0; k < n; k++) {
		ord = npu_filter_order(&t->op, t->accel, k);
		expect("fast padding",
		       (int64_t)weights_restore(split[k], &ord, to), 0);
	}
}

static void
test_trial(struct arena *a, const struct trial *t)
{
	int n = t->accel->streams;
	int32_t taps = t->h * t->w;
	size_t all = (size_t)t->o * (size_t)taps * (size_t)t->i;
	int16_t *back = anew(a, int16_t, all), *fast = anew(a, int16_t, all);
	struct weights_view v = view_ohwi(t->weights, t->o, t->h, t->w,
						  t->i);
	struct weights_dest to = { .p = back, .h = t->h, .w = t->w, .i = t->i,
				    .stride_o = (ptrdiff_t)taps * t->i,
				    .stride_y = (ptrdiff_t)t->w * t->i,
				    .stride_x = t->i, .stride_i = 1 };
	struct weights_dest to_fast = to;
	to_fast.p = fast;
	int16_t *stream[NPU_MAX_STREAMS];
	struct weights_order ord = npu_filter_order(&t->op, t->accel, 0);
	size_t count = weights_order_count(&ord, t->h, t->w, t->i);
	struct err e = { 0 };
	for (int k = 0; k < n; k++) {
		ord = npu_filter_order(&t->op, t->accel, k);
		expect("equal lengths",
		       (int64_t)weights_order_count(&ord, t->h, t->w, t->i),
		       (int64_t)count);
		stream[k] = anew(a, int16_t, count);
		weights_reorder(&v, &ord, stream[k]);
		struct bytes b = weights_encode(a, stream[k], count, 1);
		struct weights_values values;
		expect("standard decoder",
		       weights_decode(a, b, (int64_t)count, &values, &e), 1);
		expect("padding", (int64_t)weights_restore(values.v, &ord, &to),
		       0);
	}
	/* the fast decoder reads no depthwise weights (ethosu-weights(7) 2.5) */
	if (t->op.kind == NPU_DEPTHWISE)
		memcpy(fast, back, all * sizeof(*fast));
	else
		test_fast(a, t, stream, count, &v, &to_fast);
	for (size_t k = 0; k < all; k++)
		if (back[k] != (int8_t)t->weights[k] || fast[k] != back[k]) {
			expect("a weight", back[k], (int8_t)t->weights[k]);
			expect("a weight of the fast format", fast[k], back[k]);
			break;
		}
}

int
main(int argc, char **argv)
{
	static const int plain[10] = { 1, 2, 3, 6, 5, 4, 7, 8, 9, 0 };
	static const int strided[10] = { 1, 3, 9, 7, 2, 8, 4, 6, 5, 0 };
	int count = argc > 1 ? atoi(argv[1]) : 150;
	drawn_state = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	test_depth_first();
	test_quads();
	test_phases(1, plain);
	test_phases(2, strided);
	test_vectors();
	test_records();
	for (int i = 0; i < count && !failed; i++) {
		struct arena *a = arena_open();
		struct trial t;
		draw_trial(a, &t);
		test_trial(a, &t);
		if (failed)
			printf("trial %d on %s: %dx%dx%dx%d\n", i, t.accel->name,
			       t.o, t.h, t.w, t.i);
		arena_close(a);
	}
	return failed != 0;
}
