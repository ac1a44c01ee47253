/* SPDX-License-Identifier: Apache-2.0 */
/* Streams for U85's fast decoder (ethosu-weights(7) 22.5 and 24). */
#include "weights/weights.h"

#include "base/little_endian.h"

#include <assert.h>
#include <string.h>

enum {
	HEADER = 32, /* bytes */
	TABLE = 16,  /* entries of 9 bits each, from bit 112 on */
	TABLE_BIT = 112,
	ENTRY_BITS = 9,
	RAW = 1, TWO_BITS = 2, /* flags in byte 0 */
	ADJUST = 13,	       /* byte that holds the amount subtracted from raw weights */
};

static size_t
fast_bytes(size_t n, int bits)
{
	size_t bytes = HEADER + (n * (size_t)bits + 7) / 8;
	return (bytes + WEIGHTS_FAST_ALIGN - 1) / WEIGHTS_FAST_ALIGN *
	       WEIGHTS_FAST_ALIGN;
}

/* ---- encoding ------------------------------------------------------------ */

struct values {
	int16_t entry[TABLE]; /* the first distinct values, in order of occurrence */
	int n;		      /* number of distinct values; TABLE + 1: more than TABLE */
	int16_t least, greatest;
};

static int
find(const struct values *v, int16_t value)
{
	int n = v->n < TABLE ? v->n : TABLE;
	for (int i = 0; i < n; i++)
		if (v->entry[i] == value)
			return i;
	return -1;
}

static void
add_value(struct values *v, int16_t w)
{
	v->least = w < v->least ? w : v->least;
	v->greatest = w > v->greatest ? w : v->greatest;
	if (v->n > TABLE || find(v, w) >= 0)
		return;
	if (v->n < TABLE)
		v->entry[v->n] = w;
	v->n++;
}

/*
 * Bits of a table index, or 8 for a raw weight; 0: a byte cannot hold the range of
 * weights.
 */
static int
bits_of(const struct values *v, bool plain)
{
	if (!plain && v->n <= TABLE)
		return v->n > 4 ? 4 : 2;
	return v->greatest - v->least > 255 ? 0 : 8;
}

struct bytes
weights_fast_encode(struct arena *a, const int16_t *values, size_t n, bool plain)
{
	struct values v = { .least = INT16_MAX, .greatest = INT16_MIN };
	for (size_t i = 0; i < n; i++)
		add_value(&v, values[i]);
	int bits = bits_of(&v, plain);
	if (!bits)
		return (struct bytes){ 0 };
	size_t bytes = fast_bytes(n, bits);
	uint8_t *p = anew(a, uint8_t, bytes);
	int adjust = 0; /* moves raw weights into the range of int8 */
	if (bits == 8 && !plain)
		adjust = v.least < -128     ? -128 - v.least
			 : v.greatest > 127 ? 127 - v.greatest : 0;
	p[0] = bits == 8 ? RAW : bits == 2 ? TWO_BITS : 0;
	p[ADJUST] = (uint8_t)adjust;
	for (int i = 0; i < v.n && i < TABLE; i++) {
		int16_t w = v.entry[i];
		uint32_t folded = (uint32_t)(w < 0 ? -w : w) << 1 | (w < 0);
		int bit = TABLE_BIT + ENTRY_BITS * i;
		uint32_t at = folded << (bit % 8);
		p[bit / 8] |= (uint8_t)at;
		p[bit / 8 + 1] |= (uint8_t)(at >> 8);
	}
	for (size_t i = 0; i < n; i++) {
		unsigned x = bits == 8 ? (uint8_t)(values[i] + adjust)
				       : (unsigned)find(&v, values[i]);
		size_t bit = i * (size_t)bits;
		p[HEADER + bit / 8] |= (uint8_t)(x << bit % 8);
	}
	return (struct bytes){ .p = p, .n = bytes };
}

/* ---- decoding ------------------------------------------------------------ */

