/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FlatBuffers: a description of tables, and reading a verified file by it.  Format:
 * nputools-tflite(5).
 */
#ifndef TFLITE_FLATBUFFERS_H
#define TFLITE_FLATBUFFERS_H

#include "base/bytes.h"

#include <stdbool.h>

struct err;

/* ---- tables ----------------------------------------------------------- */

enum fb_kind {
	FB_NONE, /* slot that the schema does not use */
	FB_BOOL, FB_I8, FB_U8, FB_I16, FB_U16, FB_I32, FB_U32, FB_I64, FB_U64,
	FB_F32, FB_F64,
	FB_STRING, FB_CHILD_TABLE, FB_UNION_VALUE,
	FB_VEC = 32,		/* added to a scalar kind: a vector of scalars */
	FB_VEC_TABLE = 64,
	FB_VEC_STRING,
};

struct fb_field {
	const char *name;
	int kind;
	int align;   /* of a vector's elements, if larger than their size */
	double def;  /* default value of a scalar */
	const struct fb_table *child;
	const struct fb_union *members; /* of a union, whose tag is in the slot before */
};

struct fb_table {
	const char *name;
	int n_slots;
	const struct fb_field *slot;
};

struct fb_union {
	const char *name;
	int n; /* number of tags; member[tag] is NULL for opaque and unused tags */
	const struct fb_table *const *member;
};

/* ---- reading a verified buffer ---------------------------------------- */

/* a table in a verified buffer; buf NULL: absent, all fields have their defaults */
struct fb_ref {
	const uint8_t *buf;
	size_t pos;
	const struct fb_table *table;
};

struct fb_vec {
	const uint8_t *p; /* first element; it may be unaligned */
	uint32_t n;
};

/*
 * A format of FlatBuffers files.  fb_verify_as() checks everything that is reachable
 * from the root against the rules of nputools-tflite(5) 2: bounds, counts, strings,
 * depth, number of tables.  Alignment is not checked: real files break it, and fields
 * and elements are read byte by byte.
 */
struct fb_format {
	const char *id;	  /* four characters at byte 4 of a file */
	const char *what; /* example: "a TFLite model" */
	const struct fb_table *root;
};
/*
 * Returns what a file is, by its identifier, and which program reads it: "a TOSA graph
 * ...".  Returns NULL if the identifier is unknown.
 */
const char *fb_identify(struct bytes file);
bool fb_verify_as(const struct fb_format *f, struct bytes file, const char *name,
		  struct fb_ref *root, struct err *e);
/* fb_verify_as() for a TFLite model */
bool fb_verify(struct bytes file, const char *name, struct fb_ref *root,
	       struct err *e);

bool fb_has(struct fb_ref t, int slot);
int64_t fb_int(struct fb_ref t, int slot);   /* any integer or bool */
double fb_float(struct fb_ref t, int slot);
struct fb_ref fb_child(struct fb_ref t, int slot); /* a table or the value of a union */
struct fb_vec fb_vector(struct fb_ref t, int slot);
struct fb_ref fb_item(struct fb_ref t, int slot, uint32_t i); /* element of FB_VEC_TABLE */
/* Returns "" if the string is absent.  len may be NULL. */
const char *fb_string(struct fb_ref t, int slot, size_t *len);
/* element i of FB_VEC_STRING */
const char *fb_text(struct fb_ref t, int slot, uint32_t i, size_t *len);

#endif
