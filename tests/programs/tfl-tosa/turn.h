/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tfl-tosa converts a quantized TFLite network to a TOSA graph, operator by operator,
 * as a front end for PyTorch would write it: scales are RESCALEs.  With TFLite's
 * rounding (DOUBLE_ROUND if the shift is above 31), convolutions compute TFLite's
 * bytes.  The functions are listed under the names of their files.
 */
#ifndef TFLTOSA_TURN_H
#define TFLTOSA_TURN_H

#include "../gen-tosa/gen.h"

struct turn {
	struct gen *g;
	const struct tfl_subgraph *s;
	bool single;  /* SINGLE_ROUND, as ExecuTorch writes it */
	int *value;   /* the TOSA tensor of each TFLite tensor; -1: none yet */
	const char *why; /* why an operator cannot be converted; NULL: no reason */
};

/* main.c: an operator's tensors */
const struct tfl_tensor *in_of(const struct turn *t, const struct tfl_op *op, int k);
const struct tfl_tensor *out_of(const struct turn *t, const struct tfl_op *op);
int value_of(struct turn *t, int tensor); /* a constant is written at its first use */
void *refuse(struct turn *t, const char *why); /* NULL */

/* numbers.c: quantization, constants, RESCALE */
float scale_of(const struct tfl_tensor *t, int channel);
int64_t zero_of(const struct tfl_tensor *t); /* 0 if the tensor has none */
int tosa_of(int tfl_type); /* TOSA_UNKNOWN: no type that occurs */
/* element i of constant integers */
int64_t number_of(const struct tfl_tensor *t, int64_t i);
/* x as another type, with n scales (1, or one for each channel); 8-bit types
 * determine the unsigned flags */
struct rescale {
	int type, n;
	const double *scale;
	int64_t in_zero, out_zero;
	bool in_unsigned, out_unsigned;
};
int add_rescale(struct turn *t, int x, const struct rescale *r);
/* the value minus zero, in 32 bits */
int add_widen(struct turn *t, int x, int64_t zero);
int add_reshape(struct turn *t, int x, int rank, const int32_t *dim);
/* a slice from first on, with so many elements of each axis; x itself if that is all
 * of it */
int add_slice(struct turn *t, int x, const int64_t *first, const int32_t *dim);
/* 32 or 48 bits are scaled to out's type and scale, with the activation in out's
 * scale */
int add_result(struct turn *t, int x, int n, const double *scale,
	       const struct tfl_tensor *out, int activation);
int add_clamp(struct turn *t, int x, const struct tfl_tensor *out, int activation);

/* each writes the operator's result as a TOSA tensor and returns it; on failure,
 * t->why is set */
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
 * The padding of TFLite's rule in TOSA's form.  If the size does not divide, first
 * the padding after x is reduced, and then rows and columns of x are removed by a
 * SLICE.
 */
int fit_window(struct turn *t, int x, int padding, const int32_t out[2],
	       struct window *w);

#endif
