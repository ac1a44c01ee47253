/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The format's constants (spec: weight-stream, 1.2 to 1.4) and the encoder's
 * view of a stream: a plan of slices, which has a size before it is written.
 * Private to this folder.
 *
 * Direct values: the encoder writes zero as 1 ("minus zero"), never as 0.  So
 * the values 0, +1, -1, +2 ... are 1, 2, 3, 4 ... without the hole that 1.3
 * describes, and direct offset 1 makes them the indices 0, 1, 2, 3 ...
 */
#ifndef WEIGHTS_STREAM_H
#define WEIGHTS_STREAM_H

#include "base/arena.h"
#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WEIGHTS_N_INDEX = 512, /* indices and direct values have 9 bits */
	WEIGHTS_PALETTE_MAX = 32,
	WEIGHTS_SLICE_MAX = 32768, /* coded weights in a slice */
	/* what the encoder makes: no public encoder writes one more (7.) */
	WEIGHTS_SLICE_SAFE = 32767,
	WEIGHTS_DIVISORS = 6, /* WDIV 0..5 */
	WEIGHTS_QUOTIENTS = 32, /* 0..31 untruncated (1.4) */
	WEIGHTS_ZDIVS = 4,
	WEIGHTS_ZDIV_OFF = 6,
	WEIGHTS_ZDIV_END = 7,
	WEIGHTS_WDIV_PLAIN = 7, /* uncompressed indices */
	WEIGHTS_ZERO = 1,	/* direct value of a zero */
	WEIGHTS_HEADER_BITS = 23,
	WEIGHTS_PALETTE_BITS = 13, /* of the palette group without entries */
	WEIGHTS_END_BITS = 3,
};

/* the direct value that stands for a weight of -255..255 */
static inline uint32_t
direct_of(int v)
{
	return v > 0 ? 2 * (uint32_t)v : 2 * (uint32_t)-v + 1;
}

/* What a NEWPAL slice sets for itself and the slices that continue it. */
struct palette {
	bool runs;	 /* zeros are runs between the weights */
	uint8_t n;	 /* entries: 0, 2..32 */
	uint8_t ofs;	 /* direct offset */
	uint8_t bits;	 /* width of an entry, or of a plain direct index */
	uint16_t direct[WEIGHTS_PALETTE_MAX];
};

/* How a slice writes weights and runs. */
struct mode {
	uint8_t wdiv; /* 0..5, WEIGHTS_WDIV_PLAIN */
	bool trunc;
	uint8_t zdiv; /* 0..3; not used without runs */
};

/*
 * A slice holds the values from the end of its predecessor up to `end`.  With
 * runs, one that continues a palette starts at a value that is not zero.
 */
struct wslice {
	size_t end;
	bool fresh; /* sets its palette (NEWPAL) */
	uint32_t palette;
	struct mode mode;
};

struct plan {
	struct palette *palettes;
	struct wslice *slices;
	size_t n_palettes, n_slices;
};

/*
 * Statistics of a stretch of values, additive under concatenation: how often
 * each direct value occurs, and the zero runs, each counted where it ends.
 */
struct stats {
	uint32_t n[WEIGHTS_N_INDEX];
	uint32_t n_values, n_zeros;
	uint32_t n_runs;		/* runs, the empty ones too */
	uint32_t run_units[WEIGHTS_ZDIVS]; /* sum of run >> ZDIV */
};

void stats_of(struct stats *st, const int16_t *values, size_t n);

/* A palette and a mode, and the bits of one slice written with them. */
struct fit {
	struct palette palette;
	struct mode mode;
	uint64_t bits;
};

/* fit.c: the best for a stretch as a section of one slice, of those tried */
struct fit fit_stats(const struct stats *st);

/* plan.c: chooses the slices; what it returns lives in the arena */
struct plan plan_stream(struct arena *a, const int16_t *values, size_t n,
			int level);

/*
 * A slice's content as it is written: indices, and the runs between them
 * (none if n_runs is 0; the first before index 0 if n_runs is n+1).
 */
struct coded {
	uint16_t *x;
	uint32_t *run;
	size_t n, n_runs;
	size_t cap;
};

/* cost.c: the content of the slice that holds values[0..n-1] */
void coded_slice(struct arena *a, struct coded *c, const struct palette *pal,
		 const struct wslice *s, const int16_t *values, size_t n);

/* the exact bits of a slice (1.9), and bytes of a plan */
uint64_t coded_bits(const struct coded *c, const struct palette *pal,
		    const struct wslice *s);
size_t plan_bytes(const struct plan *p, const int16_t *values, size_t n);

/* bits of an index written plainly (1.4) */
int plain_width(const struct palette *pal);

#endif
