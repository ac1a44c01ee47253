/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder of weight streams (ethosu-weights(7) 1). */
#include "base/fixed.h"
#include "base/little_endian.h"
#include "weights/stream.h"
#include "weights/weights.h"

#include <inttypes.h>
#include <string.h>

/*
 * A zero takes at least 1/8 bit (ethosu-weights(7) 1.5), so that a byte holds at most
 * 64 values.
 */
enum { VALUES_PER_BYTE = 64 };

/* The bits of the input.  Reading past the end returns zeros and leaves at > n_bits. */
struct bits {
	const uint8_t *p;
	size_t n_bytes;
	uint64_t at, n_bits;
};

/* The state of a slice: settings inherited from its predecessors, and its own header. */
struct slice {
	bool valid; /* a slice since the last end marker has set a palette */
	bool runs;
	int zdiv, wdiv; /* wdiv: bits of a remainder, or of a plain index */
	bool trunc, plain;
	uint32_t n, n_runs;
	int palette_bits; /* bits of a direct index in plain mode */
	int n_palette;
	uint32_t limit; /* first index whose direct value exceeds 511 */
	int16_t weight[WEIGHTS_N_INDEX]; /* of each index */
};

/*
 * The result of AT_A_TIME unary symbols (ethosu-weights(7) 1.4), whose values 0 to 2
 * come from bits of two words, `first` and `second`.  A quotient is a sum of symbols
 * and is complete at the first symbol below 2.  The carry is the sum of the symbols
 * after the last complete quotient; the next step adds this carry to its first
 * quotient.
 */
enum { AT_A_TIME = 4, SPELLINGS = 1 << AT_A_TIME };
struct spelling {
	uint32_t quotient[AT_A_TIME];
	uint8_t n, n_second, carry;
};

struct spellings {
	bool filled, trunc;
	struct spelling of[SPELLINGS][SPELLINGS]; /* [second][first] */
};

struct decoder {
	struct bits b;
	struct spellings spellings;
	struct slice s;
	struct weights_values out;
	size_t cap;
	bool counts; /* out.v is NULL: values are counted and checked, but not stored */
	int16_t *weights; /* weights of the current slice, and the runs between them */
	uint32_t *runs;
	size_t cap_weights, cap_runs;
	struct arena *scratch; /* holds weights and runs */
	struct err *e;
};

/* Returns at least 57 bits from this position on. */
static inline uint64_t
bits_peek(const struct bits *b, uint64_t at)
{
	size_t byte = (size_t)(at >> 3);
	uint64_t v = 0;

	if (byte + 8 <= b->n_bytes)
		v = load_le64(b->p + byte);
	else if (byte < b->n_bytes)
		for (size_t i = byte; i < b->n_bytes; i++)
			v |= (uint64_t)b->p[i] << 8 * (i - byte);
	return v >> (at & 7);
}

static inline uint32_t
bits_take(struct bits *b, int n)
{
	uint64_t v = bits_peek(b, b->at) & ((UINT64_C(1) << n) - 1);
	b->at += (uint64_t)n;
	return (uint32_t)v;
}

static bool
refuse(struct decoder *d, uint64_t bit, const char *rule)
{
	return err_set(d->e, "weight stream, bit %" PRIu64 ": %s", bit, rule);
}

static int16_t
weight_of(uint32_t direct)
{
	int16_t magnitude = (int16_t)(direct >> 1);
	return direct & 1 ? (int16_t)-magnitude : magnitude;
}

/*
 * Reads the fields of a slice header that follow its first field, zdiv.  Returns false
 * if the header is not valid.
 */
