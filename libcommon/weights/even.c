/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows whose values are alike all over, as those of most large layers are:
 * no piece has much use for a palette of its own, and zeros are too few for
 * runs.  One palette does, and the search is for its divisors alone.
 */
#include "weights/search.h"
#include "weights/weights.h"

/*
 * Measured on the networks at hand: by a palette of its own a piece of this
 * length saves 3 bits at most, on the mean, where a full search finds nothing
 * more than this one, and 25 or more where it does.  The line is drawn where
 * all samples (one of four pieces, at most 8) save what two headers cost: of a
 * section, and of what goes on behind it.
 */
enum { PIECE = 2048, ONE_OF = 4, SAMPLES = 8 };
enum { SAVING = 2 * WEIGHTS_HEADER_BITS };

/* windows too short for two samples are searched in full */
enum { LEAST = 2 * ONE_OF * PIECE };

/* zeros for which runs could pay: one of so many values */
enum { ZERO_SHARE = 32 };

/* what a window saves by changes that make a full search worth while */
enum { CHANGE_SHARE = 256 };

/* borders found on a coarse grid are near enough for polish.c */
enum { BLOCK = 128 };

/* bits that the samples save by palettes of their own */
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
