/* SPDX-License-Identifier: Apache-2.0 */
/* NumPy's .npy files, format 1.0 to 3.0, little-endian, C order. */
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
	struct bytes data; /* points into the file */
};

bool npy_is(struct bytes file); /* does it begin with the magic? */
bool npy_parse(struct bytes file, const char *name, struct npy *out,
	       struct err *e);
void npy_print(struct text *t, const struct npy *n); /* a whole file */

#endif
