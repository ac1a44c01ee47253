/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing buffer for output, with the number formats of our text files.
 * All zero is an empty buffer; text_free gives it back.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/diag.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct arena;

struct text {
	char *p; /* not NUL-terminated; see text_str */
	size_t n, cap;
};

void text_free(struct text *t);
void text_show(struct text *t, FILE *f); /* writes it, and frees it */
const char *text_str(struct text *t); /* NUL-terminated view */
char *text_room(struct text *t, size_t n); /* at least n bytes behind t->n */

void text_put(struct text *t, const void *p, size_t n);
void text_puts(struct text *t, const char *s);
void text_putc(struct text *t, char c);
void text_printf(struct text *t, const char *fmt, ...) PRINTF(2, 3);
void text_i64(struct text *t, int64_t v); /* decimal, fast */
void text_hex(struct text *t, uint64_t v); /* 0x1f0 */
void text_float(struct text *t, float v); /* shortest that reads back equal */
void text_double(struct text *t, double v);
/* the shortest too, as Python's repr writes it: 1.0, 500000000.0, 1e-05 */
void text_repr(struct text *t, double v);

/*
 * s as it may go to a terminal, a line: control characters, which names out of a
 * model may hold, are '?'.  s itself, where there are none.
 */
const char *text_plain(struct arena *a, const char *s);

/* a quoted string: JSON's escapes; graph files use the same */
void text_quoted(struct text *t, const char *s, size_t n);
/* a string of C: no trigraph, nothing that ends it */
void text_c_string(struct text *t, const char *s);

/* a field of a table with commas: in quotes where it needs them */
void text_csv(struct text *t, const char *s);

/* base64, so many characters a line, every line ended by a newline */
enum { BASE64_LINE = 76 };
void text_base64(struct text *t, const void *p, size_t n);

/*
 * Decodes base64 text (newlines allowed anywhere) into exactly n bytes at out.
 * False if the text holds anything else, or another number of bytes.  out may be s.
 */
bool base64_decode(const char *s, size_t len, void *out, size_t n);

#endif
