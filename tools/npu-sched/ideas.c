/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ideas for plans: what maps may take, how finely weights are cut, what happens
 * to weights that are late.  All are costed with estimated sizes; those that
 * promise enough are worked out with the encoder's exact ones.
 */
#include "search.h"

#include "base/hash.h"

#include <stdlib.h>

static const struct policy policies[] = {
	{ .target = 0 },
	{ .target = 32768 },
	{ .target = 4096 },
	{ .target = 0, .eager = true },
	{ .target = 12288, .eager = true },
	{ .target = 0, .slide = true },
	{ .target = 12288, .slide = true },
	{ .target = 4096, .slide = true },
};

/* qsort's order: fastest first, then smallest */
static int
compare_ideas(const void *x, const void *y)
{
	const struct idea *a = x, *b = y;
	if (a->promise != b->promise)
		return a->promise < b->promise ? -1 : 1;
	if (a->need != b->need)
		return a->need < b->need ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

/* the kernels, not yet cut by slices of weights; NULL: there are none */
static struct plan *
divide(struct search *x, int64_t maps, bool slide)
{
	struct plan *p = plan_new(x->s);
	if (chains_choose(x->s, x->chains, maps, slide, p))
		return p;
	plan_close(p);
	return NULL;
}

/* estimated sizes; still without transfers */
static void
cut(struct search *x, struct plan *p, struct policy policy)
{
	p->eager = policy.eager;
	make_units(x->s, p, policy.target);
	find_maps(x->s, p);
}

static void
add_idea(struct search *x, int64_t maps, int64_t room, int64_t least,
	 struct policy policy)
{
	struct idea i = { .maps = maps, .policy = policy, .number = x->n };
	struct plan *p = divide(x, maps, policy.slide);
	cut(x, p, policy);
	plan_fetches(x->s, p, room);
	i.promise = plan_bound(x->s, p);
	i.need = p->need > least ? p->need : least;
	bool fits = p->need <= room;
	plan_close(p);
	if (!fits)
		return;
	agrow(x->a, x->v, x->n, &x->cap);
	x->v[x->n++] = i;
}

/* what tells divisions apart */
static uint64_t
division_hash(const struct sched *s, const struct plan *p)
{
	size_t n = (size_t)s->n_ops;
	uint64_t h[] = {
		hash_xxh3(p->band, n * sizeof(*p->band)),
		hash_xxh3(p->rolling, n * sizeof(*p->rolling)),
		hash_xxh3(p->over, n * sizeof(*p->over)),
		hash_xxh3(p->lead, n * sizeof(*p->lead)), p->n_kernels,
	};
	return hash_xxh3(h, sizeof(h));
}

/* divisions seen, with and without slides: the same maps for more are no news */
struct seen {
	uint64_t *hash;
	size_t n, cap;
};

static bool
is_news(struct search *x, struct seen *l, const struct plan *p, bool slide)
{
	uint64_t h = 2 * division_hash(x->s, p) + slide;
	for (size_t i = 0; i < l->n; i++)
		if (l->hash[i] == h)
			return false;
	agrow(x->a, l->hash, l->n, &l->cap);
	l->hash[l->n++] = h;
	return true;
}

static int64_t
next_size(int64_t maps, int steps)
{
	return maps + maps / steps + 16;
}

/* maps need not fill what they may take: limits from here on try it */
static int64_t
smallest_limit(int64_t maps)
{
	return maps < NO_LIMIT_BYTES ? round_up_i64(maps - maps / 5, 16) : maps;
}

void
drop_ideas(struct search *x)
{
	for (size_t i = 0; i < x->n; i++)
		plan_close(x->v[i].plan);
	if (x->a)
		arena_close(x->a);
	x->a = NULL;
	x->v = NULL;
	x->n = x->cap = 0;
}

/* the peak of the maps of a division alone; INT64_MAX: there is none */
static int64_t
pack_division(struct search *x, int64_t maps, bool slide)
{
	struct plan *p = divide(x, maps, slide);
	if (!p)
		return INT64_MAX;
	cut(x, p, (struct policy){ .slide = slide });
	int64_t peak = pack_maps(x->s, p);
	plan_close(p);
	return peak;
}

/* room for transfers: below the limit, for maps that are news; or no more than
 * maps may take, and what counts is how these can be packed */
static void
add_ideas(struct search *x, struct seen *l, int64_t maps, int64_t limit,
	  enum room room, bool slide)
{
	struct plan *p = divide(x, maps, slide);
	bool useful = p && (room == ROOM_OF_MAPS || is_news(x, l, p, slide));
	plan_close(p);
	if (!useful)
		return;
	int64_t peak = room == ROOM_OF_MAPS ? pack_division(x, maps, slide) : 0;
	for (size_t t = 0; t < ARRAY_LEN(policies); t++)
		if (policies[t].slide == slide)
			add_idea(x, maps, room == ROOM_OF_MAPS ? maps : limit, peak,
				 policies[t]);
}

void
list_ideas(struct search *x, int64_t limit, enum room room, int steps)
{
	struct seen seen = { .n = 0 };
	drop_ideas(x);
	x->a = arena_open();
	int64_t whole = chains_whole_peak(x->s, x->chains);
	int64_t first = limit < NO_LIMIT_BYTES ? x->least : limit;
	for (int slide = 0; slide < 2; slide++) {
		for (int64_t m = first; smallest_limit(m) <= limit; m = next_size(m, steps))
			add_ideas(x, &seen, m, limit, room, slide);
		if (whole <= limit)
			add_ideas(x, &seen, whole, limit, room, slide);
	}
	if (x->n)
		qsort(x->v, x->n, sizeof(*x->v), compare_ideas);
}

bool
work_out(struct search *x, struct idea *i)
{
	struct sched *s = x->s;
	struct plan *p = i->plan = divide(x, i->maps, i->policy.slide);
	cut(x, p, i->policy);
	for (size_t k = 0; k < p->n_kernels; k++)
		i->least = p->map_bytes[k] > i->least ? p->map_bytes[k] : i->least;
	i->packed = pack_maps(s, p);
	return measure_units(s, p);
}

int64_t
least_packed(struct search *x)
{
	enum { STEPS = 32 };
	int64_t best = INT64_MAX;
	for (int slide = 0; slide < 2; slide++)
		for (int64_t maps = x->least; smallest_limit(maps) < best;
		     maps = next_size(maps, STEPS)) {
			int64_t peak = pack_division(x, maps, slide);
			if (peak < smallest_limit(maps))
				peak = smallest_limit(maps);
			best = peak < best ? peak : best;
		}
	return best;
}
