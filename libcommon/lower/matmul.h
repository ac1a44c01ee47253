/* SPDX-License-Identifier: Apache-2.0 */
/* Products of two computed matrices, for both front ends. */
#ifndef LOWER_MATMUL_H
#define LOWER_MATMUL_H

#include "lower/nd.h"

/* a [rows][depth] times the transpose of b [cols][depth], both minus their zero points */
struct low_matmul {
	struct nd a, b; /* depth is contiguous in memory */
	int32_t a_zero, b_zero;
	const struct nd *bias; /* words [cols], contiguous; NULL: none */
};

/* matmul.c */
/*
 * Returns true if one operation computes the product of two matrices (low_has(l,
 * LACK_MATMUL)).  Sums of 16-bit products then have 48 bits.
 */
bool low_matmul_is_native(const struct lower *l, const struct low_matmul *m);
/*
 * Returns the number of blocks of a batch: 1 if native.  Otherwise one operation makes all
 * products of a block of rows and columns, and a REDUCE_SUM adds them.
 */
int64_t low_matmul_blocks(const struct lower *l, const struct low_matmul *m);
/*
 * Writes out [rows][cols].  `end` ends the last operation: REDUCE_SUM, MATMUL, or
 * the ADD of a bias.
 */
void low_matmul(struct lower *l, const struct low_matmul *m, const struct nd *out,
		const struct low_end *end);
/*
 * The same for all batches: a is [batch...][row][depth], b [batch...][col][depth], and out
 * [batch...][row][col].  Copies each matrix whose depth is not contiguous.
 */
void low_matmul_all(struct lower *l, const struct low_matmul *m, const struct nd *out,
		    const struct low_end *end);

/*
 * wide.c: sums of 16-bit products where MATMUL is not native, so that no single
 * operation computes them.  One operand is split into two halves of 8 bits, which gives
 * two sums of words.
 */
enum { LOW_WIDE_DEPTH = 510 }; /* up to here, sums of terms of 2^22 and their carry fit
				* 32 bits */
struct low_wide {
	struct nd a, b;		/* operands, all batches */
	struct npu_scale scale; /* mult has at most 15 bits */
	/* Writes the sums of all products, as words in out's dimensions. */
	void (*multiply)(void *ctx, const struct nd *a, const struct nd *b, const struct nd *sums);
	void *ctx;
	const struct low_end *end; /* of the last operation, which scales already */
};
/* Writes sums * mult / 2^shift, halves rounded up. */
void low_multiply_wide(struct lower *l, const struct low_wide *w, const struct nd *out);

#endif
