/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses for rectangles of bytes by moments.  The peak can't be below the
 * largest sum of bytes live at one moment.  First fit in the order of crowding,
 * then exchanges in that order; it ends when the bound is reached or the budget
 * (never the clock) is spent.
 */
#include "sched.h"

enum { BUDGET = 200000 }; /* comparisons of two rectangles, a step of effort */

/* two rectangles of different groups that are live at one time */
struct meeting {
	uint32_t own, other;
};

/* rectangles that keep their distances, placed as one */
struct group {
	int64_t bytes, lo, hi, at, crowd;
	bool fixed;
	struct meeting *near;
	size_t n_near;
};

struct span {
	int64_t lo, hi;
};

struct packing {
	struct plan *p;
	struct group *group;  /* by number of the rectangle that stands for it */
	size_t *order, *best_order;
	size_t *rank;	      /* of each group: its place in order */
	struct span *barred;  /* scratch: addresses that neighbours bar */
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
make_groups(struct sched *s, struct packing *k, int place)
{
	struct plan *p = k->p;
	k->group = anew(s->a, struct group, p->n_rects + 1);
	for (size_t i = 0; i < p->n_rects; i++) {
		const struct rect *r = &p->rect[i];
		struct group *g = &k->group[r->group];
		if (r->place != place || !r->bytes)
			continue;
		bool first = !g->bytes;
		g->lo = first || r->lo < g->lo ? r->lo : g->lo;
		g->hi = first || r->hi > g->hi ? r->hi : g->hi;
		g->bytes = r->offset + r->bytes > g->bytes ? r->offset + r->bytes : g->bytes;
		g->fixed |= r->fixed;
		g->at = r->fixed ? r->at : 0;
		if (first)
			k->order[k->n++] = (size_t)r->group;
	}
}

static void
find_meetings(struct sched *s, struct packing *k, int place)
{
	struct plan *p = k->p;
	struct meeting *v = anew(s->a, struct meeting, p->n_rects + 1);
	size_t most = 0;
	for (size_t i = 0; i < p->n_rects; i++) {
		const struct rect *r = &p->rect[i];
		struct group *g = &k->group[r->group];
		size_t n = 0;
		for (size_t j = 0; j < p->n_rects; j++) {
			const struct rect *x = &p->rect[j];
			if (x->place == place && x->bytes && r->bytes &&
			    x->group != r->group && meets(r, x))
				v[n++] = (struct meeting){ (uint32_t)i, (uint32_t)j };
		}
		struct meeting *near = anew(s->a, struct meeting, g->n_near + n + 1);
		if (g->n_near)
			memcpy(near, g->near, g->n_near * sizeof(*near));
		memcpy(near + g->n_near, v, n * sizeof(*near));
		g->near = near;
		g->n_near += n;
		most = g->n_near > most ? g->n_near : most;
	}
	k->barred = anew(s->a, struct span, most + 1);
	k->rank = anew(s->a, size_t, p->n_rects + 1);
}

/* the largest sum of bytes at a moment; it is taken on where something begins */
static void
find_bound(struct packing *k)
{
	const struct plan *p = k->p;
	for (size_t i = 0; i < k->n; i++) {
		int64_t moment = k->group[k->order[i]].lo, sum = 0;
		for (size_t j = 0; j < k->n; j++) {
			const struct group *g = &k->group[k->order[j]];
			if (g->lo <= moment && g->hi >= moment)
				sum += group_bytes(p, (int)k->order[j], moment);
		}
		k->bound = sum > k->bound ? sum : k->bound;
		for (size_t j = 0; j < k->n; j++) {
			struct group *g = &k->group[k->order[j]];
			if (g->lo <= moment && g->hi >= moment && sum > g->crowd)
				g->crowd = sum;
		}
	}
}

/* the lowest address that the groups before it in order do not bar */
static void
drop(struct packing *k, size_t i)
{
	struct group *g = &k->group[k->order[i]];
	size_t n = 0;
	if (g->fixed)
		return;
	for (size_t j = 0; j < g->n_near; j++) {
		const struct rect *own = &k->p->rect[g->near[j].own];
		const struct rect *other = &k->p->rect[g->near[j].other];
		if (k->rank[other->group] >= i)
			continue;
		int64_t at = k->group[other->group].at + other->offset - own->offset;
		struct span bar = { .lo = at - own->bytes, .hi = at + other->bytes };
		size_t to = n++;
		for (; to > 0 && k->barred[to - 1].lo > bar.lo; to--)
			k->barred[to] = k->barred[to - 1];
		k->barred[to] = bar;
	}
	g->at = 0;
	for (size_t j = 0; j < n && k->barred[j].lo < g->at; j++)
		if (k->barred[j].hi > g->at)
			g->at = k->barred[j].hi;
	k->work += g->n_near + n;
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
		const struct group *g = &k->group[k->order[i]];
		peak = g->at + g->bytes > peak ? g->at + g->bytes : peak;
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
compare(const struct group *a, const struct group *b, enum start start)
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
			if (compare(&k->group[o[j - 1]], &k->group[o[j]], start) <= 0)
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
		const struct group *g = &k->group[k->order[i]];
		if (g->at + g->bytes > end) {
			end = g->at + g->bytes;
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
	struct packing k = { .p = p, .random = 1 };
	k.order = anew(s->a, size_t, p->n_rects + 1);
	k.best_order = anew(s->a, size_t, p->n_rects + 1);
	make_groups(s, &k, place);
	find_meetings(s, &k, place);
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
	while (k.n_fixed < k.n && k.group[k.order[k.n_fixed]].fixed)
		k.n_fixed++;
	uint64_t budget = thorough ? (uint64_t)BUDGET * (unsigned)s->o->effort : 0;
	while (k.best > k.bound && k.n > k.n_fixed + 1 && k.work < budget) {
		exchange(&k);
		k.work += k.n;
	}
	memcpy(k.order, k.best_order, k.n * sizeof(*k.order));
	p->peak[place] = try_order(&k, 0);
	p->bound[place] = k.bound;
	for (size_t i = 0; i < p->n_rects; i++) {
		struct rect *r = &p->rect[i];
		if (r->place == place && r->bytes)
			r->at = k.group[r->group].at + r->offset;
	}
}

void
place_rects(struct sched *s, struct plan *p, bool thorough)
{
	pack(s, p, PLACE_ARENA, thorough);
	pack(s, p, PLACE_CACHE, thorough);
}

bool
plan_fits(const struct sched *s, const struct plan *p, int64_t limit)
{
	return p->peak[s->memory.spilling ? PLACE_CACHE : PLACE_ARENA] <= limit;
}
