/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Features of sounds.  The fixed point of the micro frontend is compared with values that
 * TensorFlow's library (tensorflow/lite/experimental/microfrontend of tflite-micro, with
 * KISS FFT in 16 bits) computed for these sounds.  The other features are compared with
 * their definitions: Fourier sums instead of a fast transform, and the system's functions.
 */
#include "samples/features.h"
#include "tflite/tflite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLES = 16000, FRAMES = 49, STEP = 320 };

static int n_failed;

static void
expect(const char *what, double got, double want, double tolerance)
{
	if (fabs(got - want) <= tolerance)
		return;
	printf("%s: %.9g, want %.9g\n", what, got, want);
	n_failed++;
}

/* ---- sounds ------------------------------------------------------------------------- */

static void
make_noise(int16_t *v, int shift)
{
	uint32_t x = 1;
	for (int i = 0; i < SAMPLES; i++) {
		x = x * 1664525 + 1013904223;
		v[i] = (int16_t)((int16_t)(x >> 16) >> shift);
	}
}

static void
make_square(int16_t *v)
{
	for (int i = 0; i < SAMPLES; i++)
		v[i] = i / 20 % 2 ? INT16_MAX : INT16_MIN;
}

static void
make_pulses(int16_t *v)
{
	for (int i = 0; i < SAMPLES; i++)
		v[i] = (int16_t)(i / 4000 % 2 ? (i % 160 ? 0 : 30000) : i * 37 % 2001 - 1000);
}

/* ---- the micro frontend ------------------------------------------------------------- */

/* sum: of all values, each multiplied by its number from 1 on; row: of one frame */
static void
check_frontend(const char *name, const int16_t *v, double sum, int frame,
	       const uint16_t row[FRONTEND_CHANNELS])
{
	struct arena *a = arena_open();
	struct frontend *f = frontend_open(a);
	double all = 0;
	for (int i = 0; i < FRAMES; i++) {
		uint16_t out[FRONTEND_CHANNELS];
		frontend_frame(f, v + i * STEP, out);
		for (int c = 0; c < FRONTEND_CHANNELS; c++) {
			all += (double)(i * FRONTEND_CHANNELS + c + 1) * out[c];
			if (i == frame)
				expect(name, out[c], row[c], 0);
		}
	}
	expect(name, all, sum, 0);
	arena_close(a);
}

static void
frontend_of_sounds(void)
{
	static const uint16_t noise[] = { 0, 0, 133, 0, 409, 339, 392, 177, 422, 177, 236, 0, 402,
		339, 386, 314, 355, 0, 133, 374, 447, 0, 355, 203, 388, 222, 387, 258, 359, 0, 388,
		0, 336, 0, 383, 258, 403, 222, 280, 0 };
	static const uint16_t faint[] = { 177, 0, 248, 177, 0, 203, 0, 203, 203, 0, 177, 203, 177,
		266, 287, 266, 203, 203, 248, 266, 306, 266, 248, 302, 306, 302, 306, 287, 334, 351,
		346, 351, 346, 328, 368, 361, 334, 328, 385, 361 };
	static const uint16_t square[] = { 334, 133, 355, 177, 328, 0, 346, 133, 331, 0, 306, 0,
		331, 133, 377, 133, 328, 0, 302, 133, 364, 133, 325, 0, 368, 177, 351, 0, 368, 133,
		314, 133, 366, 133, 366, 133, 366, 133, 366, 133 };
	static const uint16_t pulses[] = { 534, 587, 653, 596, 627, 474, 639, 597, 640, 466, 641,
		593, 593, 587, 644, 561, 640, 587, 633, 587, 629, 587, 631, 583, 634, 581, 629, 584,
		627, 581, 627, 580, 626, 580, 626, 580, 625, 580, 625, 580 };
	int16_t v[SAMPLES];
	make_noise(v, 0);
	check_frontend("noise", v, 452786769, 30, noise);
	make_noise(v, 13);
	check_frontend("faint noise", v, 109598565, 0, faint);
	make_square(v);
	check_frontend("square", v, 425731843, 30, square);
	make_pulses(v);
	check_frontend("pulses", v, 531228935, 0, pulses);
}

