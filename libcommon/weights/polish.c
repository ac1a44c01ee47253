/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saves the last bits of a plan.  The path search counts the padding of a slice's
 * chunks as its mean; this step moves the borders between slices to where the actual
 * padding is least.
 */
#include "weights/stream.h"
#include "weights/weights.h"

#include <string.h>

/* A slice at one side of a border, and the indices of its palette. */
struct side {
	const struct wslice *s;
	const struct palette *pal;
	struct tally t;
	uint16_t index[WEIGHTS_N_INDEX];
};

/*
 * Adds a value to the slice (more) or removes one.  Returns false if that is not
 * possible.
 */
static bool
change_value(struct side *side, uint16_t d, bool more)
{
	struct mode m = side->s->mode;
	uint32_t x = side->index[d], q = x >> m.wdiv;
	struct tally one = { 0 };
	struct tally *t = &side->t;

	if (!more) {
		tally_weight(&one, x, m, false);
		t->weights -= one.weights;
		t->symbols -= one.symbols;
		t->seconds -= one.seconds;
		return t->weights > 0;
	}
	if (x == WEIGHTS_UNREACHED)
		return false;
	if (m.wdiv == WEIGHTS_WDIV_PLAIN &&
	    x >= (side->pal->n ? side->pal->n : 1u << side->pal->bits))
		return false;
	if (m.wdiv != WEIGHTS_WDIV_PLAIN &&
	    q >= (m.trunc ? 3u : WEIGHTS_QUOTIENTS))
		return false;
	tally_weight(t, x, m, false);
	return t->weights <= WEIGHTS_SLICE_SAFE;
}

static uint64_t
side_bits(const struct side *s)
{
	return tally_bits(&s->t, s->pal, s->s->mode, s->s->fresh);
}

/* A border between two slices. */
struct border {
	size_t at;
	struct tally left, right;
	uint64_t bits; /* bits of both slices */
};

/* Tries the borders from `at` on in one direction; +1 makes the left side longer. */
static void
scan_borders(struct side left, struct side right, const uint16_t *d, size_t at,
     int step, int reach, struct border *best)
{
	for (int i = 0; i < reach; i++) {
		uint16_t v = step > 0 ? d[at] : d[at - 1];
		if (!change_value(&left, v, step > 0) ||
		    !change_value(&right, v, step < 0))
			break;
		at = step > 0 ? at + 1 : at - 1;
		uint64_t bits = side_bits(&left) + side_bits(&right);
		if (bits < best->bits)
			*best = (struct border){ .at = at, .bits = bits,
						 .left = left.t,
						 .right = right.t };
	}
}

static bool
has_runs(const struct plan *p, size_t i)
{
	return p->palettes[p->slices[i].palette].runs;
}

/* Loads slice i; keeps the indices if this side already has the slice. */
static void
load_side(struct side *side, const struct plan *p, size_t i)
{
	struct wslice *s = &p->slices[i];

	if (side->s != s) {
		side->s = s;
		side->pal = &p->palettes[s->palette];
		palette_indices(side->pal, side->index);
	}
	side->t = s->tally;
}

void
plan_polish(struct plan *p, const uint16_t *d, int reach)
{
	struct side sides[2] = { 0 };

	for (size_t i = 0; i + 1 < p->n_slices; i++) {
		struct side *left = &sides[i % 2], *right = &sides[(i + 1) % 2];
		size_t at = p->slices[i].end;

		if (has_runs(p, i) || has_runs(p, i + 1))
			continue;
		load_side(left, p, i);
		load_side(right, p, i + 1);
		uint64_t was = side_bits(left) + side_bits(right);
		struct border best = { .at = at, .bits = was, .left = left->t,
				       .right = right->t };
		scan_borders(*left, *right, d, at, 1, reach, &best);
		scan_borders(*left, *right, d, at, -1, reach, &best);
		p->slices[i].end = best.at;
		p->slices[i].tally = best.left;
		p->slices[i + 1].tally = best.right;
		p->bits -= was - best.bits;
	}
}
