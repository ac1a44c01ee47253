/* SPDX-License-Identifier: Apache-2.0 */
/* The content and the exact size of palettes and slices (ethosu-weights(7) 1.3 to 1.9). */
#include "weights/stream.h"
#include "weights/weights.h"

#include <string.h>

bool
palette_equal(const struct palette *a, const struct palette *b)
{
	return a->runs == b->runs && a->n == b->n && a->ofs == b->ofs &&
	       a->bits == b->bits &&
	       memcmp(a->direct, b->direct, a->n * sizeof(a->direct[0])) == 0;
}

void
palette_indices(const struct palette *pal, uint16_t index[WEIGHTS_N_INDEX])
{
	for (int d = 0; d < WEIGHTS_N_INDEX; d++) {
		int x = d - pal->ofs + pal->n;
		index[d] = d < pal->ofs || x >= WEIGHTS_N_INDEX
			       ? WEIGHTS_UNREACHED
			       : (uint16_t)x;
	}
	for (int x = pal->n - 1; x >= 0; x--)
		index[pal->direct[x]] = (uint16_t)x;
}

int
palette_plain_width(const struct palette *pal)
{
	int u = 1;

	if (pal->n == 0)
		return pal->bits;
	while (1 << u < pal->n)
		u++;
	return u;
}

uint64_t
palette_header_bits(const struct palette *pal, bool fresh)
{
	if (!fresh)
		return WEIGHTS_HEADER_BITS;
	return WEIGHTS_HEADER_BITS + WEIGHTS_PALETTE_BITS +
	       (uint64_t)pal->n * pal->bits;
}

uint64_t
tally_bits(const struct tally *t, const struct palette *pal, struct mode m,
	   bool fresh)
{
	uint64_t bits = palette_header_bits(pal, fresh);

	if (m.wdiv == WEIGHTS_WDIV_PLAIN)
		bits += t->weights * (uint64_t)palette_plain_width(pal);
	else
		bits += chunked(t->symbols, WEIGHTS_UNARY) + t->seconds +
			t->weights * m.wdiv;
	if (pal->runs) {
		uint64_t runs = t->runs + fresh;
		uint64_t units = t->run_units + (t->run >> m.zdiv);
		bits += chunked(units + runs, run_chunk(m.zdiv)) +
			runs * m.zdiv;
	}
	return bits;
}

/* Counts n values, at most one slice, under a palette without runs. */
static struct tally
tally_values(const struct palette *pal, struct mode m, const uint16_t *d,
	     size_t n)
{
	uint16_t index[WEIGHTS_N_INDEX];
	struct tally t = { 0 };
	uint32_t sum = 0, odd = 0;

	if (pal->n == 0 && !m.trunc) {
		for (size_t i = 0; i < n; i++) {
			uint32_t q = (uint32_t)(d[i] - pal->ofs) >> m.wdiv;
			sum += q;
			odd += q & 1;
		}
		/*
		 * A quotient q has floor(q/2) + 1 symbols, of which ceil(q/2) are not zero
		 * (ethosu-weights(7) 1.4).  Therefore the sum of the quotients and the
		 * number of odd ones are enough.
		 */
		t.weights = n;
		t.symbols = n + (uint64_t)(sum - odd) / 2;
		t.seconds = ((uint64_t)sum + odd) / 2;
		return t;
	}
	palette_indices(pal, index);
	for (size_t i = 0; i < n; i++)
		tally_weight(&t, index[d[i]], m, false);
	return t;
}

static void
add_one(struct plan *p, size_t end, struct mode mode, bool fresh,
	const struct tally *t)
{
	agrow(p->a, p->slices, p->n_slices, &p->cap_slices);
	p->slices[p->n_slices++] = (struct wslice){
		.end = end,
		.fresh = fresh,
		.palette = (uint32_t)p->n_palettes - 1,
		.mode = mode,
		.tally = *t,
	};
	p->bits += tally_bits(t, &p->palettes[p->n_palettes - 1], mode, fresh);
}

