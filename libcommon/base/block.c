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
 * PAGE is the size of a large page on most machines.  A block of LARGE bytes or more
 * has large pages of its own: filling a large page takes as long as filling 100 small
 * ones.
 */
enum { PAGE = 2 << 20, LARGE = 1 << 20 };

#if defined(MADV_HUGEPAGE) && defined(MREMAP_MAYMOVE) && !BLOCKS_ARE_WATCHED

bool
block_is_mapped(size_t n)
{
	return n >= LARGE && n <= SIZE_MAX - PAGE;
}

/* Linux aligns a mapping to large pages if its size is a multiple of them */
static size_t
whole_pages(size_t n)
{
	return (n + PAGE - 1) & ~(size_t)(PAGE - 1);
}

static void *
map_small(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

static void *
map(size_t n)
{
	void *p = map_small(whole_pages(n));
	/* if the system ignores the advice, small pages work as well */
	if (p)
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
 * Small blocks are allocated one after the other from two regions, whose pages are zero
 * and use memory only once they are touched.  (calloc() also clears memory that it
 * never returned before, which touches it.)  The first region has small pages.
 *
 * The second region is one large page.  Filling a large page was measured at 84 us, as
 * long as 65 pages of 4 KiB.  It is used when the first region is full, or when a block
 * of at least LONG bytes is allocated for a file, which will be filled completely.
 * From then on all blocks come from the second region.
 *
 * Freed bytes of a region are not reused, but the last block of a region can grow
 * without moving.  When both regions are full, malloc() takes over.
 */
enum { EARLY = 384 << 10, LONG = 96 << 10, SMALL_ALIGN = 64 };
enum { SMALL_PAGES, LARGE_PAGE, SMALL_REGIONS };
static struct small_region {
	_Atomic(unsigned char *) base;
	atomic_size_t used;
} small_regions[SMALL_REGIONS];

static size_t
region_size(int i)
{
	return i == SMALL_PAGES ? EARLY : PAGE;
}

static size_t
region_aligned(size_t n)
{
	return (n + SMALL_ALIGN - 1) & ~(size_t)(SMALL_ALIGN - 1);
}

static unsigned char *
region_base(int i)
{
	unsigned char *p = atomic_load(&small_regions[i].base), *none = NULL;
	if (p)
		return p;
	p = i == SMALL_PAGES ? map_small(EARLY) : map(PAGE);
	if (p && !atomic_compare_exchange_strong(&small_regions[i].base, &none, p)) {
		(void)munmap(p, region_size(i));
		return none;
	}
	return p;
}

static void *
take_from_region(int i, size_t n)
{
	const size_t size = region_size(i);
	if (n > size || atomic_load(&small_regions[i].used) > size - n)
		return NULL;
	unsigned char *base = region_base(i);
	size_t at = base ? atomic_fetch_add(&small_regions[i].used, n) : size;
	return at <= size - n ? base + at : NULL;
}

/* is_file: the caller will fill the whole block */
static void *
take_small(size_t n, bool is_file)
{
	if (n >= LARGE) /* has its own pages, or is larger than a region */
		return NULL;
	n = region_aligned(n);
	void *p = NULL;
	if (!atomic_load(&small_regions[LARGE_PAGE].base) && (n < LONG || !is_file))
		p = take_from_region(SMALL_PAGES, n);
	return p ? p : take_from_region(LARGE_PAGE, n);
}

/* Returns the region that contains p, or NULL. */
static struct small_region *
region_of(const void *p)
{
	const unsigned char *q = p;
	for (int i = 0; i < SMALL_REGIONS; i++) {
		const unsigned char *base = atomic_load(&small_regions[i].base);
		if (base && q >= base && q < base + region_size(i))
			return &small_regions[i];
	}
	return NULL;
}

static bool
is_in_region(const void *p)
{
	return region_of(p);
}

/* Grows the last block of a region without moving it; false if this is impossible. */
static bool
grow_in_region(const void *p, size_t n, size_t more)
{
	struct small_region *r = region_of(p);
	if (!r || more >= LARGE)
		return false;
	size_t at = (size_t)((const unsigned char *)p - atomic_load(&r->base));
	size_t end = at + region_aligned(n), then = at + region_aligned(more);
	return then <= region_size((int)(r - small_regions)) &&
	       atomic_compare_exchange_strong(&r->used, &end, then);
}

#else

bool
block_is_mapped(size_t n)
{
	(void)n;
	return false;
}

#define map(n) calloc(1, n)
#define remap(p, n, more) realloc(p, more)
#define unmap(p, n) free(p)
#define take_small(n, is_file) NULL
#define is_in_region(p) false
#define grow_in_region(p, n, more) false

#endif

void *
block_alloc(size_t n)
{
	if (block_is_mapped(n))
		return map(n);
	void *p = take_small(n, true);
	return p ? p : calloc(1, n);
}

void *
block_grow(void *p, size_t n, size_t more)
{
	if (!p)
		return block_alloc(more);
	if (block_is_mapped(n))
		return remap(p, n, more);
	if (grow_in_region(p, n, more))
		return p;
	bool moves = is_in_region(p);
	if (!block_is_mapped(more) && !moves)
		return realloc(p, more);
	void *q = block_is_mapped(more) ? map(more) : take_small(more, false);
	if (!q && !block_is_mapped(more))
		q = malloc(more);
	if (q && n)
		memcpy(q, p, n);
	if (q && !moves)
		free(p);
	return q;
}

void
block_free(void *p, size_t n)
{
	if (p && block_is_mapped(n))
		unmap(p, n);
	else if (!is_in_region(p))
		free(p);
}