static bool
read_header(struct decoder *d, int zdiv, uint64_t start)
{
	struct slice *s = &d->s;
	bool runs = zdiv != WEIGHTS_ZDIV_OFF;

	s->n = bits_take(&d->b, 15) + 1;
	int wdiv = (int)bits_take(&d->b, 3);
	s->trunc = bits_take(&d->b, 1);
	bool new_palette = bits_take(&d->b, 1);

	if (d->b.at > d->b.n_bits)
		return refuse(d, start, "input ends inside a slice header");
	if (zdiv == 4 || zdiv == 5)
		return refuse(d, start, "zero-run divisor 4 and 5 are reserved");
	if (wdiv == 6)
		return refuse(d, start, "weight divisor 6 is reserved");
	if (!new_palette && !s->valid)
		return refuse(d, start, "first slice does not set a palette");
	if (!new_palette && runs != s->runs)
		return refuse(d, start, "zero-run mode changes without a palette");
	if (new_palette) {
		/* fields 6 to 9 of 1.2 */
		uint32_t ofs = bits_take(&d->b, 5);
		uint32_t size = bits_take(&d->b, 5);
		uint32_t k = size ? size + 1 : 0;

		s->palette_bits = (int)bits_take(&d->b, 3) + 2;
		s->n_palette = (int)k;
		for (uint32_t x = 0; x < k; x++)
			s->weight[x] = weight_of(bits_take(&d->b, s->palette_bits));
		s->limit = WEIGHTS_N_INDEX;
		if (ofs > k)
			s->limit -= ofs - k;
		for (uint32_t x = k; x < WEIGHTS_N_INDEX; x++)
			s->weight[x] = weight_of(x - k + ofs);
	}
	s->valid = true;
	s->runs = runs;
	s->zdiv = runs ? zdiv : 0;
	s->plain = wdiv == WEIGHTS_WDIV_PLAIN;
	s->wdiv = wdiv;
	if (s->plain) { /* the width of an index */
		s->wdiv = s->n_palette ? 1 : s->palette_bits;
		while (1 << s->wdiv < s->n_palette)
			s->wdiv++;
	}
	s->n_runs = runs ? s->n + new_palette : 0;
	return true;
}

/*
 * Quotients that one step completed; their remainders follow one step later.  The array
 * has spare elements: symbols are split several at a time, which writes beyond the last
 * quotient, and eight weights are made at a time, with quotients of 0 beyond the last.
 */
enum { FINISHED_AT_ONCE = 8 };
struct pending {
	int n;
	uint32_t quotient[WEIGHTS_UNARY + AT_A_TIME - 1 + FINISHED_AT_ONCE];
};

/* Decodes AT_A_TIME symbols from all values of these bits of first and second. */
static void
spell_all(struct spellings *all, bool trunc)
{
	if (all->filled && all->trunc == trunc)
		return;
	all->filled = true;
	all->trunc = trunc;
	for (uint32_t second = 0; second < SPELLINGS; second++)
		for (uint32_t first = 0; first < SPELLINGS; first++) {
			struct spelling sp = { 0 };
			uint32_t rest = second;

			for (int j = 0; j < AT_A_TIME; j++) {
				uint32_t some = first >> j & 1;
				uint32_t two = some & rest;
				rest >>= some;
				sp.n_second = (uint8_t)(sp.n_second + some);
				sp.carry = (uint8_t)(sp.carry + some + two);
				sp.quotient[sp.n] = sp.carry;
				if (trunc || !two) {
					sp.n++;
					sp.carry = 0;
				}
			}
			all->of[second][first] = sp;
		}
}

/*
 * Splits unary words into quotients (ethosu-weights(7) 1.4).  Symbol j is 0 if bit j of
 * first is clear, else 1 plus the next bit of second.  Returns the new carry.
 */
static uint32_t
split_weights(const struct spellings *all, uint32_t first, uint32_t second,
	      uint32_t carry, struct pending *p)
{
	int n = 0;

	for (int j = 0; j < WEIGHTS_UNARY; j += AT_A_TIME) {
		const struct spelling *sp =
		    &all->of[second % SPELLINGS][first % SPELLINGS];
		memcpy(p->quotient + n, sp->quotient, sizeof(sp->quotient));
		p->quotient[n] += carry;
		carry = sp->n ? sp->carry : carry + sp->carry;
		n += sp->n;
		first >>= AT_A_TIME;
		second >>= sp->n_second;
	}
	p->n = n;
	return carry;
}

static uint32_t
split_runs(uint32_t word, int width, uint32_t carry, struct pending *p)
{
	uint32_t n = 0;

	for (int j = 0; j < width; j++) {
		uint32_t more = word >> j & 1;
		carry += more;
		p->quotient[n] = carry;
		n += !more;
		carry = more ? carry : 0;
	}
	p->n = (int)n;
	return carry;
}

/*
 * Makes the weights of the previous step from quotients and remainders, k at a time.
 * Returns false if an index is above 511.  The number of weights is hard to predict;
 * unless `exact`, the loop makes some more, which are overwritten later.
 */
static inline bool
finish_by(const struct decoder *d, const struct pending *p, int16_t *out, int k, bool exact)
{
	const struct slice *s = &d->s;
	const uint64_t mask = (1u << s->wdiv) - 1;
	const uint64_t divisor = s->plain ? 0 : UINT64_C(1) << s->wdiv;
	const uint64_t last = s->limit - 1;
	uint64_t above = 0; /* bit 63 is set if an index was above `last` */

	for (int i = 0; i < p->n; i += k) {
		uint64_t v = bits_peek(&d->b, d->b.at + (uint64_t)(i * s->wdiv));
		int end = exact && p->n - i < k ? p->n : i + k;
		for (int j = i; j < end; j++, v >>= s->wdiv) {
			uint64_t x = p->quotient[j] * divisor + (v & mask);
			above |= last - x;
			out[j] = s->weight[x % WEIGHTS_N_INDEX];
		}
	}
	return !(above >> 63);
}

