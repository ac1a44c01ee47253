/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The best palette and mode for a histogram, by exact cost (spec:
 * weight-stream, 1.9).
 */
#include "weights/stream.h"
#include "weights/weights.h"

#include <assert.h>
#include <string.h>

static uint64_t
round_up(uint64_t v, uint64_t to)
{
	return (v + to - 1) / to * to;
}

void
stats_of(struct stats *st, const int16_t *values, size_t n)
{
	uint32_t run = 0;

	memset(st, 0, sizeof(*st));
	for (size_t i = 0; i < n; i++) {
		st->n[direct_of(values[i])]++;
		if (values[i] == 0) {
			run++;
			continue;
		}
		for (int z = 0; z < WEIGHTS_ZDIVS; z++)
			st->run_units[z] += run >> z;
		st->n_runs++;
		run = 0;
	}
	for (int z = 0; z < WEIGHTS_ZDIVS; z++)
		st->run_units[z] += run >> z;
	st->n_runs++;
	st->n_values = (uint32_t)n;
	st->n_zeros = st->n[WEIGHTS_ZERO];
}

/* Direct values that have to be coded, most frequent first. */
struct ranking {
	const uint32_t *count; /* of each direct value */
	uint32_t n_coded;
	int n_distinct, least, greatest;
	int n_sorted; /* up to 32 */
	uint16_t by_count[WEIGHTS_PALETTE_MAX];
};

static void
rank(struct ranking *r, const uint32_t count[WEIGHTS_N_INDEX])
{
	*r = (struct ranking){ .count = count };
	for (int d = WEIGHTS_N_INDEX - 1; d > 0; d--) {
		if (count[d] == 0)
			continue;
		if (r->n_distinct++ == 0)
			r->greatest = d;
		r->least = d;
		r->n_coded += count[d];
		int at = r->n_sorted;
		if (at == WEIGHTS_PALETTE_MAX) {
			if (count[r->by_count[at - 1]] >= count[d])
				continue;
			at--;
		} else {
			r->n_sorted++;
		}
		for (; at > 0 && count[r->by_count[at - 1]] < count[d]; at--)
			r->by_count[at] = r->by_count[at - 1];
		r->by_count[at] = (uint16_t)d;
	}
}

static int
width_of(uint32_t v)
{
	return v < 4 ? 2 : 32 - __builtin_clz(v);
}

/*
 * The palette of the k most frequent values.  False: the rest would need
 * indices above 511.
 */
static bool
palette_top(const struct ranking *r, int k, struct palette *pal,
	    uint32_t by_index[WEIGHTS_N_INDEX], int *greatest)
{
	uint32_t left[WEIGHTS_N_INDEX];
	uint32_t widest = 0;
	int first = WEIGHTS_N_INDEX, last = 0;

	memcpy(left, r->count, sizeof(left));
	memset(by_index, 0, WEIGHTS_N_INDEX * sizeof(*by_index));
	*pal = (struct palette){ .n = (uint8_t)k };
	for (int x = 0; x < k && x < r->n_sorted; x++) {
		uint16_t d = r->by_count[x];
		pal->direct[x] = d;
		by_index[x] = left[d];
		left[d] = 0;
		widest = d > widest ? d : widest;
	}
	for (int d = r->least; d <= r->greatest; d++)
		if (left[d]) {
			first = d < first ? d : first;
			last = d;
		}
	pal->ofs = (uint8_t)(first > 31 ? 31 : first);
	*greatest = last ? last - pal->ofs + k : r->n_distinct - 1;
	if (*greatest >= WEIGHTS_N_INDEX)
		return false;
	if (last)
		memcpy(by_index + k + (first - pal->ofs), left + first,
		       (size_t)(last - first + 1) * sizeof(*left));
	pal->bits = (uint8_t)width_of(k ? widest : (uint32_t)*greatest);
	return true;
}

