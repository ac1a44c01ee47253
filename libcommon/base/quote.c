/* SPDX-License-Identifier: Apache-2.0 */
/* Text from outside, written to each format by one function. */
#include "base/arena.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool
is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

/* Bytes of the character at s; 0 if it is not valid UTF-8, or no character of XML. */
static size_t
utf8_length(const char *s)
{
	const unsigned char *c = (const unsigned char *)s;
	size_t n = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2
		   : c[0] < 0xf0 ? 3 : c[0] < 0xf5 ? 4 : 0;
	for (size_t i = 1; i < n; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	/* surrogates, overlong encodings, code points beyond the last plane, U+FFFE, U+FFFF */
	bool bad = n > 2 && ((c[0] == 0xe0 && c[1] < 0xa0) ||
			     (c[0] == 0xed && c[1] > 0x9f) ||
			     (c[0] == 0xf0 && c[1] < 0x90) ||
			     (c[0] == 0xf4 && c[1] > 0x8f) ||
			     (c[0] == 0xef && c[1] == 0xbf && c[2] > 0xbd));
	return bad ? 0 : n;
}

/* the code point of the valid character of n bytes at s, if it has less than 4 bytes */
static unsigned
code_point(const char *s, size_t n)
{
	const unsigned char *c = (const unsigned char *)s;
	if (n == 2)
		return (c[0] & 0x1fu) << 6 | (c[1] & 0x3fu);
	if (n == 3)
		return (c[0] & 0xfu) << 12 | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu);
	return c[0];
}

/*
 * Characters that a terminal obeys or that reorder a line: controls, the separators of
 * lines, marks and overrides of the direction, the byte order mark.
 */
static bool
is_obeyed(unsigned c)
{
	static const unsigned ranges[][2] = {
		{ 0, 0x1f }, { 0x7f, 0x9f }, { 0x61c, 0x61c }, { 0x200e, 0x200f },
		{ 0x2028, 0x202e }, { 0x2066, 0x2069 }, { 0xfeff, 0xfeff },
	};
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		if (c >= ranges[i][0] && c <= ranges[i][1])
			return true;
	return false;
}

/* Length of the character at s, which is safe to show as it is; 0: it is not. */
static size_t
shown_length(const char *s)
{
	if (*s >= ' ' && *s < 0x7f)
		return 1;
	size_t n = utf8_length(s);
	return n && (n > 3 || !is_obeyed(code_point(s, n))) ? n : 0;
}

void
text_make_plain(char *s)
{
	char *to = s;
	for (size_t n; *s; s += n) {
		size_t shown = shown_length(s);
		n = shown ? shown : utf8_length(s);
		n = n ? n : 1;
		if (shown)
			memmove(to, s, n);
		else
			*to = '?';
		to += shown ? n : 1;
	}
	*to = '\0';
}

const char *
text_plain(struct arena *a, const char *s)
{
	const char *p = s;
	for (size_t n; *p && (n = shown_length(p)) != 0;)
		p += n;
	if (!*p)
		return s;
	char *out = arena_strdup(a, s);
	text_make_plain(out);
	return out;
}

void
text_quoted(struct text *t, const char *s, size_t n)
{
	text_putc(t, '"');
	for (size_t i = 0, k; i < n; i += k) {
		size_t shown = shown_length(s + i);
		k = shown ? shown : utf8_length(s + i);
		bool whole = k && k <= n - i;
		if (!whole) {
			text_puts(t, "\xef\xbf\xbd"); /* U+FFFD */
			k = 1;
		} else if (!shown) {
			text_printf(t, "\\u%04x", code_point(s + i, k));
		} else {
			if (s[i] == '"' || s[i] == '\\')
				text_putc(t, '\\');
			text_put(t, s + i, k);
		}
	}
	text_putc(t, '"');
}

void
text_graph_string(struct text *t, const char *s, size_t n)
{
	text_putc(t, '"');
	for (size_t i = 0, plain; i < n; i = plain + 1) {
		for (plain = i; plain < n && s[plain] != '"' && s[plain] != '\\' &&
				!is_control(s[plain]);)
			plain++;
		text_put(t, s + i, plain - i);
		if (plain == n)
			break;
		if (is_control(s[plain]))
			text_printf(t, "\\u%04x", (unsigned)(unsigned char)s[plain]);
		else
			text_printf(t, "\\%c", s[plain]);
	}
	text_putc(t, '"');
}

void
text_graph_word(struct text *t, const char *s)
{
	const char *p = s;
	while (*p > ' ' && *p < 0x7f && *p != '"' && *p != '\\' && *p != '#')
		p++;
	if (*s && !*p)
		text_puts(t, s);
	else
		text_graph_string(t, s, strlen(s));
}

/* true for names that YAML reads as another type than a string */
static bool
is_yaml_word(const char *s)
{
	static const char *const words[] = { "null", "true", "false", "yes", "no", "on",
					     "off", "y", "n" };
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcasecmp(s, words[i]))
			return true;
	return false;
}

void
text_yaml(struct text *t, const char *s)
{
	const char *p = s;
	bool letter = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || *s == '_';
	while ((*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
	       (*p >= 'A' && *p <= 'Z') || (*p && strchr("_./;()+=", *p)))
		p++;
	if (letter && !*p && !is_yaml_word(s))
		text_puts(t, s);
	else
		text_quoted(t, s, strlen(s));
}

void
text_csv(struct text *t, const char *s)
{
	if (!strpbrk(s, ",\"\r\n")) {
		text_puts(t, s);
		return;
	}
	text_putc(t, '"');
	for (; *s; s++) {
		if (*s == '"')
			text_putc(t, '"');
		text_putc(t, *s);
	}
	text_putc(t, '"');
}

void
text_c_string(struct text *t, const char *s)
{
	text_putc(t, '"');
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '?')
			text_printf(t, "\\%03o", c);
		else
			text_putc(t, (char)c);
	}
	text_putc(t, '"');
}

void
text_html(struct text *t, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		size_t n = utf8_length(s);
		if (n > 1) {
			text_put(t, s, n);
			s += n - 1;
		} else if (n == 0) {
			text_putc(t, '?');
		} else if (c == '&')
			text_puts(t, "&amp;");
		else if (c == '<')
			text_puts(t, "&lt;");
		else if (c == '>')
			text_puts(t, "&gt;");
		else if (c == '"')
			text_puts(t, "&quot;");
		else if (c < ' ' || c == 0x7f) /* XML excludes these characters */
			text_putc(t, '?');
		else
			text_putc(t, *s);
	}
}

void
text_shell(struct text *t, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./:,@";
	if (*word && !word[strspn(word, plain)]) {
		text_puts(t, word);
		return;
	}
	bool has_control = false;
	for (const char *s = word; *s; s++)
		has_control |= (unsigned char)*s < ' ' || *s == 0x7f;
	/* control characters are escapes of bash, so that the command stays on one line */
	text_puts(t, has_control ? "$'" : "'");
	for (; has_control && *word; word++)
		if ((unsigned char)*word < ' ' || *word == 0x7f)
			text_printf(t, "\\%03o", (unsigned)(unsigned char)*word);
		else
			text_printf(t, strchr("'\\", *word) ? "\\%c" : "%c", *word);
	for (; *word; word++)
		text_puts(t, *word == '\'' ? "'\\''" : (char[]){ *word, '\0' });
	text_putc(t, '\'');
}
