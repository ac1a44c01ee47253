/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for sections.  In order: stats.c counts, fit.c finds the best
 * palette and mode for counts, codes.c lists ways to write a value, blocks.c
 * costs blocks of values in all of them, path.c finds the cheapest sequence of
 * them, sections.c makes sections of that, even.c does all this in a simple
 * case, plan.c leads.
 */
#ifndef WEIGHTS_SEARCH_H
#define WEIGHTS_SEARCH_H

#include "weights/stream.h"

/* ---- stats.c ---- */

/* What of a stretch of values decides its size; additive by stats_join. */
struct stats {
	uint32_t n[WEIGHTS_N_INDEX]; /* of each direct value */
	uint32_t n_values;
	uint32_t lead, trail; /* zeros before the first other value, after the last */
	/* sum of run >> ZDIV over the zero runs before, between and behind */
	uint32_t run_units[WEIGHTS_ZDIVS];
	bool no_runs; /* they were not counted: no fit uses any */
};

void stats_of(struct stats *st, const uint16_t *d, size_t n);
void stats_count(struct stats *st, const uint16_t *d, size_t n); /* no runs */
void stats_join(struct stats *st, const struct stats *next);

/* ---- fit.c ---- */

/* A palette and a mode, and the exact bits of one fresh slice with them. */
struct fit {
	struct palette palette;
	struct mode mode;
	uint64_t bits;
	uint64_t direct_bits; /* of the best fit without palette */
};

/* The best of those tried; thorough tries more. */
struct fit fit_stats(const struct stats *st, bool thorough);

/* The best mode under a given palette.  False: it can't write some value. */
bool fit_mode(const struct stats *st, const struct palette *pal, bool fresh,
	      struct mode *mode, uint64_t *bits);

/* ---- codes.c ---- */

enum { MAX_FAMILIES = 32, MAX_COLUMNS = 96, MAX_STATES = 256 };

/* columns of the first family, all values without a palette: no table */
enum { DIRECT_COLUMNS = WEIGHTS_DIVISORS + 1 };

/* A column (bits of every direct value), and how runs are written. */
struct state {
	uint8_t family, column;
	struct mode mode;
};

/*
 * Ways to write a value.  Those of one palette are a family: between them the
 * stream changes by a continuing slice, to any other by a new section.  A family's
 * states stand together, column by column, with runs a state for each ZDIV in order.
 */
struct codes {
	int n_families, n_columns, n_states;
	int before; /* family of the palette that is in force, or -1 */
	bool with_runs;
	struct palette palettes[MAX_FAMILIES];
	struct state states[MAX_STATES];
	uint16_t greatest; /* rows above it are not filled */
	/* of the columns from DIRECT_COLUMNS on; 255: can't be written */
	uint8_t bits[WEIGHTS_N_INDEX][MAX_COLUMNS];
};

/*
 * The palette in force before the values (NULL: none), and the direct families
 * that any values up to `greatest` can use; runs: one with runs is among them.
 */
void codes_init(struct codes *c, uint16_t greatest,
		const struct palette *before, bool runs);

/*
 * Plain indices one bit narrower than all values need: without the greatest of
 * them, or without zeros, which leaves room for one greater.
 */
void codes_narrow(struct codes *c);

/* the palette of a fit with the divisors around its own, if there is room */
void codes_add(struct codes *c, const struct fit *f);

/* ---- blocks.c ---- */

/* Positions where the state may change: ends[0..n-1], the last is the end. */
struct blocks {
	uint32_t *ends;
	size_t n;
};

/*
 * Blocks of up to `most` values (at most 256), and an end wherever a run of at
 * least `zeros` zeros begins or ends.
 */
struct blocks blocks_of(struct arena *a, const uint16_t *d, size_t n, int most,
			int zeros);

/* blocks of `most` values, but for the last one */
struct blocks blocks_equal(struct arena *a, size_t n, size_t most);

/* Costs are in 1/8 bit: a zero in a run costs 2^-ZDIV bits. */
enum { COST_BIT = 8 };

/* What one block costs: each column's weights, each ZDIV's runs. */
struct block_cost {
	uint16_t column[MAX_COLUMNS + 16]; /* bits; what is behind: padding */
	uint32_t runs[WEIGHTS_ZDIVS + 1]; /* the last: without runs, 0 */
};

/* the cost of n values, at most 256; *run: zeros in a row before, then behind */
void block_cost(const struct codes *c, const uint16_t *d, size_t n,
		uint32_t *run, struct block_cost *b);

/* ---- path.c ---- */

/* A stretch of values in one state, continuing a section or starting one. */
struct stretch {
	size_t begin, end;
	uint8_t state;
	bool fresh;
};

/*
 * The cheapest path, but for the padding of chunks (taken as its mean).
 * Fills out[0..blocks-1], returns how many.
 */
size_t find_path(struct arena *scratch, const struct codes *c,
		 const uint16_t *d, const struct blocks *b,
		 struct stretch *out);

/* ---- sections.c ---- */

/* How fine and how long to search. */
struct effort {
	int block;     /* values between possible boundaries, at most 256 */
	int zeros;     /* runs of this many zeros make boundaries too */
	/* a search begins with the palettes of pieces of each such length */
	size_t piece[3];
	int rounds;    /* of finding a path and fitting its sections */
	size_t joined; /* so many stretches of a path are tried as a section */
	bool thorough; /* try more palettes */
	int polish;    /* so far are borders moved at last */
};

/* A window of a stream under search. */
struct window {
	struct arena *a; /* of the plans */
	const struct effort *effort;
	const uint16_t *d;
	size_t n;
	uint16_t greatest;
	const struct palette *before; /* in force at the start, or NULL */
	struct codes *codes;
	struct codes *next; /* of the next round, NULL if there is none */
	struct blocks blocks;
	struct stretch *path;
	/* even.c: the counts of all values, nothing has runs; else NULL */
	const struct stats *even;
};

/* a plan without slices yet, in which w->before is in force */
struct plan plan_begin(const struct window *w);

/*
 * The best plan with sections made of the path's n stretches, or of one slice
 * that fits the whole, by exact cost; puts the palettes of the sections into
 * w->next.
 */
struct plan plan_sections(struct window *w, struct arena *scratch, size_t n,
			  const struct fit *whole);

/* ---- even.c ---- */

/*
 * The plan of a window whose values are alike all over, with w->codes for room.
 * False: it is none of those.
 */
bool plan_even(struct window *w, struct plan *p);

#endif