/* ---- definitions -------------------------------------------------------------------- */

struct definition {
	enum features features;
	int window, points, outputs;
	double low, high, floor;
};

static double
mel(double hz)
{
	return 1127 * log(1 + hz / 700);
}

/* The power of the frame's Fourier sum at one point. */
static double
power_at(const struct definition *d, const double *v, int point)
{
	double r = 0, m = 0;
	for (int i = 0; i < d->window; i++) {
		double w = d->features == FEATURES_LFBE
			       ? 0.54 - 0.46 * cos(2 * M_PI * i / (d->window - 1))
			       : 0.5 - 0.5 * cos(2 * M_PI * i / d->window);
		r += v[i] * w * cos(2 * M_PI * point * i / d->points);
		m -= v[i] * w * sin(2 * M_PI * point * i / d->points);
	}
	return r * r + m * m;
}

static void
define(const struct definition *d, const double *v, double out[40])
{
	enum { BINS = 40 };
	double bin[BINS] = { 0 }, low = mel(d->low), step = (mel(d->high) - low) / (BINS + 1);
	for (int i = 1; i <= d->points / 2; i++) {
		double at = (mel(16000.0 * i / d->points) - low) / step, power = power_at(d, v, i);
		for (int b = 0; b < BINS; b++) {
			double w = fmax(0, 1 - fabs(at - (b + 1)));
			bin[b] += w * (d->features == FEATURES_LFBE ? power / d->window : sqrt(power));
		}
	}
	for (int c = 0; c < d->outputs; c++) {
		out[c] = d->features == FEATURES_LFBE
			     ? fmin(fmax((10 * log10(bin[c]) + 52) / 64, 0), 1)
			     : d->features == FEATURES_MEL ? log(bin[c] + d->floor) : 0;
		for (int b = 0; b < BINS && d->outputs == 10; b++)
			out[c] += sqrt(2.0 / BINS) * log(bin[b] + d->floor) *
				  cos(M_PI * c * (b + 0.5) / BINS);
	}
}

static void
definitions(void)
{
	static const struct definition all[] = {
		{ FEATURES_MFCC, 480, 512, 10, 20, 4000, 1e-6 },
		{ FEATURES_MEL, 480, 512, 40, 20, 4000, 1e-6 },
		{ FEATURES_LFBE, 480, 512, 40, 0, 8000, 0 },
		{ FEATURES_MFCC_MLEK, 640, 1024, 10, 20, 4000, 1.17549435e-38 },
	};
	enum { LENGTH = 1000 };
	for (size_t k = 0; k < ARRAY_LEN(all); k++) {
		struct arena *a = arena_open();
		double v[LENGTH], most = 0, want[40];
		struct err e = { 0 };
		struct tfl_tensor t = { .type = TFL_FLOAT32 };
		struct sample_options o = { .features = all[k].features };
		struct data d = { .name = "sound", .n = LENGTH, .rate = 16000, .v = v };
		for (int i = 0; i < LENGTH; i++) {
			v[i] = (i * 37 % 101 - 60) / 128.0 * sin(i * 0.05) + sin(i * i * 0.0004) / 4;
			most = fmax(most, v[i]);
		}
		bool ok = make_features(a, &o, &t, &d, &e);
		expect("features", ok, true, 0);
		expect("numbers", (double)d.n, (LENGTH - all[k].window) / STEP * all[k].outputs +
						   all[k].outputs, 0);
		for (int i = 0; i < LENGTH && all[k].features != FEATURES_MFCC_MLEK; i++)
			v[i] /= most;
		for (int i = LENGTH - 1; i > 0 && all[k].features == FEATURES_LFBE; i--)
			v[i] -= 0.96875 * v[i - 1];
		for (int f = 0; ok && f < 2 && f * STEP + all[k].window <= LENGTH; f++) {
			define(&all[k], v + f * STEP, want);
			for (int c = 0; c < all[k].outputs; c++)
				expect(sample_features[all[k].features],
				       d.v[f * all[k].outputs + c], want[c], 1e-9 * (1 + fabs(want[c])));
		}
		arena_close(a);
	}
}

int
main(void)
{
	frontend_of_sounds();
	definitions();
	return n_failed > 0;
}
