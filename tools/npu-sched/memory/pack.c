/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assigns addresses to rectangles of bytes and time steps.  The lower bound of the peak is the
 * largest sum of bytes live at one time step.  First fit is tried in several orders: feature
 * maps first, as they pack best without buffers; by crowding; by size and others.  Then pairs
 * are exchanged in the best order.  Packing ends at the lower bound or when its budget is
 * spent, which counts comparisons and never time.  Pairs are exchanged only among rectangles
 * that are few enough to list their interferences.
 */
#include "pack.h"

#include "base/fixed.h"

#include <stdlib.h>
#include <string.h>

static void
find_near(struct packing *k)
{
	struct plan *p = k->p;
	struct interferences m = find_interferences(k->a, p->rect, k->n_rects);
	size_t most = 0;
	for (size_t n = 0; n < k->n; n++) {
		struct group *g = &k->group[n];
		size_t cap_near = 0;
		for (int i = g->first; i >= 0; i = p->rect[i].next)
			cap_near += m.first[i + 1] - m.first[i];
		g->near = anew(k->a, struct near, cap_near);
		for (int i = g->first; i >= 0; i = p->rect[i].next) {
			const struct rect *own = &p->rect[i];
			for (size_t j = m.first[i]; j < m.first[i + 1]; j++) {
				const struct rect *x = &p->rect[m.with[j]];
				if (x->place != own->place || x->group == own->group)
					continue;
				int64_t at = x->offset - own->offset;
				g->near[g->n_near++] = (struct near){
					.group = k->of[x->group],
					.lo = at - own->bytes, .hi = at + x->bytes };
			}
		}
		most = g->n_near > most ? g->n_near : most;
	}
	k->blocked_spans = anew(k->a, struct span, most + 1);
}

static int
compare_steps(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
	return a < b ? -1 : a > b;
}

/* Finds the lower bound, and the crowd of each group.  The largest sum of bytes occurs where
 * some group begins. */
static void
find_bound(struct packing *k, int place)
{
	enum { BLOCK = 64 };
	int64_t *step = anew(k->a, int64_t, k->n + 1);
	int64_t *sum = anew(k->a, int64_t, k->n + 1);
	int64_t *block = anew(k->a, int64_t, k->n / BLOCK + 1); /* largest of each BLOCK sums */
	for (size_t i = 0; i < k->n; i++)
		step[i] = k->group[i].lo;
	qsort(step, k->n, sizeof(*step), compare_steps);
	sum_bytes(k->p->rect, k->n_rects, place, step, k->n, sum);
	for (size_t m = 0; m < k->n; m++)
		block[m / BLOCK] = max_i64(block[m / BLOCK], sum[m]);
	for (size_t i = 0; i < k->n; i++) {
		struct group *g = &k->group[i];
		size_t lo = step_at(step, k->n, g->lo);
		const size_t hi = step_at(step, k->n, g->hi + 1);
		int64_t most = 0;
		while (lo < hi) {
			bool whole = lo % BLOCK == 0 && hi - lo >= BLOCK;
			most = max_i64(most, whole ? block[lo / BLOCK] : sum[lo]);
			lo += whole ? BLOCK : 1;
		}
		g->crowd = most;
		k->bound = g->crowd > k->bound ? g->crowd : k->bound;
	}
}

static int
compare_spans(const void *x, const void *y)
{
	const struct span *a = x, *b = y;
	return a->lo < b->lo ? -1 : a->lo > b->lo;
}

/* Blocked spans are scanned until none moves the address, which is faster than sorting for the
 * usual few scans.  After so many comparisons they are sorted: spans of equal size in the wrong
 * order would need as many scans as there are spans. */
enum { MOST_SCANNED = 1 << 15 };

/* First fit: puts the i-th group at the lowest address that the groups before it leave free.
 * The budget counts comparisons. */
static void
put_by_first_fit(struct packing *k, size_t i)
{
	size_t own = k->order[i];
	const struct group *g = &k->group[own];
	size_t n = 0;
	if (g->fixed)
		return;
	for (size_t j = 0; j < g->n_near; j++) {
		const struct near *x = &g->near[j];
		int64_t at = k->at[x->group];
		k->blocked_spans[n] = (struct span){ .lo = at + x->lo, .hi = at + x->hi };
		n += k->rank[x->group] < i;
	}
	int64_t at = 0;
	size_t left = n; /* spans that begin below `at` no longer block */
	k->cost[own] = (uint32_t)g->n_near;
	size_t scanned = 0;
	for (bool moved = true; moved; k->cost[own] += (uint32_t)n) {
		const size_t was = left;
		if (scanned > MOST_SCANNED) { /* one sweep over the sorted spans */
			struct span *v = k->blocked_spans;
			qsort(v, left, sizeof(*v), compare_spans);
			for (size_t j = 0; j < left && v[j].lo < at; j++)
				at = max_i64(at, v[j].hi);
			break;
		}
		scanned += was;
		moved = false;
		left = 0;
		for (size_t j = 0; j < was; j++) {
			const struct span b = k->blocked_spans[j];
			const bool overlaps = b.lo < at && b.hi > at;
			moved |= overlaps;
			at = overlaps ? b.hi : at;
			k->blocked_spans[left] = b;
			left += b.lo >= at;
		}
	}
	k->at[own] = at;
}

