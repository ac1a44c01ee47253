/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing buffer for output, with the number formats of our text files.  An empty
 * buffer is all zero; text_free() frees the memory.
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
void text_show(struct text *t, FILE *f); /* writes to f, frees t */
const char *text_str(struct text *t); /* NUL-terminated view */
char *text_reserve(struct text *t, size_t n); /* capacity for n bytes behind t->n */

void text_put(struct text *t, const void *p, size_t n);
void text_put_le32(struct text *t, uint32_t v); /* four bytes, the lowest first */
void text_puts(struct text *t, const char *s);
void text_putc(struct text *t, char c);
void text_printf(struct text *t, const char *fmt, ...) PRINTF(2, 3);
void text_i64(struct text *t, int64_t v); /* decimal, fast */
void text_hex(struct text *t, uint64_t v); /* 0x1f0 */
void text_float(struct text *t, float v); /* shortest text that reads back as the same value */
void text_double(struct text *t, double v);
/*
 * A number of a report: whole numbers have neither exponent nor a sign of zero.  The second
 * one rounds to a multiple of 1 / parts first, unless the number is too large for that.
 */
void text_number(struct text *t, double v);
void text_rounded(struct text *t, double v, double parts);
/* Also the shortest text, in the format of Python's repr: 1.0, 500000000.0, 1e-05 */
void text_repr(struct text *t, double v);

/* Returns s without the suffix; s itself if it has another one, or is the suffix. */
const char *text_cut(struct arena *a, const char *s, const char *suffix);

/* characters of UTF-8 in s, and bytes of the first n of them (of all if there are fewer) */
size_t text_width(const char *s);
size_t text_prefix(const char *s, size_t n);

/* The first and the last characters of s, with two dots between them.  Needs: s has more. */
const char *text_elided(struct arena *a, const char *s, size_t front, size_t back);

/* Returns s, or its begin and its end with two dots between them, n characters together. */
const char *text_shortened(struct arena *a, const char *s, size_t n);

/*
 * Text from outside, such as a name in a model, holds any byte.  It goes through the one
 * function of the format that it is written to: text_plain() or text_make_plain() for lines
 * of a terminal, text_quoted() for JSON, text_yaml(), text_graph_string() and
 * text_graph_word() for graph files, text_c_string(), text_csv(), text_html().
 */

/*
 * Returns s made safe for one line of a terminal: bytes that are not UTF-8, control
 * characters (C1, too), and characters that change the direction of the line become '?'.
 * Returns s itself if it has none.  text_make_plain() does the same in place.
 */
const char *text_plain(struct arena *a, const char *s);
void text_make_plain(char *s);

/* Returns true if s ends with the suffix; false if s is NULL. */
bool text_has_suffix(const char *s, const char *suffix);

/*
 * Appends a string of JSON.  The characters that text_plain() replaces are escaped, and
 * bytes that are not UTF-8 become U+FFFD.
 */
void text_quoted(struct text *t, const char *s, size_t n);
/* Appends a string of YAML: as it is if YAML reads it as this string, else in quotes. */
void text_yaml(struct text *t, const char *s);
/* Appends a quoted string of a graph file: all bytes are kept. */
void text_graph_string(struct text *t, const char *s, size_t n);
/* Appends a word of a graph file: quoted if it would end early, or is empty. */
void text_graph_word(struct text *t, const char *s);
/* Appends a string literal of C, escaped so that it has no trigraphs or early end. */
void text_c_string(struct text *t, const char *s);

/* Appends text for XML and HTML, with ? for control characters and bytes that are not UTF-8. */
void text_html(struct text *t, const char *s);

/* Appends a word of a command for a shell, in quotes if it needs them, on one line. */
void text_shell(struct text *t, const char *word);

/* Appends a CSV field, quoted if necessary. */
void text_csv(struct text *t, const char *s);

/* Appends base64 in lines of BASE64_LINE characters; each line ends with a newline. */
enum { BASE64_LINE = 76 };
void text_base64(struct text *t, const void *p, size_t n);

/*
 * Decodes base64 text (newlines are allowed anywhere) into exactly n bytes at out.
 * Returns false if the text has other characters, or another number of bytes.  out may
 * be equal to s.
 */
bool base64_decode(const char *s, size_t len, void *out, size_t n);

#endif
