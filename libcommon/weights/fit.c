/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the best palette and mode for counted values, by exact cost (ethosu-weights(7)
 * 1.9).
 *
 * The length of a Golomb-Rice code changes only at multiples of the divisor.  A cost is
 * therefore a sum of the counts of values at or above each multiple.  These counts are
 * computed once, for the smallest divisor whose quotients are at most 31; multiples of
 * greater divisors are among them.
 */
#include "weights/search.h"
#include "weights/weights.h"

#include <string.h>

/* The values of a stretch that are coded as weights, not as runs. */
struct source {
	uint32_t count[WEIGHTS_N_INDEX];
	uint32_t n;
	int least, greatest, n_distinct;
	int n_top;
	uint16_t top[WEIGHTS_PALETTE_MAX]; /* the most frequent value first */
};

/* One assignment of indices to values: a palette, then direct indices. */
struct layout {
	struct palette pal;
	int last;	       /* greatest index used */
	const uint32_t *count; /* of each index */
	/* counts of direct values, with space before them for a palette's */
	uint32_t count_storage[WEIGHTS_PALETTE_MAX + WEIGHTS_N_INDEX];
};

static void
source_of(struct source *s, const struct stats *st, bool runs)
{
	memcpy(s->count, st->n, sizeof(s->count));
	/* if all values are zero, one of them is coded as a weight */
	if (runs)
		s->count[WEIGHTS_ZERO] =
		    st->n[WEIGHTS_ZERO] == st->n_values;
	s->least = 0;
	s->greatest = WEIGHTS_N_INDEX - 1;
	while (s->greatest > 0 && !s->count[s->greatest])
		s->greatest--;
	while (s->least < s->greatest && !s->count[s->least])
		s->least++;
	s->n = 0;
	s->n_distinct = 0;
	for (int d = s->least; d <= s->greatest; d++) {
		s->n_distinct += s->count[d] > 0;
		s->n += s->count[d];
	}
}

/*
 * Inserts d into a list of the `cap` greatest keys, sorted in descending order.
 * Returns the new length.
 */
static int
insert_sorted(uint16_t *list, uint32_t *keys, int n, int cap, uint16_t d,
	      uint32_t key)
{
	int at = n < cap ? n : cap - 1;

	if (n == cap && keys[at] >= key)
		return n;
	for (; at > 0 && keys[at - 1] < key; at--) {
		list[at] = list[at - 1];
		keys[at] = keys[at - 1];
	}
	list[at] = d;
	keys[at] = key;
	return n < cap ? n + 1 : n;
}

/*
 * Assigns indices to the values under a palette.  Chooses the palette's offset and
 * width unless they are fixed.  Returns false if some value cannot be written.
 */
static bool
lay_out(struct layout *l, const struct source *s, const struct palette *pal,
	bool fixed)
{
	uint32_t *left = l->count_storage + WEIGHTS_PALETTE_MAX;
	uint32_t entries[WEIGHTS_PALETTE_MAX];
	int first = s->least, last = s->greatest, widest = 0, k = pal->n;

	memcpy(left, s->count, (size_t)(last + 1) * sizeof(*left));
	l->pal = *pal;
	for (int x = 0; x < k; x++) {
		/* entries above the greatest value have count 0 */
		int d = pal->direct[x];
		entries[x] = d <= last ? left[d] : 0;
		if (d <= last)
			left[d] = 0;
		widest = d > widest ? d : widest;
	}
	while (first <= last && left[first] == 0)
		first++;
	while (last > first && left[last] == 0)
		last--;
	if (!fixed)
		l->pal.ofs = (uint8_t)(first > WEIGHTS_OFS_MAX ? WEIGHTS_OFS_MAX
							       : first);
	l->last = first > last ? k - 1 : last - l->pal.ofs + k;
	if (l->last >= WEIGHTS_N_INDEX || (first <= last && first < l->pal.ofs))
		return false;
	uint32_t *count = left + l->pal.ofs - k;
	memcpy(count, entries, (size_t)k * sizeof(*count));
	l->count = count;
	if (!fixed) {
		/* bits of a palette entry or of a plain index: 2 to 9 */
		int greatest = k ? widest : l->last, bits = 2;
		while (greatest >> bits)
			bits++;
		l->pal.bits = (uint8_t)bits;
	}
	return true;
}

/* Sets below[q] to the number of values with an index below q * size. */
static inline void
add_up(const struct layout *l, int size, uint32_t *below)
{
	const uint32_t *count = l->count;
	uint32_t sum = 0;

	below[0] = 0;
	for (int q = 0; q < l->last / size; q++) {
		for (int i = 0; i < size; i++)
			sum += *count++;
		below[q + 1] = sum;
	}
}

