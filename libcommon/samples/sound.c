/* SPDX-License-Identifier: Apache-2.0 */
/* Reads WAV files: PCM of 8 to 32 bits and float32, as real values in [-1, 1). */
#include "samples/samples.h"

#include "base/little_endian.h"

#include <string.h>

enum { WAVE_PCM = 1, WAVE_FLOAT = 3, WAVE_EXTENSIBLE = 0xfffe };

struct wave {
	unsigned format, channels, bits, rate;
	struct bytes data;
};

static bool
is_wav(struct bytes f)
{
	return f.n >= 12 && !memcmp(f.p, "RIFF", 4) &&
	       !memcmp(f.p + 8, "WAVE", 4);
}

bool
is_sound(struct bytes f)
{
	return is_wav(f) || (f.n > 12 && (!memcmp(f.p, "fLaC", 4) ||
					  !memcmp(f.p, "OggS", 4) ||
					  !memcmp(f.p, "FORM", 4)));
}

static void
read_format(struct bytes chunk, struct wave *w)
{
	struct reader r = reader_init(chunk.p, chunk.n);
	w->format = reader_u16(&r);
	w->channels = reader_u16(&r);
	w->rate = reader_u32(&r);
	(void)reader_u32(&r); /* bytes per second */
	(void)reader_u16(&r); /* bytes per frame */
	w->bits = reader_u16(&r);
	if (w->format == WAVE_EXTENSIBLE) {
		(void)reader_take(&r, 8); /* size, valid bits, speaker mask */
		w->format = reader_u16(&r); /* first two bytes of the sub-format's GUID */
	}
	if (r.overrun)
		w->format = 0;
}

/* A chunk is a name of four letters, a length, and content padded to an even length. */
static void
read_chunks(struct bytes file, struct wave *w)
{
	struct reader r = reader_init(file.p, file.n);
	(void)reader_take(&r, 12);
	while (!r.overrun && r.n - r.at >= 8) {
		const uint8_t *id = reader_take(&r, 4);
		uint32_t n = reader_u32(&r);
		/* the length is too large if the recording was interrupted */
		if (n > r.n - r.at)
			n = (uint32_t)(r.n - r.at);
		struct bytes chunk = { .p = reader_take(&r, n), .n = n };
		if (!memcmp(id, "fmt ", 4))
			read_format(chunk, w);
		else if (!memcmp(id, "data", 4) && !w->data.p)
			w->data = chunk;
		if (n & 1 && r.at < r.n)
			(void)reader_u8(&r);
	}
}

static double
sample_at(const struct wave *w, const uint8_t *p)
{
	switch (w->bits) {
	case 8: return (p[0] - 128) / 128.0;
	case 16: return (int16_t)load_le16(p) / 32768.0;
	case 24:
		return (int32_t)((uint32_t)p[0] << 8 | (uint32_t)p[1] << 16 |
				 (uint32_t)p[2] << 24) / 2147483648.0;
	default:
		return w->format == WAVE_FLOAT
			   ? (double)load_f32(p)
			   : (int32_t)load_le32(p) / 2147483648.0;
	}
}

bool
load_sound(struct arena *a, struct bytes file, struct data *d, struct err *e)
{
	struct wave w = { 0 };
	if (!is_wav(file))
		return load_sndfile(a, file, d, e);
	read_chunks(file, &w);
	bool pcm = w.format == WAVE_PCM && w.bits >= 8 && w.bits <= 32 &&
		   w.bits % 8 == 0;
	bool ieee = w.format == WAVE_FLOAT && w.bits == 32;
	if ((!pcm && !ieee) || !w.channels || !w.data.p)
		return err_at(e, d->name, 0, "WAV of format %u with %u channels of %u bits is "
			      "not supported: convert it to PCM or float32", w.format, w.channels,
			      w.bits);
	size_t bytes = w.bits / 8, frame = bytes * w.channels;
	d->n = w.data.n / frame;
	d->rate = w.rate;
	d->rank = 1;
	d->dim[0] = (int64_t)d->n;
	d->list = true;
	d->v = anew(a, double, d->n);
	for (size_t i = 0; i < d->n; i++) {
		const uint8_t *p = w.data.p + i * frame;
		double sum = 0;
		for (unsigned c = 0; c < w.channels; c++)
			sum += sample_at(&w, p + c * bytes);
		d->v[i] = sum / w.channels;
	}
	return true;
}
