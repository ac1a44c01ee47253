/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of memory: new blocks are all zero, and growing blocks keep their content,
 * also beyond the size from which blocks have their own pages.
 */
#include "base/arena.h"
#include "base/block.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LARGE = 1 << 20 };

static bool
is_zero(const uint8_t *p, size_t n)
{
	return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

static uint8_t
pattern(size_t i)
{
	return (uint8_t)(i * 7 + i / 4096);
}

static bool
check_new(size_t n)
{
	uint8_t *p = block_alloc(n);
	bool ok = p && is_zero(p, n);

	if (p)
		memset(p, 0xff, n);
	block_free(p, n);
	if (!ok)
		printf("a new block of %zu bytes is not zero\n", n);
	return ok;
}

static bool
check_growth(size_t from, size_t to)
{
	uint8_t *p = NULL;
	size_t n = 0;

	for (size_t more = from; more <= to; n = more, more += more / 2 + 1) {
		p = block_grow(p, n, more);
		if (!p)
			return false;
		for (size_t i = 0; i < n; i++)
			if (p[i] != pattern(i)) {
				printf("%zu bytes: byte %zu changed as they "
				       "grew to %zu\n", n, i, more);
				return false;
			}
		for (size_t i = n; i < more; i++)
			p[i] = pattern(i);
	}
	block_free(p, n);
	return true;
}

/*
 * Two blocks grow in turn, with new blocks between them.  The last block in a piece
 * of memory may grow in place, but not over another block.
 */
static bool
check_turns(size_t to)
{
	uint8_t *p[2] = { NULL, NULL };
	size_t n[2] = { 0, 0 };

	for (size_t more = 40; more <= to; more += more / 3) {
		int k = more / 40 % 3 != 0; /* at times the same block twice */
		p[k] = block_grow(p[k], n[k], more);
		uint8_t *between = more % 5 ? NULL : block_alloc(more / 2);
		if (!p[k] || (between && !is_zero(between, more / 2))) {
			printf("no block, or not a new one, at %zu bytes\n", more);
			return false;
		}
		memset(p[k] + n[k], 'a' + k, more - n[k]);
		n[k] = more;
		if (between)
			memset(between, 0xff, more / 2);
		for (int i = 0; i < 2; i++)
			for (size_t j = 0; j < n[i]; j++)
				if (p[i][j] != 'a' + i) {
					printf("byte %zu of block %d is another's "
					       "at %zu bytes\n", j, i, more);
					return false;
				}
		block_free(between, more / 2);
	}
	block_free(p[0], n[0]);
	block_free(p[1], n[1]);
	return true;
}

/* an arena returns zeros, too, also in memory that it has used before */
static bool
check_arena(void)
{
	bool ok = true;

	for (int i = 0; i < 20; i++) {
		struct arena *a = arena_open();
		size_t n = (size_t)i * LARGE / 8 + 1;
		uint8_t *p = arena_alloc(a, n, 1), *q = arena_alloc(a, 100, 1);
		ok = ok && is_zero(p, n) && is_zero(q, 100);
		memset(p, 0xff, n);
		memset(q, 0xff, 100);
		arena_close(a);
	}
	if (!ok)
		printf("an arena's memory is not zero\n");
	return ok;
}

/* more bytes than exist: no sum of the size may wrap around */
static bool
check_refused(void)
{
	for (size_t less = 1; less < 200; less++) {
		volatile size_t n = SIZE_MAX - less; /* gcc warns of such a calloc() */
		void *p = block_alloc(n);
		if (p) {
			printf("a block of %zu bytes\n", n);
			return false;
		}
	}
	return true;
}

int
main(void)
{
	static const size_t sizes[] = { 1, 4096, LARGE - 1, LARGE, LARGE + 1,
					2 * LARGE, 2 * LARGE + 1, 7 * LARGE };
	bool ok = true;

	ok = check_turns(2 * LARGE) && ok;
	for (int round = 0; round < 3; round++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
			ok = check_new(sizes[i]) && ok;
	ok = check_growth(1, 9 * LARGE) && ok;
	ok = check_growth(LARGE - 5, 3 * LARGE) && ok;
	ok = check_arena() && ok;
	/* a sanitizer's malloc may end the program instead */
	if (!BLOCKS_ARE_WATCHED)
		ok = check_refused() && ok;
	block_free(NULL, 0);
	return !ok;
}
