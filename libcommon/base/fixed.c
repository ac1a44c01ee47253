/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fixed.h"

#include "base/scale.h"

#include <float.h>
#include <math.h>

/*
 * 16 means that only _Float16, which this code does not use, is computed in its own
 * type; for double it is like 0
 */
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16
#error "doubles are computed in a wider type here, and round otherwise: see SSE in the Makefile"
#endif

struct fixed_mult
fixed_quantize(double m)
{
	if (m == 0.0 || !isfinite(m))
		return (struct fixed_mult){ 0 };
	int exp;
	double f = frexp(m, &exp);
	int64_t q = (int64_t)round(f * 2147483648.0);
	if (q == (int64_t)1 << 31) {
		q /= 2;
		exp++;
	}
	if (exp < -31)
		return (struct fixed_mult){ 0 };
	return (struct fixed_mult){ .mult = (int32_t)q, .exp = exp };
}

/*
 * Computes the sum as high * 2^32 + low, where low has 32 bits.  With v = h * 2^32 + l,
 * high is h * mult plus the carry of l * mult and add.  high never overflows: it is at
 * most
 *
 *   (2^31 - 1) * (2^32 - 1) + (2^32 - 2) + (2^31 - 1) + 1 = 2^63 - 1
 *
 * and at least -2^31 * (2^32 - 1) - 2^31 = -2^63.
 */
int64_t
fixed_scale_wide(int64_t v, uint32_t mult, int64_t add, int shift)
{
	uint64_t part = (uint32_t)v * (uint64_t)mult;
	uint64_t low = (uint32_t)part + (uint64_t)(uint32_t)add;
	int64_t carried = (int64_t)(part >> 32) + (int64_t)(low >> 32);
	int64_t high = (v >> 32) * (int64_t)mult + (add >> 32) + carried;
	if (shift >= 32)
		return high >> (shift - 32);
	int left = 32 - shift; /* number of bits that high is shifted left */
	if (high > INT64_MAX >> left)
		return INT64_MAX;
	if (high < INT64_MIN >> left)
		return INT64_MIN;
	return (int64_t)((uint64_t)high << left | (uint32_t)low >> shift);
}

bool
npu_quantise(double r, struct npu_scale *out)
{
	*out = (struct npu_scale){ 0 };
	if (r == 0.0)
		return true;
	if (!isfinite(r) || r < 0.0)
		return false;
	int exp;
	double f = frexp(r, &exp);
	uint64_t mult = (uint64_t)round(f * 2147483648.0);
	if (mult == (uint64_t)1 << 31) {
		mult /= 2;
		exp++;
	}
	int shift = 31 - exp;
	if (shift > 63) {
		mult = shift - 63 < 32 ? mult >> (shift - 63) : 0;
		shift = mult ? 63 : 0;
	} else if (shift < 0) {
		if (-shift > 31 || mult << -shift > UINT32_MAX)
			return false;
		mult <<= -shift;
		shift = 0;
	}
	*out = (struct npu_scale){ .mult = (uint32_t)mult, .shift = shift };
	return true;
}

bool
npu_scale_leaves_word(struct npu_scale s, double most)
{
	enum { WORD = 31 };
	return s.shift < WORD && most >= ldexp(1, s.shift);
}

struct npu_scale
npu_scale_reduce(struct npu_scale s)
{
	enum { MOST = 62 }; /* shift of 2^-32, the least multiplier that is not 0 */
	if (s.shift > MOST)
		return (struct npu_scale){ 0 };
	uint32_t mult = s.mult < (uint32_t)32767 << 16
			    ? (s.mult + (1u << 15)) >> 16
			    : 32767;
	return (struct npu_scale){ .mult = mult, .shift = s.shift - 16 };
}
