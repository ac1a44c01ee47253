/* SPDX-License-Identifier: Apache-2.0 */
/* NumPy's .npy files: formats 1.0 to 3.0, little-endian, C order. */
#ifndef BASE_NPY_H
#define BASE_NPY_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/text.h"

enum { NPY_MAX_RANK = 8 };

struct npy {
	char kind;	/* 'i', 'u', 'f' or 'b' */
	int item_bytes; /* 1, 2, 4 or 8 */
	int rank;
	int64_t dim[NPY_MAX_RANK];
	struct bytes data; /* points into the file; see npy_parse_head() */
};

bool npy_is(struct bytes file); /* does the file begin with the magic? */
/* Parses a whole file; name is for error messages. */
bool npy_parse(struct bytes file, const char *name, struct npy *out,
	       struct err *e);
/*
 * Like npy_parse(), but with only the first bytes of the file, which has file_bytes in
 * total.  head must have NPY_MAX_HEAD bytes, or the whole file if it is shorter.  data.p
 * is NULL; *at is the data's offset in the file.
 */
enum { NPY_MAX_HEAD = 4096 };
bool npy_parse_head(struct bytes head, uint64_t file_bytes, const char *name,
		    struct npy *out, uint64_t *at, struct err *e);
/* Element i as a number; a float has 4 or 8 bytes. */
double npy_number(const struct npy *n, size_t i);
/* Prints the header of a file, without the data. */
void npy_print_head(struct text *t, const struct npy *n);
void npy_print(struct text *t, const struct npy *n); /* prints a whole file */

#endif
