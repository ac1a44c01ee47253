/* SPDX-License-Identifier: Apache-2.0 */
/* Products of two matrices, neither of them constant. */
#ifndef TFL_PARTITION_MATMUL_H
#define TFL_PARTITION_MATMUL_H

#include "../moves/move.h"

#include "lower/matmul.h"

/* ofm = a * b: a is [rows][depth], b [depth][cols]; adj_a, adj_b: stored transposed */
struct matmul {
	const struct tfl_tensor *a, *b, *ofm, *bias;
	bool adj_a, adj_b;
	int32_t rows, cols, depth;
	int64_t batches;
	int32_t zero_a, zero_b;
};

/*
 * matmul.c: out = a * b for every batch.  a and b have the shapes of m->a and m->b,
 * `out` that of m->ofm; their element types may differ from m's.
 */
void multiply_matrices(struct part *p, const struct matmul *m, struct nd a, struct nd b,
		       const struct nd *out, const struct low_end *end);

/* matmul16.c: INT16; ratio: of the scales; native: the NPU's sums have 48 bits */
const char *read_wide(const struct part *p, const struct matmul *m, double ratio,
		      bool native, struct low_end *end);
void lower_wide(struct part *p, const struct lop *o);

#endif
