/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The constants of the format (ethosu-weights(7) 1.2 to 1.4), and the encoder's
 * representation of a stream: a plan of slices whose size is exact before the stream is
 * written.  Private to this folder.
 *
 * Direct values: the encoder writes zero as 1 ("minus zero"), never as 0.  So the
 * weights 0, +1, -1, +2 ... are 1, 2, 3, 4 ... without the gap of
 * ethosu-weights(7) 1.3, and direct offset 1 turns them into the indices 0, 1, 2, 3 ...
 */
#ifndef WEIGHTS_STREAM_H
#define WEIGHTS_STREAM_H

#include "base/arena.h"
#include "base/bytes.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WEIGHTS_N_INDEX = 512, /* indices and direct values have 9 bits */
	WEIGHTS_PALETTE_MAX = 32,
	WEIGHTS_OFS_MAX = 31,
	/*
	 * maximum of coded weights in a slice; the field could hold one more, which no
	 * encoder is known to use
	 */
	WEIGHTS_SLICE_SAFE = 32767,
	WEIGHTS_DIVISORS = 6,	/* WDIV 0..5 */
	WEIGHTS_QUOTIENTS = 32, /* quotients 0..31, not truncated (ethosu-weights(7) 1.4) */
	WEIGHTS_ZDIVS = 4,
	WEIGHTS_ZDIV_OFF = 6,
	WEIGHTS_ZDIV_END = 7,
	WEIGHTS_WDIV_PLAIN = 7, /* uncompressed indices */
	WEIGHTS_ZERO = 1,	/* direct value of a zero */
	WEIGHTS_HEADER_BITS = 23,
	WEIGHTS_PALETTE_BITS = 13, /* of the palette group, without its entries */
	WEIGHTS_END_BITS = 3,
	WEIGHTS_UNARY = 12, /* symbols per chunk */
	WEIGHTS_UNREACHED = 0xffff, /* index of a value that cannot be written */
};

/* Returns the direct value of a weight of -255..255. */
static inline uint16_t
direct_of(int16_t v)
{
	/* 16-bit operations without branches, so that the compiler makes vectors of 8 */
	uint16_t size = (uint16_t)(v < 0 ? -v : v);

	return (uint16_t)(2 * size + (v <= 0));
}

static inline uint64_t
chunked(uint64_t symbols, uint64_t chunk)
{
	return (symbols + chunk - 1) / chunk * chunk;
}

/* Counts the set bits in each 16-bit half, without a population-count instruction. */
static inline uint32_t
count_bits_16x2(uint32_t v)
{
	v -= v >> 1 & 0x55555555;
	v = (v & 0x33333333) + (v >> 2 & 0x33333333);
	v = (v + (v >> 4)) & 0x0f0f0f0f;
	return (v + (v >> 8)) & 0x001f001f;
}

/* bits of runs per chunk */
static inline uint64_t
run_chunk(int zdiv)
{
	return zdiv < 3 ? 12 : 8;
}

/* Settings of a NEWPAL slice, which also hold for the slices that continue it. */
struct palette {
	bool runs;   /* zeros are coded as runs between the weights */
	uint8_t n;   /* number of entries: 0, 2..32 */
	uint8_t ofs; /* direct offset, DIROFS */
	uint8_t bits; /* bits of an entry, or of a plain index if n is 0 */
	uint16_t direct[WEIGHTS_PALETTE_MAX];
};

bool palette_equal(const struct palette *a, const struct palette *b);

/*
 * Sets the index of every direct value (ethosu-weights(7) 1.3), WEIGHTS_UNREACHED if it
 * has none.
 */
void palette_indices(const struct palette *pal,
		     uint16_t index[WEIGHTS_N_INDEX]);

/* Returns the bits of a plain index (ethosu-weights(7) 1.4). */
int palette_plain_width(const struct palette *pal);

/* Returns the bits of a slice header; fresh: with the palette group. */
uint64_t palette_header_bits(const struct palette *pal, bool fresh);

