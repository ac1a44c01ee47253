/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cheapest sequence of states through the blocks of a stream: dynamic
 * programming over (block, state), exact but for the padding of chunks.
 */
#include "weights/search.h"
#include "weights/weights.h"

#include <string.h>

/* Costs are in 1/8 bit: a zero in a run costs 2^-ZDIV bits. */
enum { BIT = 8 };

/*
 * Mean padding of a chunk of 12 symbols, and of the run bits (12 or 8): a
 * slice ends anywhere in them (6.3, item 4).
 */
enum { PAD_WEIGHTS = 11 * BIT / 2, PAD_RUNS = 9 * BIT / 2 };

struct blocks
blocks_of(struct arena *a, const uint16_t *d, size_t n, int most, int zeros)
{
	struct blocks b = { 0 };
	size_t begin = 0, cap = 0, run = 0;

	for (size_t i = 0; i < n; i++) {
		bool zero = d[i] == WEIGHTS_ZERO;
		size_t cut = 0;
		run = zero ? run + 1 : 0;
		if (zero && run == (size_t)zeros && i + 1 - run > begin)
			cut = i + 1 - run;
		else if (!zero && i > begin && i + 1 > (size_t)zeros &&
			 d[i - 1] == WEIGHTS_ZERO && i - begin >= (size_t)zeros &&
			 d[i - (size_t)zeros] == WEIGHTS_ZERO)
			cut = i;
		else if (i + 1 - begin == (size_t)most)
			cut = i + 1;
		if (cut) {
			agrow(a, b.ends, b.n, &cap);
			b.ends[b.n++] = (uint32_t)cut;
			begin = cut;
		}
	}
	if (begin < n) {
		agrow(a, b.ends, b.n, &cap);
		b.ends[b.n++] = (uint32_t)n;
	}
	return b;
}

/* What one block costs: each column's weights, each ZDIV's runs. */
struct block_cost {
	uint16_t column[MAX_COLUMNS];
	uint32_t runs[WEIGHTS_ZDIVS + 1]; /* the last: without runs, 0 */
};

/*
 * A zero is charged 2^-ZDIV bits where it stands, the rounding of its run at
 * the weight that ends it, whatever block that is in.
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
			rounded[z] += (*run & ((1u << z) - 1)) * (BIT >> z);
		*run = 0;
	}
	cost[WEIGHTS_ZDIVS] = 0;
	for (uint32_t z = 0; z < WEIGHTS_ZDIVS; z++)
		cost[z] = zeros * (BIT >> z) +
			  ((uint32_t)n - zeros) * BIT * (1 + z) - rounded[z];
}

/*
 * A vector of the compiler, so that sums stay in registers: two columns share a
 * lane of 16 bits, one in each byte.
 */
typedef uint16_t lanes __attribute__((vector_size(16)));

