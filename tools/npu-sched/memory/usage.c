/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes in use at each kernel.  Weights that stay for a long time are added to many kernels,
 * and queried as often.  Therefore each block of kernels keeps the most bytes in use at any of
 * its kernels, and the bytes that were added to all of them.
 */
#include "memory.h"

#include "base/fixed.h"

#include <string.h>

enum { BLOCK = 32 };

struct usage {
	int n;
	int64_t *own;	       /* bytes of each kernel, without `alike` of its block */
	/*
	 * of each block: the bytes that were added to all of its kernels; the most
	 * bytes at any of them, `alike` included
	 */
	int64_t *alike, *most;
};

struct usage *
usage_open(struct arena *a, const int64_t *bytes, int n)
{
	struct usage *u = anew(a, struct usage, 1);
	int blocks = n / BLOCK + 1;
	u->n = n;
	u->own = anew(a, int64_t, (size_t)n + 1);
	u->alike = anew(a, int64_t, (size_t)blocks);
	u->most = anew(a, int64_t, (size_t)blocks);
	if (n)
		memcpy(u->own, bytes, (size_t)n * sizeof(*bytes));
	for (int i = 0; i < n; i++)
		u->most[i / BLOCK] = max_i64(u->most[i / BLOCK], u->own[i]);
	return u;
}

/* Adds to first..last, which are in one block.  Bytes in use only grow. */
static void
add_in_block(struct usage *u, int first, int last, int64_t bytes)
{
	int block = first / BLOCK;
	int64_t most = u->most[block] - u->alike[block];
	for (int i = first; i <= last; i++) {
		u->own[i] += bytes;
		most = max_i64(most, u->own[i]);
	}
	u->most[block] = most + u->alike[block];
}

void
usage_add(struct usage *u, int first, int last, int64_t bytes)
{
	int from = first / BLOCK, to = last / BLOCK;
	if (from == to) {
		add_in_block(u, first, last, bytes);
		return;
	}
	add_in_block(u, first, from * BLOCK + BLOCK - 1, bytes);
	for (int b = from + 1; b < to; b++) {
		u->alike[b] += bytes;
		u->most[b] += bytes;
	}
	add_in_block(u, to * BLOCK, last, bytes);
}

int
usage_last_above(const struct usage *u, int first, int last, int64_t bytes, int64_t *most)
{
	*most = 0;
	for (int i = last; i >= first;) {
		int block = i / BLOCK, lo = block * BLOCK;
		if (lo >= first && i == lo + BLOCK - 1 && u->most[block] <= bytes) {
			*most = max_i64(*most, u->most[block]);
			i = lo - 1;
			continue;
		}
		/* single kernels matter only if the maximum of the block does */
		if (u->most[block] <= min_i64(bytes, *most))
			i = lo - 1;
		for (; i >= lo && i >= first; i--) {
			int64_t now = u->own[i] + u->alike[block];
			if (now > bytes)
				return i;
			*most = max_i64(*most, now);
		}
	}
	return -1;
}
