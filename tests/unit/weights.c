/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the weight codec: vectors of another encoder, refusals (ethosu-weights(7) 1.8),
 * and decode(encode) on random sequences.
 *
 * weights [COUNT [SEED]]
 */
#include "weights/weights.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint32_t
random_bits(void)
{
	state = state * UINT64_C(6364136223846793005) +
		UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 33);
}

static int
roll(int min, int max)
{
	return min + (int)(random_bits() % (uint32_t)(max - min + 1));
}

/* ---- fixed streams ---- */

#define VALUES(...) (int16_t[]){ __VA_ARGS__ }, \
	sizeof((int16_t[]){ __VA_ARGS__ }) / sizeof(int16_t)

static const struct {
	const char *name, *hex;
	const int16_t *v;
	size_t n;
} vectors[] = {
	{ "1.10", "19 00 dc 13 a4 d7 34 12 ff ff ff ff ff ff ff ff",
	  VALUES(0, 0, 0, 5, 0, 0, 0, 0, -3, 5, 0, 0, 5, 0, 0, 0, 0, 0) },
	{ "1.11",
	  "58 00 c4 81 06 cb c0 b2 29 74 2e 15 ee a3 1b 60"
	  "13 9e 15 00 f0 ff ff ff ff ff ff ff ff ff ff ff",
	  VALUES(4, -1, 8, 12, 0, 0, 0, -2, 0, 0, 0, 0, 8, 0, 0, -6, 0, 0, -1,
		 -2, 0, 5, 9, -3) },
	{ "16 zeros", "02 00 40 00 10 00 0e 80 ff ff ff ff ff ff ff ff",
	  VALUES(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) },
	{ "16 zeros of v5", "00 00 40 00 10 00 fe ef 01 fe ff ff ff ff ff ff",
	  VALUES(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) },
	{ "40 sevens", "3e 01 40 17 e4 00 00 00 00 00 00 f0 ff ff ff ff",
	  VALUES(7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
		 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7) },
	{ "marker over two lines",
	  "7e 00 44 70 36 80 11 d2 25 92 95 ca 12 24 5b cc"
	  "ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff",
	  VALUES(3, -1, 0, 2, -1, 7, 1, -1, 0, 3, -4, -1, 1, 0, -1, 9) },
	{ "two streams, zero fill between",
	  "3e 01 40 17 e4 00 00 00 00 00 00 70"
	  "02 00 40 00 10 00 0e 80 ff ff ff",
	  VALUES(7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
		 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 0, 0,
		 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) },
};

static size_t
unhex(const char *hex, uint8_t *out)
{
	size_t n = 0;

	for (int used; *hex; hex += used) {
		unsigned byte;
		if (sscanf(hex, " %2x%n", &byte, &used) != 1)
			break;
		out[n++] = (uint8_t)byte;
	}
	return n;
}

static bool
check_vectors(void)
{
	for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
		struct arena *a = arena_open();
		struct weights_values got;
		struct err e = { 0 };
		uint8_t raw[64];
		struct bytes in = { .p = raw, .n = unhex(vectors[i].hex, raw) };
		bool ok = weights_decode(a, in, -1, &got, &e) &&
			  got.n == vectors[i].n &&
			  memcmp(got.v, vectors[i].v, got.n * 2) == 0;
		arena_close(a);
		if (!ok) {
			printf("vector %s: %s\n", vectors[i].name,
			       e.text[0] ? e.text : "values differ");
			return false;
		}
	}
	return true;
}

/* writes fields of a stream that no encoder makes, least significant bit first */
struct fields {
	uint8_t raw[8192];
	size_t at;
};

static void
put(struct fields *f, unsigned v, int n)
{
	for (int i = 0; i < n; i++, f->at++)
		f->raw[f->at / 8] |= (uint8_t)((v >> i & 1) << f->at % 8);
}

static void
put_end(struct fields *f)
{
	put(f, 7, 3);
	while (f->at % 128)
		put(f, 1, 1);
}

