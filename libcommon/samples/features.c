/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Features of sounds, which keyword models take in place of samples: frames of a sound
 * become mel spectra and cepstral coefficients.  mkinput(1) lists the parameters and where
 * they come from.  frontend.c has the fixed-point features.
 */
#include "samples/features.h"

#include "base/functions.h"
#include "tflite/tflite.h"

#include <float.h>
#include <math.h>
#include <string.h>

const char *const sample_features[] = { "none", "mfcc", "mfcc-mlek", "mel", "lfbe",
					"micro-frontend", NULL };

enum { RATE = 16000, MOST_BINS = 40 };
static const double pi = 3.14159265358979323846;

/* the parameters of one kind, for 16,000 samples per second */
struct kind {
	int window, step, points; /* samples of a frame, between frames; of the transform */
	int bins;		  /* mel bins */
	int outputs;		  /* numbers per frame */
	double low, high;	  /* Hz */
	double floor;		  /* is added before the logarithm */
};
static const struct kind kinds[] = {
	[FEATURES_MFCC] = { .window = 480, .step = 320, .points = 512, .bins = 40, .outputs = 10,
			    .low = 20, .high = 4000, .floor = 1e-6 },
	[FEATURES_MFCC_MLEK] = { .window = 640, .step = 320, .points = 1024, .bins = 40,
				 .outputs = 10, .low = 20, .high = 4000, .floor = FLT_MIN },
	[FEATURES_MEL] = { .window = 480, .step = 320, .points = 512, .bins = 40, .outputs = 40,
			   .low = 20, .high = 4000, .floor = 1e-6 },
	[FEATURES_LFBE] = { .window = 480, .step = 320, .points = 512, .bins = 40, .outputs = 40,
			    .low = 0, .high = 8000 },
	[FEATURES_FRONTEND] = { .window = FRONTEND_WINDOW, .step = 320,
				.outputs = FRONTEND_CHANNELS },
};

/* ---- spectrum ----------------------------------------------------------------------- */

struct complex {
	double r, i;
};

/* Transforms n numbers, a power of 2, in place. */
static void
transform(struct complex *x, int n)
{
	for (int i = 1, j = 0; i < n; i++) {
		int bit = n >> 1;
		for (; j & bit; bit >>= 1)
			j ^= bit;
		j ^= bit;
		if (i < j) {
			struct complex t = x[i];
			x[i] = x[j];
			x[j] = t;
		}
	}
	for (int half = 1; half < n; half *= 2)
		for (int k = 0; k < half; k++) {
			double c = real_cos(pi * k / half), s = -real_sin(pi * k / half);
			for (int i = k; i < n; i += 2 * half) {
				struct complex *a = &x[i], *b = &x[i + half];
				double r = b->r * c - b->i * s, m = b->r * s + b->i * c;
				*b = (struct complex){ a->r - r, a->i - m };
				*a = (struct complex){ a->r + r, a->i + m };
			}
		}
}

struct spectrum {
	const struct kind *k;
	enum features features;
	double *window;
	struct complex *x;
	double *weight;	   /* [bin][point] */
	double *magnitude; /* one per point from 0 to points / 2 */
	double bin[MOST_BINS];
};

static double
mel_of(double hz)
{
	return 1127 * real_log(1 + hz / 700);
}

static void
open_spectrum(struct arena *a, enum features features, struct spectrum *s)
{
	const struct kind *k = &kinds[features];
	size_t n = (size_t)k->points / 2 + 1;
	*s = (struct spectrum){ .k = k, .features = features,
				.window = anew(a, double, (size_t)k->window),
				.x = anew(a, struct complex, (size_t)k->points),
				.weight = anew(a, double, n * (size_t)k->bins),
				.magnitude = anew(a, double, n) };
	for (int i = 0; i < k->window; i++)
		s->window[i] = features == FEATURES_LFBE
				   ? 0.54 - 0.46 * real_cos(2 * pi * i / (k->window - 1))
				   : 0.5 - 0.5 * real_cos(2 * pi * i / k->window);
	/*
	 * The bins are triangles that are linear in mel.  The point at 0 Hz belongs to no bin.
	 * Arm's kit leaves out the last point, too, which is beyond 4 kHz anyway.
	 */
	double low = mel_of(k->low), step = (mel_of(k->high) - low) / (k->bins + 1);
	for (int b = 0; b < k->bins; b++)
		for (size_t i = 1; i < n; i++) {
			double mel = mel_of((double)i * RATE / k->points);
			double up = (mel - (low + b * step)) / step;
			double down = (low + (b + 2) * step - mel) / step;
			s->weight[(size_t)b * n + i] = fmax(0, fmin(up, down));
		}
}

/* Sums the spectrum of one frame in mel bins. */
static void
sum_bins(struct spectrum *s, const double *v)
{
	const struct kind *k = s->k;
	int n = k->points / 2 + 1;
	for (int i = 0; i < k->points; i++)
		s->x[i] = (struct complex){ i < k->window ? v[i] * s->window[i] : 0, 0 };
	transform(s->x, k->points);
	for (int i = 0; i < n; i++) {
		double power = s->x[i].r * s->x[i].r + s->x[i].i * s->x[i].i;
		s->magnitude[i] = s->features == FEATURES_LFBE ? fmax(power / k->window, 1e-30)
							       : sqrt(power);
	}
	for (int b = 0; b < k->bins; b++) {
		s->bin[b] = 0;
		for (int i = 1; i < n; i++)
			s->bin[b] += s->magnitude[i] * s->weight[b * n + i];
	}
}