bool
weights_fast_decode(struct arena *a, struct bytes in, size_t n,
		    struct weights_values *out, struct err *e)
{
	*out = (struct weights_values){ 0 };
	if (in.n < HEADER)
		return err_set(e, "fast weight stream of %zu bytes has no header",
			       in.n);
	bool reserved = in.p[0] & ~(RAW | TWO_BITS);
	for (int i = 1; i < ADJUST; i++)
		reserved |= in.p[i] != 0;
	if (reserved)
		return err_set(e, "fast weight stream: reserved bits are not zero");
	if ((in.p[0] & 3) == 3)
		return err_set(e, "fast weight stream: raw, and indices of 2 bits");
	int bits = in.p[0] & RAW ? 8 : in.p[0] & TWO_BITS ? 2 : 4;
	if (n > in.n * 4 || fast_bytes(n, bits) != in.n)
		return err_set(e, "fast weight stream of %zu bytes can't hold %zu "
				  "values of %d bits", in.n, n, bits);
	int16_t *v = anew(a, int16_t, n), table[TABLE];
	int16_t adjust = (int8_t)in.p[ADJUST];
	for (int i = 0; i < TABLE; i++) {
		int bit = TABLE_BIT + ENTRY_BITS * i;
		uint32_t folded = (uint32_t)(load_le16(in.p + bit / 8) >> bit % 8) & 0x1ff;
		int16_t magnitude = (int16_t)(folded >> 1);
		table[i] = folded & 1 ? (int16_t)-magnitude : magnitude;
	}
	for (size_t i = 0; i < n; i++) {
		size_t bit = i * (size_t)bits;
		unsigned x = in.p[HEADER + bit / 8] >> bit % 8;
		v[i] = bits == 8 ? (int16_t)((int8_t)x - adjust)
				 : table[x & ((1u << bits) - 1)];
	}
	*out = (struct weights_values){ .v = v, .n = n };
	return true;
}

/* ---- several streams in one ---------------------------------------------- */

void
weights_fast_join(const int16_t *const *streams, int n_streams, size_t count,
		  size_t chunk, int16_t *joined)
{
	for (size_t at = 0; at < count; at += chunk) {
		size_t n = count - at < chunk ? count - at : chunk;
		for (int k = 0; k < n_streams; k++, joined += n)
			memcpy(joined, streams[k] + at, n * sizeof(*joined));
	}
}

void
weights_fast_split(const int16_t *joined, int n_streams, size_t count,
		   size_t chunk, int16_t *const *streams)
{
	for (size_t at = 0; at < count; at += chunk) {
		size_t n = count - at < chunk ? count - at : chunk;
		for (int k = 0; k < n_streams; k++, joined += n)
			memcpy(streams[k] + at, joined, n * sizeof(*joined));
	}
}

/* ---- weights of a view ------------------------------------------------------- */

static size_t
count_of(const struct weights_view *v, const struct weights_order *ord)
{
	return weights_order_count(ord, v->h, v->w, v->i);
}

struct bytes
weights_fast_encode_view(struct arena *a, const struct weights_view *v,
			 const struct weights_order *ord)
{
	enum { MOST = 4 };
	struct arena *scratch = arena_open();
	size_t count = count_of(v, ord), n = (size_t)ord->cores;
	int16_t *stream[MOST], *joined = anew(scratch, int16_t, count * n + 1);
	assert(ord->quads && n <= MOST);
	for (size_t k = 0; k < n; k++) {
		struct weights_order o = *ord;
		o.core = (int32_t)k;
		stream[k] = anew(scratch, int16_t, count + 1);
		weights_reorder(v, &o, stream[k]);
	}
	weights_fast_join((const int16_t *const *)stream, (int)n, count,
			  weights_fast_chunk(ord), joined);
	struct bytes out = weights_fast_encode(a, joined, count * n, ord->sparse != 0);
	arena_close(scratch);
	return out;
}

size_t
weights_fast_cost_view(const struct weights_view *v, const struct weights_order *ord)
{
	struct values seen = { .least = INT16_MAX, .greatest = INT16_MIN };
	size_t count = count_of(v, ord) * (size_t)ord->cores;
	size_t own = (size_t)(ord->end - ord->begin) * (size_t)v->h * (size_t)v->w *
		     (size_t)v->i;
	if (own < count) /* the stream contains padding zeros */
		add_value(&seen, 0);
	for (int32_t o = ord->begin; o < ord->end; o++) {
		/* Further values cannot change the result if the table is full: int8 weights
		 * without zero points never span more than 255. */
		if (seen.n > TABLE && !v->n_zero && !v->is_unsigned)
			break;
		for (int32_t y = 0; y < v->h; y++)
			for (int32_t x = 0; x < v->w; x++)
				for (int32_t i = 0; i < v->i; i++)
					add_value(&seen, (int16_t)weights_value(v, o, y, x, i));
	}
	int bits = bits_of(&seen, ord->sparse != 0);
	return bits ? fast_bytes(count, bits) : 0;
}
