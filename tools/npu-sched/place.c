/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses for rectangles of bytes by moments.  The peak can't be below the
 * largest sum of bytes live at one moment.  First fit in the order of crowding,
 * then exchanges in that order; it ends when the bound is reached or the budget
 * (never the clock) is spent.
 */
#include "sched.h"

enum { BUDGET = 1000000 }; /* comparisons of two rectangles, a step of effort */

struct packing {
	struct rect *rect;
	size_t *order, *best_order;
	size_t n, n_fixed;
	int64_t best, bound;
	uint64_t work, random;
};

static bool
meets(const struct rect *a, const struct rect *b)
{
	return a->lo <= b->hi && b->lo <= a->hi;
}

static void
find_bound(struct packing *k)
{
	for (size_t i = 0; i < k->n; i++) {
		const struct rect *r = &k->rect[k->order[i]];
		int64_t sum = 0;
		/* the largest sum is taken on where something begins */
		for (size_t j = 0; j < k->n; j++) {
			const struct rect *x = &k->rect[k->order[j]];
			if (x->lo <= r->lo && x->hi >= r->lo)
				sum += x->bytes;
		}
		k->bound = sum > k->bound ? sum : k->bound;
		for (size_t j = 0; j < k->n; j++) {
			struct rect *x = &k->rect[k->order[j]];
			if (x->lo <= r->lo && x->hi >= r->lo && sum > x->crowd)
				x->crowd = sum;
		}
	}
}

/* the lowest address where r meets none of those before it in order */
static void
drop(struct packing *k, size_t i)
{
	struct rect *r = &k->rect[k->order[i]];
	bool moved = !r->fixed;
	if (moved)
		r->at = 0;
	while (moved) {
		moved = false;
		for (size_t j = 0; j < i; j++) {
			const struct rect *x = &k->rect[k->order[j]];
			if (!meets(r, x) || r->at >= x->at + x->bytes ||
			    x->at >= r->at + r->bytes)
				continue;
			r->at = x->at + x->bytes;
			moved = true;
		}
		k->work += i;
	}
}

static int64_t
try_order(struct packing *k, size_t from)
{
	int64_t peak = 0;
	for (size_t i = 0; i < k->n; i++) {
		if (i >= from)
			drop(k, i);
		const struct rect *r = &k->rect[k->order[i]];
		peak = r->at + r->bytes > peak ? r->at + r->bytes : peak;
	}
	return peak;
}

/* those with an address first, then the most crowded, longest, largest */
static int
compare(const struct rect *a, const struct rect *b)
{
	if (a->fixed != b->fixed)
		return a->fixed ? -1 : 1;
	if (a->crowd != b->crowd)
		return a->crowd > b->crowd ? -1 : 1;
	int64_t da = a->hi - a->lo, db = b->hi - b->lo;
	if (da != db)
		return da > db ? -1 : 1;
	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	return a->bytes > b->bytes ? -1 : a->bytes < b->bytes;
}

static void
sort_order(struct packing *k)
{
	size_t *o = k->order;
	for (size_t i = 1; i < k->n; i++)
		for (size_t j = i; j > 0; j--) {
			if (compare(&k->rect[o[j - 1]], &k->rect[o[j]]) <= 0)
				break;
			size_t t = o[j];
			o[j] = o[j - 1];
			o[j - 1] = t;
		}
}

static size_t
top_of(const struct packing *k)
{
	size_t top = 0;
	int64_t end = -1;
	for (size_t i = 0; i < k->n; i++) {
		const struct rect *r = &k->rect[k->order[i]];
		if (r->at + r->bytes > end) {
			end = r->at + r->bytes;
			top = i;
		}
	}
	return top;
}

static uint32_t
next_random(struct packing *k)
{
	k->random = k->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(k->random >> 33);
}

static void
exchange(struct packing *k)
{
	size_t n = k->n - k->n_fixed;
	size_t a = top_of(k), b = k->n_fixed + next_random(k) % n;
	if (next_random(k) % 3 == 0)
		a = k->n_fixed + next_random(k) % n;
	if (a < k->n_fixed || a == b)
		return;
	size_t t = k->order[a];
	k->order[a] = k->order[b];
	k->order[b] = t;
	size_t from = a < b ? a : b;
	int64_t peak = try_order(k, from);
	if (peak <= k->best) {
		k->best = peak;
		memcpy(k->best_order, k->order, k->n * sizeof(*k->order));
	} else {
		memcpy(k->order, k->best_order, k->n * sizeof(*k->order));
		(void)try_order(k, from);
	}
}

static void
pack(struct sched *s, struct plan *p, int place, bool thorough)
{
	struct packing k = { .rect = p->rect, .random = 1 };
	k.order = anew(s->a, size_t, p->n_rects + 1);
	k.best_order = anew(s->a, size_t, p->n_rects + 1);
	for (size_t i = 0; i < p->n_rects; i++)
		if (p->rect[i].host < 0 && p->rect[i].place == place &&
		    p->rect[i].bytes)
			k.order[k.n++] = i;
	find_bound(&k);
	sort_order(&k);
	while (k.n_fixed < k.n && k.rect[k.order[k.n_fixed]].fixed)
		k.n_fixed++;
	k.best = try_order(&k, 0);
	memcpy(k.best_order, k.order, k.n * sizeof(*k.order));
	uint64_t budget = thorough ? (uint64_t)BUDGET * (unsigned)s->o->effort : 0;
	while (k.best > k.bound && k.n > k.n_fixed + 1 && k.work < budget) {
		exchange(&k);
		k.work += k.n;
	}
	memcpy(k.order, k.best_order, k.n * sizeof(*k.order));
	p->peak[place] = try_order(&k, 0);
	p->bound[place] = k.bound;
}

void
place_rects(struct sched *s, struct plan *p, bool thorough)
{
	pack(s, p, PLACE_ARENA, thorough);
	pack(s, p, PLACE_CACHE, thorough);
	for (size_t i = 0; i < p->n_rects; i++) {
		const struct rect *r = &p->rect[i];
		int host = r->host;
		if (host >= 0)
			p->rect[i].at = p->rect[host].at;
	}
}

bool
plan_fits(const struct sched *s, const struct plan *p, int64_t limit)
{
	return p->peak[s->memory.spilling ? PLACE_CACHE : PLACE_ARENA] <= limit;
}
