/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A quantized network in real numbers: weights and biases as their integers say,
 * every operator by its definition in doubles, nothing rounded or clipped but by
 * fused activations.  run.c finds an operator's function; the others have them, a
 * family a file.
 */
#ifndef NPU_EVAL_REAL_H
#define NPU_EVAL_REAL_H

#include "tflite/tflite.h"

struct real {
	struct arena *a;
	const struct tfl_subgraph *g;
	double **value; /* of each tensor, in C order; NULL: it is not quantized */
	int32_t **map;  /* move.c: of operators that only move elements */
	bool *known;	/* of operators: is there a function for them? */
};

/* constants of g's quantized tensors have their values then, others 0 */
struct real *real_open(struct arena *a, const struct tfl_subgraph *g);
/* can the operator be computed so? */
bool real_knows(const struct real *r, int op);
/* the operator's outputs from its inputs; it is known */
void real_run(struct real *r, int op);

/* quantized, of integers: what has a form in real numbers here */
bool is_real(const struct tfl_tensor *t);
/* what the integers at p say */
void real_from_integers(const struct tfl_tensor *t, const void *p, double *out);

/* ---- for the files of functions ------------------------------------------------ */

struct real_op {
	struct real *r;
	const struct tfl_op *op;
	int index;
};
const struct tfl_tensor *real_in(const struct real_op *o, int k); /* NULL: absent */
const struct tfl_tensor *real_out(const struct real_op *o, int k);
double *real_x(const struct real_op *o, int k); /* values of input k; NULL: absent */
double *real_y(const struct real_op *o, int k);
double real_clamp(double v, int64_t activation);
int64_t real_rows(const struct tfl_tensor *t); /* elements before the last dimension */
int32_t real_depth(const struct tfl_tensor *t); /* the last dimension */
/* constant integers; false: they are none, or more than max */
bool real_ints(const struct tfl_tensor *t, int64_t *out, int max, int *n);

typedef void real_function(const struct real_op *o);
real_function real_conv, real_depthwise, real_fc, real_transpose_conv, real_matmul,
    real_svdf;				     /* products.c */
real_function real_unary, real_binary;	     /* elements.c */
real_function real_pool, real_reduce, real_softmax, real_unit, real_bilinear; /* rows.c */
/* move.c: where each element of the outputs comes from; NULL: it does not move */
int32_t *real_map(struct arena *a, const struct tfl_subgraph *g, int op);
real_function real_move;

#endif
