/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fixed.h"

#include <math.h>

double
round_away(double v)
{
	return round(v);
}

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

struct npu_scale
npu_scale_reduce(struct npu_scale s)
{
	uint32_t mult = s.mult < (uint32_t)32767 << 16
			    ? (s.mult + (1u << 15)) >> 16
			    : 32767;
	return (struct npu_scale){ .mult = mult, .shift = s.shift - 16 };
}
