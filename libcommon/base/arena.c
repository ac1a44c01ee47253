/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include "base/attempt.h"
#include "base/block.h"
#include "base/diag.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16 };

/*
 * Many arenas live for a few small allocations.  Therefore the first chunk is small,
 * and each next one is four times larger.  Once an arena has MANY_BYTES, new chunks
 * have large pages (base/block.h): filling the same bytes on small pages takes ten
 * times as long.
 */
enum { FIRST_BYTES = 4 * 1024, CHUNK_BYTES = 64 * 1024, MANY_BYTES = 2048 * 1024 };

struct chunk {
	struct chunk *next;
	size_t used, size; /* bytes of data[] */
	_Alignas(ALIGN) unsigned char data[];
};

enum {
	LARGE_BYTES = (2 << 20) - (int)sizeof(struct chunk),
	TWICE_BYTES = (4 << 20) - (int)sizeof(struct chunk),
};

struct kept {
	struct kept *next;
	void *p;
	size_t n;
};

struct arena {
	struct chunk *head;
	size_t bytes; /* size of all chunks */
	struct kept *kept;
};

/* Returns the size of the next chunk.  A large allocation gets a chunk of its own. */
static size_t
chunk_size(const struct arena *a, size_t bytes)
{
	size_t size = a->head && a->head->size >= FIRST_BYTES ? 4 * a->head->size
							      : FIRST_BYTES;
	while (size < CHUNK_BYTES && bytes > size / 4)
		size *= 4;
	size = a->bytes >= MANY_BYTES ? LARGE_BYTES : size < CHUNK_BYTES ? size : CHUNK_BYTES;
	if (bytes <= size / 4)
		return size;
	/* chunks of these sizes consist of whole large pages */
	return bytes <= LARGE_BYTES / 2 || bytes > TWICE_BYTES ? bytes
	       : bytes <= LARGE_BYTES			       ? LARGE_BYTES
							       : TWICE_BYTES;
}

/*
 * Closed arenas leave their chunks, sorted by size, for later arenas of the same
 * thread.  Only the used part of a chunk is cleared when it is taken again.  Therefore
 * opening an arena for a few small allocations is cheap, and the last arenas of a run
 * cost nothing.
 */
#if defined(__unix__) && !BLOCKS_ARE_WATCHED
static const struct {
	size_t bytes;
	int most;
} spares[] = {
	{ FIRST_BYTES, 8 }, { 4 * FIRST_BYTES, 8 }, { CHUNK_BYTES, 8 }, { LARGE_BYTES, 8 },
	{ TWICE_BYTES, 4 },
};
static _Thread_local struct spare {
	struct chunk *first;
	int n;
} spare[ARRAY_LEN(spares)];

/*
 * Returns the index in spares[] of this chunk size; ARRAY_LEN(spares) if chunks of this
 * size are not cached.
 */
static size_t
class_of(size_t size)
{
	size_t i = 0;
	while (i < ARRAY_LEN(spares) && spares[i].bytes != size)
		i++;
	return i;
}

static struct chunk *
take_spare(size_t size)
{
	const size_t class = class_of(size);
	if (class == ARRAY_LEN(spares) || !spare[class].n)
		return NULL;
	struct chunk *c = spare[class].first;
	spare[class].first = c->next;
	spare[class].n--;
	c->next = NULL;
	return c;
}

static bool
put_spare(struct chunk *c)
{
	const size_t class = class_of(c->size);
	if (class == ARRAY_LEN(spares) || spare[class].n == spares[class].most)
		return false;
	c->next = spare[class].first;
	spare[class].first = c;
	spare[class].n++;
	return true;
}

void
arena_forget_spare(void)
{
	for (size_t i = 0; i < ARRAY_LEN(spares); i++)
		for (struct chunk *c; (c = take_spare(spares[i].bytes));)
			block_free(c, sizeof(*c) + c->size);
}
#else
static struct chunk *
take_spare(size_t size)
{
	(void)size;
	return NULL;
}

static bool
put_spare(struct chunk *c)
{
	(void)c;
	return false;
}

void
arena_forget_spare(void)
{
}
#endif

