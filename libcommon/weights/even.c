/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A faster search for windows with a uniform distribution of values, as in most large
 * layers.  In such a window, no piece gains much from a palette of its own, and zeros
 * are too few for runs.  One palette is used, and only its divisors are searched.
 */
#include "weights/search.h"
#include "weights/weights.h"

/*
 * Measured on the test networks: a piece of this length with a palette of its own saves
 * at most 3 bits on average where the full search finds no better plan, and 25 or more
 * where it does.  The threshold SAVING is the cost of two headers, of a section and of
 * the slice after it.  It is compared with the sum over all samples (one of four
 * pieces, at most 8).
 */
enum { PIECE = 2048, ONE_OF = 4, SAMPLES = 8 };
enum { SAVING = 2 * WEIGHTS_HEADER_BITS };

/* Shorter windows have fewer than two samples and are searched in full. */
enum { LEAST = 2 * ONE_OF * PIECE };

/* Runs could pay if at least 1 of 32 values is zero. */
enum { ZERO_SHARE = 32 };

/* The full search runs if changes of divisor save more than 1/256 of the bits. */
enum { CHANGE_SHARE = 256 };

/* Values per block: a coarse grid is enough, as polish.c moves the borders. */
enum { BLOCK = 128 };

/* Returns the bits that the samples save with palettes of their own. */
static uint64_t
sample_saving(const struct window *w, const struct palette *pal)
{
	struct stats st;
	uint64_t saving = 0;

	size_t samples = w->n / PIECE / ONE_OF;
	samples = samples > SAMPLES ? SAMPLES : samples;
	for (size_t i = 0; i < samples; i++) {
		size_t at = (2 * i + 1) * (w->n - PIECE) / (2 * samples);
		struct mode mode;
		uint64_t bits;
		stats_count(&st, w->d + at, PIECE);
		struct fit own = fit_stats(&st, false);
		if (!fit_mode(&st, pal, false, &mode, &bits))
			return UINT64_MAX;
		saving += bits > own.bits ? bits - own.bits : 0;
	}
	return saving;
}

bool
plan_even(struct window *w, struct plan *p)
{
	struct stats st;

	if (w->n < LEAST)
		return false;
	stats_count(&st, w->d, w->n);
	if ((uint64_t)st.n[WEIGHTS_ZERO] * ZERO_SHARE > w->n)
		return false;
	struct fit whole = fit_stats(&st, false);
	if (sample_saving(w, &whole.palette) > SAVING)
		return false;

	struct arena *scratch = arena_open();
	codes_init(w->codes, w->greatest, w->before, false);
	codes_add(w->codes, &whole);
	int block = w->effort->block > BLOCK ? w->effort->block : BLOCK;
	w->blocks = blocks_equal(scratch, w->n, (size_t)block);
	w->path = anew(scratch, struct stretch, w->blocks.n);
	w->even = &st;
	size_t n = find_path(scratch, w->codes, w->d, &w->blocks, w->path);
	*p = plan_sections(w, scratch, n, &whole);
	w->even = NULL;
	arena_close(scratch);
	return p->bits + whole.bits / CHANGE_SHARE >= whole.bits;
}
