/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assigns addresses to buffers one by one, while transfers are planned, between feature maps
 * that have addresses.  First fit: the lowest address that is free from the transfer to the
 * last use.
 */
#include "memory.h"

#include "base/fixed.h"

#include <stdlib.h>

struct box {
	int64_t lo, hi, at, end; /* time steps, inclusive; first byte, byte behind the last */
};

struct gaps {
	struct box *feature_map; /* sorted by first time step */
	size_t n_feature_maps, begun; /* begun: so many were added to box or have expired */
	struct box *box;      /* feature maps and buffers, sorted by address */
	size_t n;
	int64_t now; /* no call asks for an earlier time step */
	int64_t limit;
	struct asked { /* the last search; bytes 0: none since the last gaps_put() */
		struct g_range life;
		int64_t bytes, at;
		int64_t same; /* a lifetime that begins up to this time step finds the same */
	} asked;
};

static int
compare_boxes(const void *x, const void *y)
{
	const struct box *a = x, *b = y;
	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

struct gaps *
gaps_open(struct arena *a, const struct plan *p, int place, int64_t limit)
{
	struct gaps *h = anew(a, struct gaps, 1);
	h->limit = limit;
	h->feature_map = anew(a, struct box, p->n_maps + 1);
	h->box = anew(a, struct box, p->n_maps + p->n_slices + 1);
	for (size_t i = 0; i < p->n_maps; i++) {
		const struct rect *r = &p->rect[i];
		if (r->place == place && r->bytes)
			h->feature_map[h->n_feature_maps++] = (struct box){
				.lo = r->lo, .hi = r->hi, .at = p->map_at[i],
				.end = p->map_at[i] + r->bytes };
	}
	qsort(h->feature_map, h->n_feature_maps, sizeof(*h->feature_map), compare_boxes);
	return h;
}

void
gaps_pass(struct gaps *h, int64_t now)
{
	size_t n = 0;
	if (now <= h->now)
		return;
	h->now = now;
	for (size_t i = 0; i < h->n; i++)
		if (h->box[i].hi >= now)
			h->box[n++] = h->box[i];
	h->n = n;
}

static void
add_box(struct gaps *h, struct box b)
{
	size_t i = h->n++;
	for (; i > 0 && h->box[i - 1].at > b.at; i--)
		h->box[i] = h->box[i - 1];
	h->box[i] = b;
}

/* Adds the boxes of feature maps that begin up to a time step. */
static void
add_feature_maps(struct gaps *h, int64_t step)
{
	for (; h->begun < h->n_feature_maps && h->feature_map[h->begun].lo <= step; h->begun++)
		if (h->feature_map[h->begun].hi >= h->now)
			add_box(h, h->feature_map[h->begun]);
}

static bool
is_live(const struct box *b, struct g_range life)
{
	return b->hi >= life.lo && b->lo <= life.hi;
}

/*
 * First fit in one pass.  Boxes are sorted by address, so no address below the end of a
 * blocking box is free.  The result holds for later lifetimes while all blocking boxes are live.
 */
static struct asked
search(struct gaps *h, struct g_range life, int64_t bytes)
{
	int64_t at = 0, until = INT64_MAX;
	add_feature_maps(h, life.hi);
	for (size_t i = 0; i < h->n && h->box[i].at < at + bytes && at + bytes <= h->limit; i++)
		if (h->box[i].end > at && is_live(&h->box[i], life)) {
			until = min_i64(until, h->box[i].hi);
			at = h->box[i].end;
		}
	return (struct asked){ .life = life, .bytes = bytes, .at = at, .same = until };
}

/* True if the cached address is still valid: same size and end, later start. */
static bool
is_cached_search(const struct asked *k, struct g_range life, int64_t bytes)
{
	return k->bytes == bytes && k->life.hi == life.hi && life.lo >= k->life.lo &&
	       life.lo <= k->same;
}

bool
gaps_find(struct gaps *h, struct g_range life, int64_t bytes, int64_t *at)
{
	if (!is_cached_search(&h->asked, life, bytes))
		h->asked = search(h, life, bytes);
	*at = h->asked.at;
	return *at + bytes <= h->limit;
}

void
gaps_put(struct gaps *h, struct g_range life, int64_t bytes, int64_t at)
{
	h->asked.bytes = 0;
	add_box(h, (struct box){ .lo = life.lo, .hi = life.hi, .at = at, .end = at + bytes });
}
