/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TensorFlow's micro frontend (tensorflow/lite/experimental/microfrontend) in the fixed
 * point of that library, by way of these steps: window, transform, energy in mel channels,
 * square root, noise reduction, gain control (PCAN), logarithm.  All tables are computed;
 * single-precision steps round as the library's do.
 */
#include "samples/features.h"

#include "base/functions.h"

#include <math.h>

enum {
	POINTS = 512, HALF = POINTS / 2, RATE = 16000,
	WINDOW_BITS = 12, WEIGHT_BITS = 12,
	/* noise reduction */
	SMOOTHING_BITS = 10, NOISE_BITS = 14,
	/* gain control */
	GAIN_BITS = 21, SNR_BITS = 12, PCAN_OUTPUT_BITS = 6, INTERVALS = 32,
	/* log2 of the transform's points, less half of the bits of a weight */
	CORRECTION_BITS = 9 - WEIGHT_BITS / 2,
	LOG_BITS = 16, LOG_SEGMENT_BITS = 7, LOG_SCALE_SHIFT = 6, LOG_E = 45426,
};

struct fixed_complex {
	int16_t r, i;
};

struct piece { /* of the gain: y0 + a1 x + a2 x^2 in one interval between powers of 2 */
	int16_t y0, a1, a2;
};

struct frontend {
	int16_t window[FRONTEND_WINDOW];
	struct fixed_complex turn[HALF];      /* of the complex transform */
	struct fixed_complex real_turn[HALF]; /* of the step to a real transform */
	int first, last; /* points of the spectrum that count: first to last - 1 */
	/* each point adds to the channel below it, and with the rest to the one above */
	int channel[HALF + 1];
	int16_t weight[HALF + 1], rest[HALF + 1];
	struct piece gain[INTERVALS + 1];
	int16_t small_gain[2];
	int32_t curve[(1 << LOG_SEGMENT_BITS) + 2]; /* log2(1 + x) - x */
	uint32_t estimate[FRONTEND_CHANNELS];
};

/* number of bits of v; 0 for 0 */
static int
count_bits(uint32_t v)
{
	return v ? 32 - __builtin_clz(v) : 0;
}

/* ---- tables ------------------------------------------------------------------------- */

static int16_t
round_down_16(double v)
{
	return (int16_t)floor(v);
}

static struct fixed_complex
turn_of(double phase)
{
	return (struct fixed_complex){ .r = round_down_16(0.5 + INT16_MAX * real_cos(phase)),
				       .i = round_down_16(0.5 + INT16_MAX * real_sin(phase)) };
}

/*
 * log(1 + x) for positive x in single precision, with the rounding errors of newlib and of
 * glibc up to 2.40: they decide about the last bit of two weights.  With 1 + x = 2^k (1 + f)
 * and s = f / (2 + f), log(1 + f) is f - f^2 / 2 + s (f^2 / 2 + R), where R is a polynomial
 * in s^2; `lost` is what the sum 1 + x rounds off.
 */
static float
log1p_single(float x)
{
	static const float r[] = { 0x1.555556p-1f, 0x1.99999ap-2f, 0x1.24924ap-2f, 0x1.c71c52p-3f,
				   0x1.74664ap-3f, 0x1.39a09ep-3f, 0x1.2f112ep-3f };
	const float ln2_high = 0x1.62e3p-1f, ln2_low = 0x1.2fefa2p-17f;
	int k = 0;
	float f = x, lost = 0;
	if (x >= 0x1.a827aep-2f) { /* sqrt(2) - 1 */
		float u = 1 + x, m = frexpf(u, &k) * 2;
		k--;
		lost = (k > 0 ? 1 - (u - x) : x - (u - 1)) / u;
		if (m >= 0x1.6a09eep+0f) { /* sqrt(2) */
			m /= 2;
			k++;
		}
		f = m - 1;
	}
	float half = 0.5f * f * f, s = f / (2 + f), z = s * s, sum = 0;
	for (int i = (int)ARRAY_LEN(r) - 1; i >= 0; i--)
		sum = z * (r[i] + sum);
	float high = (float)k * ln2_high, low = (float)k * ln2_low;
	return k ? high - ((half - (s * (half + sum) + (low + lost))) - f)
		 : f - (half - s * (half + sum));
}

static float
mel_of(float hz)
{
	return 1127.0f * log1p_single(hz / 700.0f);
}

