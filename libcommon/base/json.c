/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64 };

struct parser {
	struct arena *a;
	const char *p, *end; /* *end is a zero byte */
	const char *file;
	unsigned line;
	struct err *e;
};

static bool
bad(struct parser *s, const char *what)
{
	return err_at(s->e, s->file, s->line, "not JSON: %s", what);
}

static void
skip_space(struct parser *s)
{
	for (; *s->p == ' ' || *s->p == '\t' || *s->p == '\n' || *s->p == '\r'; s->p++)
		s->line += *s->p == '\n';
}

/* ---- strings --------------------------------------------------------------------- */

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Returns the value of the four hexadecimal digits at p, or -1. */
static int32_t
hex_word(const char *p)
{
	int32_t v = 0;
	for (int i = 0; i < 4; i++) {
		int d = hex_digit(p[i]);
		if (d < 0)
			return -1;
		v = v << 4 | d;
	}
	return v;
}

static char *
put_utf8(char *out, int32_t c)
{
	if (c < 0x80) {
		*out++ = (char)c;
	} else if (c < 0x800) {
		*out++ = (char)(0xc0 | c >> 6);
		*out++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*out++ = (char)(0xe0 | c >> 12);
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	} else {
		*out++ = (char)(0xf0 | c >> 18);
		*out++ = (char)(0x80 | (c >> 12 & 0x3f));
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	}
	return out;
}

/*
 * Parses the digits behind "\u": one code point, of one or two UTF-16 words.  Half of a
 * surrogate pair becomes U+FFFD.
 */
static bool
take_unicode(struct parser *s, char **out)
{
	int32_t c = hex_word(s->p), low = -1;
	if (c <= 0)
		return bad(s, "\\u without four digits, or of zero");
	s->p += 4;
	if (c >= 0xd800 && c < 0xdc00 && s->p[0] == '\\' && s->p[1] == 'u')
		low = hex_word(s->p + 2);
	if (low >= 0xdc00 && low < 0xe000) {
		c = 0x10000 + ((c & 0x3ff) << 10) + (low & 0x3ff);
		s->p += 6;
	} else if (c >= 0xd800 && c < 0xe000) {
		c = 0xfffd;
	}
	*out = put_utf8(*out, c);
	return true;
}

/*
 * s->p is at the opening quote.  An escape is at least as long as the UTF-8 that it
 * stands for, so the text fits.
 */
static bool
take_string(struct parser *s, const char **out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *close = ++s->p;
	while (*close && *close != '"')
		close += *close == '\\' && close[1] ? 2 : 1;
	if (!*close)
		return bad(s, "a string without an end");
	char *text = arena_alloc(s->a, (size_t)(close - s->p) + 1, 1), *t = text;
	while (s->p < close) {
		if ((unsigned char)*s->p < ' ')
			return bad(s, "a control character in a string");
		if (*s->p != '\\') {
			*t++ = *s->p++;
			continue;
		}
		char c = s->p[1];
		const char *at = c ? strchr(from, c) : NULL;
		s->p += 2;
		if (c == 'u') {
			if (!take_unicode(s, &t))
				return false;
		} else if (!at) {
			return bad(s, "an unknown escape");
		} else {
			*t++ = to[at - from];
		}
	}
	s->p++;
	*out = text;
	return true;
}

/* ---- values ------------------------------------------------------------------------ */

static bool
take_number(struct parser *s, struct json *out)
{
	size_t n = strspn(s->p, "+-.0123456789eE");
	char *end;
	errno = 0;
	out->kind = JSON_NUMBER;
	out->number = strtod(s->p, &end);
	if (!n || end != s->p + n || *s->p == '+' || !isfinite(out->number))
		return bad(s, "an unknown word or number");
	s->p = end;
	return true;
}

static bool
take_word(struct parser *s, const char *word, enum json_kind kind, double v,
	  struct json *out)
{
	size_t n = strlen(word);
	if (strncmp(s->p, word, n) != 0)
		return bad(s, "an unknown word");
	s->p += n;
	out->kind = kind;
	out->number = v;
	return true;
}

static bool take_value(struct parser *s, int depth, struct json *out);

static bool
take_items(struct parser *s, int depth, struct json *out)
{
	bool object = *s->p++ == '{';
	char close = object ? '}' : ']';
	size_t cap = 0;
	out->kind = object ? JSON_OBJECT : JSON_ARRAY;
	skip_space(s);
	if (*s->p == close) {
		s->p++;
		return true;
	}
	for (;;) {
		struct json item = { .string = "" };
		if (object) {
			skip_space(s);
			if (*s->p != '"')
				return bad(s, "a member without a name");
			if (!take_string(s, &item.key))
				return false;
			skip_space(s);
			if (*s->p != ':')
				return bad(s, "a name without a colon");
			s->p++;
		}
		if (!take_value(s, depth + 1, &item))
			return false;
		agrow(s->a, out->item, out->n, &cap);
		out->item[out->n++] = item;
		skip_space(s);
		char c = *s->p++;
		if (c == close)
			return true;
		if (c != ',') {
			s->p--;
			return bad(s, "a comma or an end is missing");
		}
	}
}

static bool
take_value(struct parser *s, int depth, struct json *out)
{
	if (depth == MAX_DEPTH)
		return bad(s, "nested too deeply");
	skip_space(s);
	switch (*s->p) {
	case '{':
	case '[':
		return take_items(s, depth, out);
	case '"':
		out->kind = JSON_STRING;
		return take_string(s, &out->string);
	case 't':
		return take_word(s, "true", JSON_BOOL, 1, out);
	case 'f':
		return take_word(s, "false", JSON_BOOL, 0, out);
	case 'n':
		return take_word(s, "null", JSON_NULL, 0, out);
	default:
		return take_number(s, out);
	}
}

bool
json_parse(struct arena *a, struct bytes b, const char *file, struct json *out,
	   struct err *e)
{
	struct parser s = { .a = a, .file = file, .line = 1, .e = e };
	*out = (struct json){ .string = "" };
	s.p = arena_strndup(a, (const char *)b.p, b.n);
	s.end = s.p + b.n;
	if (strlen(s.p) != b.n)
		return bad(&s, "a zero byte");
	if (!take_value(&s, 0, out))
		return false;
	skip_space(&s);
	return s.p == s.end || bad(&s, "text after the value");
}

/* ---- looking up ---------------------------------------------------------------------- */

const struct json *
json_get(const struct json *o, const char *key)
{
	if (!o || o->kind != JSON_OBJECT)
		return NULL;
	for (size_t i = 0; i < o->n; i++)
		if (!strcmp(o->item[i].key, key))
			return &o->item[i];
	return NULL;
}

double
json_number(const struct json *o, const char *key, double missing)
{
	const struct json *v = json_get(o, key);
	return v && v->kind == JSON_NUMBER ? v->number : missing;
}

const char *
json_string(const struct json *o, const char *key, const char *missing)
{
	const struct json *v = json_get(o, key);
	return v && v->kind == JSON_STRING ? v->string : missing;
}

bool
json_true(const struct json *o, const char *key)
{
	const struct json *v = json_get(o, key);
	return v && v->kind == JSON_BOOL && v->number > 0;
}

const struct json *
json_items(const struct json *o, const char *key, size_t *n)
{
	const struct json *v = json_get(o, key);
	*n = v && v->kind == JSON_ARRAY ? v->n : 0;
	return *n ? v->item : NULL;
}
