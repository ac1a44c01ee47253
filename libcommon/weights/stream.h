/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The format's constants (ethosu-weights(7) 1.2 to 1.4) and the encoder's
 * view of a stream: a plan of slices whose size is known before it is written.
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

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WEIGHTS_N_INDEX = 512, /* indices and direct values have 9 bits */
	WEIGHTS_PALETTE_MAX = 32,
	WEIGHTS_OFS_MAX = 31,
	/* coded weights in a slice: one more could be said, and no encoder is known to */
	WEIGHTS_SLICE_SAFE = 32767,
	WEIGHTS_DIVISORS = 6,	/* WDIV 0..5 */
	WEIGHTS_QUOTIENTS = 32, /* 0..31 untruncated (1.4) */
	WEIGHTS_ZDIVS = 4,
	WEIGHTS_ZDIV_OFF = 6,
	WEIGHTS_ZDIV_END = 7,
	WEIGHTS_WDIV_PLAIN = 7, /* uncompressed indices */
	WEIGHTS_ZERO = 1,	/* direct value of a zero */
	WEIGHTS_HEADER_BITS = 23,
	WEIGHTS_PALETTE_BITS = 13, /* of the palette group without entries */
	WEIGHTS_END_BITS = 3,
	WEIGHTS_UNARY = 12, /* symbols in a chunk */
	WEIGHTS_UNREACHED = 0xffff, /* index of what can't be written */
};

/* the direct value that stands for a weight of -255..255 */
static inline uint16_t
direct_of(int16_t v)
{
	/* in 16 bits and without branches: eight at a time */
	uint16_t size = (uint16_t)(v < 0 ? -v : v);

	return (uint16_t)(2 * size + (v <= 0));
}

static inline uint64_t
chunked(uint64_t symbols, uint64_t chunk)
{
	return (symbols + chunk - 1) / chunk * chunk;
}

/* how many bits are set in each half; without an instruction for it */
static inline uint32_t
count_bits_16x2(uint32_t v)
{
	v -= v >> 1 & 0x55555555;
	v = (v & 0x33333333) + (v >> 2 & 0x33333333);
	v = (v + (v >> 4)) & 0x0f0f0f0f;
	return (v + (v >> 8)) & 0x001f001f;
}

/* run bits in a chunk */
static inline uint64_t
run_chunk(int zdiv)
{
	return zdiv < 3 ? 12 : 8;
}

/* What a NEWPAL slice sets for itself and the slices that continue it. */
struct palette {
	bool runs;   /* zeros are runs between the weights */
	uint8_t n;   /* entries: 0, 2..32 */
	uint8_t ofs; /* direct offset */
	uint8_t bits; /* width of an entry, or of a plain direct index */
	uint16_t direct[WEIGHTS_PALETTE_MAX];
};

bool palette_equal(const struct palette *a, const struct palette *b);

/* the index of every direct value (1.3), or WEIGHTS_UNREACHED */
void palette_indices(const struct palette *pal,
		     uint16_t index[WEIGHTS_N_INDEX]);

/* bits of an index written plainly (1.4) */
int palette_plain_width(const struct palette *pal);

/* of a slice header, with the palette group if the slice is fresh */
uint64_t palette_header_bits(const struct palette *pal, bool fresh);

/* How a slice writes weights and runs. */
struct mode {
	uint8_t wdiv; /* 0..5, WEIGHTS_WDIV_PLAIN */
	bool trunc;
	uint8_t zdiv; /* 0..3; 0 without runs */
};

/* What of a slice's content decides its size. */
struct tally {
	uint64_t weights, symbols, seconds;
	uint64_t runs, run_units, run; /* run: zeros since the last weight */
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
	struct tally tally;
};

/* counts a weight of index x, and the run before it */
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

/* slices.c: the exact bits of what was counted, as one slice (1.9) */
uint64_t tally_bits(const struct tally *t, const struct palette *pal,
		    struct mode m, bool fresh);

struct plan {
	struct arena *a;
	struct palette *palettes;
	struct wslice *slices;
	size_t n_palettes, n_slices;
	size_t cap_palettes, cap_slices;
	uint64_t bits; /* exact, without end marker and padding */
};

/*
 * plan.c: chooses the slices for n direct values, none above `greatest`.  What
 * it returns lives in the arena.
 */
struct plan plan_stream(struct arena *a, const uint16_t *d, size_t n,
			uint16_t greatest, int level);

/*
 * slices.c: adds d[begin..end-1] to a plan, which reaches up to begin, as one
 * slice (as more, where there are too many weights).  fresh: with its palette,
 * else pal has to be that of the slice before.
 */
void plan_add(struct plan *p, const uint16_t *d, size_t begin, size_t end,
	      const struct palette *pal, struct mode mode, bool fresh);

/* adds all slices of another plan that begins where this one ends */
void plan_append(struct plan *p, const struct plan *more);

/*
 * polish.c: moves the borders between slices without runs, up to `reach`
 * values, to where the padding of their chunks is least.
 */
void plan_polish(struct plan *p, const uint16_t *d, int reach);

/* slices.c: with end marker and padding (1.7) */
size_t plan_bytes(const struct plan *p);

/* coding.c: which slices, with which palettes and modes */
struct bytes plan_coding(struct arena *a, const struct plan *plan);

/* coding.c: may n direct values be written as a coding says? */
enum coding_fit {
	CODING_FITS,
	CODING_OF_OTHERS, /* of other values: of more, or of some that it can't write */
	CODING_BROKEN,	  /* of none: no encoder makes it */
};

/* adds what the coding says to p, which has an arena and no slices; leaves some there
 * unless it fits */
enum coding_fit plan_follow(struct plan *p, const uint16_t *d, size_t n,
			    struct bytes coding);

/*
 * A slice's content as it is written: indices, and the runs between them
 * (none if n_runs is 0; the first one before index 0 if n_runs is n+1).
 */
struct coded {
	uint16_t *x;
	uint32_t *run;
	size_t n, n_runs;
	size_t cap;
};

/* slices.c: the content of the slice that holds the n values at d */
void coded_slice(struct arena *a, struct coded *c, const struct palette *pal,
		 bool fresh, const uint16_t *d, size_t n);

#endif