static int16_t
gain_at(uint32_t x)
{
	const double strength = 0.95;
	float base = (float)x / (float)(1u << (SMOOTHING_BITS - CORRECTION_BITS)) + 80.0f;
	float power = (float)real_exp((double)-(float)strength * real_log((double)base));
	float gain = (float)(1u << GAIN_BITS) * power;
	/* the library rounds a float sum, which lroundf() does not */
	const float sum = gain + 0.5f;
	return gain > INT16_MAX ? INT16_MAX : (int16_t)sum;
}

struct frontend *
frontend_open(struct arena *a)
{
	enum { EDGES = FRONTEND_CHANNELS + 1 };
	const double pi = 3.14159265358979323846;
	const float step = (float)pi * 2.0f / FRONTEND_WINDOW;
	struct frontend *f = anew(a, struct frontend, 1);
	for (int i = 0; i < FRONTEND_WINDOW; i++) {
		float c = (float)real_cos((double)(step * ((float)i + 0.5f)));
		float w = 0.5f - 0.5f * c;
		f->window[i] = round_down_16((double)floorf(w * (1 << WINDOW_BITS) + 0.5f));
	}
	for (int i = 0; i < HALF; i++) {
		f->turn[i] = turn_of(-2 * pi * i / HALF);
		f->real_turn[i] = turn_of(-pi * ((double)(i + 1) / HALF + 0.5));
	}

	const float low = 125, high = 7500, hz = 0.5f * RATE / HALF;
	float spacing = (mel_of(high) - mel_of(low)) / EDGES, edge[EDGES + 1];
	edge[0] = mel_of(low);
	for (int c = 0; c < EDGES; c++)
		edge[c + 1] = mel_of(low) + spacing * (float)(c + 1);
	f->first = (int)(1.5f + low / hz);
	int point = f->first;
	for (int c = 0; c < EDGES; c++)
		for (; mel_of((float)point * hz) <= edge[c + 1]; point++) {
			float w = (edge[c + 1] - mel_of((float)point * hz)) / (edge[c + 1] - edge[c]);
			f->channel[point] = c;
			f->weight[point] = round_down_16((double)floorf(w * (1 << WEIGHT_BITS) + 0.5f));
			f->rest[point] =
			    round_down_16((double)floorf((1 - w) * (1 << WEIGHT_BITS) + 0.5f));
		}
	f->last = point;

	f->small_gain[0] = gain_at(0);
	f->small_gain[1] = gain_at(1);
	for (int bits = 2; bits <= INTERVALS; bits++) {
		uint32_t x0 = 1u << (bits - 1), x1 = x0 + x0 / 2;
		uint32_t x2 = bits == INTERVALS ? x0 + (x0 - 1) : 2 * x0;
		int32_t y0 = gain_at(x0), d1 = gain_at(x1) - y0, d2 = gain_at(x2) - y0;
		int32_t a1 = 4 * d1 - d2;
		f->gain[bits] = (struct piece){ .y0 = (int16_t)y0, .a1 = (int16_t)a1,
						.a2 = (int16_t)(d2 - a1) };
	}

	for (int i = 0; i < (1 << LOG_SEGMENT_BITS); i++) {
		double x = (double)i / (1 << LOG_SEGMENT_BITS);
		f->curve[i] = (int32_t)floor((real_log(1 + x) / real_log(2) - x) * (1 << LOG_BITS) +
					     0.5);
	}
	return f;
}

/* ---- transform ---------------------------------------------------------------------- */

/* the product of two numbers in Q15, given as the exact product */
static int32_t
rounded(int32_t product)
{
	return (int16_t)((product + (1 << 14)) >> 15);
}

static struct fixed_complex
fixed(int32_t r, int32_t i)
{
	return (struct fixed_complex){ .r = (int16_t)r, .i = (int16_t)i };
}

static struct fixed_complex
multiply(struct fixed_complex a, struct fixed_complex b)
{
	return fixed(rounded(a.r * b.r - a.i * b.i), rounded(a.r * b.i + a.i * b.r));
}

/* divides by a small number */
static struct fixed_complex
divide(struct fixed_complex a, int by)
{
	int32_t factor = INT16_MAX / by;
	return fixed(rounded(a.r * factor), rounded(a.i * factor));
}

