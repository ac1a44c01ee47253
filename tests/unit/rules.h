/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reference's arithmetic, written again from nputools-lowering(7) 3.1 in numbers
 * of 128 bits: quotients are rounded as quotients, without shifts and masks.
 * base/fixed.h, which the kernels use, is not used here.
 */
#ifndef UNIT_RULES_H
#define UNIT_RULES_H

#include "bench.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

__extension__ typedef __int128 wide;

static int n_failed;

static inline uint32_t
draw(void)
{
	static uint64_t state = 7;
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 32);
}

/* lo..hi, both included */
static inline int64_t
draw_in(int64_t lo, int64_t hi)
{
	return lo + (int64_t)(draw() % (uint64_t)(hi - lo + 1));
}

/* around 2^exp: 0.5 to 1.5 times 2^exp */
static inline float
draw_scale(int exp)
{
	return (float)ldexp(0.5 + (double)draw() / 4294967296.0, exp);
}

static inline wide
rule_floor_div(wide a, wide b)
{
	wide q = a / b;
	return a % b < 0 ? q - 1 : q;
}

static inline wide
rule_power(int e)
{
	return (wide)1 << e;
}

/* Q(r) */
struct rule_mult {
	int64_t m;
	int e;
};

static inline struct rule_mult
rule_mult(double r)
{
	struct rule_mult q = { 0 };
	if (r == 0)
		return q;
	long double f = r;
	for (; f >= 1; q.e++)
		f /= 2;
	for (; f < 0.5L; q.e--)
		f *= 2;
	q.m = (int64_t)floorl(f * 2147483648.0L + 0.5L);
	if (q.m == INT64_C(1) << 31) {
		q.m /= 2;
		q.e++;
	}
	return q;
}

/* MBQM(x, m, e): x * 2^e * m / 2^31 to nearest, halves up; then 2^-e, halves away */
static inline int64_t
rule_scaled(int64_t x, struct rule_mult q)
{
	wide first = rule_floor_div(x * rule_power(q.e > 0 ? q.e : 0) * q.m + rule_power(30),
				    rule_power(31));
	wide by = rule_power(q.e < 0 ? -q.e : 0);
	wide size = first < 0 ? -first : first;
	wide near = rule_floor_div(2 * size + by, 2 * by);
	return (int64_t)(first < 0 ? -near : near);
}

static inline int64_t
rule_mbqm(int64_t x, double r)
{
	return rule_scaled(x, rule_mult(r));
}

/* of the 64-bit sum: a multiplier of 15 bits, one rounding, halves up */
static inline int64_t
rule_mbqm64(int64_t x, double r)
{
	struct rule_mult q = rule_mult(r);
	wide m = rule_floor_div(q.m + rule_power(15), rule_power(16));
	m = m > 32767 ? 32767 : m;
	return (int64_t)rule_floor_div(x * m + rule_power(14 - q.e), rule_power(15 - q.e));
}

static inline int64_t
rule_least(int type)
{
	return type == TFL_INT8 ? -128 : type == TFL_UINT8 ? 0 : -32768;
}

static inline int64_t
rule_most(int type)
{
	return type == TFL_INT8 ? 127 : type == TFL_UINT8 ? 255 : 32767;
}

/* zo + round(v / so), the quotient in float32 */
static inline int64_t
rule_bound(float v, float so, int64_t zo)
{
	return zo + (int64_t)roundf(v / so);
}

static inline int64_t
rule_clamp(int64_t y, int type, int act, float so, int64_t zo)
{
	int64_t lo = rule_least(type), hi = rule_most(type);
	float least = act == TFL_ACT_RELU_N1_TO_1 ? -1.0f : 0.0f;
	float most = act == TFL_ACT_RELU6 ? 6.0f : 1.0f;
	if (act != TFL_ACT_NONE && rule_bound(least, so, zo) > lo)
		lo = rule_bound(least, so, zo);
	if ((act == TFL_ACT_RELU6 || act == TFL_ACT_RELU_N1_TO_1) &&
	    rule_bound(most, so, zo) < hi)
		hi = rule_bound(most, so, zo);
	return y < lo ? lo : y > hi ? hi : y;
}

/* ---- tensors of a bench ------------------------------------------------------ */

static inline int64_t
get(const struct bench *b, int i, int64_t k)
{
	switch (b->t[i].type) {
	case TFL_INT8:
		return b->data[i].i8[k];
	case TFL_UINT8:
		return b->data[i].bytes[k];
	case TFL_INT16:
		return b->data[i].i16[k];
	case TFL_INT32:
		return b->data[i].i32[k];
	default:
		return b->data[i].i64[k];
	}
}

static inline void
put(struct bench *b, int i, int64_t k, int64_t v)
{
	switch (b->t[i].type) {
	case TFL_INT8: case TFL_UINT8:
		b->data[i].bytes[k] = (uint8_t)v;
		break;
	case TFL_INT16:
		b->data[i].i16[k] = (int16_t)v;
		break;
	case TFL_INT32:
		b->data[i].i32[k] = (int32_t)v;
		break;
	default:
		b->data[i].i64[k] = v;
	}
}

static inline int64_t
count_of(const struct bench *b, int i)
{
	return tfl_elements(&b->t[i]);
}

/* adds a tensor of random values lo..hi; returns its number */
static inline int
drawn(struct bench *b, int type, const int32_t dim[4], float scale, int64_t zero,
      int64_t lo, int64_t hi)
{
	int i = bench_add(b, type, dim, scale, zero);
	for (int64_t k = 0; k < count_of(b, i); k++)
		put(b, i, k, draw_in(lo, hi));
	return i;
}

/* values of the type's whole range, including its limits */
static inline int
drawn_map(struct bench *b, int type, const int32_t dim[4], float scale, int64_t zero)
{
	int i = drawn(b, type, dim, scale, zero, rule_least(type), rule_most(type));
	put(b, i, 0, rule_least(type));
	put(b, i, count_of(b, i) - 1, rule_most(type));
	return i;
}

/* a valid zero point of the type */
static inline int64_t
draw_zero(int type)
{
	return type == TFL_INT16 ? 0 : draw_in(rule_least(type), rule_most(type));
}

/* runs the kernel and compares its output, the last tensor, with want */
static inline void
hold(struct bench *b, int code, const char *what, const int64_t *want)
{
	struct err e = { 0 };
	int out = b->n - 1;
	if (!bench_run(b, code, &e)) {
		n_failed++;
		printf("%s, %s: %s\n", tfl_op_name(code), what, e.text);
		return;
	}
	for (int64_t k = 0; k < count_of(b, out); k++) {
		if (get(b, out, k) == want[k])
			continue;
		n_failed++;
		printf("%s, %s: element %" PRId64 " is %" PRId64 ", want %" PRId64 "\n",
		       tfl_op_name(code), what, k, get(b, out, k), want[k]);
		return;
	}
}

#endif
