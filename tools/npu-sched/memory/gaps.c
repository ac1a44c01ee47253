/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assigns addresses to buffers one by one, while transfers are planned, between feature maps
 * that have addresses.  First fit: the lowest address that is free from the transfer to the
 * last use.
 */
#include "memory.h"

#include "base/fixed.h"

#include <stdlib.h>
#include <string.h>

struct box {
	int64_t lo, hi, at, end; /* time steps, inclusive; first byte, byte behind the last */
};

/*
 * Some thousand boxes can be live at once.  A chunk of neighbours whose boxes are all live, with no
 * hole between them that is large enough, is passed as one.
 */
enum { CHUNK = 64 };

struct chunk {
	struct chunk *next;
	int64_t at, end;	/* the lowest byte of a box, behind the highest */
	int64_t hole;		/* no run of bytes between boxes is longer */
	int64_t begun, until;	/* all boxes are live in these time steps */
	size_t n;
	struct box box[CHUNK];	/* sorted by address */
};

struct gaps {
	struct arena *a;
	struct box *feature_map; /* sorted by first time step */
	size_t n_feature_maps, begun; /* begun: so many were added to chunks or have expired */
	struct chunk *chunk;  /* feature maps and buffers, sorted by address; no chunk is empty */
	struct chunk *unused;
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
	h->a = a;
	h->limit = limit;
	h->feature_map = anew(a, struct box, p->n_maps + 1);
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

static void
summarize(struct chunk *c)
{
	c->at = c->box[0].at;
	c->end = c->box[0].end;
	c->hole = 0;
	c->begun = c->box[0].lo;
	c->until = c->box[0].hi;
	for (size_t i = 1; i < c->n; i++) {
		const struct box *b = &c->box[i];
		c->hole = max_i64(c->hole, b->at - c->end);
		c->end = max_i64(c->end, b->end);
		c->begun = max_i64(c->begun, b->lo);
		c->until = min_i64(c->until, b->hi);
	}
}

void
gaps_pass(struct gaps *h, int64_t now)
{
	if (now <= h->now)
		return;
	h->now = now;
	for (struct chunk **at = &h->chunk; *at;) {
		struct chunk *c = *at;
		if (c->until < now) { /* some boxes have expired */
			size_t n = 0;
			for (size_t i = 0; i < c->n; i++)
				if (c->box[i].hi >= now)
					c->box[n++] = c->box[i];
			c->n = n;
			if (n)
				summarize(c);
		}
		if (c->n) {
			at = &c->next;
		} else {
			*at = c->next;
			c->next = h->unused;
			h->unused = c;
		}
	}
}

/* an empty chunk behind `before`, or the first one if NULL */
static struct chunk *
add_chunk(struct gaps *h, struct chunk *before)
{
	struct chunk *c = h->unused;
	if (c)
		h->unused = c->next;
	else
		c = anew(h->a, struct chunk, 1);
	struct chunk **at = before ? &before->next : &h->chunk;
	c->n = 0;
	c->next = *at;
	*at = c;
	return c;
}

/* behind boxes of the same address */
static void
add_box(struct gaps *h, struct box b)
{
	struct chunk *c = h->chunk ? h->chunk : add_chunk(h, NULL);
	while (c->next && c->next->at <= b.at)
		c = c->next;
	if (c->n == CHUNK) { /* the upper half moves to a new chunk */
		struct chunk *upper = add_chunk(h, c);
		upper->n = c->n - c->n / 2;
		c->n /= 2;
		memcpy(upper->box, &c->box[c->n], upper->n * sizeof(*upper->box));
		summarize(c);
		summarize(upper);
		c = upper->at <= b.at ? upper : c;
	}
	size_t i = c->n++;
	for (; i > 0 && c->box[i - 1].at > b.at; i--)
		c->box[i] = c->box[i - 1];
	c->box[i] = b;
	if (c->n == 1) {
		summarize(c);
		return;
	}
	/* the summary with one more box; a hole that the box divides still counts as a whole */
	c->hole = max_i64(c->hole, max_i64(b.at - c->end, c->at - b.end));
	c->at = min_i64(c->at, b.at);
	c->end = max_i64(c->end, b.end);
	c->begun = max_i64(c->begun, b.lo);
	c->until = min_i64(c->until, b.hi);
}

/*
 * First fit in one pass.  Boxes are sorted by address, so no address below the end of a
 * blocking box is free.  The result holds for later lifetimes while all blocking boxes are live.
 */
static struct asked
search(struct gaps *h, struct g_range life, int64_t bytes)
{
	struct asked k = { .life = life, .bytes = bytes, .same = INT64_MAX };
	for (; h->begun < h->n_feature_maps && h->feature_map[h->begun].lo <= life.hi; h->begun++)
		if (h->feature_map[h->begun].hi >= h->now)
			add_box(h, h->feature_map[h->begun]);
	for (const struct chunk *c = h->chunk; c && k.at + bytes <= h->limit; c = c->next) {
		/* all boxes are live, and no hole has room between k.at and the last box */
		if (c->until >= life.lo && c->begun <= life.hi && c->hole < bytes &&
		    c->at < k.at + bytes) {
			k.same = min_i64(k.same, c->until);
			k.at = max_i64(k.at, c->end);
			continue;
		}
		for (size_t i = 0; i < c->n; i++) {
			const struct box *b = &c->box[i];
			if (b->at >= k.at + bytes)
				return k;
			if (b->end > k.at && b->hi >= life.lo && b->lo <= life.hi) {
				k.same = min_i64(k.same, b->hi);
				k.at = b->end;
			}
		}
	}
	return k;
}

bool
gaps_find(struct gaps *h, struct g_range life, int64_t bytes, int64_t *at)
{
	const struct asked *k = &h->asked;
	const bool is_valid = k->bytes == bytes && k->life.hi == life.hi &&
			      life.lo >= k->life.lo && life.lo <= k->same;
	if (!is_valid)
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
