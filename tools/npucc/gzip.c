/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip (RFC 1952) with one block of deflate (RFC 1951): matches from a table of the
 * last place of every three bytes, fixed codes.  Half of what others reach, in a
 * page; no time and no name in its header, so that equal input gives equal bytes.
 */
#include "npucc.h"

enum { MIN_MATCH = 3, MAX_MATCH = 258, WINDOW = 32768, HASH_BITS = 15,
       END_OF_BLOCK = 256, FIRST_LENGTH = 257 };

struct bits {
	struct text *t;
	uint64_t held;
	int n;
};

/* the lowest bit first */
static void
put_bits(struct bits *b, uint32_t v, int n)
{
	b->held |= (uint64_t)v << b->n;
	for (b->n += n; b->n >= 8; b->n -= 8, b->held >>= 8)
		text_putc(b->t, (char)(b->held & 0xff));
}

/* codes go the other way round: 3.1.1 */
static void
put_code(struct bits *b, uint32_t code, int n)
{
	uint32_t v = 0;
	for (int i = 0; i < n; i++)
		v |= (code >> i & 1) << (n - 1 - i);
	put_bits(b, v, n);
}

/* the fixed codes: 3.2.6 */
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
 * Lengths from 3 and distances from 1 fall into classes whose width doubles every
 * `group` classes, after the first 2 * group; 3.2.5.
 */
struct class {
	uint32_t number, rest;
	int extra; /* bits of rest */
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
	if (length == MAX_MATCH) /* a class of its own */
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

static void
deflate(struct arena *a, struct text *t, struct bytes in)
{
	size_t *last = anew(a, size_t, (size_t)1 << HASH_BITS); /* place + 1 */
	struct bits b = { .t = t };
	put_bits(&b, 1, 1); /* the last block */
	put_bits(&b, 1, 2); /* of fixed codes */
	for (size_t i = 0; i < in.n;) {
		uint32_t length = 0;
		size_t from = 0;
		if (in.n - i >= MIN_MATCH) {
			size_t *slot = &last[hash_of(in.p + i)];
			from = *slot;
			*slot = i + 1;
		}
		if (from && i + 1 - from <= WINDOW)
			length = match_length(in.p + from - 1, in.p + i, in.n - i);
		if (length < MIN_MATCH) {
			put_symbol(&b, in.p[i++]);
			continue;
		}
		put_match(&b, length, (uint32_t)(i + 1 - from));
		i += length;
	}
	put_symbol(&b, END_OF_BLOCK);
	put_bits(&b, 0, 7); /* to a whole byte */
}

static uint32_t
crc32_of(struct bytes in)
{
	uint32_t crc = UINT32_MAX;
	for (size_t i = 0; i < in.n; i++) {
		crc ^= in.p[i];
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

void
gzip(struct arena *a, struct text *t, struct bytes in)
{
	static const uint8_t head[10] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255 };
	uint8_t tail[8];
	text_put(t, head, sizeof(head));
	deflate(a, t, in);
	store_le32(tail, crc32_of(in));
	store_le32(tail + 4, (uint32_t)in.n);
	text_put(t, tail, sizeof(tail));
}