/* The coding of a slice's weights and runs. */
struct mode {
	uint8_t wdiv; /* 0..5, or WEIGHTS_WDIV_PLAIN */
	bool trunc;
	uint8_t zdiv; /* 0..3; 0 if the palette has no runs */
};

/* The counts that determine the size of a slice's data. */
struct tally {
	uint64_t weights, symbols, seconds;
	uint64_t runs, run_units, run; /* run: zeros since the last weight */
};

/*
 * A slice holds the values from the end of its predecessor to `end`.  A slice that
 * continues a palette with runs starts at a value that is not zero.
 */
struct wslice {
	size_t end;
	bool fresh; /* NEWPAL: the slice sets its palette */
	uint32_t palette;
	struct mode mode;
	struct tally tally;
};

/* Counts one weight of index x, and the run before it. */
static inline void
tally_weight(struct tally *t, uint32_t x, struct mode m, bool runs)
{
	uint32_t q = x >> m.wdiv;

	t->weights++;
	t->symbols += m.trunc ? 1 : q / 2 + 1;
	t->seconds += m.trunc ? q > 0 : (q + 1) / 2;
	if (runs) {
		t->runs++;
		t->run_units += t->run >> m.zdiv;
		t->run = 0;
	}
}

/*
 * slices.c: returns the exact bits of one slice with these counts
 * (ethosu-weights(7) 1.9).
 */
uint64_t tally_bits(const struct tally *t, const struct palette *pal,
		    struct mode m, bool fresh);

struct plan {
	struct arena *a;
	struct palette *palettes;
	struct wslice *slices;
	size_t n_palettes, n_slices;
	size_t cap_palettes, cap_slices;
	uint64_t bits; /* exact size, without end marker and padding */
};

/*
 * plan.c: chooses the slices for n direct values, none above `greatest`.  The plan is
 * stored in arena a.
 */
struct plan plan_stream(struct arena *a, const uint16_t *d, size_t n,
			uint16_t greatest, int level);

/*
 * slices.c: appends d[begin..end-1] to a plan that ends at begin, as one slice, or as
 * several if it has too many weights.  fresh: the slice sets its palette; else pal must
 * equal the palette of the slice before.
 */
void plan_add(struct plan *p, const uint16_t *d, size_t begin, size_t end,
	      const struct palette *pal, struct mode mode, bool fresh);

/* Appends all slices of a plan that begins where p ends. */
void plan_append(struct plan *p, const struct plan *more);

/*
 * polish.c: moves the borders between slices without runs by up to `reach` values, to
 * the position with the least padding in their chunks.
 */
void plan_polish(struct plan *p, const uint16_t *d, int reach);

/*
 * slices.c: returns the bytes of the stream, with end marker and padding
 * (ethosu-weights(7) 1.7).
 */
size_t plan_bytes(const struct plan *p);

/* coding.c: serializes the slices of a plan with their palettes and modes. */
struct bytes plan_coding(struct arena *a, const struct plan *plan);

/* coding.c: result of applying a coding to n direct values. */
enum coding_fit {
	CODING_FITS,
	CODING_OF_OTHERS, /* valid, but for other values: their number differs, or some
			   * cannot be written */
	CODING_BROKEN,	  /* invalid: no encoder makes such a coding */
};

/*
 * Appends the slices of a coding to p, which has an arena and no slices.  If the result
 * is not CODING_FITS, p may contain some slices.
 */
enum coding_fit plan_follow(struct plan *p, const uint16_t *d, size_t n,
			    struct bytes coding);

/*
 * The content of a slice in the order of writing: indices x[n] and the zero runs
 * between them.  n_runs is 0 without runs, n if run[0] follows x[0], and n+1 if run[0]
 * precedes x[0].
 */
struct coded {
	uint16_t *x;
	uint32_t *run;
	size_t n, n_runs;
	size_t cap;
};

/* slices.c: makes the content of the slice that holds the n values at d. */
void coded_slice(struct arena *a, struct coded *c, const struct palette *pal,
		 bool fresh, const uint16_t *d, size_t n);

#endif