static bool
decodes(const char *name, const struct fields *f, const int16_t *v, size_t n)
{
	struct arena *a = arena_open();
	struct bytes in = { .p = f->raw, .n = (f->at + 7) / 8 };
	struct weights_values got;
	struct err e = { 0 };
	bool ok = weights_decode(a, in, (int64_t)n, &got, &e) &&
		  memcmp(got.v, v, n * sizeof(*v)) == 0;

	if (!ok)
		printf("%s: %s\n", name, e.text[0] ? e.text : "values differ");
	arena_close(a);
	return ok;
}

static void
put_header(struct fields *f, unsigned zdiv, unsigned n, unsigned wdiv,
	   unsigned fresh)
{
	put(f, zdiv, 3);
	put(f, n - 1, 15);
	put(f, wdiv, 3);
	put(f, 0, 1);
	put(f, fresh, 1);
}

static bool
check_palette_and_direct(void)
{
	static const int16_t want[] = { 5, -5, 6, 10 };
	struct fields f = { 0 };

	put_header(&f, 6, 4, 7, 1);
	put(&f, 20, 5);
	put(&f, 2, 5);
	put(&f, 6, 3);
	for (unsigned d = 10; d < 13; d++)
		put(&f, d, 8);
	for (unsigned x = 0; x < 4; x++)
		put(&f, x, 2);
	put_end(&f);
	return decodes("palette and direct index", &f, want, 4);
}

static bool
check_longest_slice(void)
{
	static int16_t want[32768];
	struct fields f = { 0 };

	put_header(&f, 6, 32768, 7, 1);
	put(&f, 0, 5);
	put(&f, 1, 5);
	put(&f, 0, 3);
	put(&f, 2, 2);
	put(&f, 3, 2);
	for (int i = 0; i < 32768; i++) {
		unsigned bit = random_bits() & 1;
		want[i] = bit ? -1 : 1;
		put(&f, bit, 1);
	}
	put_end(&f);
	return f.at == 4112 * 8 && decodes("longest slice", &f, want, 32768);
}

static bool
check_extremes(void)
{
	static const int16_t want[] = { -255, 255, 0, 0 };
	struct fields f = { 0 };

	put_header(&f, 6, 4, 7, 1);
	put(&f, 0, 5);
	put(&f, 0, 5);
	put(&f, 7, 3);
	for (int i = 0; i < 4; i++)
		put(&f, (unsigned[]){ 511, 510, 1, 0 }[i], 9);
	put_end(&f);
	return decodes("indices 511, 510, 1, 0", &f, want, 4);
}

/* a continuing slice with another run divisor: runs only after its weights */
static bool
check_continued(void)
{
	static const int16_t want[] = { 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0 };
	struct fields f = { 0 };

	put_header(&f, 0, 1, 0, 1);
	put(&f, 2, 5);
	put(&f, 0, 5);
	put(&f, 0, 3);
	put(&f, 0, 12);	     /* one weight of index 0 */
	put(&f, 1 | 3 << 2, 12); /* runs 1 and 2: 10 110 */
	put_header(&f, 2, 1, 0, 0);
	put(&f, 0, 12);
	put(&f, 1, 12);	     /* run 7: quotient 1 */
	put(&f, 3, 2);	     /* remainder 3 */
	put_end(&f);
	return decodes("continued slice", &f, want, 12);
}

static const struct {
	const char *hex, *rule;
} refusals[] = {
	{ "", "ends without end marker" },
	{ "fc", "ends inside a slice header" },
	{ "04 00 40 00 10 00 00 00 ff", "divisor 4 and 5" },
	{ "05 00 40 00 10 00 00 00 ff", "divisor 4 and 5" },
	{ "06 00 58 00 10 00 00 00 ff", "divisor 6" },
	{ "06 00 00 00 00 00 00 00 ff", "does not set a palette" },
	{ "ff 06 00 00 00 00 00 00 ff", "does not set a palette" },
	{ "fe ff 43 00 00 00 00 00 00", "ends inside a slice" },
	{ "02 00 40 00 10 00 0e 80 0d 00 00 00", "without a palette" },
	{ "3e 00 40 00 10 f0 ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff",
	  "ends inside a slice" },
	/* plain, 9 bits, direct offset 31: index 511 is weight -271 */
	{ "06 00 dc 0f fe ff ff ff ff", "above 511" },
};

