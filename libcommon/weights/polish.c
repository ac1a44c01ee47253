/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Last bits: a path takes the padding of a slice's chunks as its mean; here
 * borders between slices move to where it is least.
 */
#include "weights/stream.h"
#include "weights/weights.h"

#include <string.h>

/* A slice and the indices of its palette. */
struct side {
	const struct wslice *s;
	const struct palette *pal;
	struct count count;
	uint16_t index[WEIGHTS_N_INDEX];
};

/* one value less or more; false: it can't be */
static bool
change(struct side *side, uint16_t d, bool more)
{
	struct mode m = side->s->mode;
	uint32_t x = side->index[d], q = x >> m.wdiv;
	struct tally one = { 0 };
	struct count *c = &side->count;

	if (!more) {
		tally_weight(&one, x, m, false);
		c->weights -= one.c.weights;
		c->symbols -= one.c.symbols;
		c->seconds -= one.c.seconds;
		return c->weights > 0;
	}
	if (x == WEIGHTS_UNREACHED)
		return false;
	if (m.wdiv == WEIGHTS_WDIV_PLAIN &&
	    x >= (side->pal->n ? side->pal->n : 1u << side->pal->bits))
		return false;
	if (m.wdiv != WEIGHTS_WDIV_PLAIN &&
	    q >= (m.trunc ? 3u : WEIGHTS_QUOTIENTS))
		return false;
	tally_weight(&one, x, m, false);
	c->weights += one.c.weights;
	c->symbols += one.c.symbols;
	c->seconds += one.c.seconds;
	return c->weights <= WEIGHTS_SLICE_SAFE;
}

static uint64_t
side_bits(const struct side *s)
{
	return count_bits(&s->count, s->pal, s->s->mode, s->s->fresh);
}

/* A border, and what lies on both sides of it. */
struct border {
	size_t at;
	uint64_t bits;
	struct count left, right;
};

/*
 * Tries borders from *best on in one direction (+1: the left side grows) for
 * one with fewer bits.
 */
static void
scan(struct side *left, struct side *right, const uint16_t *d, size_t at,
     int step, int reach, struct border *best)
{
	const struct count was[] = { left->count, right->count };

	for (int i = 0; i < reach; i++) {
		uint16_t v = step > 0 ? d[at] : d[at - 1];
		if (!change(left, v, step > 0) ||
		    !change(right, v, step < 0))
			break;
		at = step > 0 ? at + 1 : at - 1;
		uint64_t bits = side_bits(left) + side_bits(right);
		if (bits < best->bits)
			*best = (struct border){ .at = at, .bits = bits,
						 .left = left->count,
						 .right = right->count };
	}
	left->count = was[0];
	right->count = was[1];
}

static bool
has_runs(const struct plan *p, size_t i)
{
	return p->palettes[p->slices[i].palette].runs;
}

/* slice i into a side, unless it is there */
static void
load(struct side *side, const struct plan *p, size_t i)
{
	const struct wslice *s = &p->slices[i];
	const struct palette *was = side->pal;

	side->s = s;
	side->pal = &p->palettes[s->palette];
	side->count = s->count;
	if (side->pal != was)
		palette_indices(side->pal, side->index);
}

/* the border behind slice i */
static void
polish_border(struct plan *p, size_t i, const uint16_t *d, int reach,
	      struct side *left, struct side *right)
{
	struct wslice *s = &p->slices[i];

	load(left, p, i);
	load(right, p, i + 1);
	uint64_t was = side_bits(left) + side_bits(right);
	struct border best = { .at = s->end, .bits = was,
			       .left = s[0].count, .right = s[1].count };
	scan(left, right, d, s->end, 1, reach, &best);
	scan(left, right, d, s->end, -1, reach, &best);
	p->bits -= was - best.bits;
	s[0].end = best.at;
	s[0].count = best.left;
	s[1].count = best.right;
}

void
plan_polish(struct plan *p, const uint16_t *d, int reach)
{
	struct side sides[2] = { 0 };

	for (size_t i = 0; i + 1 < p->n_slices; i++)
		if (!has_runs(p, i) && !has_runs(p, i + 1))
			polish_border(p, i, d, reach, &sides[i % 2],
				      &sides[(i + 1) % 2]);
}
