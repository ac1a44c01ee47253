/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses for buffers one after the other, as transfers are planned, between
 * maps that have theirs: the lowest address that is free from the transfer to
 * the last use.
 */
#include "memory.h"

#include <stdlib.h>

struct box {
	int64_t lo, hi, at, end; /* time steps, bytes */
};

struct gaps {
	struct box *map;	 /* by their beginning */
	int64_t *until;		 /* the latest end of a map up to each */
	struct box *buffer; /* by their addresses */
	struct box *barred; /* scratch: the maps of one search */
	size_t n_maps, n_buffers;
	int64_t limit;
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
	h->map = anew(a, struct box, p->n_maps + 1);
	h->until = anew(a, int64_t, p->n_maps + 1);
	h->buffer = anew(a, struct box, p->n_slices + 1);
	h->barred = anew(a, struct box, p->n_maps + 1);
	for (size_t i = 0; i < p->n_maps; i++) {
		const struct rect *r = &p->rect[i];
		if (r->place == place && r->bytes)
			h->map[h->n_maps++] = (struct box){
				.lo = r->lo, .hi = r->hi, .at = p->map_at[i],
				.end = p->map_at[i] + r->bytes };
	}
	qsort(h->map, h->n_maps, sizeof(*h->map), compare_boxes);
	for (size_t i = 0; i < h->n_maps; i++)
		h->until[i] = i && h->until[i - 1] > h->map[i].hi ? h->until[i - 1]
								  : h->map[i].hi;
	return h;
}

/* the first map that may be live at a time step */
static size_t
first_map(const struct gaps *h, int64_t step)
{
	size_t lo = 0, hi = h->n_maps;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (h->until[mid] < step)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool
is_live(const struct box *b, struct g_range life)
{
	return b->hi >= life.lo && b->lo <= life.hi;
}

static size_t
list_barred(struct gaps *h, struct g_range life)
{
	size_t n = 0;
	for (size_t i = first_map(h, life.lo); i < h->n_maps && h->map[i].lo <= life.hi; i++)
		if (h->map[i].hi >= life.lo)
			h->barred[n++] = h->map[i];
	return n;
}

/* Past a box that bars an address no lower one is free; so what lies below was left for
 * good, and one look at the buffers is enough.  Maps are few that are live. */
bool
gaps_find(struct gaps *h, struct g_range life, int64_t bytes, int64_t *at)
{
	const size_t n = list_barred(h, life);
	size_t b = 0;
	*at = 0;
	for (bool moved = true; moved && *at + bytes <= h->limit;) {
		moved = false;
		for (; b < h->n_buffers && h->buffer[b].at < *at + bytes; b++)
			if (h->buffer[b].end > *at && is_live(&h->buffer[b], life))
				*at = h->buffer[b].end;
		for (size_t i = 0; i < n; i++)
			if (h->barred[i].at < *at + bytes && h->barred[i].end > *at) {
				*at = h->barred[i].end;
				moved = true;
			}
	}
	return *at + bytes <= h->limit;
}

static void
forget_before(struct gaps *h, int64_t now)
{
	size_t n = 0;
	for (size_t i = 0; i < h->n_buffers; i++)
		if (h->buffer[i].hi >= now)
			h->buffer[n++] = h->buffer[i];
	h->n_buffers = n;
}

void
gaps_put(struct gaps *h, struct g_range life, int64_t bytes, int64_t at,
	  int64_t now)
{
	forget_before(h, now);
	size_t i = h->n_buffers++;
	for (; i > 0 && h->buffer[i - 1].at > at; i--)
		h->buffer[i] = h->buffer[i - 1];
	h->buffer[i] = (struct box){ .lo = life.lo, .hi = life.hi, .at = at,
				     .end = at + bytes };
}
