/* SPDX-License-Identifier: Apache-2.0 */
/* XXH3 hashes: they name content in text files and find equal content. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_xxh3(const void *p, size_t n);
uint64_t hash_xxh3_seeded(const void *p, size_t n, uint64_t seed);

/* The same hash of bytes that arrive in parts.  hash_end() returns the hash and frees h. */
struct hash_stream;
struct hash_stream *hash_begin(void);
void hash_add(struct hash_stream *h, const void *p, size_t n);
uint64_t hash_end(struct hash_stream *h);

#endif
