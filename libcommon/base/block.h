/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates blocks of memory, large blocks on large pages.  Without large pages, the
 * page faults of a model (one for every 4 KiB) cost more than reading the model.  All
 * functions that return a pointer return NULL if memory is exhausted.
 */
#ifndef BASE_BLOCK_H
#define BASE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

/* sanitizers watch every malloc() block; they need each block as a malloc() of its own */
#if defined(__SANITIZE_ADDRESS__)
#define BLOCKS_ARE_WATCHED 1
#elif defined(__has_feature)
#define BLOCKS_ARE_WATCHED __has_feature(address_sanitizer)
#else
#define BLOCKS_ARE_WATCHED 0
#endif

/* Allocates n zero bytes; n must not be 0. */
void *block_alloc(size_t n);

/*
 * True if a block of n bytes is a mapping of its own.  Such a block grows without
 * copying its content, and the bytes added by block_grow() are zero.
 */
bool block_is_mapped(size_t n);

/*
 * Resizes a block from n to `more` bytes.  The content of the added bytes is undefined,
 * unless block_is_mapped(more).  Returns the block's new address; p may be NULL.
 */
void *block_grow(void *p, size_t n, size_t more);

/* Frees a block.  n must be the size that was last allocated or grown; p may be NULL. */
void block_free(void *p, size_t n);

#endif