static void
put_frame(struct spectrum *s, double *out)
{
	const struct kind *k = s->k;
	for (int b = 0; b < k->bins && s->features == FEATURES_LFBE; b++) {
		/* 10 log10, from -52 dB to 12 dB */
		double db = 10 * real_log(fmax(s->bin[b], 1e-30)) / real_log(10);
		out[b] = fmin(fmax((db + 52) / 64, 0), 1);
	}
	for (int b = 0; b < k->bins && s->features != FEATURES_LFBE; b++)
		s->bin[b] = real_log(s->bin[b] + k->floor);
	if (s->features == FEATURES_MEL)
		memcpy(out, s->bin, (size_t)k->bins * sizeof(*out));
	bool cepstral = s->features == FEATURES_MFCC || s->features == FEATURES_MFCC_MLEK;
	for (int c = 0; c < k->outputs && cepstral; c++) {
		double sum = 0;
		for (int b = 0; b < k->bins; b++)
			sum += s->bin[b] * real_cos(pi * c * (b + 0.5) / k->bins);
		out[c] = sum * sqrt(2.0 / k->bins);
	}
}

/* ---- the sound ---------------------------------------------------------------------- */

/* MLPerf Tiny divides by the largest sample; its filter banks emphasize high frequencies. */
static void
prepare_sound(enum features features, double *v, size_t n)
{
	const double emphasis = 1 - 1.0 / 32;
	double most = 0, last = 0;
	if (features == FEATURES_MFCC_MLEK)
		return;
	for (size_t i = 0; i < n; i++)
		most = fmax(most, v[i]);
	for (size_t i = 0; i < n && most > 0; i++)
		v[i] /= most;
	for (size_t i = 0; i < n && features == FEATURES_LFBE; i++) {
		double now = v[i];
		v[i] = now - emphasis * last;
		last = now;
	}
}

/* The sound with as many samples as the input's frames need, if --fit allows it. */
static double *
fit_sound(struct arena *a, const struct sample_options *o, const struct kind *k,
	  const struct tfl_tensor *t, struct data *d)
{
	size_t frames = (size_t)(tfl_elements(t) / k->outputs);
	size_t n = frames ? (frames - 1) * (size_t)k->step + (size_t)k->window : 0;
	double *v = anew(a, double, (o->fit_length ? n : d->n) + 1);
	size_t kept = o->fit_length && d->n > n ? n : d->n;
	if (kept)
		memcpy(v, d->v, kept * sizeof(*v));
	if (o->fit_length)
		d->n = n;
	return v;
}

static void
put_frontend(struct arena *a, const struct tfl_tensor *t, const double *v, size_t frames,
	     struct data *d)
{
	const struct kind *k = &kinds[FEATURES_FRONTEND];
	int16_t *samples = anew(a, int16_t, d->n + 1);
	struct frontend *f = frontend_open(a);
	bool integer = t->type == TFL_INT8 || t->type == TFL_UINT8;
	for (size_t i = 0; i < d->n; i++)
		samples[i] = (int16_t)lround(fmin(fmax(v[i] * 32768, INT16_MIN), INT16_MAX));
	for (size_t i = 0; i < frames; i++) {
		uint16_t channel[FRONTEND_CHANNELS];
		frontend_frame(f, samples + i * (size_t)k->step, channel);
		for (int c = 0; c < FRONTEND_CHANNELS; c++) {
			/* the example divides by 25.6 * 26, rounded, and multiplies by 256 */
			int q = ((int)channel[c] * 256 + 666 / 2) / 666;
			q = q > UINT8_MAX ? UINT8_MAX : q;
			*d->v++ = !integer		      ? channel[c] / 25.6
				  : t->type == TFL_INT8 ? q + INT8_MIN
							: q;
		}
	}
	d->v -= frames * FRONTEND_CHANNELS;
	d->quantized = integer;
}

bool
make_features(struct arena *a, const struct sample_options *o, const struct tfl_tensor *t,
	      struct data *d, struct err *e)
{
	const struct kind *k = &kinds[o->features];
	if (!d->rate)
		return err_at(e, d->name, 0, "--features needs a sound");
	if (d->rate != RATE)
		return err_at(e, d->name, 0, "--features needs %d samples per second, the sound "
			      "has %u", RATE, d->rate);
	double *v = fit_sound(a, o, k, t, d);
	if (d->n < (size_t)k->window)
		return err_at(e, d->name, 0, "the sound has %zu samples, one frame of "
			      "--features=%s needs %d", d->n, sample_features[o->features],
			      k->window);
	size_t frames = (d->n - (size_t)k->window) / (size_t)k->step + 1;
	d->v = anew(a, double, frames * (size_t)k->outputs);
	if (o->features == FEATURES_FRONTEND) {
		put_frontend(a, t, v, frames, d);
	} else {
		struct spectrum s;
		open_spectrum(a, o->features, &s);
		prepare_sound(o->features, v, d->n);
		for (size_t i = 0; i < frames; i++) {
			sum_bins(&s, v + i * (size_t)k->step);
			put_frame(&s, d->v + i * (size_t)k->outputs);
		}
	}
	d->n = frames * (size_t)k->outputs;
	d->rank = 1;
	d->dim[0] = (int64_t)d->n;
	d->list = true;
	d->rate = 0;
	return true;
}
