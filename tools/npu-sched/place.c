/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses for rectangles of bytes by moments.  The peak can't be below the
 * largest sum of bytes live at one moment.  First fit in the order of crowding,
 * then exchanges in that order; it ends when the bound is reached or the budget
 * (never the clock) is spent.
 */
#include "sched.h"

enum { BUDGET = 200000 }; /* comparisons of two rectangles, a step of effort */

/* rectangles that are live at a time when this one is */
struct neighbours {
	uint32_t *v;
	size_t n;
};

struct packing {
	struct rect *rect;
	size_t *order, *best_order;
	size_t *rank;		   /* of each rectangle: its place in order */
	struct neighbours *near;
	const struct rect **below; /* scratch: placed neighbours by address */
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

static void
find_neighbours(struct sched *s, struct packing *k, size_t n_rects)
{
	k->rank = anew(s->a, size_t, n_rects + 1);
	k->near = anew(s->a, struct neighbours, n_rects + 1);
	k->below = anew(s->a, const struct rect *, n_rects + 1);
	uint32_t *v = anew(s->a, uint32_t, n_rects + 1);
	for (size_t i = 0; i < k->n; i++) {
		struct neighbours *x = &k->near[k->order[i]];
		for (size_t j = 0; j < k->n; j++)
			if (j != i && meets(&k->rect[k->order[i]], &k->rect[k->order[j]]))
				v[x->n++] = (uint32_t)k->order[j];
		x->v = anew(s->a, uint32_t, x->n + 1);
		memcpy(x->v, v, x->n * sizeof(*v));
	}
}

/* the lowest gap between the neighbours that stand before it in order */
static void
drop(struct packing *k, size_t i)
{
	size_t self = k->order[i], n = 0;
	struct rect *r = &k->rect[self];
	const struct neighbours *x = &k->near[self];
	if (r->fixed)
		return;
	for (size_t j = 0; j < x->n; j++) {
		const struct rect *o = &k->rect[x->v[j]];
		if (k->rank[x->v[j]] >= i)
			continue;
		size_t at = n++;
		for (; at > 0 && k->below[at - 1]->at > o->at; at--)
			k->below[at] = k->below[at - 1];
		k->below[at] = o;
	}
	r->at = 0;
	for (size_t j = 0; j < n; j++) {
		const struct rect *o = k->below[j];
		if (o->at >= r->at + r->bytes)
			break;
		if (o->at + o->bytes > r->at)
			r->at = o->at + o->bytes;
	}
	k->work += x->n + n;
}

static int64_t
try_order(struct packing *k, size_t from)
{
	int64_t peak = 0;
	for (size_t i = from; i < k->n; i++)
		k->rank[k->order[i]] = i;
	for (size_t i = 0; i < k->n; i++) {
		if (i >= from)
			drop(k, i);
		const struct rect *r = &k->rect[k->order[i]];
		peak = r->at + r->bytes > peak ? r->at + r->bytes : peak;
	}
	return peak;
}

/* orders to begin with; those that have an address come first in each */
enum start { BY_CROWD, BY_BYTES, BY_AREA, BY_TIME, STARTS };

static int
sign(int64_t v)
{
	return v < 0 ? -1 : v > 0;
}

static int
compare(const struct rect *a, const struct rect *b, enum start start)
{
	int64_t da = a->hi - a->lo, db = b->hi - b->lo;
	int by_bytes = sign(b->bytes - a->bytes), by_time = sign(a->lo - b->lo);
	int by_length = sign(db - da);
	int first = a->fixed != b->fixed ? (a->fixed ? -1 : 1) : 0;
	if (!first && start == BY_CROWD)
		first = sign(b->crowd - a->crowd) ? sign(b->crowd - a->crowd)
						  : by_length;
	if (!first && start == BY_AREA)
		first = sign(b->bytes * (db + 1) - a->bytes * (da + 1));
	if (!first && start == BY_BYTES)
		first = by_bytes;
	return first ? first : by_time ? by_time : by_bytes;
}

static void
sort_order(struct packing *k, enum start start)
{
	size_t *o = k->order;
	for (size_t i = 1; i < k->n; i++)
		for (size_t j = i; j > 0; j--) {
			if (compare(&k->rect[o[j - 1]], &k->rect[o[j]], start) <= 0)
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
	find_neighbours(s, &k, p->n_rects);
	find_bound(&k);
	for (int start = 0; start < STARTS && (!start || k.best > k.bound); start++) {
		sort_order(&k, (enum start)start);
		int64_t peak = try_order(&k, 0);
		if (start && peak >= k.best)
			continue;
		k.best = peak;
		memcpy(k.best_order, k.order, k.n * sizeof(*k.order));
	}
	memcpy(k.order, k.best_order, k.n * sizeof(*k.order));
	(void)try_order(&k, 0);
	while (k.n_fixed < k.n && k.rect[k.order[k.n_fixed]].fixed)
		k.n_fixed++;
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
