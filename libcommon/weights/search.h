/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for sections, in order of execution:
 *
 *   stats.c     counts values and zero runs
 *   fit.c       finds the best palette and mode for such counts
 *   codes.c     lists candidate codes for a value
 *   blocks.c    costs blocks of values in all of these codes
 *   path.c      finds the cheapest sequence of codes
 *   sections.c  makes sections of that sequence
 *   even.c      replaces these steps for uniform values
 *   plan.c      runs the search
 */
#ifndef WEIGHTS_SEARCH_H
#define WEIGHTS_SEARCH_H

#include "weights/stream.h"

/* ---- stats.c ---- */

/*
 * The properties of a stretch of values that determine its size.  stats_join adds two
 * of them.
 */
struct stats {
	uint32_t n[WEIGHTS_N_INDEX]; /* count of each direct value */
	uint32_t n_values;
	uint32_t lead, trail; /* length of the first and of the last run of zeros; 0 if a
			       * weight is first or last */
	/* sum of (run length >> ZDIV) over all zero runs */
	uint32_t run_units[WEIGHTS_ZDIVS];
	bool no_runs; /* runs were not counted; no fit uses runs */
};

void stats_of(struct stats *st, const uint16_t *d, size_t n);
/* Counts values only, and sets no_runs. */
void stats_count(struct stats *st, const uint16_t *d, size_t n);
void stats_join(struct stats *st, const struct stats *next);

/* ---- fit.c ---- */

/* A palette and a mode, with the exact bits of one NEWPAL slice that uses them. */
struct fit {
	struct palette palette;
	struct mode mode;
	uint64_t bits;
	uint64_t direct_bits; /* bits of the best fit without a palette */
};

/* Returns the best of the candidates tried; `thorough` tries more candidates. */
struct fit fit_stats(const struct stats *st, bool thorough);

/*
 * Finds the best mode under a fixed palette.  Returns false if the palette cannot write
 * some value.
 */
bool fit_mode(const struct stats *st, const struct palette *pal, bool fresh,
	      struct mode *mode, uint64_t *bits);

/* ---- codes.c ---- */

enum { MAX_FAMILIES = 32, MAX_COLUMNS = 96, MAX_STATES = 256 };

/*
 * Columns of the first family, which codes all values without a palette; these columns
 * need no table.
 */
enum { DIRECT_COLUMNS = WEIGHTS_DIVISORS + 1 };

/* A candidate code: a column (bits of every direct value), and the coding of runs. */
struct state {
	uint8_t family, column;
	struct mode mode;
};

/*
 * Candidate codes for a value.  The codes of one palette form a family.  A change of code
 * costs a slice header: without a palette (a continuing slice) inside the family, with
 * a palette (a new section) between families.  The states of a family are contiguous and
 * sorted by column; with runs, each column has one state per ZDIV, the coding of run
 * lengths, in order.
 */
struct codes {
	int n_families, n_columns, n_states;
	int before; /* family of the palette in force before the first value; -1: none */
	bool with_runs;
	struct palette palettes[MAX_FAMILIES];
	struct state states[MAX_STATES];
	uint16_t greatest; /* greatest direct value; rows above it are not filled */
	/*
	 * bits of each direct value, columns from DIRECT_COLUMNS on; 255: cannot be
	 * written
	 */
	uint8_t bits[WEIGHTS_N_INDEX][MAX_COLUMNS];
};

/*
 * Starts the list with the palette in force before the values (NULL: none) and the
 * direct families for values up to `greatest`.  runs: include a direct family with
 * runs.
 */
void codes_init(struct codes *c, uint16_t greatest,
		const struct palette *before, bool runs);

/*
 * Adds plain indices one bit narrower than all values need.  One family excludes the
 * greatest values; the other excludes zeros and therefore reaches one value further.
 */
void codes_narrow(struct codes *c);

/*
 * Adds the palette of a fit with the fit's divisor and its neighbours, if the tables
 * have space.
 */
void codes_add(struct codes *c, const struct fit *f);

/* ---- blocks.c ---- */

/*
 * Positions where the state may change: ends[i] is the end of block i; the last one is
 * the end of the values.
 */
struct blocks {
	uint32_t *block_end;
	size_t n;
};

/*
 * Cuts values into blocks of at most `most` values (at most 256).  Both limits of a run
 * of at least `zeros` zeros are block boundaries.
 */
struct blocks blocks_of(struct arena *a, const uint16_t *d, size_t n, int most,
			int zeros);

/* Cuts values into blocks of `most` values; the last block may be shorter. */
struct blocks blocks_equal(struct arena *a, size_t n, size_t most);

/* Costs are in units of 1/8 bit, as a zero in a run costs 2^-ZDIV bits. */
enum { COST_BIT = 8 };

/* Cost of one block: the weights in each column, the runs for each ZDIV. */
struct block_cost {
	uint16_t column[MAX_COLUMNS + 16]; /* bits; the elements after the last column
					    * are padding */
	uint32_t runs[WEIGHTS_ZDIVS + 1]; /* in 1/8 bit; the last element is the cost
					   * without runs, 0 */
};

/*
 * Computes the cost of n values, at most 256.  *run: zeros directly before the block on
 * input, zeros at its end on output.
 */
void block_cost(const struct codes *c, const uint16_t *d, size_t n,
		uint32_t *run, struct block_cost *b);

/* ---- path.c ---- */

/* A stretch of values in one state.  fresh: starts a new section. */
struct stretch {
	size_t begin, end;
	uint8_t state;
	bool fresh;
};

/*
 * Finds the cheapest path; the padding of chunks counts as its mean.  Fills
 * out[0..blocks-1] and returns the number of stretches.
 */
size_t find_path(struct arena *scratch, const struct codes *c,
		 const uint16_t *d, const struct blocks *b,
		 struct stretch *out);

/* ---- sections.c ---- */

/* Granularity and effort of a search. */
struct effort {
	int block;     /* values between possible boundaries, at most 256 */
	int zeros;     /* runs of at least this many zeros also make boundaries */
	/*
	 * Values per piece: each search starts with the palettes of pieces of this
	 * length; 0: no further search.
	 */
	size_t piece[3];
	int rounds;    /* repetitions of finding a path and fitting its sections */
	size_t joined; /* maximum number of stretches that are tried as one section */
	bool thorough; /* try more palettes */
	int polish;    /* values by which borders may move in the last step */
};

/* A window of a stream, during its search. */
struct window {
	struct arena *a; /* holds the plans */
	const struct effort *effort;
	const uint16_t *d;
	size_t n;
	uint16_t greatest;
	const struct palette *before; /* palette in force at the start; NULL: none */
	struct codes *codes;
	struct codes *next; /* codes of the next round; NULL: last round */
	struct blocks blocks;
	struct stretch *path;
	/* even.c: the counts of all values, no slice uses runs; NULL for a full search */
	const struct stats *even;
};

/* Returns a plan without slices, in which the palette w->before is in force. */
struct plan plan_begin(const struct window *w);

/*
 * Returns the best plan by exact cost: either sections made of the path's n stretches,
 * or one slice that fits the whole window.  Adds the palettes of the sections to
 * w->next.
 */
struct plan plan_sections(struct window *w, struct arena *scratch, size_t n,
			  const struct fit *whole);

/* ---- even.c ---- */

/*
 * Finds the plan of a window with a uniform distribution of values; uses w->codes as
 * scratch space.  Returns false if the window needs a full search.
 */
bool plan_even(struct window *w, struct plan *p);

#endif
