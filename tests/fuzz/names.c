/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text from outside in every format that the programs write (base/quote.c): a name of a model,
 * tensor, operator, profile or label is any sequence of bytes.  What a format's function writes
 * is read by a parser of this file, which shares no code with the functions and refuses all that
 * ends a string early or that a terminal obeys, and gives the same name.
 */
#include "fuzz.h"

#include "base/arena.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { REPLACEMENT = 0xfffd };

static void
must(bool holds)
{
	if (!holds)
		abort();
}

/* characters of a name, or bytes */
struct word {
	uint32_t *v;
	size_t n;
};

/* Reads a character by RFC 3629; returns its bytes, 0 if there is none.  U+FFFE and U+FFFF are
 * none in XML. */
static size_t
read_character(const uint8_t *p, size_t n, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t k = 0;
	if (p[0] < 0x80)
		return *c = p[0], 1;
	while (k < 5 && p[0] & 0x80 >> k)
		k++;
	if (k < 2 || k > 4 || k > n)
		return 0;
	*c = p[0] & (0x7fu >> k);
	for (size_t i = 1; i < k; i++) {
		if (p[i] >> 6 != 2)
			return 0;
		*c = *c << 6 | (p[i] & 0x3f);
	}
	return *c < least[k] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000) ||
	       *c == 0xfffe || *c == 0xffff ? 0 : k;
}

/* The characters of any bytes; a byte that belongs to none counts as U+FFFD. */
static struct word
characters(struct arena *a, const uint8_t *p, size_t n)
{
	struct word w = { .v = anew(a, uint32_t, n + 1) };
	for (size_t i = 0, k; i < n; i += k ? k : 1) {
		uint32_t c = 0;
		k = read_character(p + i, n - i, &c);
		w.v[w.n++] = k ? c : REPLACEMENT;
	}
	return w;
}

static bool
is_same(struct word x, struct word y)
{
	return x.n == y.n && !memcmp(x.v, y.v, x.n * sizeof(*x.v));
}

