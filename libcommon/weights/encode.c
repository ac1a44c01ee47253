/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a plan as a stream (ethosu-weights(7) 1.2 to 1.7). */
#include "base/fixed.h"
#include "base/little_endian.h"
#include "weights/stream.h"
#include "weights/weights.h"

#include <assert.h>
#include <string.h>

/* p points at the byte of the next bit; `bits` holds n_bits (0..7) of that byte. */
struct writer {
	uint8_t *p;
	uint64_t bits;
	unsigned n_bits;
};

/* Appends n bits, at most 56.  Stores 8 bytes, so that some bytes are written ahead. */
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

/*
 * The symbols of a quotient (ethosu-weights(7) 1.4).  Bit j of the word `some` is set
 * if symbol j is not 0, bit j of the word `two` if the symbol is 2.  After a 2 the
 * quotient continues, unless quotients are truncated.  Both words are stored in marks,
 * from bits 0 and TWO on.
 */
struct quotient {
	uint64_t marks;
	uint32_t factor; /* 1 << n: a multiplication takes one step, a shift by n takes three */
	uint32_t n;
};
enum { TWO = 32 };

/*
 * The weights of a slice as three bit strings: both bits of each symbol, and the
 * remainders.  Chunks are cut out of these strings.  The number of weights in a chunk
 * is hard to predict, so that a branch on it would cost as much as all other work.
 */
struct spelled {
	uint8_t *some, *two, *low;
};

/* Returns n bits from bit `at` on, at most 56. */
static inline uint64_t
bits_at(const uint8_t *p, size_t at, unsigned n)
{
	return load_le64(p + at / 8) >> (at & 7) & ((UINT64_C(1) << n) - 1);
}

/* A writer of both bits of symbols; n_bits (0..7) of each are pending. */
struct speller {
	uint8_t *some, *two;
	uint64_t marks;
	unsigned n_bits;
};

enum { AT_ONCE = 25 }; /* symbols written at once, in addition to 7 pending ones */

static inline void
spell(struct speller *s, struct quotient q)
{
	static const uint8_t rest[8] = { 0, 1, 3, 7, 15, 31, 63, 127 };

	s->marks |= q.marks << s->n_bits;
	s->n_bits += q.n;
	store_le32(s->some, (uint32_t)s->marks);
	store_le32(s->two, (uint32_t)(s->marks >> TWO));
	s->some += s->n_bits / 8;
	s->two += s->n_bits / 8;
	s->marks >>= s->n_bits & ~7u;
	s->n_bits &= 7;
	s->marks &= rest[s->n_bits] | (uint64_t)rest[s->n_bits] << TWO;
}

/* Returns the symbols of a followed by the symbols of b, at most TWO in total. */
static inline struct quotient
join_quotients(struct quotient a, struct quotient b)
{
	return (struct quotient){ .marks = a.marks + b.marks * a.factor,
				  .factor = a.factor * b.factor, .n = a.n + b.n };
}

static void
spell_weights(const struct spelled *to, const struct coded *c, struct mode m)
{
	struct quotient of[WEIGHTS_QUOTIENTS];
	struct speller s = { .some = to->some, .two = to->two };
	const unsigned wdiv = m.wdiv;
	size_t i = 0;

	for (unsigned q = 0; q < WEIGHTS_QUOTIENTS; q++) {
		unsigned n = m.trunc ? 1 : q / 2 + 1;
		unsigned some = m.trunc ? q > 0 : (q + 1) / 2;
		unsigned two = m.trunc ? q > 1 : q / 2;
		of[q] = (struct quotient){
			.marks = ((1u << some) - 1) |
				 (uint64_t)((1u << two) - 1) << TWO,
			.factor = 1u << n,
			.n = n,
		};
	}
	for (; i + 4 <= c->n; i += 4) {
		const uint16_t *x = c->x + i;
		struct quotient a = of[x[0] >> wdiv], b = of[x[1] >> wdiv];
		struct quotient d = of[x[2] >> wdiv], e = of[x[3] >> wdiv];
		if (a.n + b.n + d.n + e.n <= AT_ONCE) {
			spell(&s, join_quotients(join_quotients(a, b), join_quotients(d, e)));
			continue;
		}
		spell(&s, a);
		spell(&s, b);
		spell(&s, d);
		spell(&s, e);
	}
	for (; i < c->n; i++)
		spell(&s, of[c->x[i] >> wdiv]);
	store_le64(s.some, s.marks & 0x7f); /* bits read beyond the last symbol are 0 */
	store_le64(s.two, s.marks >> TWO);
}

