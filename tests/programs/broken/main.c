/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broken FILE COUNT DIR   writes COUNT broken copies of FILE to DIR/0 to DIR/COUNT-1.  In
 * turn, copies are truncated, have bytes overwritten, or have bytes removed.  The place of
 * the change depends only on the copy's number (tests/hostile.bats).
 */
#include "base/cli.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_BYTES = 2000 }; /* every second change is in these bytes: headers, tables */

/* the place of the change in copy n: covers the whole file, its head more densely */
static size_t
place(size_t size, size_t n)
{
	size_t head = size < HEAD_BYTES ? size : HEAD_BYTES;
	return n % 2 ? n * 131 % head : n * 7919 % size;
}

/* makes copy n; b has four bytes more than the file */
static size_t
break_copy(uint8_t *b, size_t size, size_t n)
{
	static const uint8_t most[] = { 0xff, 0xff, 0xff, 0x7f }; /* INT32_MAX */
	size_t at = place(size, n), left = size - at;
	switch (n % 4) {
	case 0:
		return at;
	case 1:
		memcpy(b + at, most, sizeof(most));
		return left < sizeof(most) ? at + sizeof(most) : size;
	case 2:
		b[at] = (uint8_t)(n * 37);
		return size;
	default:
		if (left <= 3)
			return at;
		memmove(b + at, b + at + 3, left - 3);
		return size - 3;
	}
}

static bool
write_copies(struct arena *a, const char *path, size_t count, const char *dir,
	     struct err *e)
{
	struct bytes file;
	if (!file_read(a, path, SIZE_MAX / 4, &file, e))
		return false;
	uint8_t *copy = arena_alloc(a, file.n + 4, 1);
	for (size_t n = 0; file.n && n < count; n++) {
		memcpy(copy, file.p, file.n);
		size_t size = break_copy(copy, file.n, n);
		if (!file_write(arena_printf(a, "%s/%zu", dir, n), copy, size, false, e))
			return false;
	}
	return true;
}

int
main(int argc, char **argv)
{
	struct err e = { 0 };
	if (argc != 4) {
		(void)fprintf(stderr, "usage: broken FILE COUNT DIR\n");
		return EXIT_TROUBLE;
	}
	struct arena *a = arena_open();
	(void)write_copies(a, argv[1], strtoul(argv[2], NULL, 10), argv[3], &e);
	arena_close(a);
	return cli_finish(&e);
}