static inline lanes
load_lanes(const uint8_t *p)
{
	lanes v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* from sums of lanes and of their upper bytes to those of the columns */
static void
part_lanes(lanes all, lanes upper, uint16_t *column)
{
	const int odd = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

	for (int i = 0; i < 8; i++) {
		column[2 * i + odd] = upper[i];
		column[2 * i + !odd] = (uint16_t)(all[i] - (upper[i] << 8));
	}
}

/* 256 values of at most 255 bits fit 16 bits; sums of lanes may wrap */
static void
cost_block(const struct codes *c, const uint16_t *d, size_t n,
	   struct block_cost *b)
{
	int k = 0;

	for (; k + 16 < c->n_columns; k += 32) {
		lanes all[2] = { 0 }, upper[2] = { 0 };
		for (size_t i = 0; i < n; i++) {
			const uint8_t *p = &c->bits[d[i]][k];
			lanes v = load_lanes(p), w = load_lanes(p + 16);
			all[0] += v;
			all[1] += w;
			upper[0] += v >> 8;
			upper[1] += w >> 8;
		}
		part_lanes(all[0], upper[0], b->column + k);
		part_lanes(all[1], upper[1], b->column + k + 16);
	}
	if (k < c->n_columns) {
		lanes all = { 0 }, upper = { 0 };
		for (size_t i = 0; i < n; i++) {
			lanes v = load_lanes(&c->bits[d[i]][k]);
			all += v;
			upper += v >> 8;
		}
		part_lanes(all, upper, b->column + k);
	}
}

enum how { STAY, NEXT_SLICE, NEXT_SECTION };

/* above any sum of costs, and far enough below the end of 32 bits */
enum { NOT_YET = 0x7f7f7f7f };

/* The cheapest state before a block: of each family, and of all. */
struct cheapest {
	uint32_t family[MAX_FAMILIES], all;
	uint8_t *state; /* [MAX_FAMILIES + 1] */
};

struct search {
	const struct codes *c;
	uint32_t cost[MAX_STATES];
	uint32_t slice[MAX_STATES], section[MAX_STATES]; /* to start one */
	uint8_t column[MAX_STATES], runs[MAX_STATES]; /* of struct block_cost */
	int first[MAX_FAMILIES + 1]; /* state of each family, then the end */
	uint8_t *how;	/* [block][state] */
	uint8_t *state; /* [block][MAX_FAMILIES + 1]: where it came from */
};

static void
init_starts(struct search *h)
{
	for (int s = 0; s < h->c->n_states; s++) {
		const struct state *st = &h->c->states[s];
		const struct palette *pal = &h->c->palettes[st->family];
		bool plain = st->mode.wdiv == WEIGHTS_WDIV_PLAIN;
		uint32_t pad = (plain ? 0u : PAD_WEIGHTS) +
			       (pal->runs ? PAD_RUNS : 0u);
		uint32_t first_run = pal->runs ? 1u + st->mode.zdiv : 0;

		h->cost[s] = NOT_YET;
		h->column[s] = st->column;
		h->runs[s] = pal->runs ? st->mode.zdiv : WEIGHTS_ZDIVS;
		h->first[st->family + 1] = s + 1;

		h->slice[s] = BIT * WEIGHTS_HEADER_BITS + pad;
		h->section[s] =
		    BIT * ((uint32_t)palette_header_bits(pal, true) +
			   first_run) + pad;
	}
}

static struct cheapest
find_cheapest(const struct search *h, size_t block)
{
	struct cheapest m = {
		.all = UINT32_MAX,
		.state = h->state + block * (MAX_FAMILIES + 1),
	};

	for (int f = 0; f < h->c->n_families; f++) {
		int best = h->first[f];
		for (int s = best + 1; s < h->first[f + 1]; s++)
			best = h->cost[s] < h->cost[best] ? s : best;
		m.family[f] = h->cost[best];
		m.state[f] = (uint8_t)best;
		if (m.family[f] < m.all) {
			m.all = m.family[f];
			m.state[MAX_FAMILIES] = (uint8_t)best;
		}
	}
	return m;
}

/* before the first block: a slice may continue the palette in force */
static struct cheapest
nothing_yet(const struct search *h, bool starts_with_zero)
{
	struct cheapest m = { .all = 0, .state = h->state };
	int f = h->c->before;

	for (int i = 0; i < h->c->n_families; i++)
		m.family[i] = NOT_YET;
	if (f >= 0 && !(h->c->palettes[f].runs && starts_with_zero))
		m.family[f] = 0;
	return m;
}

/* the states of family f, one block on */
static void
step(struct search *h, int f, uint8_t *how, const struct cheapest *m,
     const struct block_cost *b)
{
	for (int s = h->first[f]; s < h->first[f + 1]; s++) {
		uint32_t slice = m->family[f] + h->slice[s];
		uint32_t section = m->all + h->section[s];
		uint32_t least = slice < section ? slice : section;
		uint8_t by = slice < section ? NEXT_SLICE : NEXT_SECTION;

		by = h->cost[s] <= least ? STAY : by;
		least = h->cost[s] <= least ? h->cost[s] : least;
		how[s] = by;
		h->cost[s] = least + BIT * b->column[h->column[s]] +
			     b->runs[h->runs[s]];
	}
}

/* follows the choices back from the cheapest last state */
static size_t
trace(const struct search *h, const struct blocks *b, struct stretch *out)
{
	size_t n = 0, end = b->ends[b->n - 1];
	uint8_t s = 0;

	for (int i = 1; i < h->c->n_states; i++)
		if (h->cost[i] < h->cost[s])
			s = (uint8_t)i;
	for (size_t t = b->n; t-- > 0;) {
		enum how by = h->how[t * (size_t)h->c->n_states + s];
		const uint8_t *from = h->state + t * (MAX_FAMILIES + 1);
		if (by == STAY)
			continue;
		size_t begin = t ? b->ends[t - 1] : 0;
		out[n++] = (struct stretch){ .begin = begin, .end = end,
					     .state = s,
					     .fresh = by == NEXT_SECTION };
		end = begin;
		s = from[by == NEXT_SLICE ? h->c->states[s].family
					  : MAX_FAMILIES];
	}
	for (size_t i = 0; i < n / 2; i++) {
		struct stretch last = out[n - 1 - i];
		out[n - 1 - i] = out[i];
		out[i] = last;
	}
	return n;
}

size_t
find_path(struct arena *scratch, const struct codes *c, const uint16_t *d,
	  const struct blocks *b, struct stretch *out)
{
	struct search h = { .c = c };
	uint32_t run = 0;
	size_t begin = 0;

	h.how = anew(scratch, uint8_t, b->n * (size_t)c->n_states);
	h.state = anew(scratch, uint8_t, b->n * (MAX_FAMILIES + 1));
	init_starts(&h);
	for (size_t t = 0; t < b->n; t++) {
		struct block_cost cost = { .runs = { 0 } };
		size_t n = b->ends[t] - begin;
		cost_block(c, d + begin, n, &cost);
		if (c->with_runs)
			cost_runs(d + begin, n, &run, cost.runs);
		struct cheapest m = t ? find_cheapest(&h, t)
				      : nothing_yet(&h, d[0] == WEIGHTS_ZERO);
		for (int f = 0; f < c->n_families; f++)
			step(&h, f, h.how + t * (size_t)c->n_states, &m,
			     &cost);
		begin = b->ends[t];
	}
	return trace(&h, b, out);
}
