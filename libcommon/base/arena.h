/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the host for one run: allocate from an arena, free the arena as a whole.
 * (In records and pages, "arena" is the tensor arena of the firmware.)
 *
 * Memory is zero-filled and never NULL.  If the system is out of memory, the program
 * exits with EXIT_TROUBLE.  Therefore sizes that come from a file must be checked
 * against the file before they are allocated.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/diag.h"

#include <stdarg.h>
#include <stddef.h>

struct arena;

struct arena *arena_open(void);
void arena_close(struct arena *a); /* NULL is allowed */
/*
 * Frees the chunks that this thread caches for its future arenas.  A thread calls this
 * function before it exits.
 */
void arena_forget_spare(void);
/*
 * Frees all allocations and keeps the arena open.  For small amounts of memory this is
 * cheaper than arena_close() and arena_open().
 */
void arena_reset(struct arena *a);

/*
 * Allocates n elements of size bytes each, zero-filled and aligned for any type.  If
 * the total is 0 bytes, the pointer is still valid and unique.
 */
void *arena_alloc(struct arena *a, size_t n, size_t size);
#define anew(a, type, n) ((type *)arena_alloc(a, n, sizeof(type)))

/*
 * Passes the ownership of p, a block of n bytes from base/block.h, to the arena.  The
 * arena frees the block.  Returns p.
 */
void *arena_keep(struct arena *a, void *p, size_t n);

char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_strdup(struct arena *a, const char *s);
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF(2, 3);
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap) PRINTF(2, 0);

/*
 * Makes sure that a vector of n elements has capacity for one more.  Returns p if n is
 * below *cap, else a larger copy of the vector, and updates *cap.  The old copy is not
 * reused, so this function is for vectors that live as long as the arena.
 */
void *arena_grow(struct arena *a, void *p, size_t n, size_t *cap, size_t size);
#define agrow(a, p, n, cap) \
	((p) = (n) < *(cap) ? (p) : arena_grow(a, p, n, cap, sizeof(*(p))))

#endif
