/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts real values to the input's integers with the arithmetic of the firmware (the
 * functions that tfl2c writes): divide by the scale in float32, round half away from
 * zero, add the zero point, clamp.
 */
#include "base/cli.h"
#include "base/fixed.h"
#include "base/little_endian.h"
#include "samples/samples.h"
#include "tflite/tflite.h"

#include <math.h>
#include <string.h>

struct limits {
	double min, max;
};

static bool
limits_of(int type, struct limits *l)
{
	switch (type) {
	case TFL_INT8: *l = (struct limits){ INT8_MIN, INT8_MAX }; break;
	case TFL_UINT8: *l = (struct limits){ 0, UINT8_MAX }; break;
	case TFL_INT16: *l = (struct limits){ INT16_MIN, INT16_MAX }; break;
	case TFL_INT32: *l = (struct limits){ INT32_MIN, INT32_MAX }; break;
	case TFL_INT64: /* the integers that a double holds exactly */
		*l = (struct limits){ -9007199254740992.0, 9007199254740992.0 };
		break;
	case TFL_BOOL: *l = (struct limits){ 0, 1 }; break;
	case TFL_FLOAT32: *l = (struct limits){ -INFINITY, INFINITY }; break;
	default: return false;
	}
	return true;
}

static bool
has_scale(const struct tfl_tensor *t)
{
	return t->quant.n_scale == 1 && t->quant.n_zero == 1 &&
	       t->type != TFL_FLOAT32 && isfinite(t->quant.scale[0]) &&
	       t->quant.scale[0] > 0;
}

void
tensor_range(const struct tfl_tensor *t, double *lo, double *hi)
{
	struct limits l = { 0 };
	(void)limits_of(t->type, &l);
	double s = 1, z = 0;
	if (has_scale(t)) {
		s = (double)t->quant.scale[0];
		z = (double)t->quant.zero[0];
	}
	*lo = (l.min - z) * s;
	*hi = (l.max - z) * s;
}

static void
store(uint8_t *p, int type, double q)
{
	float f = (float)q;
	uint32_t u;
	switch (type) {
	case TFL_INT8: *p = (uint8_t)(int8_t)q; break;
	case TFL_UINT8:
	case TFL_BOOL: *p = (uint8_t)q; break;
	case TFL_INT16: store_le16(p, (uint16_t)(int16_t)q); break;
	case TFL_INT32: store_le32(p, (uint32_t)(int32_t)q); break;
	case TFL_INT64: store_le64(p, (uint64_t)(int64_t)q); break;
	default:
		memcpy(&u, &f, sizeof(u));
		store_le32(p, u);
	}
}

/* the integer before clamping */
static double
quantized(const struct tfl_tensor *t, double v)
{
	if (t->type == TFL_FLOAT32)
		return v;
	if (!has_scale(t))
		return round(v);
	float q = (float)v / t->quant.scale[0];
	return round((double)q) + (double)t->quant.zero[0];
}

/* normalisation of the channels: (v - mean) * scale */
struct normal {
	int channels;
	double mean[MAX_CHANNELS], scale[MAX_CHANNELS];
};

static double
value_for_channel(const struct per_channel *p, int c, double otherwise)
{
	return p->n ? p->v[p->n == 1 ? 0 : c] : otherwise;
}

/* 8 bits from -1 to 1 reach -0.996 or 1.004 */
static double
nearly_whole(double v)
{
	return fabs(v - round(v)) < 0.02 ? round(v) : v;
}

static bool
make_normal(const struct sample_options *o, const struct tfl_tensor *t,
	    const struct data *d, struct normal *n, struct err *e)
{
	int last = t->rank ? t->dim[t->rank - 1] : 1;
	*n = (struct normal){ .channels = 1 };
	n->channels = o->scale.n > n->channels ? o->scale.n : n->channels;
	n->channels = o->mean.n > n->channels ? o->mean.n : n->channels;
	if ((o->scale.n > 1 && o->scale.n != last) ||
	    (o->mean.n > 1 && o->mean.n != last))
		return err_at(e, d->name, 0, "--scale or --mean has %d numbers, the input has "
			      "%d channels", n->channels, last);
	double lo, hi;
	tensor_range(t, &lo, &hi);
	/*
	 * Pixel values are used without normalisation only if the input's range spans at least
	 * 200, like that of pixels.  For a smaller range mkinput can't guess which
	 * normalisation the network was trained with.
	 */
	if (!o->scale.n && !o->mean.n && !o->range.n && d->max > 0 && has_scale(t) &&
	    !(hi - lo >= 200))
		return err_at(e, d->name, 0, "the input takes %g to %g: use --range=%g,%g, or "
			      "--scale and --mean, to convert pixels to such numbers", lo, hi,
			      nearly_whole(lo), nearly_whole(hi));
	if (o->range.n && !(d->max > 0))
		return err_at(e, d->name, 0, "--range works only with pictures");
	for (int c = 0; c < n->channels; c++) {
		n->scale[c] = value_for_channel(&o->scale, c, 1);
		n->mean[c] = value_for_channel(&o->mean, c, 0);
	}
	if (o->range.n) {
		n->scale[0] = (o->range.v[1] - o->range.v[0]) / d->max;
		n->mean[0] = n->scale[0] != 0 ? -o->range.v[0] / n->scale[0] : 0;
	}
	return true;
}

bool
fill_tensor(struct arena *a, const struct sample_options *o,
	    const struct tfl_tensor *t, const struct data *d,
	    struct filled *out, struct err *e)
{
	struct limits l;
	struct normal n = { .channels = 1, .scale = { 1 } };
	size_t size = (size_t)tfl_type_bytes(t->type);
	if (!limits_of(t->type, &l))
		return err_at(e, d->name, 0, "inputs of type %s are not supported",
			      tfl_type_name(t->type));
	if (!d->quantized && !make_normal(o, t, d, &n, e))
		return false;
	*out = (struct filled){ .n = d->n, .lo = INFINITY, .hi = -INFINITY };
	out->bytes = anew(a, uint8_t, d->n * size);
	for (size_t i = 0; i < d->n; i++) {
		size_t c = i % (size_t)n.channels;
		double v = (d->v[i] - n.mean[c]) * n.scale[c];
		double q = d->quantized ? v : quantized(t, v);
		if (isnan(v))
			return err_at(e, d->name, 0, "value %zu is not a number", i);
		if (d->quantized && (v < l.min || v > l.max || v != floor(v)) &&
		    t->type != TFL_FLOAT32)
			return err_at(e, d->name, 0, "value %zu is %g, which is not a value of "
				      "type %s", i, v, tfl_type_name(t->type));
		out->lo = v < out->lo ? v : out->lo;
		out->hi = v > out->hi ? v : out->hi;
		out->n_clipped += q < l.min || q > l.max;
		store(out->bytes + i * size, t->type,
		      q < l.min ? l.min : q > l.max ? l.max : q);
	}
	return true;
}

/* A few outliers are normal; many clipped values show that the range is wrong. */
void
warn_clipped(const char *name, const struct tfl_tensor *t, const struct filled *f)
{
	double lo, hi;
	if (f->n_clipped * 20 < f->n || !f->n_clipped)
		return;
	tensor_range(t, &lo, &hi);
	cli_note("warning", "%s: %zu of %zu values are clipped: they span %g to %g, "
			    "the input takes %g to %g; check --scale and --mean",
		 name, f->n_clipped, f->n, f->lo, f->hi, lo, hi);
}
