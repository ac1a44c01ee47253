/* SPDX-License-Identifier: Apache-2.0 */
#include "base/block.h"

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

#endif

void *
block_alloc(size_t n)
{
	return is_mapped(n) ? map(n) : calloc(1, n);
}

void *
block_grow(void *p, size_t n, size_t more)
{
	if (is_mapped(n))
		return remap(p, n, more);
	if (!is_mapped(more))
		return realloc(p, more);
	void *q = map(more);
	if (q && n)
		memcpy(q, p, n);
	if (q)
		free(p);
	return q;
}

void
block_free(void *p, size_t n)
{
	if (p && is_mapped(n))
		unmap(p, n);
	else
		free(p);
}
