/* SPDX-License-Identifier: Apache-2.0 */
/* Fits numbers of any shape to the shape of the input, or refuses them. */
#include "samples/samples.h"

#include "tflite/tflite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* copies the dimensions that are not 1, returns how many */
static int
squeeze(const int64_t *dim, int rank, int64_t *out)
{
	int n = 0;
	for (int i = 0; i < rank; i++)
		if (dim[i] != 1)
			out[n++] = dim[i];
	return n;
}

static const char *
shape_text(struct arena *a, const int64_t *dim, int rank)
{
	const char *s = "";
	for (int i = 0; i < rank; i++)
		s = arena_printf(a, "%s%s%lld", s, i ? "," : "",
				 (long long)dim[i]);
	return arena_printf(a, "[%s]", s);
}

static int
tensor_dims(const struct tfl_tensor *t, int64_t *dim)
{
	for (int i = 0; i < t->rank; i++)
		dim[i] = t->dim[i];
	return t->rank;
}

bool
picture_shape(const struct tfl_tensor *t, int64_t hwc[3])
{
	const int32_t *d = t->dim;
	int rank = t->rank;
	if (rank == 4 && d[0] == 1) {
		d++;
		rank--;
	}
	if (rank == 3 && (d[2] == 1 || d[2] == 3)) {
		memcpy(hwc, (int64_t[]){ d[0], d[1], d[2] }, 3 * sizeof(*hwc));
		return true;
	}
	if (rank == 3 && d[0] == 1) {
		d++;
		rank--;
	}
	if (rank != 2 || d[0] == 1)
		return false;
	memcpy(hwc, (int64_t[]){ d[0], d[1], 1 }, 3 * sizeof(*hwc));
	return true;
}

/* ---- channels ------------------------------------------------------------ */

/*
 * Luma by ITU-R BT.601.  Samples of 8 bits use the integer arithmetic of Python's
 * imaging library (16-bit weights, half added), so that both give the same result.
 */
static double
luma(const double *p, double max)
{
	if (max != 255)
		return 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2];
	return floor((19595 * p[0] + 38470 * p[1] + 7471 * p[2] + 32768) /
		     65536);
}

static void
set_channels(struct arena *a, struct data *d, int64_t want)
{
	if (d->dim[2] == want)
		return;
	size_t pixels = (size_t)(d->dim[0] * d->dim[1]);
	double *v = anew(a, double, pixels * (size_t)want);
	for (size_t i = 0; i < pixels; i++)
		if (want == 1)
			v[i] = luma(d->v + 3 * i, d->max);
		else
			v[3 * i] = v[3 * i + 1] = v[3 * i + 2] = d->v[i];
	d->v = v;
	d->dim[2] = want;
	d->n = pixels * (size_t)want;
}

/* ---- size ------------------------------------------------------------------ */

/*
 * One direction of a resize: output i is the mean of source samples, each weighted by
 * the part of it that the output covers.
 *   bilinear: two neighbours around (i + 0.5) * n / m - 0.5
 *             (half-pixel centres, edges repeated)
 *   area:     [i * n / m, (i + 1) * n / m)
 */
struct span {
	int64_t first, n;
	double begin, end; /* covered range in source samples (area) */
	double at;	   /* position between first (0) and first + 1 (1) (bilinear) */
};

static struct span
span_of(enum resize method, int64_t i, int64_t from, int64_t to)
{
	double ratio = (double)from / (double)to;
	struct span s = { 0 };
	if (method == RESIZE_AREA) {
		s.begin = (double)i * ratio;
		s.end = fmin((double)(i + 1) * ratio, (double)from);
		s.first = (int64_t)s.begin;
		s.n = (int64_t)ceil(s.end) - s.first;
		return s;
	}
	double x = ((double)i + 0.5) * ratio - 0.5;
	x = fmax(0, fmin(x, (double)(from - 1)));
	s.first = (int64_t)x;
	s.at = x - (double)s.first;
	s.n = s.first + 1 < from ? 2 : 1;
	return s;
}

static double
weight(enum resize method, const struct span *s, int64_t k)
{
	if (method == RESIZE_BILINEAR)
		return s->n == 1 ? 1 : k ? s->at : 1 - s->at;
	double lo = fmax(s->begin, (double)(s->first + k));
	double hi = fmin(s->end, (double)(s->first + k + 1));
	return (hi - lo) / (s->end - s->begin);
}

/* resizes the middle dimension of [outer, from, inner] */
static double *
resize_along(struct arena *a, const double *v, enum resize method,
	     int64_t outer, int64_t from, int64_t to, int64_t inner)
{
	double *out = anew(a, double, (size_t)(outer * to * inner));
	for (int64_t i = 0; i < to; i++) {
		struct span s = span_of(method, i, from, to);
		for (int64_t k = 0; k < s.n; k++) {
			double w = weight(method, &s, k);
			for (int64_t o = 0; o < outer; o++) {
				const double *src =
				    v + (o * from + s.first + k) * inner;
				double *dst = out + (o * to + i) * inner;
				for (int64_t j = 0; j < inner; j++)
					dst[j] += w * src[j];
			}
		}
	}
	return out;
}

