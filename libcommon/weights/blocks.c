/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts values into blocks, at whose boundaries a path may change its state, and
 * computes the cost of each block.
 */
#include "weights/search.h"
#include "weights/weights.h"

#include <string.h>

/* the blocks made so far, and the start of the next one */
struct cutter {
	struct arena *a;
	struct blocks b;
	size_t begin, cap;
	size_t most;
};

static void
cut_block(struct cutter *c, size_t at)
{
	agrow(c->a, c->b.block_end, c->b.n, &c->cap);
	c->b.block_end[c->b.n++] = (uint32_t)at;
	c->begin = at;
}

/* Cuts whole blocks while they end at or before `end`. */
static void
cut_until(struct cutter *c, size_t end)
{
	while (c->begin + c->most <= end)
		cut_block(c, c->begin + c->most);
}

struct blocks
blocks_of(struct arena *a, const uint16_t *d, size_t n, int most, int zeros)
{
	struct cutter c = { .a = a, .most = (size_t)most };
	size_t many = (size_t)zeros;

	for (size_t i = 0, end; i < n; i = end) {
		end = i + 1;
		if (d[i] == WEIGHTS_ZERO) {
			while (end < n && d[end] == WEIGHTS_ZERO)
				end++;
			if (end - i >= many) {
				cut_until(&c, i + many - 1);
				if (i > c.begin)
					cut_block(&c, i);
			}
		} else {
			while (end < n && d[end] != WEIGHTS_ZERO)
				end++;
			/*
			 * end of a run of enough zeros, or of zeros that a few other
			 * values interrupt
			 */
			if (i >= c.begin + many && d[i - many] == WEIGHTS_ZERO)
				cut_block(&c, i);
		}
		cut_until(&c, end);
	}
	if (c.begin < n)
		cut_block(&c, n);
	return c.b;
}

struct blocks
blocks_equal(struct arena *a, size_t n, size_t most)
{
	struct blocks b = { .n = (n + most - 1) / most };

	b.block_end = anew(a, uint32_t, b.n);
	for (size_t i = 0; i < b.n; i++)
		b.block_end[i] = (uint32_t)(i + 1 < b.n ? (i + 1) * most : n);
	return b;
}

/*
 * A zero adds 2^-ZDIV bits in its own block.  The rounding of a run is added at the
 * weight after the run, even if the run began in an earlier block.
 */
static void
cost_runs(const uint16_t *d, size_t n, uint32_t *run, uint32_t cost[])
{
	uint32_t zeros = 0, rounded[WEIGHTS_ZDIVS] = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (d[i] == WEIGHTS_ZERO) {
			zeros++;
			++*run;
			continue;
		}
		for (int z = 1; *run && z < WEIGHTS_ZDIVS; z++)
			rounded[z] += (*run & ((1u << z) - 1)) * (COST_BIT >> z);
		*run = 0;
	}
	cost[WEIGHTS_ZDIVS] = 0;
	for (uint32_t z = 0; z < WEIGHTS_ZDIVS; z++)
		cost[z] = zeros * (COST_BIT >> z) +
			  ((uint32_t)n - zeros) * COST_BIT * (1 + z) - rounded[z];
}

/*
 * A compiler vector, so that the sums stay in registers.  Two columns share a 16-bit
 * lane, one in each byte.
 */
typedef uint16_t lanes __attribute__((vector_size(16)));
enum { LANES = 8 };

static inline lanes
load_lanes(const void *p)
{
	lanes v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* The sum of 256 values of at most 255 bits fits 16 bits; sums of whole lanes may wrap. */
static void
cost_columns(const struct codes *c, const uint16_t *d, size_t n,
	     uint16_t *column)
{
	const int odd = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

	for (int k = DIRECT_COLUMNS; k < c->n_columns; k += 16) {
		lanes all = { 0 }, upper = { 0 };
		for (size_t i = 0; i < n; i++) {
			lanes v = load_lanes(
			    &c->bits[d[i]][k - DIRECT_COLUMNS]);
			all += v;
			upper += v >> 8;
		}
		/* the sums of both bytes of each lane */
		for (int i = 0; i < LANES; i++) {
			column[k + 2 * i + odd] = upper[i];
			column[k + 2 * i + !odd] = (uint16_t)(all[i] - (upper[i] << 8));
		}
	}
}

/*
 * The columns of the first family need no table: a quotient q costs q + 1 bits.  A lane
 * sums at most 32 values, which cannot overflow it.
 */
static void
cost_direct(const struct codes *c, const uint16_t *d, size_t n,
	    uint16_t *column)
{
	lanes sum[WEIGHTS_DIVISORS] = { { 0 } }, all = { 0 };
	uint16_t last[LANES], most = 0;

	for (size_t i = 0; i < n; i += LANES) {
		const uint16_t *p = d + i;
		if (n - i < LANES) {
			for (size_t k = 0; k < LANES; k++)
				last[k] = i + k < n ? p[k] : WEIGHTS_ZERO;
			p = last;
		}
		lanes x = load_lanes(p) - WEIGHTS_ZERO;
		for (int w = 0; w < WEIGHTS_DIVISORS; w++)
			sum[w] += x >> w;
		all |= x;
	}
	for (int i = 0; i < LANES; i++)
		most |= all[i];
	for (int w = 0; w < WEIGHTS_DIVISORS; w++) {
		size_t bits = n * (size_t)(1 + w);
		for (int i = 0; i < LANES; i++)
			bits += sum[w][i];
		column[w] = most >> w < WEIGHTS_QUOTIENTS ? (uint16_t)bits
							  : UINT16_MAX;
	}
	column[WEIGHTS_DIVISORS] = (uint16_t)(n * c->palettes[0].bits);
}

void
block_cost(const struct codes *c, const uint16_t *d, size_t n, uint32_t *run,
	   struct block_cost *b)
{
	cost_direct(c, d, n, b->column);
	cost_columns(c, d, n, b->column);
	if (c->with_runs)
		cost_runs(d, n, run, b->runs);
	else
		memset(b->runs, 0, sizeof(b->runs));
}
