/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests single kernels that no golden of the shared data covers, and through them the
 * check values of nputools-lowering(7) 3.11.  Expected values are worked out by hand
 * from nputools-lowering(7) 3.
 */
#include "bench.h"

#include "tflite/fields.h"

#include <stdio.h>

static int n_failed;

/* a tensor of one dimension (cols 0), or of rows x cols */
static int
add(struct bench *b, int type, int rows, int cols, float scale, int64_t zero)
{
	return bench_add(b, type, (int32_t[4]){ rows, cols }, scale, zero);
}

static void
put8(struct bench *b, int i, const int *v, int n)
{
	for (int k = 0; k < n; k++)
		b->data[i].bytes[k] = (uint8_t)v[k];
}

#define PUT8(b, i, ...) \
	put8(b, i, (int[]){ __VA_ARGS__ }, \
	     (int)(sizeof((int[]){ __VA_ARGS__ }) / sizeof(int)))

/* a float option of the operator's table */
static void
set_option(struct bench *b, const struct fb_table *t, int slot, double v)
{
	bench_options(b, t, &(struct bench_option){ slot, v, true }, 1);
}

static void
expect8(struct bench *b, int code, const int *want, int n)
{
	struct err e = { 0 };
	if (!bench_run(b, code, &e)) {
		printf("%s\n", e.text);
		n_failed++;
		return;
	}
	for (int i = 0; i < n; i++) {
		int got = b->t[b->n - 1].type == TFL_INT8
			      ? b->data[b->n - 1].i8[i]
			      : b->data[b->n - 1].bytes[i];
		if (got == want[i])
			continue;
		printf("%s: element %d is %d, want %d\n", tfl_op_name(code), i,
		       got, want[i]);
		n_failed++;
	}
}

#define EXPECT8(b, code, ...) \
	expect8(b, code, (int[]){ __VA_ARGS__ }, \
		(int)(sizeof((int[]){ __VA_ARGS__ }) / sizeof(int)))

static void
refuses(struct bench *b, int code, const char *text)
{
	struct err e = { 0 };
	if (!bench_run(b, code, &e) && strstr(e.text, text))
		return;
	printf("%s: no '%s' but '%s'\n", tfl_op_name(code), text, e.text);
	n_failed++;
}

static void
check_values(void)
{
	struct bench s = { 0 };
	add(&s, TFL_INT8, 6, 0, 0.1f, 0);
	add(&s, TFL_INT8, 6, 0, 1 / 256.0f, -128);
	PUT8(&s, 0, 10, 20, 30, -128, 29, 30);
	set_option(&s, &fb_SoftmaxOptions, FB_SoftmaxOptions_beta, 1.0);
	EXPECT8(&s, TFL_SOFTMAX, -118, -100, -53, -128, -60, -53);

	struct bench l = { 0 };
	add(&l, TFL_INT8, 6, 0, 0.05f, 3);
	add(&l, TFL_INT8, 6, 0, 1 / 256.0f, -128);
	PUT8(&l, 0, -128, -40, 0, 3, 40, 127);
	EXPECT8(&l, TFL_LOGISTIC, -128, -101, -10, 0, 93, 127);
	l.scale[1][0] = 1 / 128.0f;
	l.zero[1][0] = 0;
	EXPECT8(&l, TFL_TANH, -128, -125, -19, 0, 122, 127);
}