static bool
fit_picture(struct arena *a, const struct sample_options *o,
	    const struct tfl_tensor *t, struct data *d, struct err *e)
{
	int64_t hwc[3];
	if (!picture_shape(t, hwc)) {
		/*
		 * an input without a picture's shape takes the pixels in file order:
		 * as grey if it has one element a pixel, else with the file's channels
		 */
		int64_t pixels = d->dim[0] * d->dim[1];
		if (tfl_elements(t) == pixels)
			set_channels(a, d, 1);
		return true;
	}
	set_channels(a, d, hwc[2]);
	if (d->dim[0] == hwc[0] && d->dim[1] == hwc[1])
		return true;
	if (!o->resize)
		return err_at(e, d->name, 0, "the picture has %lld by %lld pixels, the input "
			      "%lld by %lld: use --resize", (long long)d->dim[1],
			      (long long)d->dim[0], (long long)hwc[1], (long long)hwc[0]);
	int64_t h = hwc[0], w = hwc[1], c = d->dim[2];
	if (w != d->dim[1])
		d->v = resize_along(a, d->v, o->resize, d->dim[0], d->dim[1], w, c);
	if (h != d->dim[0])
		d->v = resize_along(a, d->v, o->resize, 1, d->dim[0], h, w * c);
	d->dim[0] = h;
	d->dim[1] = w;
	d->n = (size_t)(h * w * c);
	return true;
}

/*
 * Refuses sound samples where the input most likely takes features.  Most audio
 * networks take cepstra (MFCC) or a spectrum.  Such an input has several rows, or a
 * value range far from that of samples.  Without this check it would accept samples
 * silently.
 */
static bool
check_sound(struct arena *a, const struct sample_options *o, const struct tfl_tensor *t,
	    const struct data *d, struct err *e)
{
	enum { FEW_STEPS = 32 }; /* of the 256 steps of 8 bits */
	int64_t dim[TFL_MAX_RANK], rows[TFL_MAX_RANK];
	int rank = tensor_dims(t, dim);
	double lo, hi;
	if (squeeze(dim, rank, rows) > 1)
		return err_at(e, d->name, 0, "these are sound samples, but the input of shape "
			      "%s probably takes features (MFCC, spectrum): use --features, or "
			      "--from=sound to take the samples", shape_text(a, dim, rank));
	if (o->scale.n || o->mean.n || d->quantized || t->quant.n_scale != 1 ||
	    2 / t->quant.scale[0] >= FEW_STEPS)
		return true;
	tensor_range(t, &lo, &hi);
	return err_at(e, d->name, 0, "these are sound samples, -1 to 1 or %.3g steps of the "
		      "input, but the input takes %g to %g, probably features (MFCC, spectrum): "
		      "use --features, --scale, or --from=sound to take the samples",
		      2 / (double)t->quant.scale[0], lo, hi);
}

bool
fit_data(struct arena *a, const struct sample_options *o, const struct tfl_tensor *t,
	 struct data *d, struct err *e)
{
	if (d->max > 0 && !fit_picture(a, o, t, d, e))
		return false;
	if (d->sound && !check_sound(a, o, t, d, e))
		return false;
	int64_t want[TFL_MAX_RANK], have[TFL_MAX_RANK], dim[TFL_MAX_RANK];
	int rank = tensor_dims(t, dim);
	int n_want = squeeze(dim, rank, want);
	int n_have = squeeze(d->dim, d->rank, have);
	int64_t n = tfl_elements(t);
	if (d->list && o->fit_length && (int64_t)d->n != n) {
		/* cut the samples, or pad them with zeros (silence) */
		double *v = anew(a, double, (size_t)n);
		for (size_t i = 0; i < (size_t)n && i < d->n; i++) /* d->n may be 0 */
			v[i] = d->v[i];
		d->v = v;
		d->n = (size_t)n;
		d->rank = 1;
		d->dim[0] = n;
	}
	if ((int64_t)d->n != n)
		return err_at(e, d->name, 0, "the file has %zu values of shape %s, the input "
			      "needs %lld of shape %s", d->n, shape_text(a, d->dim, d->rank),
			      (long long)n, shape_text(a, dim, rank));
	bool equal = n_want == n_have &&
		     !memcmp(want, have, (size_t)n_want * sizeof(*want));
	/* if one of the shapes is flat, the order of the other's dimensions is free */
	return equal || d->list || n_want <= 1 || n_have <= 1 ||
	       err_at(e, d->name, 0, "shape %s does not match the input's %s",
		      shape_text(a, d->dim, d->rank), shape_text(a, dim, rank));
}
