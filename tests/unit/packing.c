/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the addresses of feature maps and buffers (tools/npu-sched/memory/pack.c) with all
 * orders of a few rectangles.  Rectangles are placed one after the other at the
 * lowest free address.  Some order, namely that of the addresses in a best packing,
 * gives the minimal peak.  Then compares boxes.c, which packs many rectangles, with a search
 * of every address in the same order.
 */
#include "base/arena.h"
#include "base/fixed.h"

#include "../../tools/npu-sched/memory/pack.h"
#include "drawn.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST = 6, STEPS = 8, CASES = 3000, MANY = 40, MANY_CASES = 500 };

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

/* draws n rectangles, some of them in groups of two at a distance */
static void
draw_groups(struct rect *v, int n)
{
	for (int i = 0; i < n; i++) {
		v[i] = draw_rect(i);
		if (!i || v[i - 1].group != i - 1 || draw(3))
			continue;
		v[i].group = i - 1;
		v[i - 1].next = i;
		v[i - draw(2)].offset = 16 * draw(6);
	}
}

/* true if the group that begins with rectangle `first` may be at an address */
static bool
group_fits(const struct rect *v, int n, int first, int64_t at)
{
	for (int i = first; i >= 0; i = v[i].next)
		for (int k = 0; k < n; k++)
			if (v[k].at >= 0 && collide(&v[i], at + v[i].offset, &v[k]))
				return false;
	return true;
}

/* places a group at the lowest address that fits, by trying all; returns the address */
static int64_t
drop_group(struct rect *v, int n, int first)
{
	int64_t at = 0;
	while (!group_fits(v, n, first, at))
		at += 16;
	for (int i = first; i >= 0; i = v[i].next)
		v[i].at = at + v[i].offset;
	return at;
}

static uint64_t
count_pairs(const struct rect *v, int n)
{
	uint64_t pairs = 0;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < i; k++)
			pairs += are_live_together(&v[i], &v[k]);
	return pairs;
}

static bool
check_boxes(int number)
{
	struct arena *a = arena_open();
	struct plan p = { .a = a };
	int n = 2 + (int)draw(MANY - 1);
	p.rect = anew(a, struct rect, MANY + 1);
	draw_groups(p.rect, n);
	p.n_rects = p.n_maps = (size_t)n;
	struct packing k = packing_of(&p, (size_t)n, PLACE_ARENA);
	bool ok = count_interferences(p.rect, (size_t)n) == count_pairs(p.rect, n);
	k.box = anew(a, struct packed_box, MANY + 1);
	for (int i = 0; i < n; i++)
		p.rect[i].at = -1;
	for (size_t i = 0; i < k.n; i++) {
		put_between_boxes(&k, i);
		ok = ok && k.at[i] == drop_group(p.rect, n, k.group[i].first);
	}
	if (!ok)
		printf("boxes of case %d: %d rectangles\n", number, n);
	arena_close(k.a);
	arena_close(a);
	return ok;
}

int
main(void)
{
	int wrong = 0;
	for (int i = 0; i < CASES; i++)
		wrong += !check(i);
	for (int i = 0; i < MANY_CASES; i++)
		wrong += !check_boxes(i);
	return wrong != 0;
}
