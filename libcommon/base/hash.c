/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#define XXH_INLINE_ALL /* programs shall not depend on the shared library */
#include <xxhash.h>

uint64_t
hash_xxh3(const void *p, size_t n)
{
	return XXH3_64bits(p, n);
}

uint64_t
hash_xxh3_seeded(const void *p, size_t n, uint64_t seed)
{
	return XXH3_64bits_withSeed(p, n, seed);
}
