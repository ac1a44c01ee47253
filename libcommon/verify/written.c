/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks which bytes of a memory have a value: rule 52. */
#include "base/fixed.h"
#include "verify/rules.h"

enum { PAGE = 4096, WORD = 64 };

struct written {
	struct arena *a;
	int64_t bytes;
	uint64_t **page; /* one bit for each byte; NULL: no byte has a value; FULL: all do */
};

static uint64_t full_page[1]; /* only its address is used */
#define FULL full_page

struct written *
written_new(struct arena *a, int64_t bytes)
{
	struct written *w = anew(a, struct written, 1);
	w->a = a;
	w->bytes = bytes;
	w->page = anew(a, uint64_t *, (size_t)(bytes / PAGE + 1));
	return w;
}

/* Returns the bits from `from` to `end` in the word that holds `from`; *n: their number. */
static uint64_t
bits_from(int64_t from, int64_t end, int64_t *n)
{
	*n = min_i64(end - from, WORD - from % WORD);
	return UINT64_MAX >> (WORD - *n) << from % WORD;
}

void
written_mark(struct written *w, int64_t at, int64_t n)
{
	if (at < 0 || n <= 0 || at > w->bytes || n > w->bytes - at)
		return; /* outside: another rule reports it */
	for (int64_t end = at + n; at < end;) {
		uint64_t **p = &w->page[at / PAGE];
		int64_t from = at % PAGE, stop = min_i64(PAGE, from + end - at), k;
		at += stop - from;
		if (stop - from == PAGE)
			*p = FULL;
		if (*p == FULL)
			continue;
		if (!*p)
			*p = anew(w->a, uint64_t, PAGE / WORD);
		for (; from < stop; from += k)
			(*p)[from / WORD] |= bits_from(from, stop, &k);
	}
}

/* Returns the first byte of [from, stop) without a value; stop: all bytes have values. */
static int64_t
page_hole(const uint64_t *page, int64_t from, int64_t stop)
{
	for (int64_t k; from < stop; from += k) {
		uint64_t missing = bits_from(from, stop, &k) & ~page[from / WORD];
		if (missing)
			return from / WORD * WORD + __builtin_ctzll(missing);
	}
	return stop;
}

int64_t
written_hole(const struct written *w, int64_t at, int64_t n)
{
	if (at < 0 || n <= 0 || at > w->bytes || n > w->bytes - at)
		return -1;
	for (int64_t end = at + n; at < end;) {
		const uint64_t *p = w->page[at / PAGE];
		int64_t from = at % PAGE, stop = min_i64(PAGE, from + end - at);
		int64_t hole = !p ? from : p == FULL ? stop : page_hole(p, from, stop);
		if (hole < stop)
			return at - from + hole;
		at += stop - from;
	}
	return -1;
}