/*
 * Returns true if every index is certainly below the limit, whatever its remainder is;
 * false if that is not certain.
 */
static bool
are_low(const struct slice *s, const struct pending *p)
{
	enum { N = WEIGHTS_UNARY + AT_A_TIME - 1 };
	uint32_t any = 0; /* at least the maximum of all quotients and spare elements */
	for (int i = 0; i < N; i++)
		any |= p->quotient[i];
	return (any + UINT64_C(1)) << s->wdiv <= s->limit;
}

static bool
finish_weights(struct decoder *d, const struct pending *p, int16_t *out)
{
	/*
	 * 57 bits are peeked: enough for 6 x 9 or 8 x 7.  With 7 bits, spare indices
	 * stay below the limit.
	 */
	enum { FEW = 6, NARROW = 7 };
	bool ok = d->counts && are_low(&d->s, p) ? true
		  : d->s.wdiv <= NARROW ? finish_by(d, p, out, FINISHED_AT_ONCE, false)
				      : finish_by(d, p, out, FEW, true);
	d->b.at += (uint64_t)(p->n * d->s.wdiv);
	return ok;
}

/*
 * Allocates space for a slice's weights and runs.  Each takes at least one bit.  A step
 * that exceeds the input is detected after reading, and completes up to 12 of either.
 * Some elements after the last weight are written, too.
 */
static void
reserve_slice(struct decoder *d)
{
	enum { STEP = 12 };
	uint64_t most = d->b.n_bits + 2 * STEP;
	size_t n = d->s.n < most ? d->s.n : (size_t)most;
	if (n > d->cap_weights) {
		d->cap_weights = n > 2 * d->cap_weights ? n : 2 * d->cap_weights;
		d->weights = anew(d->scratch, int16_t,
				  d->cap_weights + 2 * FINISHED_AT_ONCE);
	}
	if (d->s.runs && n + 1 > d->cap_runs) {
		d->cap_runs = n + 1 > 2 * d->cap_runs ? n + 1 : 2 * d->cap_runs;
		d->runs = anew(d->scratch, uint32_t, d->cap_runs);
	}
}

/* Reads the chunks of a slice (ethosu-weights(7) 1.6) into d->weights and d->runs. */
static bool
read_chunks(struct decoder *d)
{
	const struct slice *s = &d->s;
	int wl = s->plain && s->wdiv > 5 ? 8 : 12;
	int zl = s->zdiv < 3 ? 12 : 8;
	uint32_t w = 0, r = 0, w_carry = 0, r_carry = 0;
	reserve_slice(d);
	struct pending weights[2] = { 0 }, runs[2] = { 0 };

	if (!s->plain)
		spell_all(&d->spellings, s->trunc);
	for (int step = 0;; step ^= 1) {
		struct pending *w_now = &weights[step], *w_was = &weights[step ^ 1];
		struct pending *r_now = &runs[step], *r_was = &runs[step ^ 1];
		uint64_t start = d->b.at;
		bool w_on = w < s->n && (!s->runs || (int64_t)w - r < 8);
		bool r_on = r < s->n_runs && w >= r;
		uint64_t units = bits_peek(&d->b, start); /* uses at most 36 */

		w_now->n = w_on ? wl : 0;
		r_now->n = 0;
		uint32_t first = w_on && !s->plain ? units % (1 << WEIGHTS_UNARY) : 0;
		int n_units = w_on && !s->plain ? WEIGHTS_UNARY : 0;
		if (r_on) {
			uint32_t word = (uint32_t)(units >> n_units) & ((1u << zl) - 1);
			n_units += zl;
			r_carry = split_runs(word, zl, r_carry, r_now);
		}
		if (w_on && !s->plain) {
			int n_second = (int)count_bits_16x2(first);
			uint32_t second = (uint32_t)(units >> n_units) &
					  ((1u << n_second) - 1);
			n_units += n_second;
			w_carry = split_weights(&d->spellings, first, second,
						w_carry, w_now);
		}
		d->b.at += (uint64_t)n_units;
		w_now->n = (int)min_i64(w_now->n, s->n - w);
		memset(w_now->quotient + w_now->n, 0, FINISHED_AT_ONCE * sizeof(*w_now->quotient));
		r_now->n = (int)min_i64(r_now->n, s->n_runs - r);
		if (!finish_weights(d, w_was, d->weights + w - w_was->n))
			return refuse(d, start, "weight index or value above 511");
		if (s->runs) {
			uint32_t *out = d->runs + r - r_was->n;
			for (int i = 0; i < r_was->n; i++) {
				uint32_t low = bits_take(&d->b, s->zdiv);
				out[i] = r_was->quotient[i] << s->zdiv | low;
			}
		}
		if (d->b.at > d->b.n_bits)
			return refuse(d, start, "input ends inside a slice");
		if (!w_on && !r_on)
			return true;
		w += (uint32_t)w_now->n;
		r += (uint32_t)r_now->n;
	}
}

