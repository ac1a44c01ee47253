/* SPDX-License-Identifier: Apache-2.0 */
/* Between records (read.c) and the values of their keys (values.c). */
#ifndef GRAPH_PARSE_H
#define GRAPH_PARSE_H

#include "graph/fields.h"

/* a reference waits until all records are known */
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
	const char *p, *end; /* the rest of the text */
	unsigned line;
	struct fixup *fixup;
	size_t n_fixups, cap_fixups;
	const char *comments; /* waiting for the record below them */
	size_t comments_len;
	struct err *e;
	const char *key; /* being parsed, for diagnostics */
};

/* a cursor inside one value */
struct cur {
	const char *p, *end;
	bool bad;
};

#define BAD(s, ...) err_at((s)->e, (s)->file, (s)->line, __VA_ARGS__)

/* "KEY wants WHAT" */
bool value_is_bad(struct parse *s, const char *what);

/* these move the cursor behind what they take, or mark it bad */
int64_t take_int(struct cur *c, int64_t min, int64_t max);
void want_char(struct cur *c, char want);

bool parse_enum(struct parse *s, struct cur *c, const char *const *names,
		int *out);
/* a value of kind k->kind into the field at p */
bool parse_value(struct parse *s, const struct key_desc *k, struct cur *c,
		 void *p);

#endif