/* The cheapest mode for a histogram of indices; false: none can write it. */
static uint64_t
best_weight_mode(const uint32_t by_index[WEIGHTS_N_INDEX], int greatest,
		 uint32_t n, const struct palette *pal, struct mode *m)
{
	uint32_t q[WEIGHTS_N_INDEX];
	int last = greatest;
	uint64_t best = UINT64_MAX;

	if (pal->n == 0 || greatest < pal->n) {
		best = (uint64_t)n * (uint64_t)plain_width(pal);
		m->wdiv = WEIGHTS_WDIV_PLAIN;
		m->trunc = false;
	}
	memcpy(q, by_index, sizeof(q));
	for (unsigned d = 0; d < WEIGHTS_DIVISORS; d++) {
		uint64_t symbols = 0, seconds = 0, bits;
		for (int i = 0; i <= last && last < WEIGHTS_QUOTIENTS; i++) {
			symbols += q[i] * (uint64_t)(i / 2 + 1);
			seconds += q[i] * (uint64_t)((i + 1) / 2);
		}
		bits = round_up(symbols, 12) + seconds + (uint64_t)n * d;
		if (last < WEIGHTS_QUOTIENTS && bits < best) {
			best = bits;
			*m = (struct mode){ .wdiv = (uint8_t)d };
		}
		bits = round_up(n, 12) + (n - q[0]) + (uint64_t)n * d;
		if (last < 3 && bits < best) {
			best = bits;
			*m = (struct mode){ .wdiv = (uint8_t)d, .trunc = true };
		}
		for (int i = 0; i <= last / 2; i++)
			q[i] = q[2 * i] + (2 * i < last ? q[2 * i + 1] : 0);
		last /= 2;
	}
	return best;
}

static uint64_t
best_run_mode(const struct stats *st, uint32_t n_runs, struct mode *m)
{
	uint64_t best = UINT64_MAX;

	for (unsigned z = 0; z < WEIGHTS_ZDIVS; z++) {
		uint64_t bits = round_up(st->run_units[z] + n_runs,
					 z < 3 ? 12 : 8) +
				(uint64_t)n_runs * z;
		if (bits < best) {
			best = bits;
			m->zdiv = (uint8_t)z;
		}
	}
	return best;
}

static void
fit_mode(const struct stats *st, bool runs, struct fit *best)
{
	static const int sizes[] = { 0,	 2,  3,	 4,  5,	 6,  7,	 8,  10, 12,
				     14, 16, 18, 20, 22, 24, 26, 28, 30, 32 };
	uint32_t count[WEIGHTS_N_INDEX], by_index[WEIGHTS_N_INDEX];
	struct ranking r;
	struct mode mode = { 0 };
	uint64_t run_bits = 0;

	memcpy(count, st->n, sizeof(count));
	if (runs) {
		/* of nothing but zeros one is written as a weight */
		count[WEIGHTS_ZERO] = st->n_zeros == st->n_values;
		run_bits = best_run_mode(
		    st, st->n_runs + count[WEIGHTS_ZERO], &mode);
	}
	rank(&r, count);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct fit f = { .mode = mode };
		int greatest, k = sizes[i];
		if (k > 2 && k > r.n_distinct)
			break;
		if (!palette_top(&r, k, &f.palette, by_index, &greatest))
			continue;
		f.palette.runs = runs;
		uint64_t bits = best_weight_mode(by_index, greatest, r.n_coded,
						 &f.palette, &f.mode);
		if (bits == UINT64_MAX)
			continue;
		f.bits = bits + run_bits + WEIGHTS_HEADER_BITS +
			 WEIGHTS_PALETTE_BITS +
			 (uint64_t)k * f.palette.bits;
		if (f.bits < best->bits)
			*best = f;
	}
}

struct fit
fit_stats(const struct stats *st)
{
	struct fit best = { .bits = UINT64_MAX };

	assert(st->n_values > 0);
	fit_mode(st, false, &best);
	if (st->n_zeros)
		fit_mode(st, true, &best);
	assert(best.bits != UINT64_MAX);
	return best;
}