static void
elementwise(void)
{
	struct bench b = { 0 };
	add(&b, TFL_INT8, 4, 0, 0.5f, 1);
	add(&b, TFL_INT8, 4, 0, 0.5f, 1);
	PUT8(&b, 0, -10, 1, 10, -128);
	EXPECT8(&b, TFL_NEG, 12, 1, -8, 127);
	/* real -5.5, 0, 4.5, -64.5: bounds -1 and 1 are -1 and 3 */
	EXPECT8(&b, TFL_RELU_N1_TO_1, -1, 1, 3, -1);
	EXPECT8(&b, TFL_RELU_0_TO_1, 1, 1, 3, 1);
	/* a negative slope: real 2.75, 0, 4.5, 32.25 in units of 0.5 */
	set_option(&b, &fb_LeakyReluOptions, FB_LeakyReluOptions_alpha, -0.5);
	EXPECT8(&b, TFL_LEAKY_RELU, 6, 1, 10, 65);

	struct bench w = { 0 }; /* real -3, -1.5, -1, 0, 1, 1.5, 3, 5: x * relu6(x + 3) / 6 */
	add(&w, TFL_INT8, 8, 0, 0.125f, 2);
	add(&w, TFL_INT8, 8, 0, 0.125f, -3);
	PUT8(&w, 0, -22, -10, -6, 2, 10, 14, 26, 42);
	EXPECT8(&w, TFL_HARD_SWISH, -3, -6, -6, -3, 2, 6, 21, 37);

	struct bench d = { 0 }; /* 7 / 2, -7 / 2, 7 / 0, 0 / 0, -7 / 0 */
	add(&d, TFL_INT8, 5, 0, 1, 0);
	add(&d, TFL_INT8, 5, 0, 1, 1);
	add(&d, TFL_INT8, 5, 0, 0.5f, -4);
	PUT8(&d, 0, 7, -7, 7, 0, -7);
	PUT8(&d, 1, 3, 3, 1, 1, 1);
	EXPECT8(&d, TFL_DIV, 3, -11, 127, -4, -128);

	struct bench u = { 0 }; /* ELU: real -1, 0, 2 */
	add(&u, TFL_INT8, 3, 0, 0.5f, 0);
	add(&u, TFL_INT8, 3, 0, 0.01f, 0);
	PUT8(&u, 0, -2, 0, 1);
	EXPECT8(&u, TFL_ELU, -63, 0, 50);

	struct bench n = { 0 }; /* 3, 4 over 5, in 128ths */
	add(&n, TFL_INT8, 1, 2, 0.1f, 10);
	add(&n, TFL_INT8, 1, 2, 1 / 128.0f, 0);
	PUT8(&n, 0, 40, 50);
	EXPECT8(&n, TFL_L2_NORMALIZATION, 77, 102);
}

static void
choices(void)
{
	struct bench b = { 0 }; /* real 1, 2, 3 and 2, of another scale */
	add(&b, TFL_INT8, 3, 0, 0.5f, -1);
	add(&b, TFL_INT8, 1, 0, 0.25f, 2);
	add(&b, TFL_BOOL, 3, 0, 0, 0);
	PUT8(&b, 0, 1, 3, 5);
	PUT8(&b, 1, 10);
	EXPECT8(&b, TFL_LESS, 1, 0, 0);
	EXPECT8(&b, TFL_LESS_EQUAL, 1, 1, 0);
	EXPECT8(&b, TFL_EQUAL, 0, 1, 0);
	EXPECT8(&b, TFL_NOT_EQUAL, 1, 0, 1);
	EXPECT8(&b, TFL_GREATER, 0, 0, 1);
	EXPECT8(&b, TFL_GREATER_EQUAL, 0, 1, 1);
	b.scale[0][0] = 2;
	refuses(&b, TFL_LESS, "needs one below 1");

	struct bench s = { 0 };
	add(&s, TFL_BOOL, 3, 0, 0, 0);
	add(&s, TFL_INT8, 3, 0, 0.5f, 0);
	add(&s, TFL_INT8, 1, 0, 0.5f, 0);
	add(&s, TFL_INT8, 3, 0, 0.5f, 0);
	PUT8(&s, 0, 1, 0, 1);
	PUT8(&s, 1, 7, 8, 9);
	PUT8(&s, 2, -1);
	EXPECT8(&s, TFL_SELECT_V2, 7, -1, 9);
}

static void
movement(void)
{
	struct bench b = { 0 };
	add(&b, TFL_INT8, 2, 2, 1, 0);
	add(&b, TFL_INT32, 2, 0, 0, 0);
	add(&b, TFL_INT8, 2, 4, 1, 0);
	PUT8(&b, 0, 1, 2, 3, 4);
	b.data[1].i32[0] = 1;
	b.data[1].i32[1] = 2;
	EXPECT8(&b, TFL_TILE, 1, 2, 1, 2, 3, 4, 3, 4);
	b.data[1].i32[1] = 3;
	refuses(&b, TFL_TILE, "3 times 2 is not 4");

	struct bench r = { 0 };
	add(&r, TFL_INT8, 2, 2, 1, 0);
	add(&r, TFL_INT32, 1, 0, 0, 0);
	add(&r, TFL_INT8, 2, 2, 1, 0);
	PUT8(&r, 0, 1, 2, 3, 4);
	r.data[1].i32[0] = -1;
	EXPECT8(&r, TFL_REVERSE_V2, 2, 1, 4, 3);
	r.data[1].i32[0] = 0;
	EXPECT8(&r, TFL_REVERSE_V2, 3, 4, 1, 2);
	r.data[1].i32[0] = 2;
	refuses(&r, TFL_REVERSE_V2, "axis 2 of a tensor of rank 2");
}