static bool
check_refusals(void)
{
	for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
		struct arena *a = arena_open();
		struct weights_values got;
		struct err e = { 0 };
		uint8_t raw[64];
		struct bytes in = { .p = raw,
				    .n = unhex(refusals[i].hex, raw) };
		bool ok = !weights_decode(a, in, -1, &got, &e) &&
			  strstr(e.text, refusals[i].rule);
		arena_close(a);
		if (!ok) {
			printf("%s: refused for \"%s\", not \"%s\"\n",
			       refusals[i].hex, e.text, refusals[i].rule);
			return false;
		}
	}
	return true;
}

/* ---- random sequences ---- */

static int
clamp(double v)
{
	return v > 255 ? 255 : v < -255 ? -255 : (int)v;
}

static double
noise(double width)
{
	double sum = 0;
	for (int i = 0; i < 6; i++)
		sum += (double)random_bits() / 2147483648.0 - 0.5;
	return sum * width;
}

static void
fill_palette(int16_t *v, size_t n, int k)
{
	int16_t pal[64];

	for (int i = 0; i < k; i++)
		pal[i] = (int16_t)roll(-255, 255);
	for (size_t i = 0; i < n; i++)
		v[i] = pal[roll(0, k - 1)];
}

/* alternating stretches of runs and values, as from padding and sparsity */
static void
fill_sparse(int16_t *v, size_t n, int longest)
{
	for (size_t i = 0; i < n;) {
		int zeros = roll(0, longest), some = roll(0, 9);
		for (int k = 0; k < zeros && i < n; k++)
			v[i++] = 0;
		for (int k = 0; k < some && i < n; k++)
			v[i++] = (int16_t)clamp(noise(100));
	}
}

enum { KINDS = 16 };

static void
fill(int16_t *v, size_t n, int kind)
{
	static const int sizes[] = { 1, 2, 31, 32, 33, 17 };
	int one = roll(-255, 255), two = roll(-255, 255);
	double width = roll(1, 400);

	if (kind < 6) {
		fill_palette(v, n, sizes[kind]);
		return;
	}
	if (kind == 6 || kind == 7) {
		fill_sparse(v, n, kind == 6 ? 40 : 3000);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		int j = (int)i;
		v[i] = (int16_t)(kind == 8    ? 0
				 : kind == 9  ? (j & 1 ? one : two)
				 : kind == 10 ? j % 511 - 255
				 : kind == 11 ? roll(-255, 255)
				 : kind == 12 ? clamp(noise(width))
				 : kind == 13 ? (roll(0, 50) ? 0 : one)
				 : kind == 14 ? clamp(one + noise(width / 8))
					      : roll(-128, 127));
		if (kind == 12 && i % 1000 == 999)
			width = roll(1, 400);
	}
}

/* a mixture of kinds, so that the statistics change along the sequence */
static void
fill_mixed(int16_t *v, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t left = n - i, len = (size_t)roll(1, 6000);
		len = len < left ? len : left;
		fill(v + i, len, roll(0, KINDS - 1));
		i += len;
	}
}

/* short sequences are frequent; a slice's limit of 32768 values is reached, too */
static size_t
random_length(void)
{
	switch (roll(0, 199)) {
	case 0:
	case 1:
		return (size_t)roll(32766, 32770);
	case 2:
		return (size_t)roll(30000, 100000);
	case 3:
	case 4:
	case 5:
		return (size_t)roll(1, 8000);
	default:
		return (size_t)roll(0, roll(0, 3) ? 600 : 16);
	}
}

/* counting and decoding agree, and refuse with the same message */
static bool
counts_alike(struct arena *a, struct bytes in, size_t n)
{
	struct weights_values got;
	struct err decoding = { 0 }, counting = { 0 };

	if (weights_decode(a, in, (int64_t)n, &got, &decoding) ==
		    weights_count(in, n, &counting) &&
	    !strcmp(decoding.text, counting.text))
		return true;
	printf("decoded: '%s'; counted: '%s'\n", decoding.text, counting.text);
	return false;
}

