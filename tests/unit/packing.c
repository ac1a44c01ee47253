/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the addresses of maps and buffers (tools/npu-sched/memory/pack.c) with all
 * orders of a few rectangles.  Rectangles are placed one after the other at the
 * lowest free address.  Some order, namely that of the addresses in a best packing,
 * gives the minimal peak.
 */
#include "base/arena.h"
#include "base/fixed.h"

#include "../../tools/npu-sched/memory/memory.h"
#include "drawn.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST = 6, STEPS = 8, CASES = 3000 };

static bool
are_live_together(const struct rect *a, const struct rect *b)
{
	return a->lo <= b->hi && b->lo <= a->hi;
}

static bool
collide(const struct rect *a, int64_t at, const struct rect *b)
{
	return are_live_together(a, b) && at < b->at + b->bytes && b->at < at + a->bytes;
}

/* the lowest free address of v[order[k]] beside the rectangles before it */
static int64_t
drop(const struct rect *v, const int *order, int k)
{
	const struct rect *r = &v[order[k]];
	int64_t at = 0;
	for (int i = 0; i < k; i++)
		if (collide(r, at, &v[order[i]])) {
			at = v[order[i]].at + v[order[i]].bytes;
			i = -1;
		}
	return at;
}

/* the minimal peak of all orders of the rectangles from k on */
static int64_t
least_peak(struct rect *v, int n, int *order, int k, int64_t peak)
{
	int64_t least = INT64_MAX;
	if (k == n)
		return peak;
	for (int i = k; i < n; i++) {
		int first = order[i];
		order[i] = order[k];
		order[k] = first;
		v[first].at = drop(v, order, k);
		int64_t end = max_i64(peak, v[first].at + v[first].bytes);
		least = min_i64(least, least_peak(v, n, order, k + 1, end));
		order[k] = order[i];
		order[i] = first;
	}
	return least;
}

static bool
is_packed(const struct rect *v, int n, int64_t peak)
{
	for (int i = 0; i < n; i++) {
		if (v[i].at < 0 || v[i].at + v[i].bytes > peak)
			return false;
		for (int k = 0; k < i; k++)
			if (collide(&v[i], v[i].at, &v[k]))
				return false;
	}
	return true;
}

static struct rect
draw_rect(int i)
{
	int64_t lo = draw(STEPS);
	return (struct rect){ .slice = -1, .group = i, .next = -1, .place = PLACE_ARENA,
			      .lo = lo, .hi = lo + draw(STEPS / 2),
			      .bytes = 16 * (1 + draw(8)) };
}

static bool
check(int number)
{
	struct arena *a = arena_open();
	const struct options o = { .effort = 3 };
	struct sched s = { .a = a, .o = &o };
	struct plan p = { .a = a };
	int n = 2 + (int)draw(MOST - 1), order[MOST];
	p.rect = anew(a, struct rect, MOST + 1);
	for (int i = 0; i < n; i++) {
		p.rect[i] = draw_rect(i);
		order[i] = i;
	}
	p.n_rects = p.n_maps = (size_t)n;
	int64_t least = least_peak(p.rect, n, order, 0, 0);
	place_rects(&s, &p, LAST, INT64_MAX);
	int64_t peak = p.peak[PLACE_ARENA], bound = p.bound[PLACE_ARENA];
	bool ok = peak == least && bound <= least && is_packed(p.rect, n, peak);
	if (!ok)
		printf("case %d: %d rectangles in %" PRId64 " bytes, bound %" PRId64
		       ", least %" PRId64 "\n", number, n, peak, bound, least);
	arena_close(a);
	return ok;
}

int
main(void)
{
	int wrong = 0;
	for (int i = 0; i < CASES; i++)
		wrong += !check(i);
	return wrong != 0;
}