/* The transform of n numbers, a power of 4, that are `stride` apart; divides by n. */
static void
transform(const struct frontend *f, const struct fixed_complex *in, int n, int stride,
	  struct fixed_complex *out)
{
	if (n == 1) {
		*out = *in;
		return;
	}
	int m = n / 4;
	for (int k = 0; k < 4; k++)
		transform(f, in + k * stride, m, stride * 4, out + k * m);
	for (int k = 0; k < m; k++) {
		struct fixed_complex *o = out + k, a = divide(o[0], 4);
		struct fixed_complex b = multiply(divide(o[m], 4), f->turn[k * stride]);
		struct fixed_complex c = multiply(divide(o[2 * m], 4), f->turn[2 * k * stride]);
		struct fixed_complex d = multiply(divide(o[3 * m], 4), f->turn[3 * k * stride]);
		struct fixed_complex even = fixed(a.r + c.r, a.i + c.i);
		struct fixed_complex odd = fixed(a.r - c.r, a.i - c.i);
		struct fixed_complex sum = fixed(b.r + d.r, b.i + d.i);
		struct fixed_complex diff = fixed(b.r - d.r, b.i - d.i);
		o[0] = fixed(even.r + sum.r, even.i + sum.i);
		o[2 * m] = fixed(even.r - sum.r, even.i - sum.i);
		o[m] = fixed(odd.r + diff.i, odd.i - diff.r);
		o[3 * m] = fixed(odd.r - diff.i, odd.i + diff.r);
	}
}

/* The spectrum of POINTS real numbers, from the transform of pairs of them. */
static void
transform_real(const struct frontend *f, const int16_t *in, struct fixed_complex *out)
{
	struct fixed_complex pair[HALF], half[HALF];
	for (int i = 0; i < HALF; i++)
		pair[i] = fixed(in[2 * i], in[2 * i + 1]);
	transform(f, pair, HALF, 1, half);
	struct fixed_complex mean = divide(half[0], 2);
	out[0] = fixed(mean.r + mean.i, 0);
	out[HALF] = fixed(mean.r - mean.i, 0);
	for (int k = 1; k <= HALF / 2; k++) {
		struct fixed_complex a = divide(half[k], 2);
		struct fixed_complex b = divide(fixed(half[HALF - k].r, -half[HALF - k].i), 2);
		struct fixed_complex sum = fixed(a.r + b.r, a.i + b.i);
		struct fixed_complex turned = multiply(fixed(a.r - b.r, a.i - b.i),
						       f->real_turn[k - 1]);
		out[k] = fixed((sum.r + turned.r) >> 1, (sum.i + turned.i) >> 1);
		out[HALF - k] = fixed((sum.r - turned.r) >> 1, (turned.i - sum.i) >> 1);
	}
}

/* ---- channels ----------------------------------------------------------------------- */

/* the square root, rounded; a root of up to 16 bits stays below 2^16 */
static uint32_t
root_of(uint64_t v)
{
	uint64_t root = 0, left = v;
	for (int bit = 31; bit >= 0; bit--) {
		uint64_t more = (root << (bit + 1)) + ((uint64_t)1 << (2 * bit));
		if (left >= more) {
			left -= more;
			root += (uint64_t)1 << bit;
		}
	}
	uint64_t most = v >> 32 ? UINT32_MAX : UINT16_MAX;
	return (uint32_t)(left > root && root != most ? root + 1 : root);
}

/* shift: of the samples before the transform */
static void
sum_channels(const struct frontend *f, const struct fixed_complex *x, int shift,
	     uint32_t *out)
{
	uint64_t sum[FRONTEND_CHANNELS + 2] = { 0 };
	for (int i = f->first; i < f->last; i++) {
		uint64_t energy = (uint64_t)(int32_t)((uint32_t)(x[i].r * x[i].r) +
						      (uint32_t)(x[i].i * x[i].i));
		sum[f->channel[i]] += (uint64_t)f->weight[i] * energy;
		sum[f->channel[i] + 1] += (uint64_t)f->rest[i] * energy;
	}
	for (int c = 0; c < FRONTEND_CHANNELS; c++)
		out[c] = root_of(sum[c + 1]) >> shift;
}

