/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes of a memory have a value: rule 52. */
#include "stream/verify.h"

#include <string.h>

enum { PAGE = 4096 };

struct written {
	struct arena *a;
	int64_t bytes;
	uint8_t **page; /* a flag a byte; NULL: none; FULL: all */
};

static uint8_t full_page[1]; /* only its address counts */
#define FULL full_page

struct written *
written_new(struct arena *a, int64_t bytes)
{
	struct written *w = anew(a, struct written, 1);
	w->a = a;
	w->bytes = bytes;
	w->page = anew(a, uint8_t *, (size_t)(bytes / PAGE + 1));
	return w;
}

void
written_mark(struct written *w, int64_t at, int64_t n)
{
	if (at < 0 || n <= 0 || at > w->bytes || n > w->bytes - at)
		return; /* outside: another rule */
	for (int64_t end = at + n; at < end;) {
		uint8_t **p = &w->page[at / PAGE];
		int64_t from = at % PAGE;
		int64_t here = PAGE - from < end - at ? PAGE - from : end - at;
		if (here == PAGE)
			*p = FULL;
		else if (*p != FULL) {
			if (!*p)
				*p = anew(w->a, uint8_t, PAGE);
			memset(*p + from, 1, (size_t)here);
		}
		at += here;
	}
}

int64_t
written_hole(const struct written *w, int64_t at, int64_t n)
{
	if (at < 0 || n <= 0 || at > w->bytes || n > w->bytes - at)
		return -1;
	for (int64_t end = at + n; at < end;) {
		const uint8_t *p = w->page[at / PAGE];
		int64_t from = at % PAGE;
		int64_t here = PAGE - from < end - at ? PAGE - from : end - at;
		if (!p)
			return at;
		if (p != FULL) {
			const uint8_t *hole = memchr(p + from, 0, (size_t)here);
			if (hole)
				return at - from + (hole - p);
		}
		at += here;
	}
	return -1;
}