/* Does a terminal obey the character, or does it break or reorder a line? */
static bool
acts(uint32_t c)
{
	return c < 0x20 || (c > 0x7e && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

static uint32_t
digit(uint8_t c)
{
	must((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'));
	return c <= '9' ? c - (uint32_t)'0' : (c | 0x20u) - 'a' + 10;
}

static uint32_t
digits(const uint8_t *p, size_t n, unsigned base)
{
	uint32_t v = 0;
	for (size_t i = 0; i < n; i++) {
		must(digit(p[i]) < base);
		v = base * v + digit(p[i]);
	}
	return v;
}

/* A string between quotes with the escapes \", \\ and \uXXXX.  bytes: each element is a byte, or
 * else a character that nothing obeys. */
static struct word
read_quoted(struct arena *a, const struct text *t, bool bytes)
{
	const uint8_t *p = (const uint8_t *)t->p;
	struct word w = { .v = anew(a, uint32_t, t->n + 1) };
	must(t->n >= 2 && p[0] == '"' && p[t->n - 1] == '"');
	for (size_t i = 1; i < t->n - 1;) {
		uint32_t c = p[i];
		size_t k = 1;
		must(c != '"');
		if (c == '\\') {
			must(i + 2 < t->n);
			k = p[i + 1] == 'u' ? 6 : 2;
			must(i + k < t->n && (k == 6 || p[i + 1] == '"' || p[i + 1] == '\\'));
			c = k == 6 ? digits(p + i + 2, 4, 16) : p[i + 1];
		} else if (bytes) {
			must(c >= ' ' && c != 0x7f);
		} else {
			k = read_character(p + i, t->n - 1 - i, &c);
			must(k && !acts(c));
		}
		w.v[w.n++] = c;
		i += k;
	}
	return w;
}

static void
check_json(struct arena *a, const char *s, size_t n)
{
	struct text t = { 0 };
	text_quoted(&t, s, n);
	must(is_same(read_quoted(a, &t, false), characters(a, (const uint8_t *)s, n)));
	text_free(&t);
}

static struct word
bytes_of(struct arena *a, const char *s, size_t n)
{
	struct word w = { .v = anew(a, uint32_t, n + 1), .n = n };
	for (size_t i = 0; i < n; i++)
		w.v[i] = (uint8_t)s[i];
	return w;
}

static void
check_graph(struct arena *a, const char *s, size_t n)
{
	struct text t = { 0 }, word = { 0 };
	text_graph_string(&t, s, n);
	must(is_same(read_quoted(a, &t, true), bytes_of(a, s, n)));
	text_graph_word(&word, s);
	must(word.n);
	if (word.p[0] == '"') {
		must(is_same(read_quoted(a, &word, true), bytes_of(a, s, strlen(s))));
	} else {
		must(word.n == strlen(s) && !memcmp(word.p, s, word.n));
		for (size_t i = 0; i < word.n; i++)
			must(s[i] > ' ' && s[i] < 0x7f && s[i] != '#' && s[i] != '"');
	}
	text_free(&t);
	text_free(&word);
}

/* YAML 1.1 and 1.2 read these words as other types. */
static bool
is_type(const char *s, size_t n)
{
	static const char *const words[] = { "y", "n", "yes", "no", "on", "off", "true", "false",
					     "null", "~" };
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t k = 0;
		while (k < n && words[i][k] && ((uint8_t)s[k] | 0x20) == words[i][k])
			k++;
		if (k == n && !words[i][k])
			return true;
	}
	return false;
}

static void
check_yaml(struct arena *a, const char *s)
{
	struct text t = { 0 };
	const size_t n = strlen(s);
	text_yaml(&t, s);
	must(t.n);
	if (t.p[0] == '"') {
		must(is_same(read_quoted(a, &t, false), characters(a, (const uint8_t *)s, n)));
	} else {
		/* a plain scalar: no indicator, no ": " or " #", no number */
		must(t.n == n && !memcmp(t.p, s, n) && !is_type(s, n));
		must(*s == '_' || ((*s | 0x20) >= 'a' && (*s | 0x20) <= 'z'));
		for (size_t i = 0; i < n; i++)
			must(s[i] > ' ' && s[i] < 0x7f && !strchr(":#,[]{}&*!|>'\"%@`\\", s[i]));
	}
	text_free(&t);
}

static void
check_c(struct arena *a, const char *s)
{
	struct text t = { 0 };
	text_c_string(&t, s);
	const uint8_t *p = (const uint8_t *)t.p;
	struct word w = { .v = anew(a, uint32_t, t.n + 1) };
	must(t.n >= 2 && p[0] == '"' && p[t.n - 1] == '"');
	for (size_t i = 1; i < t.n - 1;) {
		bool escape = p[i] == '\\';
		must(p[i] >= ' ' && p[i] < 0x7f && p[i] != '"' && p[i] != '?');
		must(!escape || i + 4 < t.n);
		w.v[w.n++] = escape ? digits(p + i + 1, 3, 8) : p[i];
		i += escape ? 4 : 1;
	}
	must(is_same(w, bytes_of(a, s, strlen(s))));
	text_free(&t);
}

/* RFC 4180 */
static void
check_csv(struct arena *a, const char *s)
{
	struct text t = { 0 };
	text_csv(&t, s);
	struct word w = { .v = anew(a, uint32_t, t.n + 1) };
	const bool quoted = t.n && t.p[0] == '"';
	const size_t end = quoted ? t.n - 1 : t.n;
	must(!quoted || (t.n >= 2 && t.p[end] == '"'));
	for (size_t i = quoted; i < end; i++) {
		if (quoted && t.p[i] == '"')
			must(++i < end && t.p[i] == '"');
		must(quoted || !strchr(",\"\r\n", t.p[i]));
		w.v[w.n++] = (uint8_t)t.p[i];
	}
	must(is_same(w, bytes_of(a, s, strlen(s))));
	text_free(&t);
}

/* A line of a terminal: each character is the name's or '?'. */
static void
check_plain(struct arena *a, const char *s)
{
	const char *plain = text_plain(a, s);
	struct word x = characters(a, (const uint8_t *)s, strlen(s));
	struct word y = characters(a, (const uint8_t *)plain, strlen(plain));
	must(x.n == y.n);
	for (size_t i = 0; i < x.n; i++)
		must(!acts(y.v[i]) && (y.v[i] == x.v[i] || y.v[i] == '?'));
}

static void
check_base64(struct arena *a, const char *s, size_t n)
{
	static const char set[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	struct text t = { 0 };
	text_base64(&t, s, n);
	struct word w = { .v = anew(a, uint32_t, t.n + 1) };
	uint32_t bits = 0;
	unsigned have = 0;
	for (size_t i = 0; i < t.n; i++) {
		const char *at = t.p[i] == '\n' || t.p[i] == '=' ? NULL : strchr(set, t.p[i]);
		if (!at)
			continue;
		bits = bits << 6 | (uint32_t)(at - set);
		have += 6;
		if (have >= 8)
			w.v[w.n++] = bits >> (have -= 8) & 0xff;
	}
	must(is_same(w, bytes_of(a, s, n)));
	text_free(&t);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_open();
	char *s = anew(a, char, size + 4); /* ends with 0 */
	if (size)
		memcpy(s, data, size);
	check_json(a, s, size);
	check_graph(a, s, size);
	check_base64(a, s, size);
	check_yaml(a, s);
	check_c(a, s);
	check_csv(a, s);
	check_plain(a, s);
	arena_close(a);
	return 0;
}
