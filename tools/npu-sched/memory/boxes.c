/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First fit among rectangles that are too many to list their interferences: a pass over
 * boxes that are sorted by address, as in gaps.c.  Time grows with the square of their
 * number, memory with their number.
 */
#include "pack.h"

void
put_between_boxes(struct packing *k, size_t group)
{
	const struct group *g = &k->group[group];
	const struct rect *rect = k->p->rect;
	const int place = rect[g->first].place; /* the packed memory area */
	int64_t at = g->fixed ? k->at[group] : 0;
	k->cost[group] = 0;
	/* until no rectangle of the group moves the others */
	for (bool moved = !g->fixed; moved;) {
		moved = false;
		for (int i = g->first; i >= 0; i = rect[i].next) {
			const struct rect *r = &rect[i];
			const int64_t from = at + r->offset;
			int64_t to = from; /* the lowest address from there on where it meets no box */
			size_t n = 0;
			if (!is_placed(r, place))
				continue;
			for (; n < k->n_boxes && k->box[n].at < to + r->bytes; n++) {
				const struct packed_box *b = &k->box[n];
				if (b->end > to && b->hi >= r->lo && b->lo <= r->hi)
					to = b->end;
			}
			k->cost[group] += (uint32_t)n;
			moved |= to > from && rect[g->first].next >= 0;
			at += to - from;
		}
	}
	k->at[group] = at;
	for (int i = g->first; i >= 0; i = rect[i].next) {
		const struct rect *r = &rect[i];
		const int64_t begin = at + r->offset;
		if (!is_placed(r, place))
			continue;
		size_t n = k->n_boxes++;
		for (; n > 0 && k->box[n - 1].at > begin; n--)
			k->box[n] = k->box[n - 1];
		k->box[n] = (struct packed_box){ .at = begin, .end = begin + r->bytes,
						 .lo = r->lo, .hi = r->hi };
	}
}
