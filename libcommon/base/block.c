/* SPDX-License-Identifier: Apache-2.0 */
#include "base/block.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __unix__ /* bare metal has no pages */
#include <sys/mman.h>
#endif

/*
 * PAGE: of a large page on most machines.  From LARGE on a block has such pages
 * to itself: filling one costs what a hundred small ones cost.
 */
enum { PAGE = 2 << 20, LARGE = 1 << 20 };

#if defined(MADV_HUGEPAGE) && defined(MREMAP_MAYMOVE) && !BLOCKS_ARE_WATCHED

static bool
is_mapped(size_t n)
{
	return n >= LARGE && n <= SIZE_MAX - PAGE;
}

/* Linux aligns a mapping to large pages if it is whole ones */
static size_t
whole_pages(size_t n)
{
	return (n + PAGE - 1) & ~(size_t)(PAGE - 1);
}

static void *
map(size_t n)
{
	void *p = mmap(NULL, whole_pages(n), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	/* where the advice is not taken, small pages do */
	(void)madvise(p, whole_pages(n), MADV_HUGEPAGE);
	return p;
}

static void *
remap(void *p, size_t n, size_t more)
{
	void *q = mremap(p, whole_pages(n), whole_pages(more), MREMAP_MAYMOVE);
	return q == MAP_FAILED ? NULL : q;
}

static void
unmap(void *p, size_t n)
{
	(void)munmap(p, whole_pages(n));
}

/*
 * Small blocks of a program that has asked for EARLY bytes come out of one large page,
 * one behind the other: to fill that takes 84 us where this was measured, as long as 65
 * pages of 4 KiB.  What is freed of it is not used again; behind its end malloc goes on.
 * A program that asks for more than EARLY mostly asks for some hundred KiB, and a block
 * of LONG is filled whole: it holds a file.
 */
enum { EARLY = 64 << 10, LONG = 96 << 10, ROOM_ALIGN = 64 };
static struct {
	atomic_size_t asked, used;
	_Atomic(unsigned char *) base;
} room;

static unsigned char *
room_base(void)
{
	unsigned char *p = atomic_load(&room.base), *none = NULL;
	if (p)
		return p;
	p = map(PAGE);
	if (p && !atomic_compare_exchange_strong(&room.base, &none, p)) {
		unmap(p, PAGE);
		return none;
	}
	return p;
}

static void *
take_room(size_t n)
{
	if (n >= LARGE) /* more than there is */
		return NULL;
	n = (n + ROOM_ALIGN - 1) & ~(size_t)(ROOM_ALIGN - 1);
	size_t before = atomic_fetch_add(&room.asked, n);
	if ((before < EARLY && n < LONG) || atomic_load(&room.used) > PAGE - n)
		return NULL;
	unsigned char *base = room_base();
	size_t at = base ? atomic_fetch_add(&room.used, n) : PAGE;
	return at <= PAGE - n ? base + at : NULL;
}

static bool
is_in_room(const void *p)
{
	const unsigned char *base = atomic_load(&room.base), *q = p;
	return base && q >= base && q < base + PAGE;
}

#else

static bool
is_mapped(size_t n)
{
	(void)n;
	return false;
}

#define map(n) calloc(1, n)
#define remap(p, n, more) realloc(p, more)
#define unmap(p, n) free(p)
#define take_room(n) NULL
#define is_in_room(p) false

#endif

void *
block_alloc(size_t n)
{
	if (is_mapped(n))
		return map(n);
	void *p = take_room(n);
	return p ? p : calloc(1, n);
}

void *
block_grow(void *p, size_t n, size_t more)
{
	if (!p)
		return block_alloc(more);
	if (is_mapped(n))
		return remap(p, n, more);
	bool moves = is_in_room(p);
	if (!is_mapped(more) && !moves)
		return realloc(p, more);
	void *q = is_mapped(more) ? map(more) : malloc(more);
	if (q && n)
		memcpy(q, p, n);
	if (q && !moves)
		free(p);
	return q;
}

void
block_free(void *p, size_t n)
{
	if (p && is_mapped(n))
		unmap(p, n);
	else if (!is_in_room(p))
		free(p);
}