/* Writes the lowest `width` bits of each index, at most 9. */
static void
put_low_bits(uint8_t *to, const struct coded *c, unsigned width)
{
	const uint64_t mask = (1u << width) - 1, f = UINT64_C(1) << width, ff = f * f;
	struct writer w = { .p = to };
	size_t i = 0;

	/* eight indices fill `width` whole bytes */
	for (; width < 8 && i + 8 <= c->n; i += 8, w.p += width) {
		const uint16_t *x = c->x + i;
		uint64_t a = (x[0] & mask) + (x[1] & mask) * f;
		uint64_t b = (x[2] & mask) + (x[3] & mask) * f;
		uint64_t d = (x[4] & mask) + (x[5] & mask) * f;
		uint64_t e = (x[6] & mask) + (x[7] & mask) * f;
		store_le64(w.p, a + b * ff + (d + e * ff) * (ff * ff));
	}
	for (; i < c->n; i++)
		put(&w, c->x[i] & mask, width);
}

/* Copies n bits, any number, from bit `at` on. */
static inline void
copy_bits(struct writer *w, const uint8_t *p, size_t at, size_t n)
{
	enum { MOST = 56 };

	for (; n > MOST; at += MOST, n -= MOST)
		put(w, bits_at(p, at, MOST), MOST);
	put(w, bits_at(p, at, (unsigned)n), (unsigned)n);
}

/*
 * For a few symbols: the second bits of those that have one, and the number of symbols
 * that are continued.
 */
enum { FEW = 4 };
struct seconds {
	uint8_t bits, n, on;
};
struct all_seconds {
	struct seconds of[1 << FEW][1 << FEW]; /* [two][some] */
};

static void
list_seconds(struct all_seconds *all)
{
	for (unsigned two = 0; two < 1 << FEW; two++)
		for (unsigned some = 0; some < 1 << FEW; some++) {
			struct seconds s = { 0 };
			for (int j = 0; j < FEW; j++) {
				unsigned bit = two >> j & 1;
				s.bits = (uint8_t)(s.bits | bit << s.n);
				s.n = (uint8_t)(s.n + (some >> j & 1));
				s.on = (uint8_t)(s.on + bit);
			}
			all->of[two][some] = s;
		}
}

/* The symbols of one chunk of weights. */
struct chunk {
	uint32_t some, second;
	unsigned n_second, on;
};

/* Returns the chunk that begins with this symbol. */
static inline struct chunk
take_chunk(const struct spelled *s, const struct all_seconds *all, size_t symbol)
{
	struct chunk k = { .some = (uint32_t)bits_at(s->some, symbol, WEIGHTS_UNARY) };
	uint32_t some = k.some, two = (uint32_t)bits_at(s->two, symbol, WEIGHTS_UNARY);

	for (int j = 0; j < WEIGHTS_UNARY; j += FEW, some >>= FEW, two >>= FEW) {
		struct seconds f = all->of[two % (1 << FEW)][some % (1 << FEW)];
		k.second |= (uint32_t)f.bits << k.n_second;
		k.n_second += f.n;
		k.on += f.on;
	}
	return k;
}

/* A position in the runs, and the rest of the current quotient. */
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

/*
 * Writes the chunks of ethosu-weights(7) 1.6; remainders follow one step after their
 * quotients.
 */
static void
put_chunks(struct writer *to, const struct coded *c, const struct palette *pal,
	   struct mode m, const struct spelled *s, const struct all_seconds *all)
{
	bool plain = m.wdiv == WEIGHTS_WDIV_PLAIN;
	unsigned width = plain ? (unsigned)palette_plain_width(pal) : m.wdiv;
	unsigned zl = (unsigned)run_chunk(m.zdiv);
	size_t plain_step = plain && width > 5 ? 8 : WEIGHTS_UNARY;
	struct cursor r = { .left = c->n_runs ? c->run[0] >> m.zdiv : 0 };
	size_t w = 0;		       /* weights whose quotients are written */
	size_t w_done = 0, r_done = 0; /* weights and runs whose remainders are written, too */
	size_t symbol = 0;
	struct writer out = *to;

