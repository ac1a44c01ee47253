/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reference kernels of TOSA's integer operators: the specification's arithmetic,
 * computed in 64 bits.  If a precondition is violated, for which the specification
 * leaves the result undefined, the kernel records a warning and continues.
 */
#ifndef TOSAKERNELS_TOSAKERNELS_H
#define TOSAKERNELS_TOSAKERNELS_H

#include "tosa/tosa.h"

struct tosa_run {
	struct arena *a; /* scratch memory */
	const struct tosa_graph *g;
	const struct tosa_op *op;
	const int64_t *const *in; /* elements of each operand, except for shapes */
	int64_t *out;
	bool warned;	  /* the first violation has been recorded */
	char text[200];	  /* that violation, or an empty string */
};

/* Runs r->op and fills r->out.  A non-empty r->text is then a warning. */
void tosa_eval(struct tosa_run *r);

/* ---- for kernels ---------------------------------------------------------------- */

/* Records the violated rule and value; ignores all but the first. */
void tosa_warn(struct tosa_run *r, const char *fmt, ...) PRINTF(2, 3);

/* window.c */
void tosa_run_conv(struct tosa_run *r);
void tosa_run_transpose_conv(struct tosa_run *r);
void tosa_run_matmul(struct tosa_run *r);
void tosa_run_avg_pool(struct tosa_run *r);
void tosa_run_max_pool(struct tosa_run *r);
/* element.c: operators that compute each element separately */
void tosa_run_unary(struct tosa_run *r);
void tosa_run_binary(struct tosa_run *r);
void tosa_run_select(struct tosa_run *r);
void tosa_run_table(struct tosa_run *r);
void tosa_run_rescale(struct tosa_run *r);
/* move.c */
void tosa_run_concat(struct tosa_run *r);
void tosa_run_move(struct tosa_run *r);
void tosa_run_gather(struct tosa_run *r);
void tosa_run_scatter(struct tosa_run *r);
void tosa_run_resize(struct tosa_run *r);
/* reduce.c */
void tosa_run_reduce(struct tosa_run *r);
void tosa_run_argmax(struct tosa_run *r);

#endif
