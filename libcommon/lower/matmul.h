/* SPDX-License-Identifier: Apache-2.0 */
/* Products of two computed matrices, for both front ends. */
#ifndef LOWER_MATMUL_H
#define LOWER_MATMUL_H

#include "lower/nd.h"

/*
 * For each batch, a [batch...][row][depth] times the transpose of b [batch...][column][depth], both
 * minus their zero points.  A batch axis of 1 is repeated.
 */
struct low_matmul {
	struct nd a, b; /* a matrix whose depth is not contiguous is copied */
	int32_t a_zero, b_zero;
	const struct nd *bias; /* of a single batch: words [column], contiguous; NULL: none */
	bool fits;	       /* sums of 16-bit products fit words, or words are the result */
};

/* matmul.c */
/*
 * Returns true if one operation computes the product of two matrices (low_has(l,
 * LACK_MATMUL)).  Sums of 16-bit products then have 48 bits.  Otherwise one operation makes all
 * products of a block of rows and columns, and a REDUCE_SUM adds them.
 */
bool low_matmul_is_native(const struct lower *l, const struct low_matmul *m);
/* Returns NULL, or why the NPU can't multiply so many batches.  Depends on shapes and types. */
const char *low_matmul_check(const struct lower *l, const struct low_matmul *m, int64_t batches);
/*
 * Writes out [batch...][row][column].  `end` ends the last operation of each batch.  The
 * scale of sums that are wider than words (wide.c) has at most 15 bits and rounds halves up.
 */
void low_matmul(struct lower *l, const struct low_matmul *m, const struct nd *out,
		const struct low_end *end);

/*
 * wide.c: sums of 16-bit products where MATMUL is not native, so that no single
 * operation computes them.  One operand is split into two halves of 8 bits, which gives
 * two sums of words.
 */
enum { LOW_WIDE_DEPTH = 510 }; /* up to here, sums of terms of 2^22 and their carry fit
				* 32 bits */
void low_multiply_wide(struct lower *l, const struct low_matmul *m, const struct nd *out,
		       const struct low_end *end);

#endif