	if (!plain)
		spell_weights(s, c, m);
	put_low_bits(s->low, c, width);
	for (;;) {
		size_t w_was = w, r_was = r.at;
		bool runs = c->n_runs > 0;
		bool w_on = w_was < c->n && (!runs || w_was < r_was + 8);
		bool r_on = r_was < c->n_runs && w_was >= r_was;
		struct chunk k = { 0 };
		uint64_t units = 0; /* bits of k.some, of runs and of k.second: at most 36 */
		unsigned n_units = 0;

		if (w_on && plain) {
			w = min_size(w + plain_step, c->n);
		} else if (w_on) {
			k = take_chunk(s, all, symbol);
			symbol += WEIGHTS_UNARY;
			w = min_size(w + WEIGHTS_UNARY - (m.trunc ? 0 : k.on), c->n);
			units = k.some;
			n_units = WEIGHTS_UNARY;
		}
		if (r_on) {
			units |= (uint64_t)run_symbols(c, m.zdiv, zl, &r) << n_units;
			n_units += zl;
		}
		put(&out, units | (uint64_t)k.second << n_units, n_units + k.n_second);
		copy_bits(&out, s->low, w_done * width, (w_was - w_done) * width);
		w_done = w_was;
		for (; r_done < r_was && m.zdiv; r_done++)
			put(&out, c->run[r_done] & ((1u << m.zdiv) - 1),
			    m.zdiv);
		if (!w_on && !r_on)
			break;
	}
	*to = out;
}

/* The direct values of a stream while it is coded. */
struct sequence {
	struct arena *a;
	uint16_t *d;
	size_t n;
	uint16_t greatest; /* greatest direct value */
};

/* Converts values to direct values; both arrays may be the same memory. */
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

/* Writes a sequence as planned. */
static struct bytes
write_stream(struct arena *a, const struct sequence *seq, const struct plan *plan)
{
	size_t size = plan_bytes(plan), begin = 0;
	/* the writer stores 8 bytes at a time */
	uint8_t *out = anew(a, uint8_t, size + 8);
	struct writer w = { .p = out };
	struct coded c = { 0 };
	struct all_seconds all;

	/* space for any slice; bits are stored and read 8 bytes at a time */
	enum { LOW_BITS = 9, AHEAD = 16 };
	size_t symbols = 0, weights = 0;
	for (size_t i = 0; i < plan->n_slices; i++) {
		const struct tally *t = &plan->slices[i].tally;
		symbols = t->symbols > symbols ? (size_t)t->symbols : symbols;
		weights = t->weights > weights ? (size_t)t->weights : weights;
	}
	size_t bits = symbols / 8 + AHEAD;
	uint8_t *p = anew(seq->a, uint8_t, 2 * bits + weights * LOW_BITS / 8 + AHEAD);
	struct spelled spelled = { .some = p, .two = p + bits, .low = p + 2 * bits };

	list_seconds(&all);
	for (size_t i = 0; i < plan->n_slices; i++) {
		const struct wslice *s = &plan->slices[i];
		const struct palette *pal = &plan->palettes[s->palette];
		coded_slice(seq->a, &c, pal, s->fresh, seq->d + begin,
			    s->end - begin);
		put(&w, pal->runs ? s->mode.zdiv : WEIGHTS_ZDIV_OFF, 3);
		put(&w, (uint32_t)c.n - 1, 15);
		put(&w, s->mode.wdiv, 3);
		put(&w, s->mode.trunc, 1);
		put(&w, s->fresh, 1);
		if (s->fresh) {
			put(&w, pal->ofs, 5);
			put(&w, pal->n ? pal->n - 1u : 0, 5);
			put(&w, pal->bits - 2u, 3);
			for (int k = 0; k < pal->n; k++)
				put(&w, pal->direct[k], pal->bits);
		}
		put_chunks(&w, &c, pal, s->mode, &spelled, &all);
		begin = s->end;
	}
	assert(begin == seq->n);
	assert((uint64_t)(w.p - out) * 8 + w.n_bits == plan->bits);
	/* three ones, then ones up to a multiple of 16 bytes (ethosu-weights(7) 1.7) */
	put(&w, 7, WEIGHTS_END_BITS);
	while (w.n_bits > 0)
		put(&w, 1, 1);
	memset(w.p, 0xff, (size_t)(out + size - w.p));
	return (struct bytes){ .p = out, .n = size };
}

/* Searches, writes the stream, and frees the sequence. */
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
