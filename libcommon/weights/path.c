/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the cheapest sequence of states through the blocks of a stream by dynamic
 * programming over (block, state).  The result is exact except for the padding of
 * chunks.
 */
#include "weights/search.h"
#include "weights/weights.h"

#include <string.h>

/*
 * Mean padding of a chunk of 12 symbols, and of the run bits (12 or 8): a slice may end
 * at any position of a chunk (ethosu-weights(7) 6).
 */
enum { PAD_WEIGHTS = 11 * COST_BIT / 2, PAD_RUNS = 9 * COST_BIT / 2 };

enum how { SAME_SLICE, NEXT_SLICE, NEXT_SECTION };

/* exceeds any sum of costs, but leaves space for additions in 31 bits */
enum { NOT_YET = 0x3f3f3f3f };

/* The least cost before a block, over each family and over all states. */
struct cheapest {
	int32_t family[MAX_FAMILIES], all;
	uint8_t *state; /* [MAX_FAMILIES + 1]: the states with these costs */
};

struct search {
	const struct codes *c;
	/* signed, as vector units compare signed integers directly */
	int32_t cost[MAX_STATES];
	/* cost of starting a slice, a section */
	int32_t slice[MAX_STATES], section[MAX_STATES];
	int32_t block[MAX_STATES]; /* cost of the current block */
	int32_t family[MAX_STATES]; /* least cost in the state's family */
	int32_t by[MAX_STATES];	    /* enum how */
	int first[MAX_FAMILIES + 1]; /* first state of each family; one more for the end */
	uint8_t *how;	/* [block][state] */
	uint8_t *state; /* [block][MAX_FAMILIES + 1]: predecessor states */
};

/* Copies the cost of each family and column to all of its states. */
static void
spread_costs(struct search *h, const struct cheapest *m, const struct block_cost *b)
{
	for (int f = 0; f < h->c->n_families; f++) {
		int s = h->first[f], end = h->first[f + 1];
		const uint16_t *column = &b->column[h->c->states[s].column];
		for (int i = s; i < end; i++)
			h->family[i] = m->family[f];
		if (!h->c->palettes[f].runs) {
			for (int i = s; i < end; i++)
				h->block[i] = COST_BIT * *column++;
			continue;
		}
		for (; s < end; s += WEIGHTS_ZDIVS, column++)
			for (int z = 0; z < WEIGHTS_ZDIVS; z++)
				h->block[s + z] = COST_BIT * *column +
						  (int32_t)b->runs[z];
	}
}

/* Fills *m for a block; overwrites the values of the block before. */
static void
find_cheapest(const struct search *h, size_t block, struct cheapest *m)
{
	m->all = INT32_MAX;
	m->state = h->state + block * (MAX_FAMILIES + 1);
	for (int f = 0; f < h->c->n_families; f++) {
		int best = h->first[f];
		int32_t least = h->cost[best];
		for (int s = best + 1; s < h->first[f + 1]; s++)
			least = h->cost[s] < least ? h->cost[s] : least;
		while (h->cost[best] != least)
			best++;
		m->family[f] = least;
		m->state[f] = (uint8_t)best;
		if (least < m->all) {
			m->all = least;
			m->state[MAX_FAMILIES] = (uint8_t)best;
		}
	}
}

/*
 * Advances by one block.  All values in a loop have one width, so that the compiler
 * makes vectors.
 */
static void
advance_block(struct search *h, uint8_t *how, int32_t all)
{
	int n = h->c->n_states;

	for (int s = 0; s < n; s++) {
		int32_t slice = h->family[s] + h->slice[s];
		int32_t section = all + h->section[s], same_cost = h->cost[s];
		int32_t next = slice < section ? slice : section;
		int32_t by = slice < section ? NEXT_SLICE : NEXT_SECTION;

		h->by[s] = same_cost <= next ? SAME_SLICE : by;
		h->cost[s] = (same_cost <= next ? same_cost : next) + h->block[s];
	}
	for (int s = 0; s < n; s++)
		how[s] = (uint8_t)h->by[s];
}

/* Follows the choices back from the cheapest final state. */
static size_t
trace(const struct search *h, const struct blocks *b, struct stretch *out)
{
	size_t n = 0, end = b->block_end[b->n - 1];
	uint8_t s = 0;

	for (int i = 1; i < h->c->n_states; i++)
		if (h->cost[i] < h->cost[s])
			s = (uint8_t)i;
	for (size_t t = b->n; t-- > 0;) {
		enum how by = h->how[t * (size_t)h->c->n_states + s];
		const uint8_t *from = h->state + t * (MAX_FAMILIES + 1);
		if (by == SAME_SLICE)
			continue;
		size_t begin = t ? b->block_end[t - 1] : 0;
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
	struct cheapest m;
	uint32_t run = 0;
	size_t begin = 0;

	h.how = anew(scratch, uint8_t, b->n * (size_t)c->n_states);
	h.state = anew(scratch, uint8_t, b->n * (MAX_FAMILIES + 1));
	for (int s = 0; s < c->n_states; s++) {
		const struct state *st = &c->states[s];
		const struct palette *pal = &c->palettes[st->family];
		bool plain = st->mode.wdiv == WEIGHTS_WDIV_PLAIN;
		uint32_t pad = (plain ? 0u : PAD_WEIGHTS) +
			       (pal->runs ? PAD_RUNS : 0u);
		uint32_t first_run = pal->runs ? 1u + st->mode.zdiv : 0;

		h.cost[s] = NOT_YET;
		h.first[st->family + 1] = s + 1;
		h.slice[s] = (int32_t)(COST_BIT * WEIGHTS_HEADER_BITS + pad);
		h.section[s] = (int32_t)(
		    COST_BIT * ((uint32_t)palette_header_bits(pal, true) +
			   first_run) + pad);
	}
	/* at the first block, a slice can continue only the palette in force */
	m.all = 0;
	m.state = h.state;
	for (int f = 0; f < c->n_families; f++)
		m.family[f] = NOT_YET;
	if (c->before >= 0 && !(c->palettes[c->before].runs && d[0] == WEIGHTS_ZERO))
		m.family[c->before] = 0;
	for (size_t t = 0; t < b->n; t++) {
		struct block_cost cost;
		block_cost(c, d + begin, b->block_end[t] - begin, &run, &cost);
		if (t)
			find_cheapest(&h, t, &m);
		spread_costs(&h, &m, &cost);
		advance_block(&h, h.how + t * (size_t)c->n_states, m.all);
		begin = b->block_end[t];
	}
	return trace(&h, b, out);
}
