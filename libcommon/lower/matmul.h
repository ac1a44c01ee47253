/* SPDX-License-Identifier: Apache-2.0 */
/* Products of two matrices, both computed, for both front ends. */
#ifndef LOWER_MATMUL_H
#define LOWER_MATMUL_H

#include "lower/nd.h"

/* a [rows][depth] times b [cols][depth], both less their zero points */
struct low_matmul {
	struct nd a, b; /* depth along neighbours */
	int32_t a_zero, b_zero;
	const struct nd *bias; /* words [cols] along neighbours, or NULL */
};

/* matmul.c */
/* does one operation do it?  (LACK_MATMUL)  Of 16 bits, sums have 48 then */
bool low_matmul_is_native(const struct lower *l, const struct low_matmul *m);
/*
 * How many blocks it takes: by one operation or, of a block of rows and columns, all
 * products by one and a REDUCE_SUM that adds them
 */
int64_t low_matmul_blocks(const struct lower *l, const struct low_matmul *m);
/* out [rows][cols]; `made` completes REDUCE_SUM, MATMUL, or ADD of a bias */
void low_matmul(struct lower *l, const struct low_matmul *m, const struct nd *out,
		nd_made *made, void *ctx);

/*
 * wide.c: sums of products of 16 bits, which no operation gives where MATMUL is not
 * native: one operand in two halves of 8 bits, and two sums of words.
 */
enum { LOW_WIDE_DEPTH = 510 }; /* sums of 2^22 each, and their carry, fit 32 bits */
struct low_wide {
	struct nd a, b;		/* operands, of all batches */
	struct npu_scale scale; /* mult has 15 bits or less */
	/* words in out's dimensions: all products, `half` instead of a, or of b */
	struct nd (*sums)(void *ctx, const struct nd *half, bool of_a);
	nd_made *made; /* zero point, clamp, table of the last operation */
	void *ctx;
};
/* sums * mult / 2^shift, halves up */
void low_multiply_wide(struct lower *l, const struct low_wide *w, const struct nd *out);

#endif
