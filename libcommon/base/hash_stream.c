/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XXH3 of bytes that arrive in parts.  It is separate from hash.c because firmware has
 * hash.c but no memory for this file.
 */
#include "base/block.h"
#include "base/diag.h"
#include "base/hash.h"

#include <stdint.h>
#define XXH_INLINE_ALL /* as in hash.c */
#include <xxhash.h>

enum { ALIGNMENT = 64 }; /* of a state of XXH3 */

/* A block, which a call of the library frees if the call ends early. */
struct hash_stream {
	XXH3_state_t *state; /* in `bytes` */
	uint8_t bytes[sizeof(XXH3_state_t) + ALIGNMENT];
};

struct hash_stream *
hash_begin(void)
{
	struct hash_stream *h = block_alloc(sizeof(*h));
	if (!h)
		out_of_memory();
	h->state = (XXH3_state_t *)(void *)(h->bytes + ALIGNMENT - (uintptr_t)h->bytes % ALIGNMENT);
	(void)XXH3_64bits_reset(h->state);
	return h;
}

void
hash_add(struct hash_stream *h, const void *p, size_t n)
{
	(void)XXH3_64bits_update(h->state, p, n);
}

uint64_t
hash_end(struct hash_stream *h)
{
	uint64_t v = XXH3_64bits_digest(h->state);
	block_free(h, sizeof(*h));
	return v;
}

struct hash128
hash_xxh3_128(const void *p, size_t n)
{
	XXH128_hash_t h = XXH3_128bits(p, n);
	return (struct hash128){ .high = h.high64, .low = h.low64 };
}
