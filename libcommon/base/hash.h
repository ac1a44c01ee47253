/* SPDX-License-Identifier: Apache-2.0 */
/* XXH3 hashes: they name content in text files and find equal content. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t hash_xxh3(const void *p, size_t n);
uint64_t hash_xxh3_seeded(const void *p, size_t n, uint64_t seed);

/* XXH3 of 128 bits, for names that two different contents must not share. */
struct hash128 {
	uint64_t high, low;
};
struct hash128 hash_xxh3_128(const void *p, size_t n);

static inline bool
hash128_equal(struct hash128 x, struct hash128 y)
{
	return x.high == y.high && x.low == y.low;
}

/* hash_xxh3() of bytes that arrive in parts.  hash_end() returns the hash and frees h. */
struct hash_stream;
struct hash_stream *hash_begin(void);
void hash_add(struct hash_stream *h, const void *p, size_t n);
uint64_t hash_end(struct hash_stream *h);

#endif
