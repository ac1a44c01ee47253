/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads pictures: the six variants of the portable any-map (P1 to P6), and PNG if built
 * with libpng.
 */
#include "samples/samples.h"

#include "base/little_endian.h"

#include <ctype.h>
#include <string.h>

#ifdef HAVE_LIBPNG
#include <png.h>
#endif

/* 16 million pixels: more than any input; 384 MB of doubles in colour */
static const int64_t max_pixels = 1 << 24;

static bool
is_png(struct bytes f)
{
	return f.n > 8 && !memcmp(f.p, "\x89PNG\r\n\x1a\n", 8);
}

bool
is_picture(struct bytes f)
{
	return is_png(f) || (f.n > 3 && f.p[0] == 'P' && f.p[1] >= '1' &&
			     f.p[1] <= '6' && isspace(f.p[2]));
}

static bool
set_shape(struct arena *a, int64_t h, int64_t w, int64_t c, struct data *d,
	  struct err *e)
{
	if (h < 1 || w < 1 || h > max_pixels / w)
		return err_at(e, d->name, 0, "the picture has %lld by %lld pixels; at most %lld "
			      "pixels are supported", (long long)w, (long long)h,
			      (long long)max_pixels);
	d->rank = 3;
	d->dim[0] = h;
	d->dim[1] = w;
	d->dim[2] = c;
	d->n = (size_t)(h * w * c);
	d->v = anew(a, double, d->n);
	return true;
}

/* ---- PNM ------------------------------------------------------------------ */

static int
next_char(struct reader *r)
{
	int c = reader_u8(r);
	while (c == '#' && !r->overrun)
		do
			c = reader_u8(r);
		while (c != '\n' && !r->overrun);
	return r->overrun ? -1 : c;
}

/* reads a decimal number and one character after it; -1 if there is no number */
static int32_t
next_number(struct reader *r)
{
	int c = next_char(r);
	while (c >= 0 && isspace(c))
		c = next_char(r);
	if (c < 0 || !isdigit(c))
		return -1;
	int32_t n = 0;
	for (; c >= 0 && isdigit(c) && n < 100000000; c = next_char(r))
		n = n * 10 + (c - '0');
	/* in the text variants the file may end directly after the last sample */
	if (c < 0)
		r->overrun = false;
	return c >= 0 && isdigit(c) ? -1 : n;
}

static int
next_bit(struct reader *r)
{
	int c = next_char(r);
	while (c >= 0 && isspace(c))
		c = next_char(r);
	return c - '0';
}

/* big-endian */
static int32_t
next_word(struct reader *r)
{
	int32_t high = reader_u8(r);
	return high << 8 | reader_u8(r);
}

static bool
read_samples(struct reader *r, char variant, struct data *d)
{
	for (size_t i = 0; i < d->n; i++) {
		int32_t v = variant == '1'	  ? next_bit(r)
			    : variant <= '3' ? next_number(r)
			    : d->max > 255
				? next_word(r)
				: reader_u8(r);
		if (r->overrun || v < 0 || v > d->max)
			return false;
		/* in a bit map 1 is black */
		d->v[i] = variant == '1' ? 1 - v : v;
	}
	return true;
}

/* eight pixels per byte; every row begins with a new byte */
static bool
read_bits(struct reader *r, struct data *d)
{
	size_t w = (size_t)d->dim[1];
	unsigned byte = 0;
	for (size_t i = 0; i < d->n; i++) {
		size_t x = i % w;
		if (x % 8 == 0)
			byte = reader_u8(r);
		d->v[i] = !(byte >> (7 - x % 8) & 1);
	}
	return !r->overrun;
}