/* Puts all groups in order by first fit; returns the peak.  Stops once the peak exceeds
 * `most`. */
static int64_t
try_order(struct packing *k, int64_t most)
{
	int64_t peak = 0;
	for (size_t i = 0; i < k->n; i++)
		k->rank[k->order[i]] = i;
	k->n_boxes = 0;
	for (size_t i = 0; i < k->n && peak <= most; i++) {
		if (k->wide)
			put_between_boxes(k, k->order[i]);
		else
			put_by_first_fit(k, i);
		size_t g = k->order[i];
		k->work += k->cost[g];
		peak = max_i64(peak, k->at[g] + k->group[g].bytes);
	}
	return peak;
}

/* Saves the order and its addresses as the best ones; go_back() restores these. */
static void
keep(struct packing *k, int64_t peak)
{
	k->best = peak;
	memcpy(k->best_order, k->order, k->n * sizeof(*k->order));
	memcpy(k->best_at, k->at, k->n * sizeof(*k->at));
	memcpy(k->best_cost, k->cost, k->n * sizeof(*k->cost));
}

static void
go_back(struct packing *k)
{
	memcpy(k->order, k->best_order, k->n * sizeof(*k->order));
	memcpy(k->at, k->best_at, k->n * sizeof(*k->at));
	memcpy(k->cost, k->best_cost, k->n * sizeof(*k->cost));
	for (size_t i = 0; i < k->n; i++)
		k->rank[k->order[i]] = i;
}

/* Initial orders.  Groups with an address from the graph come first in each. */
enum start { BY_MAPS, BY_CROWD, BY_BYTES, BY_AREA, BY_TIME, STARTS };

static int
sign(int64_t v)
{
	return v < 0 ? -1 : v > 0;
}

struct sorting {
	const struct packing *k;
	enum start start;
};

/* for qsort_r; keeps the order of equal groups */
static int
compare_order(const void *x, const void *y, void *ctx)
{
	const struct sorting *s = ctx;
	const struct packing *k = s->k;
	const enum start start = s->start;
	const size_t i = *(const size_t *)x, j = *(const size_t *)y;
	const struct group *a = &k->group[i], *b = &k->group[j];
	const int *rank = k->p->map_rank;
	int64_t da = a->hi - a->lo, db = b->hi - b->lo;
	int by_bytes = sign(b->bytes - a->bytes), by_time = sign(a->lo - b->lo);
	int first = a->fixed != b->fixed ? (a->fixed ? -1 : 1) : 0;
	if (!first && start == BY_MAPS && rank)
		first = sign(rank[a->first] - rank[b->first]);
	if (!first && (start == BY_CROWD || start == BY_MAPS))
		first = sign(b->crowd - a->crowd) ? sign(b->crowd - a->crowd) : sign(db - da);
	if (!first && start == BY_AREA)
		first = sign(b->bytes * (db + 1) - a->bytes * (da + 1));
	if (!first && start == BY_BYTES)
		first = by_bytes;
	first = first ? first : by_time ? by_time : by_bytes;
	return first ? first : k->rank[i] < k->rank[j] ? -1 : 1;
}

/* Sets before and top.  Needs: the order is the best one. */
static void
find_peaks(struct packing *k)
{
	for (size_t i = 0; i < k->n; i++) {
		size_t g = k->order[i];
		int64_t end = k->at[g] + k->group[g].bytes;
		if (!i || end > k->before[i])
			k->top = i;
		k->before[i + 1] = i ? max_i64(k->before[i], end) : end;
	}
}

static uint32_t
next_random(struct packing *k)
{
	k->random = k->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(k->random >> 33);
}

static void
swap(struct packing *k, size_t a, size_t b)
{
	size_t t = k->order[a];
	k->order[a] = k->order[b];
	k->order[b] = t;
	k->rank[k->order[a]] = a;
	k->rank[k->order[b]] = b;
}

/* Marks the neighbours of a group, whose addresses may change. */
static void
move_near(struct packing *k, size_t group)
{
	const struct group *g = &k->group[group];
	for (size_t j = 0; j < g->n_near; j++)
		k->moved[g->near[j].group] = k->number;
}

/*
 * try_order() for the best order with positions a and b exchanged.  Puts again only the two
 * groups and groups with a neighbour that moved or was exchanged: all others keep address and
 * cost.
 */
