/* SPDX-License-Identifier: Apache-2.0 */
/* What a slice holds and its exact size (spec: weight-stream, 1.5, 1.9). */
#include "weights/stream.h"
#include "weights/weights.h"

#include <assert.h>

enum { UNREACHED = 0xffff };

static uint64_t
round_up(uint64_t v, uint64_t to)
{
	return (v + to - 1) / to * to;
}

int
plain_width(const struct palette *pal)
{
	int u = 1;

	if (pal->n == 0)
		return pal->bits;
	while (1 << u < pal->n)
		u++;
	return u;
}

/* the index of every direct value under a palette (1.3) */
static void
palette_indices(const struct palette *pal, uint16_t index[WEIGHTS_N_INDEX])
{
	for (int d = 0; d < WEIGHTS_N_INDEX; d++) {
		int x = d - pal->ofs + pal->n;
		index[d] = d < pal->ofs || x >= WEIGHTS_N_INDEX ? UNREACHED
								: (uint16_t)x;
	}
	for (int x = pal->n - 1; x >= 0; x--)
		index[pal->direct[x]] = (uint16_t)x;
}

void
coded_slice(struct arena *a, struct coded *c, const struct palette *pal,
	    const struct wslice *s, const int16_t *values, size_t n)
{
	uint16_t index[WEIGHTS_N_INDEX];
	uint32_t run = 0;

	if (c->cap < n + 1) {
		c->cap = n + 1;
		c->x = anew(a, uint16_t, c->cap);
		c->run = anew(a, uint32_t, c->cap + 1);
	}
	palette_indices(pal, index);
	c->n = c->n_runs = 0;
	assert(!pal->runs || s->fresh || values[0] != 0);
	for (size_t i = 0; i < n; i++) {
		if (pal->runs && values[i] == 0) {
			run++;
			continue;
		}
		uint16_t x = index[direct_of(values[i])];
		assert(x != UNREACHED);
		if (c->n > 0 || s->fresh)
			c->run[c->n_runs++] = run;
		c->x[c->n++] = x;
		run = 0;
	}
	if (c->n == 0) { /* all zero: one is a weight, the rest its run */
		c->run[c->n_runs++] = 0;
		c->x[c->n++] = index[WEIGHTS_ZERO];
		run--;
	}
	if (pal->runs)
		c->run[c->n_runs++] = run;
	else
		c->n_runs = 0;
	assert(c->n <= WEIGHTS_SLICE_MAX);
}

static uint64_t
header_bits(const struct palette *pal, bool fresh)
{
	if (!fresh)
		return WEIGHTS_HEADER_BITS;
	return WEIGHTS_HEADER_BITS + WEIGHTS_PALETTE_BITS +
	       (uint64_t)pal->n * pal->bits;
}

static uint64_t
weight_bits(const struct coded *c, const struct palette *pal, struct mode m)
{
	uint64_t symbols = 0, seconds = 0;

	if (m.wdiv == WEIGHTS_WDIV_PLAIN)
		return c->n * (uint64_t)plain_width(pal);
	for (size_t i = 0; i < c->n; i++) {
		uint32_t q = c->x[i] >> m.wdiv;
		symbols += m.trunc ? 1 : q / 2 + 1;
		seconds += m.trunc ? q > 0 : (q + 1) / 2;
	}
	return round_up(symbols, 12) + seconds + c->n * m.wdiv;
}

static uint64_t
run_bits(const struct coded *c, int zdiv)
{
	uint64_t unary = 0;

	for (size_t i = 0; i < c->n_runs; i++)
		unary += (c->run[i] >> zdiv) + 1;
	return round_up(unary, zdiv < 3 ? 12 : 8) + c->n_runs * (size_t)zdiv;
}

uint64_t
coded_bits(const struct coded *c, const struct palette *pal,
	   const struct wslice *s)
{
	return header_bits(pal, s->fresh) + weight_bits(c, pal, s->mode) +
	       run_bits(c, s->mode.zdiv);
}

/* with end marker and padding (1.7) */
size_t
plan_bytes(const struct plan *p, const int16_t *values, size_t n)
{
	struct arena *scratch = arena_open();
	struct coded c = { 0 };
	uint64_t bits = WEIGHTS_END_BITS;
	size_t begin = 0;

	for (size_t i = 0; i < p->n_slices; i++) {
		const struct wslice *s = &p->slices[i];
		const struct palette *pal = &p->palettes[s->palette];
		coded_slice(scratch, &c, pal, s, values + begin,
			    s->end - begin);
		bits += coded_bits(&c, pal, s);
		begin = s->end;
	}
	assert(begin == n);
	arena_close(scratch);
	return (size_t)round_up(bits, 8 * WEIGHTS_ALIGN) / 8;
}