static bool
load_pnm(struct arena *a, struct bytes file, struct data *d, struct err *e)
{
	struct reader r = reader_init(file.p, file.n);
	(void)reader_u8(&r);
	char variant = (char)reader_u8(&r);
	int32_t w = next_number(&r), h = next_number(&r);
	bool bits = variant == '1' || variant == '4';
	int32_t max = bits ? 1 : next_number(&r);
	if (w < 1 || h < 1 || max < 1 || max > 65535)
		return err_at(e, d->name, 0, "malformed P%c header", variant);
	int64_t c = variant == '3' || variant == '6' ? 3 : 1;
	/* a text needs at least one character per sample, a bit map one bit */
	int64_t samples = (int64_t)w * h * c;
	if (samples / 8 > (int64_t)file.n)
		return err_at(e, d->name, 0, "%d by %d pixels do not match the file's %zu bytes",
			      w, h, file.n);
	if (!set_shape(a, h, w, c, d, e))
		return false;
	d->max = max;
	bool ok = variant == '4' ? read_bits(&r, d) : read_samples(&r, variant, d);
	return ok || err_at(e, d->name, 0, "pixels are cut short or above %d", max);
}

/* ---- PNG ------------------------------------------------------------------- */

#ifdef HAVE_LIBPNG
/*
 * Returns the file without chunks that describe colours.  libpng would convert the samples by
 * these chunks, but the programs that train networks read the stored samples.
 */
static struct bytes
without_colours(struct arena *a, struct bytes file)
{
	enum { HEAD = 8, AROUND = 12 /* length, type and checksum of a chunk */ };
	static const char *const drop[] = { "gAMA", "cHRM", "sRGB", "iCCP" };
	uint8_t *v = arena_alloc(a, file.n, 1);
	size_t at = HEAD, n = HEAD;
	memcpy(v, file.p, HEAD);
	while (file.n - at >= AROUND) {
		const uint8_t *p = file.p + at;
		size_t size = ((size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3]);
		bool dropped = false;
		if (size > file.n - at - AROUND)
			break;
		for (size_t i = 0; i < ARRAY_LEN(drop); i++)
			dropped |= !memcmp(p + 4, drop[i], 4);
		if (!dropped) {
			memcpy(v + n, p, size + AROUND);
			n += size + AROUND;
		}
		at += size + AROUND;
	}
	memcpy(v + n, file.p + at, file.n - at); /* a chunk that is cut short */
	return (struct bytes){ .p = v, .n = n + file.n - at };
}

static bool
read_png(struct arena *a, png_image *p, struct data *d, struct err *e)
{
	bool colour = p->format & PNG_FORMAT_FLAG_COLOR;
	int c = colour ? 3 : 1;
	p->format = colour ? PNG_FORMAT_RGBA : PNG_FORMAT_GA;
	if (!set_shape(a, p->height, p->width, c, d, e))
		return false;
	uint8_t *row = anew(a, uint8_t, PNG_IMAGE_SIZE(*p));
	if (!png_image_finish_read(p, NULL, row, 0, NULL))
		return err_at(e, d->name, 0, "%s", p->message);
	d->max = 255;
	/* drop the alpha channel */
	for (size_t i = 0; i < d->n; i++)
		d->v[i] = row[i / (size_t)c * (size_t)(c + 1) + i % (size_t)c];
	return true;
}
#endif

static bool
load_png(struct arena *a, struct bytes file, struct data *d, struct err *e)
{
#ifdef HAVE_LIBPNG
	png_image p = { .version = PNG_IMAGE_VERSION };
	struct bytes plain = without_colours(a, file);
	if (!png_image_begin_read_from_memory(&p, plain.p, plain.n))
		return err_at(e, d->name, 0, "%s", p.message);
	p.flags |= PNG_IMAGE_FLAG_16BIT_sRGB; /* 16 bits are scaled to 8 without a curve */
	bool ok = read_png(a, &p, d, e);
	png_image_free(&p);
	return ok;
#else
	(void)a;
	(void)file;
	return err_at(e, d->name, 0, "this program was built without libpng; convert the "
		      "picture to PPM");
#endif
}

bool
load_picture(struct arena *a, struct bytes file, struct data *d, struct err *e)
{
	if (!is_picture(file))
		return err_at(e, d->name, 0, "unknown picture format: PGM, PPM, PBM and PNG are "
			      "supported");
	return is_png(file) ? load_png(a, file, d, e)
			    : load_pnm(a, file, d, e);
}