/* Sets `below` for a divisor; constant sizes let the compiler unroll the loops. */
static void
add_up_quotients(const struct layout *l, int wdiv,
		 uint32_t below[WEIGHTS_QUOTIENTS])
{
	switch (wdiv) {
	case 0:
		add_up(l, 1, below);
		break;
	case 1:
		add_up(l, 2, below);
		break;
	case 2:
		add_up(l, 4, below);
		break;
	case 3:
		add_up(l, 8, below);
		break;
	default:
		add_up(l, 16, below);
	}
}

struct choice {
	struct mode mode;
	uint64_t bits;
};

static void
keep_cheaper(struct choice *c, uint64_t bits, uint8_t wdiv, bool trunc)
{
	if (bits >= c->bits)
		return;
	c->bits = bits;
	c->mode = (struct mode){ .wdiv = wdiv, .trunc = trunc };
}

/*
 * Returns the cheapest mode for n indices; bits stay UINT64_MAX if no mode can write
 * them.
 */
static struct choice
choose_weight_mode(const struct layout *l, uint32_t n)
{
	struct choice c = { .bits = UINT64_MAX };
	uint32_t below[WEIGHTS_QUOTIENTS];
	uint8_t least = 0;

	while (l->last >> least >= WEIGHTS_QUOTIENTS)
		least++;
	add_up_quotients(l, least, below);
	/*
	 * plain indices beyond the palette are not used: no known encoder makes them
	 * (ethosu-weights(7) 1.4)
	 */
	if (l->last < (l->pal.n ? l->pal.n : 1 << l->pal.bits))
		keep_cheaper(&c, (uint64_t)n * (unsigned)palette_plain_width(&l->pal),
		    WEIGHTS_WDIV_PLAIN, false);
	for (uint8_t d = least; d < WEIGHTS_DIVISORS; d++) {
		uint64_t symbols = n, seconds = 0, rest = (uint64_t)n * d;
		for (int q = 1; q <= l->last >> d; q++) {
			uint32_t tail = n - below[q << (d - least)];
			if (q & 1)
				seconds += tail;
			else
				symbols += tail;
		}
		keep_cheaper(&c, chunked(symbols, WEIGHTS_UNARY) + seconds + rest, d,
		    false);
		if (l->last >> d == 2)
			keep_cheaper(&c, chunked(n, WEIGHTS_UNARY) +
			    n - below[1 << (d - least)] + rest, d, true);
	}
	return c;
}

/* Returns the least bits for the runs of a slice and sets m->zdiv. */
static uint64_t
choose_run_mode(const struct stats *st, uint32_t n_coded, bool fresh,
		struct mode *m)
{
	uint64_t best = UINT64_MAX, runs = (uint64_t)n_coded + fresh;
	bool all_zero = st->n[WEIGHTS_ZERO] == st->n_values;

	for (int z = 0; z < WEIGHTS_ZDIVS; z++) {
		/* the zero that is coded as a weight shortens the run by one */
		uint64_t units = all_zero ? (st->n_values - 1) >> z
					  : st->run_units[z];
		uint64_t bits = chunked(units + runs, run_chunk(z)) +
				runs * (unsigned)z;
		if (bits < best) {
			best = bits;
			m->zdiv = (uint8_t)z;
		}
	}
	return best;
}

/* A search with runs or without runs. */
struct search {
	const struct stats *st;
	struct source s;
	struct layout l;
	bool runs;
	uint64_t run_bits;
	uint8_t zdiv;
	struct fit *best;
};

/*
 * Costs a palette of these k entries; stores it in *best if it is cheaper.  Returns the
 * cost.
 */
static struct choice
consider(struct search *h, const uint16_t *entries, int k)
{
	struct palette pal = { .runs = h->runs, .n = (uint8_t)k };
	struct choice c = { .bits = UINT64_MAX };

	for (int x = 0; x < k; x++)
		pal.direct[x] = entries[x];
	if (!lay_out(&h->l, &h->s, &pal, false))
		return c;
	c = choose_weight_mode(&h->l, h->s.n);
	if (c.bits == UINT64_MAX)
		return c;
	c.bits += h->run_bits + palette_header_bits(&h->l.pal, true);
	c.mode.zdiv = h->zdiv;
	if (k == 0 && c.bits < h->best->direct_bits)
		h->best->direct_bits = c.bits;
	if (c.bits < h->best->bits) {
		h->best->palette = h->l.pal;
		h->best->mode = c.mode;
		h->best->bits = c.bits;
	}
	return c;
}

static void
consider_top(struct search *h, bool thorough)
{
	static const uint8_t sizes[] = { 2, 4, 8, 12, 16, 24, 31 };
	int most = h->s.n_top; /* 32, or all distinct values if fewer */

	if (h->s.n_distinct == 1) {
		consider(h, (uint16_t[]){ h->s.top[0], 0 }, 2);
		return;
	}
	if (thorough) {
		for (int k = 2; k <= most; k++)
			consider(h, h->s.top, k);
		return;
	}
	if (h->s.n_distinct == most)
		consider(h, h->s.top, most);
	for (size_t i = 0; i < ARRAY_LEN(sizes) && sizes[i] < most; i++)
		consider(h, h->s.top, sizes[i]);
}

