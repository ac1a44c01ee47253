/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parser of records (read.c) and the parser of values (values.c). */
#ifndef GRAPH_PARSE_H
#define GRAPH_PARSE_H

#include "graph/fields.h"

/* a reference, resolved when all records are read */
struct fixup {
	void **at;
	enum record_kind kind;
	int id;
	unsigned line;
};

struct parse {
	struct graph *g;
	struct arena *a;
	const char *file;
	const char *p, *end; /* the unread text */
	unsigned line;
	struct fixup *fixup;
	size_t n_fixups, cap_fixups;
	const char *comments; /* comment lines for the next record, or NULL */
	size_t comments_len;
	struct err *e;
	const char *key; /* current key, for error messages */
};

/* a cursor inside one value; bad is set on the first error */
struct cur {
	const char *p, *end;
	bool bad;
};

#define BAD(s, ...) err_at((s)->e, (s)->file, (s)->line, __VA_ARGS__)

/* Reports "KEY wants WHAT". */
bool value_is_bad(struct parse *s, const char *what);

/* These functions consume text at the cursor, or set c->bad. */
int64_t take_int(struct cur *c, int64_t min, int64_t max);
void want_char(struct cur *c, char want);

/* the inverse of text_graph_string(); the caller has removed the quotes */
bool parse_string(struct parse *s, struct cur *c, const char **out);
bool parse_enum(struct parse *s, struct cur *c, const char *const *names,
		int *out);
/* Returns the next line, without its newline; NULL at the end. */
const char *parse_next_line(struct parse *s, const char **end);
/* Reads the keyword of a line, one of n tables; -1: an error.  Result: *p is behind it. */
int parse_keyword(struct parse *s, const struct record_desc *d, int n, const char **p,
		  const char *end);
/* Reads the rest of a record's line. */
bool parse_fields(struct parse *s, const struct record_desc *d, struct g_rec *r, const char *p,
		  const char *end);
/* Parses a value of kind k->kind into the field at p. */
bool parse_value(struct parse *s, const struct key_desc *k, struct cur *c,
		 void *p);

#endif