static int64_t
try_exchange(struct packing *k, size_t a, size_t b)
{
	const size_t from = a < b ? a : b;
	int64_t peak = k->before[from];
	k->number++;
	k->n_dropped = 0;
	k->moved[k->order[a]] = k->moved[k->order[b]] = k->number;
	move_near(k, k->order[a]);
	move_near(k, k->order[b]);
	for (size_t i = from; i < k->n && peak <= k->best; i++) {
		size_t g = k->order[i];
		if (k->moved[g] == k->number) {
			k->dropped[k->n_dropped++] = (uint32_t)g;
			put_by_first_fit(k, i);
			if (k->at[g] != k->best_at[g])
				move_near(k, g);
		}
		k->work += k->cost[g];
		peak = max_i64(peak, k->at[g] + k->group[g].bytes);
	}
	return peak;
}

static void
exchange(struct packing *k)
{
	size_t n = k->n - k->n_fixed;
	size_t a = k->top, b = k->n_fixed + next_random(k) % n;
	if (next_random(k) % 3 == 0)
		a = k->n_fixed + next_random(k) % n;
	if (a < k->n_fixed || a == b)
		return;
	swap(k, a, b);
	const int64_t peak = try_exchange(k, a, b);
	/* it becomes the best order if the peak is no higher, else it is undone */
	const bool better = peak <= k->best;
	const int64_t *from = better ? k->at : k->best_at;
	const uint32_t *cost = better ? k->cost : k->best_cost;
	if (!better)
		swap(k, a, b);
	for (size_t i = 0; i < k->n_dropped; i++) {
		uint32_t g = k->dropped[i];
		k->at[g] = k->best_at[g] = from[g];
		k->cost[g] = k->best_cost[g] = cost[g];
	}
	k->best = better ? peak : k->best;
	k->best_order[a] = k->order[a];
	k->best_order[b] = k->order[b];
	if (better)
		find_peaks(k);
}

struct packing
packing_of(struct plan *p, size_t n_rects, int place)
{
	struct packing k = { .a = arena_open(), .p = p, .n_rects = n_rects,
			     .random = 1 };
	k.order = anew(k.a, size_t, n_rects + 1);
	k.best_order = anew(k.a, size_t, n_rects + 1);
	k.rank = anew(k.a, size_t, n_rects + 1);
	k.before = anew(k.a, int64_t, n_rects + 1);
	k.group = anew(k.a, struct group, n_rects + 1);
	k.of = anew(k.a, uint32_t, n_rects + 1);
	k.at = anew(k.a, int64_t, n_rects + 1);
	k.best_at = anew(k.a, int64_t, n_rects + 1);
	k.cost = anew(k.a, uint32_t, n_rects + 1);
	k.best_cost = anew(k.a, uint32_t, n_rects + 1);
	k.moved = anew(k.a, uint32_t, n_rects + 1);
	k.dropped = anew(k.a, uint32_t, n_rects + 1);
	for (size_t i = 0; i < n_rects; i++) {
		const struct rect *r = &p->rect[i];
		if (!is_placed(r, place))
			continue;
		bool first = !k.n || k.group[k.of[r->group]].first != r->group;
		if (first) {
			k.of[r->group] = (uint32_t)k.n;
			k.order[k.n] = k.n;
			k.group[k.n++].first = r->group;
		}
		struct group *g = &k.group[k.of[r->group]];
		g->lo = first || r->lo < g->lo ? r->lo : g->lo;
		g->hi = first || r->hi > g->hi ? r->hi : g->hi;
		g->bytes = r->offset + r->bytes > g->bytes ? r->offset + r->bytes : g->bytes;
		g->fixed |= r->fixed;
		k.at[k.of[r->group]] = r->fixed ? r->at : 0;
	}
	find_bound(&k, place);
	return k;
}

/* Many groups that pack badly in one order do so in the others. */
static bool
packs_badly(const struct packing *k)
{
	enum { MANY = 64 };
	return k->n >= MANY && k->best - k->bound > k->bound / 10;
}

void
pack(struct packing *k, uint64_t budget, bool hurry, int64_t most)
{
	enum { CLOSE = 10 };
	k->wide = count_interferences(k->p->rect, k->n_rects) > MOST_PAIRS;
	if (k->wide)
		k->box = anew(k->a, struct packed_box, k->n_rects + 1);
	else
		find_near(k);
	for (int start = 0; start < STARTS && (!start || k->best > k->bound); start++) {
		struct sorting s = { .k = k, .start = (enum start)start };
		for (size_t i = 0; i < k->n; i++)
			k->rank[k->order[i]] = i;
		qsort_r(k->order, k->n, sizeof(*k->order), compare_order, &s);
		int64_t peak = try_order(k, start ? k->best : INT64_MAX);
		if (!start || peak < k->best)
			keep(k, peak);
		if (hurry && packs_badly(k))
			break;
	}
	go_back(k);
	while (k->n_fixed < k->n && k->group[k->order[k->n_fixed]].fixed)
		k->n_fixed++;
	if (k->wide || (hurry && packs_badly(k)))
		return;
	if (k->best > k->bound && k->best - k->best / CLOSE > most)
		return;
	find_peaks(k);
	while (k->best > k->bound && k->n > k->n_fixed + 1 && k->work < budget) {
		exchange(k);
		k->work += k->n;
	}
}
