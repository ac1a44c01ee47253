/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the sections and slices of a stream.  A round finds the cheapest path through
 * the candidate codes and fits each section of the path again; the palettes of these
 * fits are the candidates of the next round.
 */
#include "weights/search.h"
#include "weights/weights.h"

#include <stdlib.h>
#include <string.h>

/*
 * Values per search window, which bounds memory and the list of palettes.  The palette
 * in force at the end of a window continues into the next.
 */
enum { WINDOW = 1 << 17 };

/*
 * Measured on the streams of the reference compiler 3.12.0 for ethos-u55-256
 * (tests/unit/weights_streams.c).
 *
 *   level  bytes / reference's  million values per second
 *     1          0.9830              119
 *     2          0.9796              107
 *     5          0.9789               89
 *     6          0.9782               83
 *     7          0.9781               23
 *     8          0.9780                4
 *     9          0.9779                1
 *
 * On networks that compress better (yolov8n, uint8 mobilenet_v2, a larger resnet;
 * weights_models.c), levels 1, 2, 6 and 9 give 0.961, 0.943, 0.942 and 0.941.
 */
static const struct effort efforts[WEIGHTS_LEVEL_MAX + 1] = {
	[2] = { .block = 256, .zeros = 64, .piece = { 8192 }, .rounds = 1 },
	[3] = { .block = 256, .zeros = 64, .piece = { 4096 }, .rounds = 1 },
	[4] = { .block = 128, .zeros = 32, .piece = { 4096 }, .rounds = 1 },
	[5] = { .block = 64, .zeros = 32, .piece = { 4096 }, .rounds = 1 },
	[6] = { .block = 64, .zeros = 16, .piece = { 2048 }, .rounds = 1,
		.polish = 48 },
	[7] = { .block = 32, .zeros = 16, .piece = { 1024 }, .rounds = 2,
		.joined = 2, .polish = 16 },
	[8] = { .block = 16, .zeros = 8, .piece = { 2048, 512 }, .rounds = 2,
		.joined = 3, .thorough = true, .polish = 16 },
	[9] = { .block = 4, .zeros = 8, .piece = { 4096, 1024 }, .rounds = 4,
		.joined = 6, .thorough = true, .polish = 64 },
};

/* Fits of the pieces of a window, the start of a search. */
struct pieces {
	struct fit *fits;
	size_t n, cap;
	struct stats one, all; /* stats of one piece; all: of the window */
};

/* Sorts by the bits that a fit's palette saves, greatest first. */
static int
by_saving(const void *a, const void *b)
{
	const struct fit *x = a, *y = b;
	uint64_t sx = x->direct_bits - x->bits, sy = y->direct_bits - y->bits;

	if (sx != sy)
		return sx < sy ? 1 : -1;
	/* Total order, as qsort may not be stable. */
	return memcmp(&x->palette, &y->palette, sizeof(x->palette));
}

/*
 * Returns the fit of the whole window.  Sets w->codes to the direct families, the
 * palette of that fit and the palettes of pieces of this length (0: no pieces).
 */
static struct fit
start(struct window *w, size_t length)
{
	struct arena *scratch = arena_open();
	struct pieces *pieces = anew(scratch, struct pieces, 1);

	if (!length)
		length = w->n;
	for (size_t i = 0; i < w->n; i += length) {
		size_t left = w->n - i;
		stats_of(&pieces->one, w->d + i, left < length ? left : length);
		stats_join(&pieces->all, &pieces->one);
		if (w->n <= length)
			continue;
		agrow(scratch, pieces->fits, pieces->n, &pieces->cap);
		pieces->fits[pieces->n++] = fit_stats(&pieces->one, w->effort->thorough);
	}
	struct fit whole = fit_stats(&pieces->all, w->effort->thorough);
	if (w->effort->rounds) {
		codes_init(w->codes, w->greatest, w->before, true);
		if (whole.bits > w->n * (w->codes->palettes[0].bits - 1u))
			codes_narrow(w->codes);
		codes_add(w->codes, &whole);
		if (pieces->n)
			qsort(pieces->fits, pieces->n, sizeof(whole),
			      by_saving);
		for (size_t i = 0; i < pieces->n; i++)
			codes_add(w->codes, &pieces->fits[i]);
	}
	arena_close(scratch);
	return whole;
}

