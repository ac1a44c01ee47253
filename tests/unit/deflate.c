/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deflate_bytes() and back: texts of every length up to some hundreds, runs, noise,
 * and matches at the largest distance.  inflate_bytes() must refuse truncated and
 * arbitrary bytes without reading behind them.
 */
#include "base/deflate.h"

#include "base/arena.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 32768, MOST = 3 * WINDOW, HOSTILE = 20000 };

static uint64_t state = 1;

static uint32_t
below(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % n;
}

static void
fail(const char *what, size_t n)
{
	(void)printf("%s, %zu bytes\n", what, n);
	exit(1);
}

/* decodes into memory of the exact size; memory with one byte less must be refused */
static size_t
round_trip(const uint8_t *p, size_t n)
{
	struct arena *a = arena_open();
	struct text t = { 0 };
	deflate_bytes(a, &t, (struct bytes){ .p = p, .n = n });
	uint8_t *in = malloc(t.n), *out = malloc(n + 1);
	if (!in || !out)
		fail("no memory", n);
	memcpy(in, t.p, t.n);
	size_t packed = t.n;
	if (!inflate_bytes((struct bytes){ .p = in, .n = packed }, out, n) || memcmp(p, out, n) != 0)
		fail("not the same", n);
	if (inflate_bytes((struct bytes){ .p = in, .n = packed }, out, n + 1) ||
	    (n && inflate_bytes((struct bytes){ .p = in, .n = packed }, out, n - 1)))
		fail("another size is accepted", n);
	if (inflate_bytes((struct bytes){ .p = in, .n = packed - 1 }, out, n))
		fail("cut off, and accepted", n);
	free(in);
	free(out);
	text_free(&t);
	arena_close(a);
	return packed;
}

static void
try_hostile(void)
{
	uint8_t *in = malloc(64), *out = malloc(100);
	if (!in || !out)
		fail("no memory", 100);
	for (int i = 0; i < HOSTILE; i++) {
		size_t n = below(65);
		for (size_t k = 0; k < n; k++)
			in[k] = (uint8_t)below(256);
		if (n && i % 2) /* the bits with which every text begins */
			in[0] = (uint8_t)((in[0] & 0xf8) | 3);
		(void)inflate_bytes((struct bytes){ .p = in, .n = n }, out, below(101));
	}
	free(in);
	free(out);
}

int
main(void)
{
	uint8_t *p = calloc(MOST, 1);
	if (!p)
		fail("no memory", MOST);
	size_t zeros = round_trip(p, MOST);
	if (zeros > MOST / 100)
		fail("zeros take much", zeros);
	for (size_t n = 0; n < 700; n++) {
		for (size_t i = 0; i < n; i++)
			p[i] = (uint8_t)"op o1 ifm=t2 ofm=t3\n"[(i + below(2)) % 20];
		(void)round_trip(p, n);
	}
	for (size_t i = 0; i < MOST; i++)
		p[i] = (uint8_t)below(256);
	/* 32767, 32768 and 32769 bytes behind the first copy */
	for (int d = -1; d <= 1; d++)
		memcpy(p + WINDOW + d + 300 * (d + 1), p + 300 * (d + 1), 280);
	(void)round_trip(p, MOST);
	try_hostile();
	free(p);
	return 0;
}
