/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include "base/arena.h"
#include "base/block.h"
#include "base/bytes.h"
#include "base/little_endian.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
text_free(struct text *t)
{
	block_free(t->p, t->cap);
	*t = (struct text){ 0 };
}

void
text_show(struct text *t, FILE *f)
{
	if (t->n)
		(void)fwrite(t->p, 1, t->n, f);
	text_free(t);
}

static __attribute__((noinline)) void
grow(struct text *t, size_t n)
{
	size_t cap = t->cap ? t->cap : 256;
	while (cap - t->n < n)
		cap *= 2;
	char *p = block_grow(t->p, t->cap, cap);
	if (!p)
		out_of_memory();
	t->p = p;
	t->cap = cap;
}

char *
text_reserve(struct text *t, size_t n)
{
	if (t->cap - t->n < n)
		grow(t, n);
	return t->p + t->n;
}

const char *
text_str(struct text *t)
{
	*text_reserve(t, 1) = '\0';
	return t->p;
}

void
text_put(struct text *t, const void *p, size_t n)
{
	if (n)
		memcpy(text_reserve(t, n), p, n);
	t->n += n;
}

void
text_put_le32(struct text *t, uint32_t v)
{
	uint8_t b[4];
	store_le32(b, v);
	text_put(t, b, sizeof(b));
}

void
text_puts(struct text *t, const char *s)
{
	text_put(t, s, strlen(s));
}

void
text_putc(struct text *t, char c)
{
	*text_reserve(t, 1) = c;
	t->n++;
}

void
text_printf(struct text *t, const char *fmt, ...)
{
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	/* the text is formatted a second time only if the capacity is too small */
	size_t free_bytes = t->cap - t->n;
	int n = vsnprintf(free_bytes ? t->p + t->n : NULL, free_bytes, fmt, ap);
	va_end(ap);
	if (n < 0)
		abort();
	if ((size_t)n >= free_bytes)
		(void)vsnprintf(text_reserve(t, (size_t)n + 1), (size_t)n + 1, fmt,
				again);
	va_end(again);
	t->n += (size_t)n;
}

void
text_i64(struct text *t, int64_t v)
{
	enum { MOST = 20 }; /* digits and sign */
	char *p = text_reserve(t, MOST);
	uint64_t u = v < 0 ? -(uint64_t)v : (uint64_t)v, limit = 10;
	size_t n = 1;
	for (; n < MOST - 1 && u >= limit; limit *= 10) /* stop at the highest power of ten
							 * that fits */
		n++;
	if (v < 0)
		*p++ = '-';
	t->n += n + (v < 0);
	for (; n > 1; u /= 100) { /* two digits per division */
		unsigned two = (unsigned)(u % 100);
		p[--n] = (char)('0' + two % 10);
		p[--n] = (char)('0' + two / 10);
	}
	if (n)
		*p = (char)('0' + u);
}

void
text_hex(struct text *t, uint64_t v)
{
	char buf[2 + 16], *end = buf + sizeof(buf), *p = end;
	do
		*--p = "0123456789abcdef"[v % 16];
	while (v /= 16);
	*--p = 'x';
	*--p = '0';
	text_put(t, p, (size_t)(end - p));
}

void
text_float(struct text *t, float v)
{
	char buf[48];
	for (int digits = 6; digits <= 9; digits++) {
		(void)snprintf(buf, sizeof(buf), "%.*g", digits, (double)v);
		if (strtof(buf, NULL) == v)
			break;
	}
	text_puts(t, buf);
}

void
text_double(struct text *t, double v)
{
	const double whole = 1e15; /* below this value %.0f is exact, and more readable */
	char buf[48];
	if (fabs(v) < whole && v == trunc(v)) {
		text_printf(t, "%.0f", v);
		return;
	}
	for (int digits = 6; digits <= 17; digits++) {
		(void)snprintf(buf, sizeof(buf), "%.*g", digits, v);
		if (strtod(buf, NULL) == v)
			break;
	}
	text_puts(t, buf);
}

void
text_number(struct text *t, double v)
{
	const double whole = 9e15; /* below this value integers are exact */
	if (v == trunc(v) && fabs(v) < whole)
		text_i64(t, (int64_t)v);
	else
		text_double(t, v);
}

void
text_rounded(struct text *t, double v, double parts)
{
	const double whole = 9e15;
	text_number(t, fabs(v) < whole / parts ? round(v * parts) / parts : v);
}

void
text_repr(struct text *t, double v)
{
	char buf[48];
	int digits = 0;
	do
		(void)snprintf(buf, sizeof(buf), "%.*e", digits, v);
	while (strtod(buf, NULL) != v && ++digits < 17);
	const char *e = strchr(buf, 'e');
	long exponent = e ? strtol(e + 1, NULL, 10) : 16; /* inf and nan are printed as they
							   * are */
	int decimals = digits > exponent ? digits - (int)exponent : 1;
	if (exponent < -4 || exponent >= 16)
		text_puts(t, buf);
	else
		text_printf(t, "%.*f", decimals, v);
}

