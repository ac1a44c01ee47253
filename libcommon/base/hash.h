/* SPDX-License-Identifier: Apache-2.0 */
/* XXH3 of bytes: names content in text files and finds equal content. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_xxh3(const void *p, size_t n);
uint64_t hash_xxh3_seeded(const void *p, size_t n, uint64_t seed);

#endif
