/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which sections and slices a stream gets.  A round finds the cheapest path
 * through the codes known, then fits every section of it anew; the palettes
 * found that way are the codes of the next round.
 */
#include "weights/search.h"
#include "weights/weights.h"

#include <string.h>

/*
 * Streams are searched in windows of this many values, so that memory and the
 * list of palettes stay small; a section boundary at each costs some 5 bytes.
 */
enum { WINDOW = 1 << 17 };

struct effort {
	int block;    /* values between possible boundaries, at most 256 */
	int zeros;    /* runs of this many zeros make boundaries too */
	int piece;    /* values for which a palette is tried at the start */
	int rounds;
	bool thorough; /* try more palettes */
};

static const struct effort efforts[WEIGHTS_LEVEL_MAX + 1] = {
	[2] = { .block = 256, .zeros = 64, .piece = 8192, .rounds = 1 },
	[3] = { .block = 256, .zeros = 64, .piece = 4096, .rounds = 1 },
	[4] = { .block = 128, .zeros = 32, .piece = 4096, .rounds = 1 },
	[5] = { .block = 64, .zeros = 32, .piece = 4096, .rounds = 1 },
	[6] = { .block = 64, .zeros = 16, .piece = 2048, .rounds = 1 },
	[7] = { .block = 32, .zeros = 16, .piece = 2048, .rounds = 2 },
	[8] = { .block = 16, .zeros = 8, .piece = 1024, .rounds = 2,
		.thorough = true },
	[9] = { .block = 8, .zeros = 8, .piece = 1024, .rounds = 4,
		.thorough = true },
};

/* A window of a stream under search. */
struct window {
	struct arena *a; /* of the search */
	const uint16_t *d;
	size_t n;
	struct effort effort;
	struct codes *codes, *next;
	struct blocks blocks;
	struct stretch *path;
	struct stats *piece, *all;
	uint16_t greatest; /* direct value */
};

static uint16_t
greatest_of(const struct stats *st)
{
	int d = WEIGHTS_N_INDEX - 1;

	while (d > 0 && !st->n[d])
		d--;
	return (uint16_t)d;
}

/* a plan of one section; fills w->all, and w->codes with pieces' palettes */
static struct plan
plan_single(struct window *w)
{
	struct plan p = { .a = w->a };
	size_t piece = (size_t)w->effort.piece;

	memset(w->all, 0, sizeof(*w->all));
	if (!piece)
		piece = w->n;
	struct fit *fits = anew(w->a, struct fit, w->n / piece + 1);
	size_t n = 0;
	for (size_t i = 0; i < w->n; i += piece) {
		size_t left = w->n - i;
		stats_of(w->piece, w->d + i, left < piece ? left : piece);
		stats_join(w->all, w->piece);
		if (w->n > piece)
			fits[n++] = fit_stats(w->piece, w->effort.thorough);
	}
	struct fit f = fit_stats(w->all, w->effort.thorough);
	plan_add(&p, w->d, 0, w->n, &f.palette, f.mode, true);
	w->greatest = greatest_of(w->all);
	codes_init(w->codes, w->greatest);
	codes_add(w->codes, &f);
	for (size_t i = 0; i < n; i++)
		codes_add(w->codes, &fits[i]);
	return p;
}

/*
 * Slices of one palette that start at a weight (see struct wslice): moves the
 * beginning of each behind the zeros there; returns how many are left.
 */
static size_t
align_slices(const uint16_t *d, struct stretch *s, size_t n)
{
	size_t kept = 1, end = s[n - 1].end;

	for (size_t i = 1; i < n; i++) {
		size_t begin = s[i].begin;
		while (begin < end && d[begin] == WEIGHTS_ZERO)
			begin++;
		if (begin >= s[i].end && i + 1 < n)
			continue;
		if (begin == end)
			break;
		s[kept] = s[i];
		s[kept - 1].end = s[kept].begin = begin;
		kept++;
	}
	s[kept - 1].end = end;
	return kept;
}

/*
 * One section of the path, s[0..n-1]: as slices of its palette, each in the
 * mode that is best for it, or as one slice with a palette of its own.
 */
static void
plan_section(struct window *w, struct plan *p, struct stretch *s, size_t n)
{
	const struct palette *pal =
	    &w->codes->palettes[w->codes->states[s->state].family];
	size_t begin = s->begin, end = s[n - 1].end;
	struct mode modes[64];
	uint64_t bits = 0;

	if (n > 1 && pal->runs)
		n = align_slices(w->d, s, n);
	bool keep = n > 1 && n <= ARRAY_LEN(modes);
	memset(w->all, 0, sizeof(*w->all));
	for (size_t i = 0; i < n; i++) {
		uint64_t slice = 0;
		stats_of(w->piece, w->d + s[i].begin, s[i].end - s[i].begin);
		stats_join(w->all, w->piece);
		keep = keep && fit_mode(w->piece, pal, i == 0, &modes[i],
					&slice);
		bits += slice;
	}
	struct fit f = fit_stats(w->all, w->effort.thorough);
	codes_add(w->next, &f);
	if (!keep || f.bits <= bits) {
		plan_add(p, w->d, begin, end, &f.palette, f.mode, true);
		return;
	}
	for (size_t i = 0; i < n; i++)
		plan_add(p, w->d, s[i].begin, s[i].end, pal, modes[i], i == 0);
	f = (struct fit){ .palette = *pal, .mode = modes[0] };
	codes_add(w->next, &f);
}

static struct plan
plan_round(struct window *w)
{
	struct arena *scratch = arena_open();
	struct plan p = { .a = w->a };
	size_t n = find_path(scratch, w->codes, w->d, &w->blocks, w->path);

	codes_init(w->next, w->greatest);
	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && !w->path[j].fresh; j++)
			;
		plan_section(w, &p, w->path + i, j - i);
	}
	struct codes *used = w->codes;
	w->codes = w->next;
	w->next = used;
	arena_close(scratch);
	return p;
}

static struct plan
plan_window(struct arena *a, const uint16_t *d, size_t n,
	    const struct effort *effort)
{
	struct window w = {
		.a = a, .d = d, .n = n, .effort = *effort,
		.codes = anew(a, struct codes, 1),
		.next = anew(a, struct codes, 1),
		.piece = anew(a, struct stats, 1),
		.all = anew(a, struct stats, 1),
	};
	struct plan best = plan_single(&w);

	if (effort->rounds == 0)
		return best;
	w.blocks = blocks_of(a, d, n, effort->block, effort->zeros);
	w.path = anew(a, struct stretch, w.blocks.n);
	for (int i = 0; i < effort->rounds; i++) {
		struct plan p = plan_round(&w);
		if (p.bits < best.bits)
			best = p;
	}
	return best;
}

struct plan
plan_stream(struct arena *a, const uint16_t *d, size_t n, int level)
{
	struct plan p = { .a = a };

	level = level < WEIGHTS_LEVEL_MIN   ? WEIGHTS_LEVEL_MIN
		: level > WEIGHTS_LEVEL_MAX ? WEIGHTS_LEVEL_MAX
					    : level;
	const struct effort *effort = &efforts[level];
	size_t step = effort->rounds ? WINDOW : n;
	for (size_t i = 0; i < n; i += step) {
		size_t len = n - i < step ? n - i : step;
		struct plan w = plan_window(a, d + i, len, effort);
		for (size_t s = 0; s < w.n_slices; s++)
			w.slices[s].end += i;
		plan_append(&p, &w);
	}
	return p;
}
