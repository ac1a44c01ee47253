/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds rectangles that are live at the same time, by a sweep in the order in which they begin.
 * The list of live rectangles is short for networks that are deep rather than wide.
 */
#include "pack.h"

#include "base/fixed.h"

/* Sorts rectangles that have bytes by first time step; returns their number. */
static size_t
by_begin(struct arena *a, const struct rect *rect, size_t n, uint32_t *order)
{
	int64_t last = 0;
	for (size_t i = 0; i < n; i++)
		last = rect[i].lo > last ? rect[i].lo : last;
	size_t *at = anew(a, size_t, (size_t)last + 2);
	for (size_t i = 0; i < n; i++)
		at[rect[i].lo + 1] += rect[i].bytes > 0;
	for (int64_t m = 0; m <= last; m++)
		at[m + 1] += at[m];
	for (size_t i = 0; i < n; i++)
		if (rect[i].bytes > 0)
			order[at[rect[i].lo]++] = (uint32_t)i;
	return at[last + 1];
}

struct pair {
	uint32_t a, b;
};

uint64_t
count_interferences(const struct rect *rect, size_t n)
{
	struct arena *a = arena_open();
	int64_t last = 0;
	for (size_t i = 0; i < n; i++)
		last = max_i64(last, rect[i].hi);
	uint64_t *begun = anew(a, uint64_t, (size_t)last + 2);
	uint64_t *ended = anew(a, uint64_t, (size_t)last + 2);
	for (size_t i = 0; i < n; i++) {
		begun[rect[i].lo] += rect[i].bytes > 0;
		ended[rect[i].hi + 1] += rect[i].bytes > 0;
	}
	uint64_t live = 0, pairs = 0; /* each new rectangle meets the live ones */
	for (int64_t t = 0; t <= last; t++) {
		live -= ended[t];
		pairs += begun[t] * live + begun[t] * (begun[t] - (begun[t] > 0)) / 2;
		live += begun[t];
	}
	arena_close(a);
	return pairs;
}

struct interferences
find_interferences(struct arena *a, const struct rect *rect, size_t n)
{
	struct arena *scratch = arena_open();
	uint32_t *order = anew(scratch, uint32_t, n + 1), *live = anew(scratch, uint32_t, n + 1);
	size_t n_order = by_begin(scratch, rect, n, order), n_live = 0, n_pairs = 0, cap = 0;
	struct pair *pair = NULL;
	for (size_t i = 0; i < n_order; i++) {
		const struct rect *r = &rect[order[i]];
		size_t kept = 0;
		for (size_t k = 0; k < n_live; k++) {
			if (rect[live[k]].hi < r->lo)
				continue;
			live[kept++] = live[k];
			pair = arena_grow(scratch, pair, n_pairs, &cap, sizeof(*pair));
			pair[n_pairs++] = (struct pair){ order[i], live[k] };
		}
		n_live = kept;
		live[n_live++] = order[i];
	}
	struct interferences m = { .first = anew(a, size_t, n + 2),
			      .with = anew(a, uint32_t, 2 * n_pairs + 1) };
	size_t *at = m.first + 1; /* the last loop moves at[i] to first[i + 1] */
	for (size_t i = 0; i < n_pairs; i++) {
		if (pair[i].a + 1 < n)
			at[pair[i].a + 1]++;
		if (pair[i].b + 1 < n)
			at[pair[i].b + 1]++;
	}
	for (size_t i = 1; i < n; i++)
		at[i] += at[i - 1];
	for (size_t i = 0; i < n_pairs; i++) {
		m.with[at[pair[i].a]++] = pair[i].b;
		m.with[at[pair[i].b]++] = pair[i].a;
	}
	arena_close(scratch);
	return m;
}

/* The bytes that a group covers at a time step. */
struct extent {
	int64_t lo, hi;
	size_t stamp; /* time step of lo and hi, counted from 1 */
};

size_t
step_at(const int64_t *step, size_t n, int64_t t)
{
	size_t lo = 0, hi = n;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (step[mid] < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* true if the rectangle is all of its group */
static bool
is_single(const struct rect *rect, size_t i)
{
	return rect[i].group == (int)i && rect[i].next < 0;
}

void
sum_bytes(const struct rect *rect, size_t n, int place, const int64_t *step,
	 size_t n_times, int64_t *sum)
{
	struct arena *a = arena_open();
	uint32_t *order = anew(a, uint32_t, n + 1), *live = anew(a, uint32_t, n + 1);
	struct extent *extent = anew(a, struct extent, n + 1); /* of each group */
	int64_t *change = anew(a, int64_t, n_times + 1), singles = 0;
	size_t n_order = by_begin(a, rect, n, order), next = 0, n_live = 0;
	/* rectangles alone in their groups only change the sum where they begin and end */
	for (size_t i = 0; i < n; i++) {
		if (rect[i].place != place || !is_single(rect, i))
			continue;
		change[step_at(step, n_times, rect[i].lo)] += rect[i].bytes;
		change[step_at(step, n_times, rect[i].hi + 1)] -= rect[i].bytes;
	}
	for (size_t m = 0; m < n_times; m++) {
		size_t kept = 0;
		for (; next < n_order && rect[order[next]].lo <= step[m]; next++)
			if (rect[order[next]].place == place && !is_single(rect, order[next]))
				live[n_live++] = order[next];
		singles += change[m];
		sum[m] = singles;
		for (size_t k = 0; k < n_live; k++) {
			const struct rect *r = &rect[live[k]];
			if (r->hi < step[m])
				continue;
			live[kept++] = live[k];
			struct extent *x = &extent[r->group];
			const bool first = x->stamp != m + 1;
			const int64_t was = first ? 0 : x->hi - x->lo, end = r->offset + r->bytes;
			x->stamp = m + 1;
			x->lo = first || r->offset < x->lo ? r->offset : x->lo;
			x->hi = first || end > x->hi ? end : x->hi;
			sum[m] += x->hi - x->lo - was;
		}
		n_live = kept;
	}
	arena_close(a);
}
