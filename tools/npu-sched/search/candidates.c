/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Candidates for plans: what maps may take, how finely weights are cut, what happens
 * to weights that are late.  All are costed with estimated sizes; those that
 * estimate enough are worked out with the encoder's exact ones.
 */
#include "search.h"

#include "base/hash.h"

#include <math.h>
#include <stdlib.h>

/* how weights are cut, and what may happen then to those that are late */
static const struct cutting {
	enum cut cut;
	bool slide, lazy, eager;
} cuttings[] = {
	{ .cut = UNCUT, .lazy = true, .eager = true },
	{ .cut = CUT_COARSE, .lazy = true },
	{ .cut = CUT_FINE, .lazy = true },
	{ .cut = CUT_MEDIUM, .eager = true },
	{ .cut = UNCUT, .slide = true, .lazy = true },
	{ .cut = CUT_MEDIUM, .slide = true, .lazy = true },
	{ .cut = CUT_FINE, .slide = true, .lazy = true },
};

/* qsort's order: fastest first, then smallest */
static int
compare_candidates(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;
	if (a->estimate != b->estimate)
		return a->estimate < b->estimate ? -1 : 1;
	if (a->need != b->need)
		return a->need < b->need ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

/* the division for maps in so many bytes; false: there is none */
static bool
divide(struct search *x, int64_t maps, bool slide, struct division *d)
{
	*d = (struct division){ .slide = slide };
	d->picked = anew(x->a, int, (size_t)x->s->n_ops + 1);
	d->n = cascades_choose(x->s, x->cascades, maps, slide, d->picked);
	return d->n || !x->s->n_ops;
}

/* its kernels, and weight slices of estimated sizes; where maps lie comes later */
static struct plan *
make_cut(struct search *x, struct division d, enum cut cut)
{
	struct plan *p = plan_new(x->s);
	cascades_take(x->s, x->cascades, d.picked, d.n, d.slide, p);
	make_slices(x->s, p, cut);
	return p;
}

/* divisions seen, with and without slides: the same maps for more are no news */
struct seen {
	uint64_t *hash;
	size_t n, cap;
};

static bool
is_news(struct arena *a, struct seen *l, struct division d)
{
	uint64_t h = 2 * hash_xxh3(d.picked, (size_t)d.n * sizeof(*d.picked)) + d.slide;
	for (size_t i = 0; i < l->n; i++)
		if (l->hash[i] == h)
			return false;
	agrow(a, l->hash, l->n, &l->cap);
	l->hash[l->n++] = h;
	return true;
}

/* maps need not fill what they may take: limits from here on try it */
static int64_t
smallest_limit(int64_t maps)
{
	return maps < NO_LIMIT_BYTES ? round_up_i64(maps - maps / 5, 16) : maps;
}

void
drop_candidates(struct search *x)
{
	for (size_t i = 0; i < x->n; i++)
		plan_close(x->v[i].plan);
	if (x->a)
		arena_close(x->a);
	x->a = NULL;
	x->v = NULL;
	x->n = x->cap = 0;
}

/*
 * Sizes that maps may have, rising: the least; from the peak of whole maps down
 * to it and up to where more room changes nothing, 1/steps at a time.
 */
struct sizes {
	int64_t *v;
	size_t n, cap;
};

static void
add_size(struct arena *a, struct sizes *l, int64_t size)
{
	agrow(a, l->v, l->n, &l->cap);
	l->v[l->n++] = size;
}

static struct sizes
list_sizes(struct search *x, struct arena *a, int steps)
{
	struct sizes down = { .n = 0 }, l = { .n = 0 };
	int64_t least = cascades_least(x->s, x->cascades), most = cascades_most(x->cascades);
	int64_t whole = cascades_whole_peak(x->cascades);
	if (least == INT64_MAX)
		return l;
	for (int64_t m = whole; m > least; m -= m / (steps + 1) + 16)
		add_size(a, &down, m);
	add_size(a, &l, least);
	while (down.n)
		add_size(a, &l, down.v[--down.n]);
	for (int64_t m = whole; m < most;) {
		m += m / steps + 16;
		add_size(a, &l, m < most ? m : most);
	}
	return l;
}

/* the peak of the maps of a division alone */
static int64_t
pack_division(struct search *x, struct division d)
{
	struct plan *p = make_cut(x, d, UNCUT);
	find_maps(x->s, p);
	int64_t peak = pack_maps(x->s, p);
	plan_close(p);
	return peak;
}

/* what list_candidates was asked for */
struct enumeration {
	struct search *x;
	struct seen seen;
	int64_t limit;
	enum room room;
	double below;
};

int64_t
round_limit(int64_t limit, const struct plan *p, enum grain grain)
{
	enum { MOST = 4096, LEAST = 64 };
	int64_t step = 16, steps = (int64_t)(MOST / (1 + p->n_slices / grain));
	while (limit / step >= (steps > LEAST ? steps : LEAST))
		step *= 2;
	return limit / step * step;
}

/*
 * Transfers choose greedily, and with much room may hold up what comes first: half
 * as much again as the maps need is tried, whatever the limit.  Without one it is
 * not worth the while if it can't estimate much less.
 */
static void
estimate_with_little(const struct enumeration *l, struct plan *p, struct candidate *i)
{
	const double much = 1.02;
	struct sched *s = l->x->s;
	if (l->limit == NO_LIMIT_BYTES && i->estimate < much * i->lower_bound) {
		i->with_little = INFINITY;
		return;
	}
	int64_t least = maps_least(s, p, limited_place(s));
	i->little = round_limit(least + least / 2, p, FINE);
	if (i->little >= l->limit)
		return;
	plan_fetches(s, p, i->little);
	i->with_little = plan_bound(s, p);
	if (i->with_little < i->estimate)
		i->estimate = i->with_little;
}

/* transfers by one policy */
static void
add_candidate(struct enumeration *l, struct plan *p, struct candidate i, int64_t room)
{
	struct search *x = l->x;
	p->eager = i.policy.eager;
	plan_fetches(x->s, p, round_limit(room, p, FINE));
	if (p->need > round_limit(room, p, FINE))
		plan_fetches(x->s, p, p->need); /* just room for the maps */
	if (p->need > room)
		return;
	i.estimate = plan_bound(x->s, p);
	i.need = p->need > i.need ? p->need : i.need;
	if (l->room == ROOM_OF_LIMIT)
		estimate_with_little(l, p, &i);
	i.number = x->n;
	agrow(x->a, x->v, x->n, &x->cap);
	x->v[x->n++] = i;
}

/* its division's lower_bound is known, and the peak of the maps alone, if that counts */
static void
add_cutting(struct enumeration *l, struct candidate i, const struct cutting *c)
{
	struct search *x = l->x;
	int64_t room = l->room == ROOM_OF_MAPS ? i.maps : l->limit;
	struct plan *p = make_cut(x, i.division, c->cut);
	i.policy.cut = c->cut;
	i.lower_bound = plan_lower_bound(x->s, p, l->below);
	if (i.lower_bound < l->below) {
		if (i.lower_bound > i.estimated_lower_bound)
			i.estimated_lower_bound = i.lower_bound;
		find_maps(x->s, p);
		if (l->room == ROOM_OF_MAPS && x->s->memory.spilling)
			i.beside = maps_least(x->s, p, PLACE_ARENA);
		if (c->lazy)
			add_candidate(l, p, i, room);
		i.policy.eager = true;
		if (c->eager)
			add_candidate(l, p, i, room);
	}
	plan_close(p);
}

/* room for transfers: below the limit, for maps that are news; or no more than
 * maps may take, and what counts is how these can be packed */
static void
add_candidates(struct enumeration *l, int64_t maps, bool slide)
{
	struct search *x = l->x;
	struct candidate i = { .maps = maps };
	struct division *d = &i.division;
	if (!divide(x, maps, slide, d))
		return;
	if (l->room == ROOM_OF_LIMIT && !is_news(x->a, &l->seen, *d))
		return;
	i.need = l->room == ROOM_OF_MAPS ? pack_division(x, *d) : 0;
	for (size_t t = 0; t < ARRAY_LEN(cuttings); t++) {
		const struct cutting *c = &cuttings[t];
		if (c->slide != slide)
			continue;
		i.estimated_lower_bound = division_lower_bound(x->s, x->cascades, d->picked, d->n, c->cut);
		if (i.estimated_lower_bound < l->below)
			add_cutting(l, i, c);
	}
}

void
list_candidates(struct search *x, int64_t limit, enum room room, int steps, double below)
{
	struct enumeration l = { .x = x, .limit = limit, .room = room, .below = below };
	drop_candidates(x);
	x->a = arena_open();
	struct sizes sizes = list_sizes(x, x->a, steps);
	for (int slide = 0; slide < 2; slide++)
		for (size_t i = 0; i < sizes.n; i++)
			if (smallest_limit(sizes.v[i]) <= limit)
				add_candidates(&l, sizes.v[i], slide);
	if (x->n)
		qsort(x->v, x->n, sizeof(*x->v), compare_candidates);
}

struct plan *
estimate_candidate(struct search *x, const struct candidate *i)
{
	struct plan *p = make_cut(x, i->division, i->policy.cut);
	p->eager = i->policy.eager;
	find_maps(x->s, p);
	return p;
}

bool
work_out(struct search *x, struct candidate *i)
{
	struct sched *s = x->s;
	struct plan *p = i->plan = estimate_candidate(x, i);
	for (size_t k = 0; k < p->n_kernels; k++)
		i->least = p->map_bytes[k] > i->least ? p->map_bytes[k] : i->least;
	if (!measure_slices(s, p))
		return false;
	i->lower_bound = plan_lower_bound(s, p, INFINITY);
	return true;
}

int64_t
candidate_packed(struct search *x, struct candidate *i)
{
	if (!i->packed)
		i->packed = pack_maps(x->s, i->plan);
	return i->packed;
}

/* the division whose maps can be packed best, of those for sizes from the least on */
static bool
find_least(struct search *x, struct division *least)
{
	enum { STEPS = 32 };
	int64_t best = INT64_MAX;
	struct sizes sizes = list_sizes(x, x->a, STEPS);
	for (int slide = 0; slide < 2; slide++)
		for (size_t i = 0; i < sizes.n && smallest_limit(sizes.v[i]) < best; i++) {
			struct division d;
			if (!divide(x, sizes.v[i], slide, &d))
				continue;
			int64_t peak = pack_division(x, d);
			if (peak >= best)
				continue;
			best = peak;
			*least = d;
		}
	return best < INT64_MAX;
}

struct plan *
estimate_least(struct search *x)
{
	struct division d;
	drop_candidates(x);
	x->a = arena_open();
	return find_least(x, &d) ? make_cut(x, d, UNCUT) : NULL;
}