/* Subtracts the noise, which is a running mean of each channel. */
static void
reduce_noise(struct frontend *f, uint32_t *v)
{
	const uint64_t even = (uint64_t)(0.025f * (1 << NOISE_BITS));
	const uint64_t odd = (uint64_t)(0.06f * (1 << NOISE_BITS));
	const uint64_t remaining = (uint64_t)(0.05f * (1 << NOISE_BITS));
	for (int c = 0; c < FRONTEND_CHANNELS; c++) {
		uint64_t part = c % 2 ? odd : even;
		uint32_t scaled = v[c] << SMOOTHING_BITS;
		uint32_t estimate = (uint32_t)((scaled * part + (uint64_t)f->estimate[c] *
						((1 << NOISE_BITS) - part)) >> NOISE_BITS);
		f->estimate[c] = estimate;
		uint32_t noise = estimate > scaled ? scaled : estimate;
		uint32_t least = (uint32_t)(v[c] * remaining >> NOISE_BITS);
		uint32_t cleared = (scaled - noise) >> SMOOTHING_BITS;
		v[c] = cleared > least ? cleared : least;
	}
}

static int16_t
gain_of(const struct frontend *f, uint32_t x)
{
	if (x < 2)
		return f->small_gain[x];
	int bits = count_bits(x);
	const struct piece *p = &f->gain[bits];
	if (x == 2)
		return p->y0;
	int32_t part = (int32_t)((bits < 11 ? x << (11 - bits) : x >> (bits - 11)) & 0x3ff);
	int32_t v = (p->a2 * part) >> 5;
	v += (int32_t)((uint32_t)p->a1 << 5);
	v *= part;
	return (int16_t)(((v + (1 << 14)) >> 15) + p->y0);
}

static void
control_gain(const struct frontend *f, uint32_t *v)
{
	enum { SHIFT = GAIN_BITS - CORRECTION_BITS - SNR_BITS, KNEE = 2 << SNR_BITS };
	for (int c = 0; c < FRONTEND_CHANNELS; c++) {
		uint64_t gain = (uint64_t)(uint32_t)gain_of(f, f->estimate[c]);
		uint32_t x = (uint32_t)(v[c] * gain >> SHIFT);
		v[c] = x < KNEE ? x * x >> (2 + 2 * SNR_BITS - PCAN_OUTPUT_BITS)
				: (x >> (SNR_BITS - PCAN_OUTPUT_BITS)) - (1 << PCAN_OUTPUT_BITS);
	}
}

/* the natural logarithm, times 2^LOG_SCALE_SHIFT */
static uint32_t
log_of(const struct frontend *f, uint32_t x)
{
	enum { SEGMENT = 1 << (LOG_BITS - LOG_SEGMENT_BITS), HALF_UNIT = 1 << (LOG_BITS - 1) };
	int whole = count_bits(x) - 1;
	uint32_t rest = x - (1u << whole);
	int32_t part = (int32_t)(whole < LOG_BITS ? rest << (LOG_BITS - whole)
						  : rest >> (whole - LOG_BITS));
	int32_t at = part / SEGMENT, low = f->curve[at], high = f->curve[at + 1];
	int32_t curve = low + (((high - low) * (part - at * SEGMENT)) >> LOG_BITS);
	uint32_t log2 = ((uint32_t)whole << LOG_BITS) + (uint32_t)(part + curve);
	uint32_t log = (uint32_t)(((uint64_t)LOG_E * log2 + HALF_UNIT) >> LOG_BITS);
	return ((log << LOG_SCALE_SHIFT) + HALF_UNIT) >> LOG_BITS;
}

void
frontend_frame(struct frontend *f, const int16_t sample[FRONTEND_WINDOW],
	       uint16_t out[FRONTEND_CHANNELS])
{
	struct fixed_complex spectrum[HALF + 1];
	int16_t v[POINTS] = { 0 };
	uint32_t channel[FRONTEND_CHANNELS];
	int most = 0;
	for (int i = 0; i < FRONTEND_WINDOW; i++) {
		v[i] = (int16_t)((sample[i] * f->window[i]) >> WINDOW_BITS);
		int size = v[i] < 0 ? (int16_t)-v[i] : v[i];
		most = size > most ? size : most;
	}
	int shift = 15 - count_bits((uint32_t)most);
	for (int i = 0; i < FRONTEND_WINDOW; i++)
		v[i] = (int16_t)((uint16_t)v[i] << shift);
	transform_real(f, v, spectrum);
	sum_channels(f, spectrum, shift, channel);
	reduce_noise(f, channel);
	control_gain(f, channel);
	for (int c = 0; c < FRONTEND_CHANNELS; c++) {
		uint32_t x = channel[c] << CORRECTION_BITS;
		uint32_t log = x > 1 ? log_of(f, x) : 0;
		out[c] = (uint16_t)(log < UINT16_MAX ? log : UINT16_MAX);
	}
}
