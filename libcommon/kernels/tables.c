/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/tables.h"

#include "kernels/functions.h"

#include <math.h>

static int16_t
to_int16(float v)
{
	return (int16_t)fminf(fmaxf(v, INT16_MIN), INT16_MAX);
}

void
table16_fill(int16_t t[TABLE16], struct affine in, struct affine out,
	     float (*f)(float))
{
	float lo = in.scale * (float)(INT16_MIN - in.zero);
	float hi = in.scale * (float)(INT16_MAX - in.zero);
	float out_lo = out.scale * (float)(INT16_MIN - out.zero);
	float out_hi = out.scale * (float)(INT16_MAX - out.zero);
	float step = (hi - lo) / 512, half = step / 2;
	float inverse = 65536.0f / (out_hi - out_lo);
	for (int i = 0; i < 512; i++) {
		float at = lo + (float)i * step;
		float first = roundf(f(at) * inverse);
		float middle = roundf(f(at + half) * inverse);
		float next = f(lo + (float)(i + 1) * step) * inverse;
		float between = roundf((next + first) / 2);
		float bias = roundf((between - middle) / 2);
		t[i] = to_int16(first - bias);
	}
	t[512] = to_int16(roundf(f(hi) * inverse));
}

int32_t
table16_lookup(const int16_t t[TABLE16], int32_t x)
{
	int i = (x >> 7) + 256;
	int16_t slope = (int16_t)(uint16_t)(t[i + 1] - t[i]);
	return (int16_t)(uint16_t)(t[i] + ((slope * (x & 127) + 64) >> 7));
}

/*
 * Indices at which the reference's table is one above the rounded function:
 * ethosu-commands(7) 6.6.
 */
static const uint8_t one_more[] = {
	4, 8, 12, 14, 15, 16, 17, 19, 20, 21, 22, 25, 27, 28, 29, 30, 31, 33,
	34, 35, 37, 39, 40, 41, 43, 44, 45, 46, 49, 50, 54, 62, 63, 64, 66, 82, 86,
	93, 100, 103, 112, 116, 135, 255
};

void
sigmoid16_prepare(struct sigmoid16 *s, float scale, bool is_tanh)
{
	s->tanh = is_tanh;
	for (int i = 0; i < 256; i++)
		s->half[i] = (uint16_t)fmin(
		    round(65536 / (1 + exp(-i / 24.0))), 65535);
	for (size_t i = 0; i < ARRAY_LEN(one_more); i++)
		if (s->half[one_more[i]] < UINT16_MAX)
			s->half[one_more[i]]++;
	double log = log2((double)scale), power = round(log);
	int shift = (int)fmin(fmax(12 + power, -100), 100);
	if (fabs(log - power) < 1e-3 &&
	    (shift == 0 || (is_tanh && shift == 1))) {
		s->mult = 3 << shift;
		s->shift = 0;
		return;
	}
	/* 4096 * 3 * scale, normalized to 15 bits; TFLite compares in float */
	double m = (double)scale * 4096 * 3;
	for (s->shift = 0; m <= 16383.5 && s->shift <= 30; s->shift++)
		m *= 2;
	s->mult = (int32_t)fmin(m, INT32_MAX);
}

int32_t
sigmoid16(const struct sigmoid16 *s, int32_t x)
{
	int64_t round = s->shift > 0 ? (int64_t)1 << (s->shift - 1) : 0;
	int64_t in = ((int64_t)x * s->mult + round) >> s->shift;
	int bits = s->tanh ? 8 : 9; /* fractional bits */
	int64_t a = in < 0 ? -in : in, at = a >> bits;
	int64_t r;
	if (at >= 255)
		r = s->tanh ? (int64_t)0xFFFF << 8 : (int64_t)0x7FFF << 10;
	else
		r = ((int64_t)s->half[at] << bits) +
		    (a & ((1 << bits) - 1)) *
			(s->half[at + 1] - s->half[at]);
	if (s->tanh)
		return (int32_t)((in >= 0 ? r - (1 << 23) + 128
					  : -r + (1 << 23) + 127) >> 8);
	return (int32_t)((in >= 0 ? r + 512 : (1 << 25) - r + 511) >> 10);
}

bool
softmax_exp_prepare(struct softmax_exp *s, double scale, double beta)
{
	double m = fmin(beta * scale * 0x1p26, 0x1p31 - 1.0);
	s->scale = fixed_quantize(m);
	if (!(m > 1))
		return false;
	s->diff_min = -(int32_t)floor(31 * 0x1p26 / ldexp(1, s->scale.exp));
	return true;
}

int32_t
softmax_exp(const struct softmax_exp *s, int32_t diff)
{
	enum { DIFF_BITS = 5 }; /* integer bits of differences */
	return diff < s->diff_min
		   ? -1
		   : fixed_exp(fixed_mbqm(diff, s->scale), DIFF_BITS);
}
