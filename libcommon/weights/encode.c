/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a plan as a stream (ethosu-weights(7) 1.2 to 1.7). */
#include "base/fixed.h"
#include "weights/stream.h"
#include "weights/weights.h"

#include <assert.h>
#include <string.h>

/* p points at the byte of the next bit; n_bits (0..7) of it are in `bits` */
struct writer {
	uint8_t *p;
	uint64_t bits;
	unsigned n_bits;
};

/* appends n bits, at most 56; stores 8 bytes, some of them ahead */
static inline void
put(struct writer *w, uint64_t v, unsigned n)
{
	w->bits |= v << w->n_bits;
	w->n_bits += n;
	store_le64(w->p, w->bits);
	w->p += w->n_bits / 8;
	w->bits >>= w->n_bits & ~7u;
	w->n_bits &= 7;
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

/* the lowest `width` bits of each, at most 9; several at a time */
static inline void
put_low_bits(struct writer *w, const uint16_t *x, size_t n, unsigned width)
{
	uint64_t mask = (1u << width) - 1, bits = 0;
	unsigned n_bits = 0;

	for (size_t i = 0; i < n; i++) {
		bits |= (x[i] & mask) << n_bits;
		n_bits += width;
		if (n_bits + width > 56) {
			put(w, bits, n_bits);
			bits = n_bits = 0;
		}
	}
	put(w, bits, n_bits);
}

/*
 * A quotient in symbols (1.4).  Symbol j has bit j of the marks' lower half (it
 * is not 0) and of the upper half (it ends a quotient); the second half bits of
 * the symbols that are not 0 follow one another in `second`.
 */
struct quotient {
	uint64_t marks;
	uint32_t second;
	uint8_t n, n_second;
};
enum { ENDED = 32 }; /* bit of the marks' upper half */

static void
spell_quotients(struct quotient *spell, bool trunc)
{
	for (unsigned q = 0; q < WEIGHTS_QUOTIENTS; q++) {
		unsigned n = trunc ? 1 : q / 2 + 1;
		unsigned some = trunc ? q > 0 : (q + 1) / 2;
		spell[q] = (struct quotient){
			.marks = ((1u << some) - 1) |
				 UINT64_C(1) << (ENDED + n - 1),
			.second = (1u << q / 2) - 1,
			.n = (uint8_t)n,
			.n_second = (uint8_t)some,
		};
	}
}

/* Symbols of weights that wait for their chunk: at most 11 + 16. */
struct symbols {
	struct quotient spell[WEIGHTS_QUOTIENTS];
	uint64_t marks, second;
	unsigned n, n_second;
	size_t at; /* weights that were split into symbols */
};

/* fills up to 12 symbols, if there are weights left */
static inline void
split(struct symbols *s, const struct coded *c, unsigned wdiv)
{
	while (s->n < WEIGHTS_UNARY && s->at < c->n) {
		const struct quotient *q = &s->spell[c->x[s->at++] >> wdiv];
		s->marks |= q->marks << s->n;
		s->second |= (uint64_t)q->second << s->n_second;
		s->n += q->n;
		s->n_second += q->n_second;
	}
}

/* a chunk of weight symbols, taken from the queue */
struct chunk {
	uint32_t first, second;
	unsigned n_second, ended;
};

static inline struct chunk
take_chunk(struct symbols *s)
{
	const uint64_t mask = (1u << WEIGHTS_UNARY) - 1;
	struct chunk k = { .first = (uint32_t)(s->marks & mask) };
	uint32_t ends = (uint32_t)(s->marks >> ENDED & mask);
	uint32_t counts = count_bits_16x2(k.first | ends << 16);

	k.n_second = counts & 0xffff;
	k.ended = counts >> 16;
	k.second = (uint32_t)(s->second & ((UINT64_C(1) << k.n_second) - 1));
	s->marks = (s->marks & ~(mask << ENDED)) >> WEIGHTS_UNARY;
	s->second >>= k.n_second;
	s->n = s->n < WEIGHTS_UNARY ? 0 : s->n - WEIGHTS_UNARY;
	s->n_second -= k.n_second;
	return k;
}

/* A position in the runs, and what is left of the current quotient. */
struct cursor {
	size_t at;
	uint32_t left;
};

static uint32_t
run_symbols(const struct coded *c, int zdiv, unsigned width, struct cursor *k)
{
	uint32_t word = 0;

	for (unsigned j = 0; j < width && k->at < c->n_runs;) {
		unsigned ones = k->left < width - j ? k->left : width - j;
		word |= ((1u << ones) - 1) << j;
		k->left -= ones;
		j += ones + 1;
		if (j > width)
			break;
		k->at++;
		k->left = k->at < c->n_runs ? c->run[k->at] >> zdiv : 0;
	}
	return word;
}

/* The chunks of 1.6; remainders trail their quotients by a step. */
static void
put_chunks(struct writer *out, const struct coded *c,
	   const struct palette *pal, struct mode m)
{
	bool plain = m.wdiv == WEIGHTS_WDIV_PLAIN;
	unsigned width = plain ? (unsigned)palette_plain_width(pal) : m.wdiv;
	unsigned zl = (unsigned)run_chunk(m.zdiv);
	size_t plain_step = plain && width > 5 ? 8 : WEIGHTS_UNARY;
	struct symbols s = { .n = 0 };
	struct cursor r = { .left = c->n_runs ? c->run[0] >> m.zdiv : 0 };
	size_t w = 0, w_done = 0, r_done = 0; /* done: with remainders */

	spell_quotients(s.spell, m.trunc);
	for (;;) {
		size_t w_was = w, r_was = r.at;
		bool runs = c->n_runs > 0;
		bool w_on = w_was < c->n && (!runs || w_was < r_was + 8);
		bool r_on = r_was < c->n_runs && w_was >= r_was;
		struct chunk k = { 0 };

		if (w_on && plain) {
			w = min_size(w + plain_step, c->n);
		} else if (w_on) {
			split(&s, c, m.wdiv);
			k = take_chunk(&s);
			w += k.ended;
			put(out, k.first, WEIGHTS_UNARY);
		}
		if (r_on)
			put(out, run_symbols(c, m.zdiv, zl, &r), zl);
		put(out, k.second, k.n_second);
		put_low_bits(out, c->x + w_done, w_was - w_done, width);
		w_done = w_was;
		for (; r_done < r_was && m.zdiv; r_done++)
			put(out, c->run[r_done] & ((1u << m.zdiv) - 1),
			    m.zdiv);
		if (!w_on && !r_on)
			break;
	}
}

/* three ones, and ones to a multiple of 16 bytes (1.7) */
static void
put_end(struct writer *w, const uint8_t *end)
{
	put(w, 7, WEIGHTS_END_BITS);
	while (w->n_bits > 0)
		put(w, 1, 1);
	memset(w->p, 0xff, (size_t)(end - w->p));
}

/* The direct values of a stream, for the time it takes to code them. */
struct sequence {
	struct arena *a;
	uint16_t *d;
	size_t n;
	uint16_t greatest; /* of them */
};

/* the values may lie where their direct values go */
static void
make_direct(struct sequence *s, const int16_t *values)
{
	int16_t least = 0, most = 0;

	for (size_t i = 0; i < s->n; i++) {
		int16_t v = values[i];
		least = v < least ? v : least;
		most = v > most ? v : most;
		s->d[i] = direct_of(v);
	}
	assert(least >= -WEIGHTS_VALUE_MAX && most <= WEIGHTS_VALUE_MAX);
	s->greatest = -least >= most ? direct_of(least) : direct_of(most);
}

static struct sequence
sequence_of(const int16_t *values, size_t n)
{
	struct arena *a = arena_open();
	struct sequence s = { .a = a, .d = anew(a, uint16_t, n), .n = n };

	make_direct(&s, values);
	return s;
}

static struct sequence
sequence_ordered(const struct weights_view *v, const struct weights_order *ord)
{
	struct arena *a = arena_open();
	size_t n = weights_order_count(ord, v->h, v->w, v->i);
	int16_t *values = anew(a, int16_t, n);
	struct sequence s = { .a = a, .d = (uint16_t *)values, .n = n };

	weights_reorder(v, ord, values);
	make_direct(&s, values);
	return s;
}

static struct plan
plan_of(const struct sequence *seq, int level)
{
	return plan_stream(seq->a, seq->d, seq->n, seq->greatest, level);
}

/* writes a sequence as planned */
static struct bytes
write_stream(struct arena *a, const struct sequence *seq, const struct plan *plan)
{
	size_t size = plan_bytes(plan), begin = 0;
	/* the writer stores 8 bytes at a time */
	uint8_t *out = anew(a, uint8_t, size + 8);
	struct writer w = { .p = out };
	struct coded c = { 0 };

	for (size_t i = 0; i < plan->n_slices; i++) {
		const struct wslice *s = &plan->slices[i];
		const struct palette *pal = &plan->palettes[s->palette];
		coded_slice(seq->a, &c, pal, s->fresh, seq->d + begin,
			    s->end - begin);
		put_header(&w, pal, s, c.n);
		put_chunks(&w, &c, pal, s->mode);
		begin = s->end;
	}
	assert(begin == seq->n);
	assert((uint64_t)(w.p - out) * 8 + w.n_bits == plan->bits);
	put_end(&w, out + size);
	return (struct bytes){ .p = out, .n = size };
}

/* searches, writes a sequence, and gives it back */
static struct bytes
encode(struct arena *a, struct sequence seq, int level)
{
	struct plan plan = plan_of(&seq, level);
	struct bytes out = write_stream(a, &seq, &plan);

	arena_close(seq.a);
	return out;
}

static size_t
cost(struct sequence seq, int level)
{
	struct plan plan = plan_of(&seq, level);
	size_t bytes = plan_bytes(&plan);

	arena_close(seq.a);
	return bytes;
}

struct bytes
weights_encode(struct arena *a, const int16_t *values, size_t n, int level)
{
	return encode(a, sequence_of(values, n), level);
}

struct bytes
weights_encode_view(struct arena *a, const struct weights_view *v,
		    const struct weights_order *ord, int level)
{
	return encode(a, sequence_ordered(v, ord), level);
}

struct bytes
weights_encode_coding(struct arena *a, const struct weights_view *v,
		      const struct weights_order *ord, int level,
		      struct bytes coding)
{
	struct sequence seq = sequence_ordered(v, ord);
	struct plan plan = { .a = seq.a };
	struct bytes out = { .p = NULL };

	switch (plan_follow(&plan, seq.d, seq.n, coding)) {
	case CODING_OF_OTHERS:
		return encode(a, seq, level);
	case CODING_FITS:
		out = write_stream(a, &seq, &plan);
		break;
	case CODING_BROKEN:
		break;
	}
	arena_close(seq.a);
	return out;
}

size_t
weights_cost(const int16_t *values, size_t n, int level)
{
	return cost(sequence_of(values, n), level);
}

size_t
weights_cost_view(const struct weights_view *v,
		  const struct weights_order *ord, int level)
{
	return cost(sequence_ordered(v, ord), level);
}

size_t
weights_cost_coding(struct arena *a, const struct weights_view *v,
		    const struct weights_order *ord, int level,
		    struct bytes *coding)
{
	struct sequence seq = sequence_ordered(v, ord);
	struct plan plan = plan_of(&seq, level);
	size_t bytes = plan_bytes(&plan);

	*coding = plan_coding(a, &plan);
	arena_close(seq.a);
	return bytes;
}
