/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of memory, the large ones on large pages: touching a model 4 KiB by
 * 4 KiB costs more than reading it does.  NULL: out of memory.
 */
#ifndef BASE_BLOCK_H
#define BASE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

/* sanitizers watch malloc's blocks, and want each by itself */
#if defined(__SANITIZE_ADDRESS__)
#define BLOCKS_ARE_WATCHED 1
#elif defined(__has_feature)
#define BLOCKS_ARE_WATCHED __has_feature(address_sanitizer)
#else
#define BLOCKS_ARE_WATCHED 0
#endif

/* n bytes (not 0), all zero */
void *block_alloc(size_t n);

/* do blocks of so many have pages to themselves?  what they grow by is zero, and what
 * they hold is not copied */
bool block_is_mapped(size_t n);

/* a block of n bytes now has `more`; the new ones may hold anything */
void *block_grow(void *p, size_t n, size_t more);

/* n: as it was allocated or grown; p may be NULL */
void block_free(void *p, size_t n);

#endif