/* Appends the slice's weights and the zero runs between them (ethosu-weights(7) 1.5). */
static bool
append(struct decoder *d, struct arena *a, uint64_t start)
{
	const struct slice *s = &d->s;
	const uint32_t *run = d->runs;
	uint64_t total = s->n;

	for (uint32_t i = 0; i < s->n_runs; i++)
		total += run[i];
	if (total > d->cap - d->out.n) {
		if (!a)
			return refuse(d, start, "more values than expected");
		/* the values are never more than the input can hold */
		size_t need = d->out.n + (size_t)total;
		size_t cap = d->cap * 2 > need ? d->cap * 2 : need;
		int16_t *v = anew(a, int16_t, cap);
		if (d->out.n)
			memcpy(v, d->out.v, d->out.n * sizeof(*v));
		d->out.v = v;
		d->cap = cap;
	}
	if (d->counts) {
		d->out.n += (size_t)total;
		return true;
	}
	int16_t *out = d->out.v + d->out.n;
	d->out.n += (size_t)total;
	if (!s->runs) {
		memcpy(out, d->weights, s->n * sizeof(*out));
		return true;
	}
	if (total)
		memset(out, 0, (size_t)total * sizeof(*out));
	if (s->n_runs > s->n)
		out += *run++;
	for (uint32_t i = 0; i < s->n; i++) {
		*out = d->weights[i];
		out += 1 + run[i];
	}
	return true;
}

static bool
decode_slices(struct decoder *d, struct arena *grow)
{
	for (;;) {
		uint64_t start = d->b.at;
		int zdiv = (int)bits_take(&d->b, 3);

		if (d->b.at > d->b.n_bits)
			return refuse(d, start, "input ends without end marker");
		if (zdiv == WEIGHTS_ZDIV_END) {
			d->s.valid = false;
			d->b.at = (d->b.at + 7) & ~UINT64_C(7);
			if (d->b.at >= d->b.n_bits)
				return true;
			continue;
		}
		if (!read_header(d, zdiv, start) || !read_chunks(d) ||
		    !append(d, grow, start))
			return false;
	}
}

/*
 * Decodes the expected number of values into *out, allocated in arena a; with a NULL it
 * only counts them.
 */
static bool
decode(struct arena *a, struct bytes in, int64_t expected, struct weights_values *out,
       struct err *e)
{
	*out = (struct weights_values){ 0 };
	if (in.n > WEIGHTS_MAX_BYTES)
		return err_set(e, "weight stream of %zu bytes, at most %d "
			       "supported", in.n, WEIGHTS_MAX_BYTES);
	if (expected >= 0 && (uint64_t)expected / VALUES_PER_BYTE > in.n)
		return err_set(e, "weight stream of %zu bytes can't hold "
			       "%" PRId64 " values", in.n, expected);

	struct arena *scratch = arena_open();
	struct decoder *d = anew(scratch, struct decoder, 1);
	d->b = (struct bits){ .p = in.p, .n_bytes = in.n,
			      .n_bits = (uint64_t)in.n * 8 };
	d->e = e;
	d->scratch = scratch;
	d->counts = !a;
	if (expected >= 0) {
		d->out.v = a ? anew(a, int16_t, (size_t)expected) : NULL;
		d->cap = (size_t)expected;
	}
	bool ok = decode_slices(d, expected < 0 ? a : NULL);
	if (ok && expected >= 0 && d->out.n != (size_t)expected)
		ok = err_set(e, "weight stream holds %zu values, %" PRId64
			     " expected", d->out.n, expected);
	if (ok)
		*out = d->out;
	arena_close(scratch);
	return ok;
}

bool
weights_decode(struct arena *a, struct bytes in, int64_t expected,
	       struct weights_values *out, struct err *e)
{
	return decode(a, in, expected, out, e);
}

bool
weights_count(struct bytes in, size_t expected, struct err *e)
{
	struct weights_values none;
	return decode(NULL, in, (int64_t)expected, &none, e);
}
