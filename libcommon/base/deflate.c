/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compresses into one block of deflate (RFC 1951) with fixed codes, and decompresses
 * it.  To find a match, the compressor compares the last MOST_TRIED positions whose
 * three bytes have the same hash.
 */
#include "base/deflate.h"

#include "base/text.h"

enum { MIN_MATCH = 3, MAX_MATCH = 258, WINDOW = 32768, HASH_BITS = 15,
       MOST_TRIED = 32, END_OF_BLOCK = 256, FIRST_LENGTH = 257 };

struct bits {
	struct text *t;
	uint64_t held;
	int n;
};

/* appends the n low bits of v; deflate fills each byte from its lowest bit */
static void
put_bits(struct bits *b, uint32_t v, int n)
{
	b->held |= (uint64_t)v << b->n;
	for (b->n += n; b->n >= 8; b->n -= 8, b->held >>= 8)
		text_putc(b->t, (char)(b->held & 0xff));
}

/* codes are stored with their highest bit first: 3.1.1 */
static void
put_code(struct bits *b, uint32_t code, int n)
{
	uint32_t v = 0;
	for (int i = 0; i < n; i++)
		v |= (code >> i & 1) << (n - 1 - i);
	put_bits(b, v, n);
}

/* the fixed codes of literals and lengths: 3.2.6 */
static void
put_symbol(struct bits *b, uint32_t s)
{
	if (s < 144)
		put_code(b, 0x30 + s, 8);
	else if (s < 256)
		put_code(b, 0x190 + s - 144, 9);
	else if (s < 280)
		put_code(b, s - 256, 7);
	else
		put_code(b, 0xc0 + s - 280, 8);
}

/*
 * Lengths from 3 and distances from 1 are divided into classes.  After the first 2 *
 * group classes the width of a class doubles every `group` classes: 3.2.5.
 */
struct class {
	uint32_t number, rest;
	int extra; /* number of bits that store rest */
};

static struct class
class_of(uint32_t v, int group_bits)
{
	uint32_t group = 1u << group_bits;
	struct class c = { .number = v };
	while (v >> (c.extra + group_bits + 1))
		c.extra++;
	if (v < 2 * group)
		return (struct class){ .number = v };
	c.rest = v & ((1u << c.extra) - 1);
	c.number = (uint32_t)c.extra * group + (v >> c.extra);
	return c;
}

static void
put_match(struct bits *b, uint32_t length, uint32_t distance)
{
	struct class l = class_of(length - MIN_MATCH, 2);
	struct class d = class_of(distance - 1, 1);
	if (length == MAX_MATCH) /* the longest length has a class of its own */
		l = (struct class){ .number = 28 };
	put_symbol(b, FIRST_LENGTH + l.number);
	put_bits(b, l.rest, l.extra);
	put_code(b, d.number, 5);
	put_bits(b, d.rest, d.extra);
}

static uint32_t
hash_of(const uint8_t *p)
{
	uint32_t v = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
	return v * 2654435761u >> (32 - HASH_BITS);
}

static uint32_t
match_length(const uint8_t *a, const uint8_t *b, size_t most)
{
	uint32_t n = 0;
	while (n < most && n < MAX_MATCH && a[n] == b[n])
		n++;
	return n;
}

/*
 * Earlier positions of every three bytes: `last` by their hash, `before` by position,
 * the previous position with the same hash.
 */
struct places {
	uint32_t *last, *before; /* position + 1; 0: none */
};

struct match {
	uint32_t length;
	size_t at;
};

static void
note_place(struct places *p, struct bytes in, size_t i)
{
	if (in.n - i < MIN_MATCH)
		return;
	uint32_t *slot = &p->last[hash_of(in.p + i)];
	p->before[i % WINDOW] = *slot;
	*slot = (uint32_t)(i + 1);
}

