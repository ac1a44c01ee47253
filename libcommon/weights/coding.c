/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serializes a plan, so that the writer of a stream can reuse the search of an earlier
 * cost estimate.
 *
 * Each slice is: a byte of flags; the number of its values, in 32 bits; if it sets a
 * palette, one byte each for the direct offset, the number of entries and their width,
 * and 16 bits for each entry.
 */
#include "base/little_endian.h"
#include "weights/stream.h"
#include "weights/weights.h"

#include <string.h>

/* flags of a slice */
enum {
	FRESH = 1,
	TRUNC = 2,
	RUNS = 4,
	WDIV_SHIFT = 3, /* 3 bits */
	ZDIV_SHIFT = 6, /* 2 bits */
};

/* maximum bytes of a slice and of its palette */
enum { SLICE_MOST = 1 + 4, PALETTE_MOST = 3 + 2 * WEIGHTS_PALETTE_MAX };

struct bytes
plan_coding(struct arena *a, const struct plan *plan)
{
	size_t most = plan->n_slices * SLICE_MOST + plan->n_palettes * PALETTE_MOST;
	uint8_t *out = anew(a, uint8_t, most), *p = out;
	size_t begin = 0;

	for (size_t i = 0; i < plan->n_slices; i++) {
		const struct wslice *s = &plan->slices[i];
		const struct palette *pal = &plan->palettes[s->palette];
		*p++ = (uint8_t)((s->fresh ? FRESH : 0) | (s->mode.trunc ? TRUNC : 0) |
				 (pal->runs ? RUNS : 0) | s->mode.wdiv << WDIV_SHIFT |
				 s->mode.zdiv << ZDIV_SHIFT);
		store_le32(p, (uint32_t)(s->end - begin));
		p += 4;
		begin = s->end;
		if (!s->fresh)
			continue;
		*p++ = pal->ofs;
		*p++ = pal->n;
		*p++ = pal->bits;
		for (int k = 0; k < pal->n; k++, p += 2)
			store_le16(p, pal->direct[k]);
	}
	return (struct bytes){ .p = out, .n = (size_t)(p - out) };
}

/* ---- from a coding to a plan ---- */

/* Returns false if a slice header cannot contain this palette (ethosu-weights(7) 1.3). */
static bool
read_palette(struct reader *r, bool runs, struct palette *pal)
{
	*pal = (struct palette){ .runs = runs };
	pal->ofs = reader_u8(r);
	pal->n = reader_u8(r);
	pal->bits = reader_u8(r);
	if (pal->ofs > WEIGHTS_OFS_MAX || pal->n == 1 ||
	    pal->n > WEIGHTS_PALETTE_MAX || pal->bits < 2 || pal->bits > 9)
		return false;
	for (int i = 0; i < pal->n; i++) {
		pal->direct[i] = reader_u16(r);
		if (pal->direct[i] >> pal->bits)
			return false;
	}
	return true;
}

/*
 * Returns the greatest index of n values, or UNREACHED if some value has no index.
 * With runs, zeros are skipped unless all values are zero.
 */
static uint16_t
greatest_index(const struct palette *pal, const uint16_t *d, size_t n)
{
	uint16_t index[WEIGHTS_N_INDEX], least = UINT16_MAX, most = 0, of_zero;
	bool others = false;

	if (!pal->runs && pal->n == 0) {
		for (size_t i = 0; i < n; i++) {
			least = d[i] < least ? d[i] : least;
			most = d[i] > most ? d[i] : most;
		}
		return least < pal->ofs ? WEIGHTS_UNREACHED
					: (uint16_t)(most - pal->ofs);
	}
	palette_indices(pal, index);
	of_zero = index[WEIGHTS_ZERO];
	if (pal->runs)
		index[WEIGHTS_ZERO] = 0;
	for (size_t i = 0; i < n; i++) {
		uint16_t x = index[d[i]];
		most = x > most ? x : most;
		others |= d[i] != WEIGHTS_ZERO;
	}
	return pal->runs && !others ? of_zero : most;
}

/* Returns true if a slice of this palette and mode can hold the n values. */
static bool
slice_holds(const struct palette *pal, struct mode m, bool fresh, const uint16_t *d,
      size_t n)
{
	uint16_t most = greatest_index(pal, d, n);

	if (most == WEIGHTS_UNREACHED || (pal->runs && !fresh && d[0] == WEIGHTS_ZERO))
		return false;
	if (m.wdiv == WEIGHTS_WDIV_PLAIN)
		return most < (pal->n ? pal->n : 1 << pal->bits);
	return most >> m.wdiv < (m.trunc ? 3 : WEIGHTS_QUOTIENTS);
}

enum coding_fit
plan_follow(struct plan *p, const uint16_t *d, size_t n, struct bytes coding)
{
	struct reader r = reader_init(coding.p, coding.n);
	struct palette pal = { .n = 0 };
	size_t at = 0;
	bool fits = true;

	for (bool first = true; r.at < r.n; first = false) {
		uint8_t flags = reader_u8(&r);
		size_t length = reader_u32(&r);
		bool fresh = flags & FRESH;
		struct mode m = {
			.wdiv = flags >> WDIV_SHIFT & 7,
			.trunc = flags & TRUNC,
			.zdiv = flags >> ZDIV_SHIFT,
		};
		if (fresh && !read_palette(&r, flags & RUNS, &pal))
			return CODING_BROKEN;
		bool valid = (m.wdiv == WEIGHTS_WDIV_PLAIN ? !m.trunc
							   : m.wdiv < WEIGHTS_DIVISORS) &&
			     (pal.runs || !m.zdiv);
		if (r.overrun || (!fresh && (first || pal.runs != !!(flags & RUNS))) || !length ||
		    !valid)
			return CODING_BROKEN;
		fits = fits && length <= n - at &&
		       slice_holds(&pal, m, fresh, d + at, length);
		if (fits)
			plan_add(p, d, at, at + length, &pal, m, fresh);
		at += fits ? length : 0;
	}
	return fits && at == n ? CODING_FITS : CODING_OF_OTHERS;
}
