/* SPDX-License-Identifier: Apache-2.0 */
/* JSON (RFC 8259) as a tree: what our own reports are read with. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/arena.h"
#include "base/bytes.h"

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY,
		 JSON_OBJECT };

struct json {
	enum json_kind kind;
	const char *key;    /* in an object, else NULL */
	double number;	    /* of a bool: 0 or 1 */
	const char *string; /* UTF-8; "" unless a string */
	size_t n;	    /* items */
	struct json *item;
};

/*
 * Parses all of b into the arena; FILE:LINE with what is wrong, otherwise.  At
 * most 64 levels deep; no string holds a zero byte.
 */
bool json_parse(struct arena *a, struct bytes b, const char *file,
		struct json *out, struct err *e);

/* a member of an object by its name; NULL: there is none, or o is no object */
const struct json *json_get(const struct json *o, const char *key);
/* the same by kind: what is missing or of another kind is missing */
double json_number(const struct json *o, const char *key, double missing);
const char *json_string(const struct json *o, const char *key, const char *missing);
bool json_true(const struct json *o, const char *key);
/* an array's items and how many; NULL and 0 */
const struct json *json_items(const struct json *o, const char *key, size_t *n);

#endif