/* Plans the window in rounds, each with the codes that the round before suggests, and keeps the
 * best plan.  both: scratch space for two sets of codes; length: as for start(). */
static void
plan_rounds(struct window *w, struct codes *both[2], size_t length,
	    struct plan *best)
{
	int rounds = w->effort->rounds;

	w->codes = both[0];
	struct fit whole = start(w, length);
	for (int i = 0; i < rounds; i++) {
		w->codes = both[i % 2];
		w->next = i + 1 < rounds ? both[(i + 1) % 2] : NULL;
		struct arena *scratch = arena_open();
		size_t n = find_path(scratch, w->codes, w->d, &w->blocks, w->path);
		if (w->next)
			codes_init(w->next, w->greatest, w->before, true);
		struct plan p = plan_sections(w, scratch, n, &whole);
		arena_close(scratch);
		if (!best->n_slices || p.bits < best->bits)
			*best = p;
	}
	if (rounds == 0) {
		*best = plan_begin(w);
		plan_add(best, w->d, 0, w->n, &whole.palette, whole.mode,
			 true);
	}
}

static struct plan
plan_window(struct window *w, struct codes *both[2])
{
	const struct effort *effort = w->effort;
	struct plan best = { 0 };

	w->codes = both[0];
	w->next = NULL;
	if (effort->rounds == 1 && plan_even(w, &best))
		return best;
	best = (struct plan){ 0 };
	if (effort->rounds) {
		w->blocks = blocks_of(w->a, w->d, w->n, effort->block,
				      effort->zeros);
		w->path = anew(w->a, struct stretch, w->blocks.n);
	}
	plan_rounds(w, both, effort->piece[0], &best);
	for (size_t i = 1; i < ARRAY_LEN(effort->piece); i++)
		if (effort->piece[i])
			plan_rounds(w, both, effort->piece[i], &best);
	return best;
}

static struct plan
plan_at(struct arena *a, const uint16_t *d, size_t n, uint16_t greatest,
	const struct effort *effort)
{
	struct plan p = { .a = a };
	struct window w = {
		.a = a,
		.effort = effort,
		.greatest = greatest,
	};
	struct codes *both[] = {
		anew(a, struct codes, 1),
		effort->rounds > 1 ? anew(a, struct codes, 1) : NULL,
	};
	size_t step = effort->rounds ? WINDOW : n;
	for (size_t i = 0; i < n; i += step) {
		w.d = d + i;
		w.n = n - i < step ? n - i : step;
		w.before = i ? &p.palettes[p.n_palettes - 1] : NULL;
		struct plan more = plan_window(&w, both);
		for (size_t s = 0; s < more.n_slices; s++)
			more.slices[s].end += i;
		plan_append(&p, &more);
	}
	if (effort->polish)
		plan_polish(&p, d, effort->polish);
	return p;
}

struct plan
plan_stream(struct arena *a, const uint16_t *d, size_t n, uint16_t greatest,
	    int level)
{
	level = level < WEIGHTS_LEVEL_MIN   ? WEIGHTS_LEVEL_MIN
		: level > WEIGHTS_LEVEL_MAX ? WEIGHTS_LEVEL_MAX
					    : level;
	struct plan p = plan_at(a, d, n, greatest, &efforts[level]);

	/*
	 * A finer search can give a worse result; above the default level, keep the
	 * best of the levels.
	 */
	while (--level >= WEIGHTS_LEVEL_DEFAULT) {
		struct plan other = plan_at(a, d, n, greatest, &efforts[level]);
		if (other.bits < p.bits)
			p = other;
	}
	return p;
}