static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static inline void
put_digits(char *out, uint32_t v)
{
	out[0] = base64_digits[v >> 18];
	out[1] = base64_digits[v >> 12 & 63];
	out[2] = base64_digits[v >> 6 & 63];
	out[3] = base64_digits[v & 63];
}

/* vector types of the compiler; the result of a true comparison is -1 in its lane */
typedef int8_t chars __attribute__((vector_size(16)));
typedef uint8_t sixteen __attribute__((vector_size(16))); /* overflow wraps */
typedef uint16_t pairs __attribute__((vector_size(16)));
typedef uint32_t fours __attribute__((vector_size(16)));
typedef uint64_t eights __attribute__((vector_size(16)));

/*
 * Encodes 12 bytes to 16 digits; reads 2 bytes more.  Each 48 bits are split into two
 * 24, then into two 12, then into two digits; the first digit is in the lowest byte.
 */
static inline void
put_sixteen(char *out, const unsigned char *p)
{
	uint64_t first, second;
	memcpy(&first, p, sizeof(first));
	memcpy(&second, p + 6, sizeof(second));
	eights eight = { __builtin_bswap64(first) >> 16,
			 __builtin_bswap64(second) >> 16 };
	fours four = (fours)(eight >> 24 | (eight & 0xffffff) << 32);
	pairs two = (pairs)(four >> 12 | (four & 0xfff) << 16);
	sixteen v = (sixteen)(two >> 6 | (two & 63) << 8);
	/* add the distance between the value and its character in each range of digits */
	v += (sixteen)('A' + ((sixteen)((chars)v > 25) & ('a' - 'Z' - 1)) -
		       ((sixteen)((chars)v > 51) & ('z' + 1 - '0')) -
		       ((sixteen)((chars)v > 61) & ('9' + 1 - '+')) +
		       ((sixteen)((chars)v > 62) & ('/' - '+' - 1)));
	memcpy(out, &v, sizeof(v));
}

/* Encodes n bytes, at most one line, and a newline. */
static char *
put_line(char *out, const unsigned char *p, size_t n)
{
	const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	size_t i = 0;
	for (; little && i + 14 <= n; i += 12, out += 16)
		put_sixteen(out, p + i);
	for (; i + 3 <= n; i += 3, out += 4)
		put_digits(out, (uint32_t)p[i] << 16 | (uint32_t)p[i + 1] << 8 |
				    p[i + 2]);
	if (i < n) {
		uint32_t second = i + 1 < n ? p[i + 1] : 0;
		put_digits(out, (uint32_t)p[i] << 16 | second << 8);
		out[3] = '=';
		if (i + 1 == n)
			out[2] = '=';
		out += 4;
	}
	*out++ = '\n';
	return out;
}

void
text_base64(struct text *t, const void *data, size_t n)
{
	enum { LINE_BYTES = BASE64_LINE / 4 * 3 };
	const unsigned char *p = data;
	size_t digits = (n + 2) / 3 * 4;
	char *out = text_reserve(t, digits + digits / BASE64_LINE + 2);
	char *start = out;
	for (size_t at = 0; at < n; at += LINE_BYTES)
		out = put_line(out, p + at, n - at < LINE_BYTES ? n - at : LINE_BYTES);
	t->n += (size_t)(out - start);
}

/* the value of a character that is no digit of base64 */
enum { NO_DIGIT = 255 };

/*
 * Decodes 16 digits to 12 bytes, and writes 2 bytes more that are not used.  Neighbours
 * are joined to 12 bits, then to 24, then to 48.  Returns -1 in the lane of every
 * digit.
 */
static inline sixteen
decode_sixteen(const char *s, uint8_t *out)
{
	sixteen c;
	memcpy(&c, s, sizeof(c));
	/*
	 * move the end of each range to the end of the signed lane: a range then needs
	 * only one comparison
	 */
	sixteen small = (c | ('a' - 'A')) + (INT8_MAX - 'z');
	sixteen letter = (sixteen)((chars)small > INT8_MAX - 26);
	sixteen number = c + (INT8_MAX - '9'); /* '/' and the digits */
	number = (sixteen)((chars)number > INT8_MAX - 11);
	sixteen lower = (sixteen)((chars)c > 'a' - 1);
	sixteen plus = (sixteen)(c == '+'), slash = (sixteen)(c == '/');
	sixteen v = c - (letter & 'A') - (lower & ('a' - 'Z' - 1)) +
		    (number & (52 - '0')) + (slash & ('0' - 52 + 63 - '/')) +
		    (plus & (62 - '+'));

	pairs two = (pairs)v;
	fours four = (fours)((two << 6 | two >> 8) & 0xfff);
	eights eight = (eights)((four << 12 | four >> 16) & 0xffffff);
	/* the first byte is the highest; the lowest two are unused */
	eight = eight << 40 | eight >> 16;
	uint64_t first = __builtin_bswap64(eight[0]);
	uint64_t second = __builtin_bswap64(eight[1]);
	memcpy(out, &first, sizeof(first));
	memcpy(out + 6, &second, sizeof(second));
	return letter | number | plus;
}

