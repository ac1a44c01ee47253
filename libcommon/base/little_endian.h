/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Little-endian loads and stores, and a byte reader.  The reader remembers its first
 * overrun and returns zeros after the overrun, so a decoder checks only once, at its
 * end.
 */
#ifndef BASE_LITTLE_ENDIAN_H
#define BASE_LITTLE_ENDIAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t
load_le16(const void *p)
{
	const uint8_t *b = p;
	return (uint16_t)(b[0] | b[1] << 8);
}

static inline uint32_t
load_le32(const void *p)
{
	const uint8_t *b = p;
	return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
	       (uint32_t)b[3] << 24;
}

static inline uint64_t
load_le64(const void *p)
{
	const uint8_t *b = p;
	return load_le32(b) | (uint64_t)load_le32(b + 4) << 32;
}

static inline void
store_le16(void *p, uint16_t v)
{
	uint8_t *b = p;
	b[0] = (uint8_t)v;
	b[1] = (uint8_t)(v >> 8);
}

static inline void
store_le32(void *p, uint32_t v)
{
	store_le16(p, (uint16_t)v);
	store_le16((uint8_t *)p + 2, (uint16_t)(v >> 16));
}

static inline void
store_le64(void *p, uint64_t v)
{
	store_le32(p, (uint32_t)v);
	store_le32((uint8_t *)p + 4, (uint32_t)(v >> 32));
}

static inline float
load_f32(const void *p)
{
	uint32_t u = load_le32(p);
	float f;
	memcpy(&f, &u, sizeof(f));
	return f;
}

static inline void
store_f32(void *p, float f)
{
	uint32_t u;
	memcpy(&u, &f, sizeof(u));
	store_le32(p, u);
}

struct reader {
	const uint8_t *p;
	size_t n, at;
	bool overrun;
};

static inline struct reader
reader_init(const void *p, size_t n)
{
	return (struct reader){ .p = p, .n = n };
}

/*
 * Returns the next len bytes.  If fewer are left, returns NULL, sets overrun and moves
 * the position to the end.
 */
static inline const uint8_t *
reader_take(struct reader *r, size_t len)
{
	if (r->overrun || len > r->n - r->at) {
		r->overrun = true;
		r->at = r->n;
		return NULL;
	}
	const uint8_t *p = r->p + r->at;
	r->at += len;
	return p;
}

static inline uint8_t
reader_u8(struct reader *r)
{
	const uint8_t *p = reader_take(r, 1);
	return p ? *p : 0;
}

static inline uint16_t
reader_u16(struct reader *r)
{
	const uint8_t *p = reader_take(r, 2);
	return p ? load_le16(p) : 0;
}

static inline uint32_t
reader_u32(struct reader *r)
{
	const uint8_t *p = reader_take(r, 4);
	return p ? load_le32(p) : 0;
}

#endif