static void
add_runs(struct plan *p, const uint16_t *d, size_t begin, size_t end,
	 const struct palette *pal, struct mode mode, bool fresh)
{
	uint16_t index[WEIGHTS_N_INDEX];
	struct tally t = { 0 };

	palette_indices(pal, index);
	for (size_t i = begin; i < end; i++) {
		if (d[i] == WEIGHTS_ZERO) {
			t.run++;
			continue;
		}
		if (t.weights == WEIGHTS_SLICE_SAFE) {
			add_one(p, i, mode, fresh, &t);
			fresh = false;
			t = (struct tally){ 0 };
		}
		tally_weight(&t, index[d[i]], mode, true);
	}
	if (t.weights == 0) { /* in a slice of zeros only, one zero is coded as a weight */
		uint64_t rest = t.run - 1;
		t.run = 0;
		tally_weight(&t, index[WEIGHTS_ZERO], mode, true);
		t.run = rest;
	}
	add_one(p, end, mode, fresh, &t);
}

static void
add_palette(struct plan *p, const struct palette *pal)
{
	agrow(p->a, p->palettes, p->n_palettes, &p->cap_palettes);
	p->palettes[p->n_palettes++] = *pal;
}

void
plan_add(struct plan *p, const uint16_t *d, size_t begin, size_t end,
	 const struct palette *pal, struct mode mode, bool fresh)
{
	if (fresh)
		add_palette(p, pal);
	if (pal->runs) {
		add_runs(p, d, begin, end, pal, mode, fresh);
		return;
	}
	while (begin < end) {
		size_t n = end - begin < WEIGHTS_SLICE_SAFE
			       ? end - begin
			       : WEIGHTS_SLICE_SAFE;
		struct tally t = tally_values(pal, mode, d + begin, n);
		begin += n;
		add_one(p, begin, mode, fresh, &t);
		fresh = false;
	}
}

void
plan_append(struct plan *p, const struct plan *more)
{
	for (size_t i = 0; i < more->n_slices; i++) {
		const struct wslice *s = &more->slices[i];
		if (s->fresh)
			add_palette(p, &more->palettes[s->palette]);
		add_one(p, s->end, s->mode, s->fresh, &s->tally);
	}
}

size_t
plan_bytes(const struct plan *p)
{
	return (size_t)chunked(p->bits + WEIGHTS_END_BITS,
			       8 * WEIGHTS_ALIGN) / 8;
}

void
coded_slice(struct arena *a, struct coded *c, const struct palette *pal,
	    bool fresh, const uint16_t *d, size_t n)
{
	uint16_t index[WEIGHTS_N_INDEX];
	uint32_t run = 0;

	if (c->cap <= n) {
		c->cap = n + 1;
		c->x = anew(a, uint16_t, c->cap);
		c->run = anew(a, uint32_t, c->cap + 1);
	}
	c->n = c->n_runs = 0;
	if (!pal->runs && pal->n == 0) {
		for (size_t i = 0; i < n; i++)
			c->x[i] = (uint16_t)(d[i] - pal->ofs);
		c->n = n;
		return;
	}
	palette_indices(pal, index);
	if (!pal->runs) {
		for (size_t i = 0; i < n; i++)
			c->x[i] = index[d[i]];
		c->n = n;
		return;
	}
	assert(fresh || d[0] != WEIGHTS_ZERO);
	for (size_t i = 0; i < n; i++) {
		if (d[i] == WEIGHTS_ZERO) {
			run++;
			continue;
		}
		if (c->n > 0 || fresh)
			c->run[c->n_runs++] = run;
		c->x[c->n++] = index[d[i]];
		run = 0;
	}
	if (c->n == 0) {
		c->run[c->n_runs++] = 0;
		c->x[c->n++] = index[WEIGHTS_ZERO];
		run--;
	}
	c->run[c->n_runs++] = run;
}