/* Fast path: lines as text_base64() writes them, all of the same length. */
static void
decode_lines(const char **s, const char *stop, uint8_t **o, const uint8_t *end)
{
	enum { LINE_BYTES = BASE64_LINE / 4 * 3 };
	const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	const char *c = *s;
	uint8_t *out = *o;

	for (; little && stop - c > BASE64_LINE && c[BASE64_LINE] == '\n' &&
	       end - out >= LINE_BYTES;
	     c += BASE64_LINE + 1, out += LINE_BYTES) {
		uint8_t line[LINE_BYTES + 2]; /* a copy, as out may be c and the line may
					       * turn out invalid */
		sixteen all_digits = ~(sixteen){ 0 };
		/* the last step decodes four digits again */
		for (int i = 0; i <= BASE64_LINE - 16; i += i < 48 ? 16 : 12)
			all_digits &= decode_sixteen(c + i, line + i / 4 * 3);
		eights all = (eights)all_digits;
		if ((all[0] & all[1]) != UINT64_MAX)
			break;
		memcpy(out, line, LINE_BYTES);
	}
	*s = c;
	*o = out;
}

/* Decodes groups of four digits to three bytes; each store writes four bytes. */
static void
decode_quads(const uint8_t *value, const char **s, const char *stop, uint8_t **o,
	     const uint8_t *end)
{
	const unsigned char *c = (const unsigned char *)*s;
	size_t quads = (size_t)(stop - *s) / 4, free_bytes = (size_t)(end - *o);
	uint8_t *out = *o;

	for (; quads > 0 && free_bytes >= 4; quads--, free_bytes -= 3, c += 4, out += 3) {
		uint32_t v0 = value[c[0]], v1 = value[c[1]], v2 = value[c[2]],
			 v3 = value[c[3]];
		if ((v0 | v1 | v2 | v3) == NO_DIGIT)
			break;
		uint32_t w = v0 << 18 | v1 << 12 | v2 << 6 | v3;
		store_le32(out, __builtin_bswap32(w) >> 8);
	}
	*s = (const char *)c;
	*o = out;
}

bool
base64_decode(const char *s, size_t len, void *out, size_t n)
{
	uint8_t value[256], *o = out, *end = o + n;
	const char *stop = s + len;
	memset(value, NO_DIGIT, sizeof(value));
	for (uint8_t i = 0; i < 64; i++)
		value[(unsigned char)base64_digits[i]] = i;

	uint32_t v = 0;
	int have = 0, pad = 0;
	while (s < stop) {
		if (!have && !pad) {
			decode_lines(&s, stop, &o, end);
			decode_quads(value, &s, stop, &o, end);
		}
		if (s == stop)
			break;
		char c = *s++;
		if (c == '\n' || c == '\r')
			continue;
		if (c == '=') {
			pad++;
			continue;
		}
		uint32_t digit = value[(unsigned char)c];
		if (pad || digit == NO_DIGIT)
			return false;
		v = v << 6 | digit;
		if (++have < 4)
			continue;
		if (end - o < 3)
			return false;
		*o++ = (uint8_t)(v >> 16);
		*o++ = (uint8_t)(v >> 8);
		*o++ = (uint8_t)v;
		have = 0;
		v = 0;
	}
	if (have == 1 || pad > 2 || (pad && have + pad != 4))
		return false;
	if (have && end - o < have - 1)
		return false;
	if (have >= 2)
		*o++ = (uint8_t)(v >> (have == 2 ? 4 : 10));
	if (have == 3)
		*o++ = (uint8_t)(v >> 2);
	return o == end;
}

bool
text_has_suffix(const char *s, const char *suffix)
{
	size_t n = s ? strlen(s) : 0, k = strlen(suffix);
	return n >= k && !strcmp(s + n - k, suffix);
}

const char *
text_cut(struct arena *a, const char *s, const char *suffix)
{
	size_t n = strlen(s), k = strlen(suffix);
	return n > k && text_has_suffix(s, suffix) ? arena_strndup(a, s, n - k) : s;
}

size_t
text_prefix(const char *s, size_t n)
{
	size_t i = 0;
	for (; s[i]; i++)
		if (((unsigned char)s[i] & 0xc0) != 0x80 && n-- == 0)
			break;
	return i;
}

size_t
text_width(const char *s)
{
	size_t n = 0;
	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

const char *
text_elided(struct arena *a, const char *s, size_t front, size_t back)
{
	return arena_printf(a, "%.*s..%s", (int)text_prefix(s, front), s,
			    s + text_prefix(s, text_width(s) - back));
}

const char *
text_shortened(struct arena *a, const char *s, size_t n)
{
	/* the begin and the end of a name say most */
	size_t keep = n > 2 ? n - 2 : 0, front = (keep + 1) / 2;
	return text_width(s) <= n ? s : text_elided(a, s, front, keep - front);
}
