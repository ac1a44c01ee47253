/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_out.h"

#include "base/arena.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* True if a value or a closing bracket is the last text but blanks. */
static bool
follows_value(const struct text *t)
{
	size_t n = t->n;
	while (n && (t->p[n - 1] == ' ' || t->p[n - 1] == '\n'))
		n--;
	return n && !strchr("{[,", t->p[n - 1]);
}

void
json_root(const struct json_out *j, char bracket)
{
	text_putc(j->t, bracket);
	if (j->style == JSON_PADDED && bracket == '{')
		text_putc(j->t, ' ');
}

void
json_line(const struct json_out *j, int indent)
{
	if (follows_value(j->t))
		text_putc(j->t, ',');
	text_printf(j->t, "\n%*s", indent, "");
}

void
json_key(const struct json_out *j, const char *key)
{
	if (follows_value(j->t))
		text_puts(j->t, j->style == JSON_COMPACT ? "," : ", ");
	if (key)
		text_printf(j->t, "\"%s\":%s", key, j->style == JSON_COMPACT ? "" : " ");
}

void
json_open(const struct json_out *j, const char *key, char bracket)
{
	json_key(j, key);
	json_root(j, bracket);
}

void
json_close(const struct json_out *j, char bracket)
{
	if (j->style == JSON_PADDED && bracket == '}')
		text_putc(j->t, ' ');
	text_putc(j->t, bracket);
}

void
json_close_line(const struct json_out *j, int indent, char bracket)
{
	text_printf(j->t, "\n%*s%c", indent, "", bracket);
}

void
json_put_i64(const struct json_out *j, const char *key, int64_t v)
{
	json_key(j, key);
	text_i64(j->t, v);
}

void
json_put_f64(const struct json_out *j, const char *key, double v)
{
	json_key(j, key);
	if (isfinite(v))
		text_number(j->t, v);
	else
		text_puts(j->t, "null");
}

void
json_put_rounded(const struct json_out *j, const char *key, double v, double parts)
{
	json_key(j, key);
	if (isfinite(v))
		text_rounded(j->t, v, parts);
	else
		text_puts(j->t, "null");
}

void
json_put_bool(const struct json_out *j, const char *key, bool v)
{
	json_key(j, key);
	text_puts(j->t, v ? "true" : "false");
}

void
json_put_null(const struct json_out *j, const char *key)
{
	json_key(j, key);
	text_puts(j->t, "null");
}

void
json_put_string(const struct json_out *j, const char *key, const char *s)
{
	struct text quoted = { 0 };
	json_key(j, key);
	if (!s) {
		text_puts(j->t, "null");
		return;
	}
	text_quoted(j->in_page ? &quoted : j->t, s, strlen(s));
	for (size_t i = 0; i < quoted.n; i++)
		if (strchr("<>&", quoted.p[i]))
			text_printf(j->t, "\\u%04x", (unsigned)quoted.p[i]);
		else
			text_putc(j->t, quoted.p[i]);
	text_free(&quoted);
}

void
json_put_format(const struct json_out *j, const char *key, const char *fmt, ...)
{
	struct arena *a = arena_open();
	va_list ap;
	va_start(ap, fmt);
	json_put_string(j, key, arena_vprintf(a, fmt, ap));
	va_end(ap);
	arena_close(a);
}

void
json_put_i32s(const struct json_out *j, const char *key, const int32_t *v, size_t n)
{
	json_open(j, key, '[');
	for (size_t i = 0; i < n; i++)
		json_put_i64(j, NULL, v[i]);
	json_close(j, ']');
}