static struct chunk *
chunk_new(size_t size)
{
	struct chunk *c = take_spare(size);
	if (c) {
		memset(c->data, 0, c->used);
		c->used = 0;
		return c;
	}
	if (size > SIZE_MAX - sizeof(struct chunk))
		out_of_memory();
	c = block_alloc(sizeof(*c) + size);
	if (!c)
		out_of_memory();
	c->size = size;
	return c;
}

static void
chunk_free(struct chunk *c)
{
	if (!put_spare(c))
		block_free(c, sizeof(*c) + c->size);
}

struct arena *
arena_open(void)
{
	struct arena *a = block_alloc(sizeof(*a));
	if (!a)
		out_of_memory();
	return a;
}

static void
free_kept(struct arena *a)
{
	for (struct kept *k = a->kept; k; k = k->next)
		block_free(k->p, k->n);
	a->kept = NULL;
}

void
arena_close(struct arena *a)
{
	if (!a)
		return;
	free_kept(a);
	for (struct chunk *c = a->head, *next; c; c = next) {
		next = c->next;
		chunk_free(c);
	}
	block_free(a, sizeof(*a));
}

void
arena_reset(struct arena *a)
{
	struct chunk *keep = NULL;
	free_kept(a);
	for (struct chunk *c = a->head, *next; c; c = next) {
		next = c->next;
		if (keep || c->size > CHUNK_BYTES)
			chunk_free(c);
		else
			keep = c;
	}
	a->head = keep;
	a->bytes = keep ? keep->size : 0;
	if (!keep)
		return;
	memset(keep->data, 0, keep->used);
	keep->used = 0;
	keep->next = NULL;
}

void *
arena_alloc(struct arena *a, size_t n, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(n, size, &bytes) ||
	    bytes > SIZE_MAX - 2 * ALIGN)
		out_of_memory();
	bytes = (bytes + ALIGN) & ~(size_t)(ALIGN - 1);

	struct chunk *c = a->head;
	if (c && c->size - c->used >= bytes) {
		void *p = c->data + c->used;
		c->used += bytes;
		return p;
	}
	checkpoint();
	c = chunk_new(chunk_size(a, bytes));
	c->used = bytes;
	a->bytes += c->size;
	if (a->head && c->size == bytes) {
		/* insert a dedicated chunk second, so that the open chunk stays open */
		c->next = a->head->next;
		a->head->next = c;
	} else {
		c->next = a->head;
		a->head = c;
	}
	return c->data;
}

void *
arena_keep(struct arena *a, void *p, size_t n)
{
	struct kept *k = anew(a, struct kept, 1);
	*k = (struct kept){ .next = a->kept, .p = p, .n = n };
	a->kept = k;
	return p;
}

char *
arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *p = arena_alloc(a, n + 1, 1);
	memcpy(p, s, n);
	return p;
}

char *
arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *
arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	if (n < 0)
		abort();
	char *p = arena_alloc(a, (size_t)n + 1, 1);
	(void)vsnprintf(p, (size_t)n + 1, fmt, again);
	va_end(again);
	return p;
}

char *
arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *p = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return p;
}

/*
 * Moves a large vector to a mapped block of its own, which later grows without a copy.
 * Returns NULL if the vector is too small for this.
 */
static void *
grow_own(struct arena *a, void *p, size_t n, size_t more, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(more, size, &bytes) || !block_is_mapped(bytes))
		return NULL;
	struct kept *k = a->kept;
	while (k && k->p != p)
		k = k->next;
	void *q = k ? block_grow(p, k->n, bytes) : block_alloc(bytes);
	if (!q)
		out_of_memory();
	if (k) {
		k->p = q;
		k->n = bytes;
		return q;
	}
	if (n)
		memcpy(q, p, n);
	return arena_keep(a, q, bytes);
}

void *
arena_grow(struct arena *a, void *p, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return p;
	/* blocks of their own grow without a copy, so they grow by less */
	const bool own = *cap <= SIZE_MAX / size && block_is_mapped(*cap * size);
	size_t more = own ? *cap + *cap / 4 + 1 : *cap ? *cap * 2 : 8;
	void *q = grow_own(a, p, n * size, more, size);
	if (!q) {
		q = arena_alloc(a, more, size);
		if (n)
			memcpy(q, p, n * size);
	}
	*cap = more;
	return q;
}