/* 4 pixels of 1 channel, with a padding of one before them: pieces of blocks of 2 */
static void
batches(void)
{
	struct bench b = { 0 };
	add(&b, TFL_INT8, 1, 4, 1, 5);
	add(&b, TFL_INT32, 1, 0, 0, 0);
	add(&b, TFL_INT32, 2, 0, 0, 0);
	add(&b, TFL_INT8, 2, 3, 1, 5);
	b.t[0].rank = b.t[3].rank = 3;
	b.t[0].dim[2] = b.t[3].dim[2] = 1;
	PUT8(&b, 0, 1, 2, 3, 4);
	b.data[1].i32[0] = 2;
	b.data[2].i32[0] = b.data[2].i32[1] = 1;
	EXPECT8(&b, TFL_SPACE_TO_BATCH_ND, 5, 2, 4, 1, 3, 5);

	struct bench r = b;
	r.t[0].dim[0] = 2;
	r.t[0].dim[1] = 3;
	r.t[3].dim[0] = 1;
	r.t[3].dim[1] = 4;
	for (int i = 0; i < 2; i++)
		r.t[3 * i].quant.n_scale = r.t[3 * i].quant.n_zero = 0;
	PUT8(&r, 0, 5, 2, 4, 1, 3, 5);
	EXPECT8(&r, TFL_BATCH_TO_SPACE_ND, 1, 2, 3, 4);
	r.data[2].i32[1] = 2;
	refuses(&r, TFL_BATCH_TO_SPACE_ND, "are no 2x1 blocks of");
}

/* legacy uint8: both zero points count, and one scale product is in float32 */
static void
unsigned_dense(void)
{
	struct bench b = { 0 };
	add(&b, TFL_UINT8, 1, 2, 0.5f, 100);
	add(&b, TFL_UINT8, 1, 2, 0.5f, 128);
	add(&b, TFL_INT32, 1, 0, 0, 0);
	add(&b, TFL_UINT8, 1, 1, 1, 50);
	PUT8(&b, 0, 104, 90);
	PUT8(&b, 1, 130, 127);
	b.data[2].i32[0] = 2;
	/* (4 * 2 + -10 * -1 + 2) / 4 = 5 */
	EXPECT8(&b, TFL_FULLY_CONNECTED, 55);
}

static void
conversions(void)
{
	static const float x[] = { 1.25f, -0.75f, 1e9f, -1e9f };
	struct bench b = { 0 };
	add(&b, TFL_FLOAT32, 4, 0, 0, 0);
	add(&b, TFL_INT8, 4, 0, 0.5f, 3);
	memcpy(b.data[0].f32, x, sizeof(x));
	EXPECT8(&b, TFL_QUANTIZE, 6, 1, 127, -128); /* halves away from zero */

	struct bench d = { 0 };
	struct err e = { 0 };
	add(&d, TFL_INT8, 2, 0, 0.5f, 3);
	add(&d, TFL_FLOAT32, 2, 0, 0, 0);
	PUT8(&d, 0, 4, -128);
	if (!bench_run(&d, TFL_DEQUANTIZE, &e) || d.data[1].f32[0] != 0.5f ||
	    d.data[1].f32[1] != -65.5f) {
		printf("DEQUANTIZE: %g %g %s\n", (double)d.data[1].f32[0],
		       (double)d.data[1].f32[1], e.text);
		n_failed++;
	}

	struct bench s = { 0 };
	add(&s, TFL_FLOAT32, 7, 3, 0, 0);
	add(&s, TFL_INT32, 2, 0, 0, 0);
	if (!bench_run(&s, TFL_SHAPE, &e) || s.data[1].i32[0] != 7 ||
	    s.data[1].i32[1] != 3) {
		printf("SHAPE: %s\n", e.text);
		n_failed++;
	}

	struct bench f = { 0 };
	add(&f, TFL_INT32, 2, 0, 0, 0);
	add(&f, TFL_INT8, 1, 0, 0.5f, 3);
	add(&f, TFL_INT8, 2, 3, 0.5f, 3);
	f.data[0].i32[0] = 2;
	f.data[0].i32[1] = 3;
	PUT8(&f, 1, -7);
	EXPECT8(&f, TFL_FILL, -7, -7, -7, -7, -7, -7);
	f.data[0].i32[1] = 2;
	if (bench_run(&f, TFL_FILL, &e)) {
		printf("FILL: another shape\n");
		n_failed++;
	}
}

int
main(void)
{
	check_values();
	elementwise();
	choices();
	movement();
	batches();
	unsigned_dense();
	conversions();
	return n_failed > 0;
}
