/* SPDX-License-Identifier: Apache-2.0 */
/* Parses JSON (RFC 8259) into a tree.  Our programs read their own reports with it. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/arena.h"
#include "base/bytes.h"

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY,
		 JSON_OBJECT };

struct json {
	enum json_kind kind;
	const char *key;    /* the member's name in an object; else NULL */
	double number;	    /* the value of a number; of a bool, 0 or 1 */
	const char *string; /* UTF-8; "" for other kinds */
	size_t n;	    /* number of items of an array or an object */
	struct json *item;
};

/*
 * Parses all of b into the arena.  On failure the error names FILE:LINE and the reason.
 * Values may be nested at most 64 deep; strings can't hold a zero byte.
 */
bool json_parse(struct arena *a, struct bytes b, const char *file,
		struct json *out, struct err *e);

/*
 * Returns the member of an object with this name; NULL if there is no such member, or o
 * is not an object.
 */
const struct json *json_get(const struct json *o, const char *key);
/*
 * Return the value of a member.  If the member does not exist or has another kind, they
 * return `missing`; json_true() returns false.
 */
double json_number(const struct json *o, const char *key, double missing);
const char *json_string(const struct json *o, const char *key, const char *missing);
bool json_true(const struct json *o, const char *key);
/*
 * Returns the items of an array member and sets *n to their number.  Returns NULL and
 * sets *n to 0 if the member is empty, does not exist or is not an array.
 */
const struct json *json_items(const struct json *o, const char *key, size_t *n);

#endif
