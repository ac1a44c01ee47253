/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tfl-tosa: a quantized TFLite network as a TOSA graph, operator by operator, as a
 * front end for PyTorch would have written it: scales are RESCALEs.  With TFLite's
 * rounding (DOUBLE_ROUND where the shift is above 31) convolutions compute TFLite's
 * bytes.  The functions stand under the name of their file.
 */
#ifndef TFLTOSA_TURN_H
#define TFLTOSA_TURN_H

#include "../gen-tosa/gen.h"

struct turn {
	struct gen *g;
	const struct tfl_subgraph *s;
	bool single;  /* SINGLE_ROUND, as ExecuTorch writes it */
	int *value;   /* of a TFLite tensor: the TOSA tensor, -1: none yet */
	const char *why; /* what an operator has no counterpart for; NULL: none */
};

/* main.c: an operator's tensors */
const struct tfl_tensor *in_of(const struct turn *t, const struct tfl_op *op, int k);
const struct tfl_tensor *out_of(const struct turn *t, const struct tfl_op *op);
int value_of(struct turn *t, int tensor); /* a constant is written at its first use */
void *refuse(struct turn *t, const char *why); /* NULL */

/* numbers.c: quantization, constants, RESCALE */
float scale_of(const struct tfl_tensor *t, int channel);
int64_t zero_of(const struct tfl_tensor *t); /* 0 where it has none */
int tosa_of(int tfl_type); /* TOSA_UNKNOWN: of none of the kinds that occur */
/* element i of constant integers */
int64_t number_of(const struct tfl_tensor *t, int64_t i);
/* x as another type, n scales (1 or one a channel); unsigned flags as 8-bit types say */
struct rescale {
	int type, n;
	const double *scale;
	int64_t in_zero, out_zero;
	bool in_unsigned, out_unsigned;
};
int add_rescale(struct turn *t, int x, const struct rescale *r);
/* the value itself less zero, of 32 bits */
int add_widen(struct turn *t, int x, int64_t zero);
int add_reshape(struct turn *t, int x, int rank, const int32_t *dim);
/* from first on, so many elements of each axis; x itself if that is all */
int add_slice(struct turn *t, int x, const int64_t *first, const int32_t *dim);
/* 32 or 48 bits to what out is, scaled, and the activation of out's units */
int add_result(struct turn *t, int x, int n, const double *scale,
	       const struct tfl_tensor *out, int activation);
int add_clamp(struct turn *t, int x, const struct tfl_tensor *out, int activation);

/* each leaves the operator's result as a TOSA tensor; t->why set: nothing */
typedef int turn_fn(struct turn *t, const struct tfl_op *op);
turn_fn turn_conv, turn_depthwise, turn_transpose_conv, turn_full; /* layers.c */
turn_fn turn_pool, turn_mean;					   /* windows.c */
turn_fn turn_sum, turn_leaky_relu, turn_quantize;		   /* elements.c */
turn_fn turn_reshape, turn_pad, turn_slice;			   /* elements.c */

/* windows.c: a kernel over rows and columns */
struct window {
	int32_t kernel[2], stride[2], dilation[2], pad[4];
};
/*
 * The padding that TFLite's rule gives, as TOSA wants it: where the size does not
 * divide, padding after is cut first, and then rows and columns of x, which becomes
 * the SLICE without them.
 */
int fit_window(struct turn *t, int x, int padding, const int32_t out[2],
	       struct window *w);

#endif