/* damaged streams of n values must be refused, or decode to no more values */
static bool
damage(struct arena *a, struct bytes in, size_t n)
{
	uint8_t *raw = anew(a, uint8_t, in.n);
	struct weights_values got;
	struct err e = { 0 };

	memcpy(raw, in.p, in.n);
	for (int i = roll(1, 4); i > 0; i--)
		raw[random_bits() % in.n] ^= (uint8_t)(1u << roll(0, 7));
	in.p = raw;
	bool ok = counts_alike(a, in, n);
	in.n = (size_t)roll(0, (int)in.n);
	(void)weights_decode(a, in, -1, &got, &e);
	return ok && counts_alike(a, in, n);
}

static bool
check_round_trip(int level)
{
	size_t n = random_length();
	int kind = roll(0, KINDS);
	struct arena *a = arena_open();
	int16_t *v = anew(a, int16_t, n);
	struct weights_values got = { 0 };
	struct err e = { 0 };

	if (kind == KINDS)
		fill_mixed(v, n);
	else
		fill(v, n, kind);
	struct bytes out = weights_encode(a, v, n, level);
	size_t cost = weights_cost(v, n, level);
	/* at most the worst case of ethosu-weights(7) 1.7 */
	size_t most = (n * 9 + (n / 32767 + 1) * 36 + 3 + 127) / 128 * 16;
	bool ok = cost == out.n && out.n % 16 == 0 && out.n <= most &&
		  weights_decode(a, out, (int64_t)n, &got, &e) &&
		  memcmp(got.v, v, n * sizeof(*v)) == 0;

	if (!ok)
		printf("kind %d, %zu values, level %d: %zu bytes, cost %zu: "
		       "%s\n", kind, n, level, out.n, cost, e.text);
	ok = ok && counts_alike(a, out, n) && counts_alike(a, out, n + 1) &&
	     damage(a, out, n);
	/* above the default, a level never gives more bytes than the level below */
	if (ok && level > WEIGHTS_LEVEL_DEFAULT &&
	    cost > weights_cost(v, n, level - 1)) {
		printf("kind %d, %zu values: level %d is larger than %d\n",
		       kind, n, level, level - 1);
		ok = false;
	}
	ok = ok && !weights_decode(a, out, (int64_t)n + 1, &got, &e);
	arena_close(a);
	return ok;
}

/*
 * All 256 weights of a byte need 9 bits as plain indices.  Where zero and -128 do not occur
 * together, 8 bits suffice.  Added are a header of 36 bits for each change between the two
 * (at worst 0.14 a weight) and the last line's padding.
 */
static bool
check_full_range(void)
{
	enum { N = 2048, SAMPLES = 50 };
	int16_t v[N];
	size_t bytes = 0;

	state = 1;
	for (int k = 0; k < SAMPLES; k++) {
		for (int i = 0; i < N; i++)
			v[i] = (int16_t)roll(-128, 127);
		bytes += weights_cost(v, N, WEIGHTS_LEVEL_DEFAULT);
	}
	/* half of the last line is padding; the search finds borders only
	 * approximately */
	double bits = SAMPLES * (N * 8.14 + 64), most = 1.01 * bits;
	if (8.0 * (double)bytes > most)
		printf("full range: %zu bytes, %.0f expected\n", bytes, bits / 8);
	return 8.0 * (double)bytes <= most;
}

int
main(int argc, char **argv)
{
	static const int levels[] = { 1, 3, 6, 9 };
	long count = argc > 1 ? atol(argv[1]) : 4000;
	uint64_t seed = argc > 2 ? (uint64_t)atoll(argv[2]) : 1;

	if (!check_vectors() || !check_palette_and_direct() ||
	    !check_longest_slice() || !check_extremes() ||
	    !check_continued() || !check_refusals() || !check_full_range())
		return EXIT_NO;
	for (long i = 0; i < count; i++) {
		state = seed + (uint64_t)i;
		if (!check_round_trip(levels[i % 4])) {
			printf("case: seed %" PRIu64 "\n", seed + (uint64_t)i);
			return EXIT_NO;
		}
	}
	return EXIT_YES;
}