static struct match
longest_match(const struct places *p, struct bytes in, size_t i)
{
	struct match best = { 0 };
	if (in.n - i < MIN_MATCH)
		return best;
	uint32_t from = p->last[hash_of(in.p + i)];
	for (int k = 0; k < MOST_TRIED && from && i + 1 - from < WINDOW; k++) {
		uint32_t n = match_length(in.p + from - 1, in.p + i, in.n - i);
		if (n > best.length)
			best = (struct match){ .length = n, .at = from - 1 };
		uint32_t next = p->before[(from - 1) % WINDOW];
		from = next < from ? next : 0; /* a later position means that the entry was
						* overwritten */
	}
	return best;
}

void
deflate_bytes(struct arena *a, struct text *t, struct bytes in)
{
	struct places places = { .last = anew(a, uint32_t, (size_t)1 << HASH_BITS),
				 .before = anew(a, uint32_t, WINDOW) };
	struct bits b = { .t = t };
	put_bits(&b, 1, 1); /* marks the last block */
	put_bits(&b, 1, 2); /* type: fixed codes */
	for (size_t i = 0; i < in.n;) {
		struct match m = longest_match(&places, in, i);
		size_t n = m.length < MIN_MATCH ? 1 : m.length;
		if (n == 1)
			put_symbol(&b, in.p[i]);
		else
			put_match(&b, m.length, (uint32_t)(i - m.at));
		for (; n; n--)
			note_place(&places, in, i++);
	}
	put_symbol(&b, END_OF_BLOCK);
	put_bits(&b, 0, 7); /* pads to a whole byte */
}

/* ---- decompression --------------------------------------------------------------- */

struct bits_in {
	struct bytes in;
	size_t at; /* position in bits; bits behind the end read as 0, and `at` exceeds the
		    * input */
};

static uint32_t
take_bits(struct bits_in *b, int n)
{
	uint32_t v = 0;
	for (int i = 0; i < n; i++, b->at++)
		if (b->at / 8 < b->in.n)
			v |= (uint32_t)(b->in.p[b->at / 8] >> b->at % 8 & 1) << i;
	return v;
}

static uint32_t
take_code(struct bits_in *b, int n)
{
	uint32_t v = 0;
	for (int i = 0; i < n; i++)
		v = v << 1 | take_bits(b, 1);
	return v;
}

/* RFC 1951, 3.2.6: the first bits of a code determine its length */
static uint32_t
take_symbol(struct bits_in *b)
{
	uint32_t v = take_code(b, 7);
	if (v < 0x18)
		return v + 256;
	v = v << 1 | take_code(b, 1);
	if (v < 0xc0)
		return v - 0x30;
	if (v < 0xc8)
		return v - 0xc0 + 280;
	return (v << 1 | take_code(b, 1)) - 0x190 + 144;
}

/* the inverse of class_of() */
static uint32_t
take_class(struct bits_in *b, uint32_t number, int group_bits)
{
	uint32_t group = 1u << group_bits;
	if (number < 2 * group)
		return number;
	int extra = (int)(number / group - 1);
	return ((group + number % group) << extra) + take_bits(b, extra);
}

bool
inflate_bytes(struct bytes in, uint8_t *out, size_t n)
{
	enum { LONGEST = FIRST_LENGTH + 28, DISTANCES = 30 };
	struct bits_in b = { .in = in };
	size_t at = 0;
	if (take_bits(&b, 3) != 3) /* the last block, with fixed codes */
		return false;
	for (;;) {
		uint32_t s = take_symbol(&b);
		if (b.at > 8 * in.n || s > LONGEST)
			return false;
		if (s == END_OF_BLOCK)
			return at == n;
		if (s < END_OF_BLOCK) {
			if (at == n)
				return false;
			out[at++] = (uint8_t)s;
			continue;
		}
		uint32_t length = s == LONGEST ? MAX_MATCH
					       : MIN_MATCH + take_class(&b, s - FIRST_LENGTH, 2);
		uint32_t code = take_code(&b, 5);
		if (code >= DISTANCES)
			return false;
		uint32_t distance = take_class(&b, code, 1) + 1;
		if (distance > at || length > n - at)
			return false;
		for (; length; length--, at++)
			out[at] = out[at - distance];
	}
}
