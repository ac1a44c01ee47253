/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Printing JSON.  Strings are quoted, numbers that JSON lacks become null, and commas are put
 * where they belong: before a member whose text does not follow a bracket.
 *
 * A key is a name in the program, or NULL in an array.
 */
#ifndef BASE_JSON_OUT_H
#define BASE_JSON_OUT_H

#include "base/text.h"

#include <stdbool.h>

enum json_style { JSON_COMPACT, JSON_SPACED, JSON_PADDED }; /* {"a":1}  {"a": 1}  { "a": 1 } */

/* Where the text goes, and how members are apart. */
struct json_out {
	struct text *t;
	enum json_style style;
	bool in_page; /* a script of a page: strings have no <, > and & */
};

/* Begins the document: a bracket that belongs to no member. */
void json_root(const struct json_out *j, char bracket);
/* Appends a comma if one is needed, and the key; the caller appends the value. */
void json_key(const struct json_out *j, const char *key);
/* Begins the next member on a new line of this indentation. */
void json_line(const struct json_out *j, int indent);
/* Begins an object ('{') or array ('[') as a member. */
void json_open(const struct json_out *j, const char *key, char bracket);
/* Ends an object ('}') or array (']'); the second one on a new line of this indentation. */
void json_close(const struct json_out *j, char bracket);
void json_close_line(const struct json_out *j, int indent, char bracket);

void json_put_i64(const struct json_out *j, const char *key, int64_t v);
/* a number as text_number() and text_rounded() print it; null if it is not finite */
void json_put_f64(const struct json_out *j, const char *key, double v);
void json_put_rounded(const struct json_out *j, const char *key, double v, double parts);
void json_put_bool(const struct json_out *j, const char *key, bool v);
void json_put_null(const struct json_out *j, const char *key);
void json_put_string(const struct json_out *j, const char *key, const char *s); /* NULL: null */
void json_put_format(const struct json_out *j, const char *key, const char *fmt, ...)
	PRINTF(3, 4); /* a string */
void json_put_i32s(const struct json_out *j, const char *key, const int32_t *v, size_t n);

#endif
