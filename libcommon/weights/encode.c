/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a plan as a stream (spec: weight-stream, 1.2 to 1.7). */
#include "weights/stream.h"
#include "weights/weights.h"

#include <assert.h>
#include <string.h>

/* bits still to be stored, the oldest in the lowest place */
struct writer {
	uint8_t *p;
	size_t n;
	uint64_t bits;
	int n_bits;
};

/* n is at most 32 */
static inline void
put(struct writer *w, uint32_t v, int n)
{
	w->bits |= (uint64_t)v << w->n_bits;
	w->n_bits += n;
	if (w->n_bits >= 32) {
		store_le32(w->p + w->n, (uint32_t)w->bits);
		w->n += 4;
		w->bits >>= 32;
		w->n_bits -= 32;
	}
}

static void
put_header(struct writer *w, const struct palette *pal,
	   const struct wslice *s, size_t n)
{
	put(w, pal->runs ? s->mode.zdiv : WEIGHTS_ZDIV_OFF, 3);
	put(w, (uint32_t)n - 1, 15);
	put(w, s->mode.wdiv, 3);
	put(w, s->mode.trunc, 1);
	put(w, s->fresh, 1);
	if (!s->fresh)
		return;
	put(w, pal->ofs, 5);
	put(w, pal->n ? pal->n - 1u : 0, 5);
	put(w, pal->bits - 2u, 3);
	for (int i = 0; i < pal->n; i++)
		put(w, pal->direct[i], pal->bits);
}

/* A position in a sequence of quotients, and what is left of the current. */
struct cursor {
	size_t at;
	uint32_t left;
};

/*
 * The next 12 unary symbols of the weights (1.4): first half bits returned,
 * second half bits in *second.  Past the last weight symbols are zero.
 */
static uint32_t
weight_symbols(const struct coded *c, struct mode m, struct cursor *k,
	       uint32_t *second)
{
	uint32_t first = 0, n_second = 0;

	*second = 0;
	for (int j = 0; j < 12 && k->at < c->n; j++) {
		uint32_t q = k->left;
		if (q > 0)
			first |= UINT32_C(1) << j;
		if (q > 1)
			*second |= UINT32_C(1) << n_second;
		n_second += q > 0;
		if (q > 1 && !m.trunc) {
			k->left = q - 2;
			continue;
		}
		k->at++;
		k->left = k->at < c->n ? c->x[k->at] >> m.wdiv : 0;
	}
	return first;
}

static uint32_t
run_symbols(const struct coded *c, int zdiv, int width, struct cursor *k)
{
	uint32_t word = 0;

	for (int j = 0; j < width && k->at < c->n_runs; j++) {
		if (k->left > 0) {
			word |= UINT32_C(1) << j;
			k->left--;
			continue;
		}
		k->at++;
		k->left = k->at < c->n_runs ? c->run[k->at] >> zdiv : 0;
	}
	return word;
}

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The chunks of 1.6; remainders trail their quotients by a step. */
static void
put_chunks(struct writer *out, const struct coded *c,
	   const struct palette *pal, struct mode m)
{
	bool plain = m.wdiv == WEIGHTS_WDIV_PLAIN;
	int width = plain ? palette_plain_width(pal) : m.wdiv;
	int zl = m.zdiv < 3 ? 12 : 8;
	size_t plain_step = plain && width > 5 ? 8 : 12;
	struct cursor w = { .left = plain ? 0 : c->x[0] >> m.wdiv };
	struct cursor r = { .left = c->n_runs ? c->run[0] >> m.zdiv : 0 };
	size_t w_done = 0, r_done = 0; /* remainders written */

	for (;;) {
		size_t w_was = w.at, r_was = r.at;
		bool runs = c->n_runs > 0;
		bool w_on = w_was < c->n && (!runs || w_was < r_was + 8);
		bool r_on = r_was < c->n_runs && w_was >= r_was;
		uint32_t first = 0, second = 0;

		if (w_on && plain) {
			w.at = least(w.at + plain_step, c->n);
		} else if (w_on) {
			first = weight_symbols(c, m, &w, &second);
			put(out, first, 12);
		}
		if (r_on)
			put(out, run_symbols(c, m.zdiv, zl, &r), zl);
		put(out, second, __builtin_popcount(first));
		for (; w_done < w_was; w_done++)
			put(out, c->x[w_done] & ((1u << width) - 1), width);
		for (; r_done < r_was; r_done++)
			put(out, c->run[r_done] & ((1u << m.zdiv) - 1),
			    m.zdiv);
		if (!w_on && !r_on)
			break;
	}
}

/* three ones, and ones to a multiple of 16 bytes (1.7) */
static void
put_end(struct writer *w)
{
	put(w, 7, WEIGHTS_END_BITS);
	while (w->n_bits > 0 || w->n % WEIGHTS_ALIGN)
		put(w, 1, 1);
}

static const uint16_t *
direct_values(struct arena *a, const int16_t *values, size_t n)
{
	uint16_t *d = anew(a, uint16_t, n);
	bool valid = true;

	for (size_t i = 0; i < n; i++) {
		valid &= values[i] >= -WEIGHTS_VALUE_MAX &&
			 values[i] <= WEIGHTS_VALUE_MAX;
		d[i] = direct_of(values[i]);
	}
	assert(valid);
	return d;
}

struct bytes
weights_encode(struct arena *a, const int16_t *values, size_t n, int level)
{
	struct arena *scratch = arena_open();
	const uint16_t *d = direct_values(scratch, values, n);
	struct plan plan = plan_stream(scratch, d, n, level);
	size_t size = plan_bytes(&plan), begin = 0;
	/* the writer stores 4 bytes at a time */
	struct writer w = { .p = anew(a, uint8_t, size + 4) };
	struct coded c = { 0 };

	for (size_t i = 0; i < plan.n_slices; i++) {
		const struct wslice *s = &plan.slices[i];
		const struct palette *pal = &plan.palettes[s->palette];
		coded_slice(scratch, &c, pal, s->fresh, d + begin,
			    s->end - begin);
		put_header(&w, pal, s, c.n);
		put_chunks(&w, &c, pal, s->mode);
		begin = s->end;
	}
	put_end(&w);
	assert(w.n == size && begin == n);
	arena_close(scratch);
	return (struct bytes){ .p = w.p, .n = size };
}

size_t
weights_cost(const int16_t *values, size_t n, int level)
{
	struct arena *scratch = arena_open();
	const uint16_t *d = direct_values(scratch, values, n);
	struct plan plan = plan_stream(scratch, d, n, level);

	arena_close(scratch);
	return plan_bytes(&plan);
}
