/* SPDX-License-Identifier: Apache-2.0 */
/* Prints bytes as C, fast: a model of 4 MB is 24 MB of text. */
#include "tfl2c.h"

#include <string.h>

enum { ITEM = 6 }; /* "0x1c, " */

void
put_bytes(struct text *t, struct bytes b, int per_line, const char *indent)
{
	static const char digit[] = "0123456789abcdef";
	char item[256][ITEM];
	for (int i = 0; i < 256; i++) {
		memcpy(item[i], "0x00, ", ITEM);
		item[i][2] = digit[i >> 4];
		item[i][3] = digit[i & 15];
	}
	size_t width = (size_t)per_line, lead = strlen(indent);
	size_t lines = (b.n + width - 1) / width;
	char *p = text_reserve(t, b.n * ITEM + lines * (lead + 1)), *start = p;
	for (size_t i = 0; i < b.n;) {
		size_t end = b.n - i < width ? b.n : i + width;
		memcpy(p, indent, lead);
		p += lead;
		for (; i < end; i++, p += ITEM)
			memcpy(p, item[b.p[i]], ITEM);
		/* drop the last blank of a line, and the last comma of all */
		p -= end == b.n ? 2 : 1;
		*p++ = '\n';
	}
	t->n += (size_t)(p - start);
}
