/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integer arithmetic, and the fixed-point arithmetic of TensorFlow Lite's reference kernels.
 * Sources: nputools-lowering(7) 3.1 and 4.1.  Check values: tests/unit/fixed.c.
 */
#ifndef BASE_FIXED_H
#define BASE_FIXED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline int64_t
clamp_i64(int64_t v, int64_t lo, int64_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

static inline double
clamp_f64(double v, double lo, double hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

static inline int32_t
clamp_i32(int64_t v, int32_t lo, int32_t hi)
{
	return v < lo ? lo : v > hi ? hi : (int32_t)v;
}

/* minimum and maximum of two; unlike macros, they evaluate each argument once */
#define FIXED_LESS(type, name, less)		\
	static inline type name(type a, type b)	\
	{					\
		return a less b ? a : b;	\
	}
FIXED_LESS(int32_t, min_i32, <)
FIXED_LESS(int32_t, max_i32, >)
FIXED_LESS(int64_t, min_i64, <)
FIXED_LESS(int64_t, max_i64, >)
FIXED_LESS(size_t, min_size, <)
FIXED_LESS(double, max_f64, >)
#undef FIXED_LESS

static inline int64_t
round_up_i64(int64_t v, int64_t step)
{
	return (v + step - 1) / step * step;
}

static inline int32_t
ceil_div(int32_t a, int32_t b)
{
	return (a + b - 1) / b;
}

static inline int64_t
ceil_div_i64(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

/* True if [a, a + n_a) and [b, b + n_b) overlap; an empty span overlaps what it lies inside of. */
static inline bool
spans_overlap(int64_t a, int64_t n_a, int64_t b, int64_t n_b)
{
	return a < b + n_b && b < a + n_a;
}

/* the greatest common divisor; 0 if both are 0 */
static inline int64_t
common_divisor(int64_t a, int64_t b)
{
	while (b) {
		int64_t t = a % b;
		a = b;
		b = t;
	}
	return a < 0 ? -a : a;
}

/* Saturating rounding doubling high multiply: (a * b * 2) / 2^32, rounded to nearest. */
static inline int32_t
fixed_srdhm(int32_t a, int32_t b)
{
	if (a == INT32_MIN && b == INT32_MIN)
		return INT32_MAX;
	/*
	 * exact halves are rounded up for both signs (nputools-lowering(7) 3.1); the
	 * code has no branch, so that loops over it are vectorised
	 */
	int64_t p = (int64_t)a * b + (1 << 30);
	return (int32_t)((uint64_t)p >> 31);
}

/* Divides by 2^e, ties away from zero; 0 <= e <= 31. */
static inline int32_t
fixed_rdpot(int32_t x, int e)
{
	int32_t mask = (int32_t)((1u << e) - 1);
	int32_t rem = x & mask;
	int32_t threshold = (mask >> 1) + (x < 0);
	/* all supported compilers shift arithmetically; cppcheck warns about others */
	/* cppcheck-suppress shiftNegativeLHS */
	return (x >> e) + (rem > threshold);
}

/* The real multiplier mult * 2^(exp - 31): 2^30 <= |mult| < 2^31, or both are 0. */
struct fixed_mult {
	int32_t mult;
	int exp;
};

/*
 * Q(m) of nputools-lowering(7) 3.1, with the sign of m.  Both are 0 if m is 0, not finite or
 * too small.
 */
struct fixed_mult fixed_quantize(double m);

/* Multiplies by a quantized multiplier with double rounding: TFLite's default. */
static inline int32_t
fixed_mbqm(int32_t x, struct fixed_mult q)
{
	int left = q.exp > 0 ? q.exp : 0;
	int right = q.exp > 0 ? 0 : -q.exp;
	int32_t shifted = (int32_t)((uint32_t)x << left);
	return fixed_rdpot(fixed_srdhm(shifted, q.mult), right);
}

/*
 * The variant for 64-bit accumulators: the multiplier is reduced to 16 bits, halves are
 * rounded up.  q.exp <= 14, |x| < 2^47; the result must fit 32 bits.
 */
static inline int32_t
fixed_mbqm64(int64_t x, struct fixed_mult q)
{
	int32_t r = q.mult < 0x7FFF0000 ? (q.mult + (1 << 15)) >> 16 : 0x7FFF;
	int s = 15 - q.exp;
	return (int32_t)((x * r + ((int64_t)1 << (s - 1))) >> s);
}

/*
 * Returns floor((v * mult + add) / 2^shift), saturated to 64 bits; 0 <= shift <= 63.
 * The sum has 97 bits, and not every host has a type of this size.
 */
int64_t fixed_scale_wide(int64_t v, uint32_t mult, int64_t add, int shift);

#endif
