/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First fit among rectangles that are too many to list their interferences: a pass over
 * boxes that are sorted by address, as in gaps.c.  Time grows with the square of their
 * number, memory with their number.
 */
#include "pack.h"

/* Returns the lowest address from `at` on at which the rectangle meets no box. */
static int64_t
lowest_free(struct packing *k, const struct rect *r, int64_t at, uint32_t *cost)
{
	size_t i = 0;
	for (; i < k->n_boxes && k->box[i].at < at + r->bytes; i++) {
		const struct packed_box *b = &k->box[i];
		if (b->end > at && b->hi >= r->lo && b->lo <= r->hi)
			at = b->end;
	}
	*cost += (uint32_t)i;
	return at;
}

static void
add_box(struct packing *k, const struct rect *r, int64_t at)
{
	size_t i = k->n_boxes++;
	for (; i > 0 && k->box[i - 1].at > at; i--)
		k->box[i] = k->box[i - 1];
	k->box[i] = (struct packed_box){ .at = at, .end = at + r->bytes, .lo = r->lo,
					 .hi = r->hi };
}

/* true if the rectangle is in the packed memory area */
static bool
is_packed(const struct packing *k, const struct group *g, const struct rect *r)
{
	return is_placed(r, k->p->rect[g->first].place);
}

void
put_between_boxes(struct packing *k, size_t group)
{
	const struct group *g = &k->group[group];
	const struct rect *rect = k->p->rect;
	int64_t at = g->fixed ? k->at[group] : 0;
	k->cost[group] = 0;
	/* until no rectangle of the group moves the others */
	for (bool moved = !g->fixed; moved;) {
		moved = false;
		for (int i = g->first; i >= 0; i = rect[i].next) {
			int64_t from = at + rect[i].offset;
			int64_t to = is_packed(k, g, &rect[i])
				? lowest_free(k, &rect[i], from, &k->cost[group]) : from;
			moved |= to > from && rect[g->first].next >= 0;
			at += to - from;
		}
	}
	k->at[group] = at;
	for (int i = g->first; i >= 0; i = rect[i].next)
		if (is_packed(k, g, &rect[i]))
			add_box(k, &rect[i], at + rect[i].offset);
}
