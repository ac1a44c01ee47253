/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the NPU model's arithmetic with values from other sources: the reference's
 * fixed-point functions (base/fixed.h) and nputools-lowering(7) 3.11.
 */
#include "base/fixed.h"
#include "sim/npu.h"
#include "sim/npu85.h"

#include <stdio.h>
#include <string.h>

static int failed;

static void
expect(const char *what, int64_t x, int64_t got, int64_t want)
{
	if (got == want)
		return;
	if (failed++ < 20)
		printf("%s(%lld): %lld, want %lld\n", what, (long long)x,
		       (long long)got, (long long)want);
}

static uint64_t
next(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

/* halves in the three modes; no shift: no rounding (ethosu-commands(7) 6.2) */
static void
test_rounding(void)
{
	static const struct {
		int64_t v;
		int64_t natural, truncate, dbl;
	} t[] = {
		{ 3, 2, 1, 2 }, { -3, -1, -1, -1 }, { 5, 3, 2, 3 },
		{ -5, -2, -2, -2 }, { 4, 2, 2, 2 }, { -4, -2, -2, -2 },
	};
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		expect("natural", t[i].v, npu_scale(t[i].v, 1, 1,
			NPU_ROUND_NATURAL), t[i].natural);
		expect("truncate", t[i].v, npu_scale(t[i].v, 1, 1,
			NPU_ROUND_TRUNCATE), t[i].truncate);
		expect("dbl", t[i].v, npu_scale(t[i].v, 1, 1, NPU_ROUND_DBL),
		       t[i].dbl);
		expect("no shift", t[i].v, npu_scale(t[i].v, 7, 0,
			NPU_ROUND_DBL), 7 * t[i].v);
	}
	/* beyond 64 bits: 40-bit sums times 32-bit multipliers */
	int64_t big = ((int64_t)1 << 39) - 1;
	expect("wide", big, npu_scale(big, UINT32_MAX, 32, NPU_ROUND_NATURAL),
	       big - 128);
	expect("wide, negative", -big, npu_scale(-big, 1u << 31, 31,
						 NPU_ROUND_TRUNCATE), -big);
}

/* DBL is the reference's multiplication by a quantized multiplier, rounded twice */
static void
test_double_rounding(void)
{
	uint64_t seed = 88172645463325252u;
	for (int i = 0; i < 200000; i++) {
		struct fixed_mult q = {
			.mult = (int32_t)(next(&seed) >> 34 | 1 << 30),
			.exp = -(int)(next(&seed) % 20),
		};
		int32_t v = (int32_t)(next(&seed) >> 32) >> next(&seed) % 24;
		expect("dbl", v, npu_scale(v, (uint32_t)q.mult, 31 - q.exp,
					   NPU_ROUND_DBL), fixed_mbqm(v, q));
	}
}

/* an operand that the reference first shifts left by d (ethosu-commands(7) 6.10) */
static void
test_operands(void)
{
	uint64_t seed = 42;
	for (int i = 0; i < 100000; i++) {
		int d = next(&seed) % 2 ? 20 : 15;
		struct fixed_mult q = {
			.mult = (int32_t)(next(&seed) >> 34 | 1 << 30),
			.exp = -(int)(next(&seed) % 8),
		};
		int32_t v = (int32_t)(next(&seed) % 511) - 255;
		int32_t want = fixed_mbqm((int32_t)((uint32_t)v << d), q);
		expect("operand", v, npu_scale_operand(v, (uint32_t)q.mult,
			31 - q.exp - d, NPU_ROUND_DBL, d), want);
	}
}

static void
test_functions(void)
{
	static const struct {
		int32_t x, sigmoid, tanh;
	} t[] = {
		{ -32768, 11, -32767 }, { -4096, 8812, -24956 },
		{ 0, 16384, 0 }, { 1, 16386, 8 }, { 4096, 23956, 24956 },
	};
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		/* scale 2^-12: times 3 (nputools-lowering(7) 4.6) */
		expect("sigmoid", t[i].x, npu_sigmoid(3 * (int64_t)t[i].x),
		       t[i].sigmoid);
		expect("tanh", t[i].x, npu_tanh(3 * (int64_t)t[i].x),
		       t[i].tanh);
	}
	expect("sigmoid", 32767, npu_sigmoid(3 * 32767), 32757);
	expect("sigmoid", INT32_MAX, npu_sigmoid(INT32_MAX), 32767);
	expect("tanh", INT32_MIN, npu_tanh(INT32_MIN), -32767);
}

/*
 * U85's scale of an operand that the reference first shifts up: all values of 9 bits,
 * as a comparison has them after the zero point, and some scales below 1
 * (ethosu-commands(7) 26.2)
 */
static void
test_shifted_operands(void)
{
	enum { UP = 8, SCALES = 500, LEAST_EXP = -31 };
	uint64_t s = 88172645463325252u;
	for (int k = 0; k < SCALES; k++) {
		struct fixed_mult m = { .exp = -(k % (1 - LEAST_EXP)) };
		m.mult = (int32_t)(next(&s) >> 34 | 1 << 30);
		struct npu_scaler scaler = npu_scaler((uint32_t)m.mult, 31 - m.exp - UP,
						      NPU_ROUND_DBL, UP);
		for (int32_t v = -255; v <= 255; v++) {
			int64_t got = npu_scaled(&scaler, v);
			expect("shifted up", v, got, fixed_mbqm(v * (1 << UP), m));
		}
	}
}

static bool
note(void *ctx, int64_t at, int64_t n)
{
	char **p = ctx;
	*p += sprintf(*p, "%lld+%lld ", (long long)at, (long long)n);
	return true;
}

/* a strided transfer: 2 planes of 3 rows of 4 bytes, from a dense source */
static void
test_dma(void)
{
	char text[200], *p = text;
	struct npu_op op = {
		.kind = NPU_DMA, .src = { .at = 100, .n = 4 },
		.dst = { .at = 1000, .n = 4 }, .src_dims = 1, .dst_dims = 3,
		.size0 = 3, .size1 = 2,
		.skip0 = 16 - 4,      /* rows 16 apart */
		.skip1 = 64 - 4 * 3,  /* planes 64 apart (ethosu-commands(7) 10) */
	};
	(void)npu_dma_runs(&op, 0, note, &p);
	(void)npu_dma_runs(&op, 1, note, &p);
	static const char want[] = "100+24 1000+4 1016+4 1032+4 1064+4 1080+4 "
				   "1096+4 ";
	if (strcmp(text, want) != 0) {
		failed++;
		printf("dma: %s\nwant %s\n", text, want);
	}
}

int
main(void)
{
	test_rounding();
	test_double_rounding();
	test_operands();
	test_functions();
	test_shifted_operands();
	test_dma();
	printf("arithmetic: %d failed\n", failed);
	return failed != 0;
}
