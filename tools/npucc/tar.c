/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a POSIX archive without times and owners, so that equal files give equal bytes. */
#include "npucc.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 512, NAME = 100 };

/* offsets and lengths of the fields of a ustar header */
enum { AT_MODE = 100, AT_UID = 108, AT_GID = 116, AT_SIZE = 124, AT_TIME = 136,
       AT_SUM = 148, AT_TYPE = 156, AT_MAGIC = 257, SMALL = 8, LARGE = 12 };

static void
put_octal(uint8_t *h, int at, int n, uint64_t v)
{
	char digits[24];
	(void)snprintf(digits, sizeof(digits), "%0*llo", n - 1, (unsigned long long)v);
	memcpy(h + at, digits, (size_t)n - 1);
}

static void
put_header(struct text *t, const char *name, char type, size_t size)
{
	uint8_t h[BLOCK] = { 0 };
	unsigned sum = 0;
	memcpy(h, name, strnlen(name, NAME));
	put_octal(h, AT_MODE, SMALL, 0644);
	put_octal(h, AT_UID, SMALL, 0);
	put_octal(h, AT_GID, SMALL, 0);
	put_octal(h, AT_SIZE, LARGE, size);
	put_octal(h, AT_TIME, LARGE, 0);
	h[AT_TYPE] = (uint8_t)type;
	memcpy(h + AT_MAGIC, "ustar\0" "00", SMALL);
	memset(h + AT_SUM, ' ', SMALL);
	for (int i = 0; i < BLOCK; i++)
		sum += h[i];
	put_octal(h, AT_SUM, SMALL - 1, sum);
	text_put(t, h, sizeof(h));
}

/* pads the data to whole blocks */
static void
put_data(struct text *t, const void *p, size_t n)
{
	static const uint8_t zero[BLOCK];
	text_put(t, p, n);
	text_put(t, zero, (BLOCK - n % BLOCK) % BLOCK);
}

void
tar_add(struct arena *a, struct text *t, const char *name, struct bytes b)
{
	if (strlen(name) > NAME) {
		/* "LENGTH path=NAME\n"; LENGTH counts its own digits, too */
		size_t n = strlen(name) + sizeof(" path=\n") - 1, digits = 1;
		for (size_t v = 10; n + digits >= v; v *= 10)
			digits++;
		const char *record = arena_printf(a, "%zu path=%s\n", n + digits, name);
		put_header(t, "name", 'x', strlen(record));
		put_data(t, record, strlen(record));
	}
	put_header(t, name, '0', b.n);
	put_data(t, b.p, b.n);
}

void
tar_end(struct text *t)
{
	static const uint8_t zero[2 * BLOCK];
	text_put(t, zero, sizeof(zero));
}