/*
 * Tries palettes of values whose codes use many bits in total under divisor 2^wdiv
 * because they are both frequent and long, for example the +-127 of every channel.
 */
static void
consider_outliers(struct search *h, int wdiv, bool thorough)
{
	uint16_t list[8];
	uint32_t keys[8];
	int n = 0;

	for (int d = h->s.least; d <= h->s.greatest; d++) {
		uint32_t q = (uint32_t)(d - h->s.least) >> wdiv;
		if (q * h->s.count[d] > 0)
			n = insert_sorted(list, keys, n, 8, (uint16_t)d,
					  q * h->s.count[d]);
	}
	for (int k = 2; k <= n; k += thorough ? 1 : 2)
		consider(h, list, k);
}

static void
search_init(struct search *h, const struct stats *st, bool runs,
	    struct fit *best)
{
	struct mode m = { 0 };

	h->st = st;
	h->runs = runs;
	h->best = best;
	source_of(&h->s, st, runs);
	h->run_bits = runs ? choose_run_mode(st, h->s.n, true, &m) : 0;
	h->zdiv = m.zdiv;
}

static void
fit_runs(const struct stats *st, bool runs, bool thorough, struct fit *best)
{
	struct search h;

	search_init(&h, st, runs, best);
	struct choice direct = consider(&h, NULL, 0);
	uint32_t keys[WEIGHTS_PALETTE_MAX];
	h.s.n_top = 0;
	for (int d = h.s.least; d <= h.s.greatest; d++)
		if (h.s.count[d])
			h.s.n_top = insert_sorted(h.s.top, keys, h.s.n_top,
						  WEIGHTS_PALETTE_MAX,
						  (uint16_t)d, h.s.count[d]);
	consider_top(&h, thorough);
	if (direct.mode.wdiv < WEIGHTS_DIVISORS)
		consider_outliers(&h, direct.mode.wdiv, thorough);
}

static bool
has_entry(const struct palette *pal, int d)
{
	for (int x = 0; x < pal->n; x++)
		if (pal->direct[x] == d)
			return true;
	return false;
}

/* Tries palettes with one entry more or one entry less. */
static void
consider_neighbours(struct search *h, const struct palette *pal)
{
	uint16_t list[WEIGHTS_PALETTE_MAX];

	for (int d = h->s.least; d <= h->s.greatest; d++) {
		int n = 0, x = 0;
		if (!h->s.count[d] || pal->n == WEIGHTS_PALETTE_MAX || has_entry(pal, d))
			continue;
		/* the most frequent value stays first */
		while (x < pal->n && h->s.count[pal->direct[x]] >= h->s.count[d])
			list[n++] = pal->direct[x++];
		list[n++] = (uint16_t)d;
		while (x < pal->n)
			list[n++] = pal->direct[x++];
		consider(h, list, n);
	}
	for (int out = 0; pal->n > 2 && out < pal->n; out++) {
		int n = 0;
		for (int x = 0; x < pal->n; x++)
			if (x != out)
				list[n++] = pal->direct[x];
		consider(h, list, n);
	}
}

/* Changes the best palette entry by entry until no change helps. */
static void
refine(const struct stats *st, struct fit *best)
{
	struct search h;
	uint64_t was;

	search_init(&h, st, best->palette.runs, best);
	do {
		struct palette pal = best->palette;
		was = best->bits;
		if (pal.n)
			consider_neighbours(&h, &pal);
	} while (best->bits < was);
}

struct fit
fit_stats(const struct stats *st, bool thorough)
{
	struct fit best = { .bits = UINT64_MAX, .direct_bits = UINT64_MAX };
	uint32_t zeros = st->n[WEIGHTS_ZERO];

	assert(st->n_values > 0);
	fit_runs(st, false, thorough, &best);
	/* runs cost one bit per weight, and save at most 9 bits per zero */
	if (!st->no_runs && zeros * 9 > st->n_values - zeros)
		fit_runs(st, true, thorough, &best);
	assert(best.bits != UINT64_MAX);
	if (thorough)
		refine(st, &best);
	return best;
}

bool
fit_mode(const struct stats *st, const struct palette *pal, bool fresh,
	 struct mode *mode, uint64_t *bits)
{
	struct source s;
	struct layout l;

	source_of(&s, st, pal->runs);
	if (!lay_out(&l, &s, pal, true))
		return false;
	struct choice c = choose_weight_mode(&l, s.n);
	if (c.bits == UINT64_MAX)
		return false;
	*bits = c.bits + palette_header_bits(pal, fresh);
	if (pal->runs)
		*bits += choose_run_mode(st, s.n, fresh, &c.mode);
	*mode = c.mode;
	return true;
}
