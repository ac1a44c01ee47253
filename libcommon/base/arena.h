/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host memory for one run: allocate and forget.  (The firmware's arena is
 * called tensor_arena everywhere.)  Memory is zero-filled and never NULL: a
 * system out of memory ends the program with EXIT_TROUBLE, so sizes that come
 * from a file are checked against the file before they get here.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/diag.h"

#include <stddef.h>

struct arena;

struct arena *arena_open(void);
void arena_close(struct arena *a); /* NULL is allowed */
/* what this thread keeps for arenas to come; for a thread that ends */
void arena_forget_spare(void);
/* gives everything back; cheaper than closing and opening for small amounts */
void arena_reset(struct arena *a);

/* size bytes aligned for any type; size 0 gives a valid unique pointer */
void *arena_alloc(struct arena *a, size_t n, size_t size);
#define anew(a, type, n) ((type *)arena_alloc(a, n, sizeof(type)))

/* a block (base/block.h) of n bytes: the arena frees it from now on */
void *arena_keep(struct arena *a, void *p, size_t n);

char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_strdup(struct arena *a, const char *s);
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF(2, 3);

/*
 * Makes room for one more element: returns p, or a larger copy of it, when
 * all *cap elements are used.  For vectors that live as long as the arena.
 */
void *arena_grow(struct arena *a, void *p, size_t n, size_t *cap, size_t size);
#define agrow(a, p, n, cap) \
	((p) = (n) < *(cap) ? (p) : arena_grow(a, p, n, cap, sizeof(*(p))))

#endif
