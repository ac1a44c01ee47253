/* SPDX-License-Identifier: Apache-2.0 */
/* Streams for U85's fast decoder (ethosu-weights(7) 22.5 and 24). */
#include "weights/weights.h"

#include <string.h>

enum {
	HEADER = 32, /* bytes */
	TABLE = 16,  /* values, of 9 bits each from bit 112 on */
	TABLE_BIT = 112,
	ENTRY_BITS = 9,
	RAW = 1, TWO_BITS = 2, /* of byte 0 */
	ADJUST = 13,	       /* byte: of the zero of raw weights */
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
	int16_t entry[TABLE]; /* the first that occur */
	int n;		      /* how many differ; TABLE + 1: more */
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

static struct values
collect(const int16_t *values, size_t n)
{
	struct values v = { 0 };
	for (size_t i = 0; i < n; i++) {
		int16_t w = values[i];
		if (i == 0 || w < v.least)
			v.least = w;
		if (i == 0 || w > v.greatest)
			v.greatest = w;
		if (v.n > TABLE || find(&v, w) >= 0)
			continue;
		if (v.n < TABLE)
			v.entry[v.n] = w;
		v.n++;
	}
	return v;
}

static void
put_table(uint8_t *p, const struct values *v)
{
	int n = v->n < TABLE ? v->n : TABLE;
	for (int i = 0; i < n; i++) {
		int16_t w = v->entry[i];
		uint32_t folded = (uint32_t)(w < 0 ? -w : w) << 1 | (w < 0);
		int bit = TABLE_BIT + ENTRY_BITS * i;
		uint32_t at = folded << (bit % 8);
		p[bit / 8] |= (uint8_t)at;
		p[bit / 8 + 1] |= (uint8_t)(at >> 8);
	}
}

/* what raw bytes need added so that they have their 8 bits */
static int
zero_adjust(const struct values *v)
{
	if (v->least < -128)
		return -128 - v->least;
	return v->greatest > 127 ? 127 - v->greatest : 0;
}

struct bytes
weights_fast_encode(struct arena *a, const int16_t *values, size_t n, bool plain)
{
	struct values v = collect(values, n);
	int bits = plain || v.n > TABLE ? 8 : v.n > 4 ? 4 : 2;
	if (bits == 8 && v.greatest - v.least > 255)
		return (struct bytes){ 0 };
	size_t bytes = fast_bytes(n, bits);
	uint8_t *p = anew(a, uint8_t, bytes);
	int adjust = bits == 8 && !plain ? zero_adjust(&v) : 0;
	p[0] = bits == 8 ? RAW : bits == 2 ? TWO_BITS : 0;
	p[ADJUST] = (uint8_t)adjust;
	put_table(p, &v);
	for (size_t i = 0; i < n; i++) {
		unsigned x = bits == 8 ? (uint8_t)(values[i] + adjust)
				       : (unsigned)find(&v, values[i]);
		size_t bit = i * (size_t)bits;
		p[HEADER + bit / 8] |= (uint8_t)(x << bit % 8);
	}
	return (struct bytes){ .p = p, .n = bytes };
}

/* ---- decoding ------------------------------------------------------------ */

static int16_t
table_entry(const uint8_t *p, int i)
{
	int bit = TABLE_BIT + ENTRY_BITS * i;
	uint32_t folded = (uint32_t)(load_le16(p + bit / 8) >> bit % 8) & 0x1ff;
	int16_t magnitude = (int16_t)(folded >> 1);
	return folded & 1 ? (int16_t)-magnitude : magnitude;
}

static bool
check_header(struct bytes in, struct err *e)
{
	if (in.n < HEADER)
		return err_set(e, "fast weight stream of %zu bytes has no header",
			       in.n);
	bool reserved = in.p[0] & ~(RAW | TWO_BITS);
	for (int i = 1; i < ADJUST; i++)
		reserved |= in.p[i] != 0;
	if (reserved)
		return err_set(e, "fast weight stream: reserved bits are not zero");
	return (in.p[0] & 3) != 3 ||
	       err_set(e, "fast weight stream: raw, and indices of 2 bits");
}

bool
weights_fast_decode(struct arena *a, struct bytes in, size_t n,
		    struct weights_values *out, struct err *e)
{
	*out = (struct weights_values){ 0 };
	if (!check_header(in, e))
		return false;
	int bits = in.p[0] & RAW ? 8 : in.p[0] & TWO_BITS ? 2 : 4;
	if (n > in.n * 4 || fast_bytes(n, bits) != in.n)
		return err_set(e, "fast weight stream of %zu bytes can't hold %zu "
				  "values of %d bits", in.n, n, bits);
	int16_t *v = anew(a, int16_t, n), table[TABLE];
	int16_t adjust = (int8_t)in.p[ADJUST];
	for (int i = 0; i < TABLE; i++)
		table[i] = table_entry(in.p, i);
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
