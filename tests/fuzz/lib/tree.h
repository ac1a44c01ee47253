/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TFLite file in parts: every table that schema/tflite.def lists, with fields that
 * can be changed, and a file made of these tables again.
 */
#ifndef FUZZ_TREE_H
#define FUZZ_TREE_H

#include "tflite/tflite.h"

struct tree;

/* a field; all zero: absent from the file, or the default */
struct field {
	int64_t i; /* integers */
	double f;  /* F32, F64 */
	struct tree *child;	  /* CHILD_TABLE, UNION_VALUE */
	uint8_t *p;		  /* STRING and vectors of scalars: little-endian */
	struct tree **item;	  /* VEC_TABLE */
	size_t n;		  /* of elements or items */
	bool there;		  /* a vector or string is present, even an empty one */
};

struct tree {
	const struct fb_table *table;
	struct field *field; /* table->n_slots of them */
};

/* bytes of a vector's element; 1 for a string, 0 for other fields */
unsigned tree_unit(int kind);
struct tree *tree_new(struct arena *a, const struct fb_table *t);
/* reads a verified table; leaves out unions with members that are not listed */
struct tree *tree_read(struct arena *a, struct fb_ref t);
struct tree *tree_copy(struct arena *a, const struct tree *t);
/* false if the file is larger than max */
bool tree_write(const struct tree *t, uint8_t *out, size_t max, size_t *n);

/* elements of vectors of integers */
int64_t tree_get(const struct tree *t, int slot, size_t i);
void tree_set(struct tree *t, int slot, size_t i, int64_t v);
/* makes a vector of n elements: first the old ones, then repeated ones or zeros */
void tree_resize(struct arena *a, struct tree *t, int slot, size_t n);
void tree_insert(struct arena *a, struct tree *t, int slot, size_t at,
		 struct tree *item);
void tree_remove(struct tree *t, int slot, size_t at);

#endif
