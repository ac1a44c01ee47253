/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of products for the convolution family, and the conversion of accumulators to
 * outputs.  Private to libcommon/kernels.
 */
#ifndef KERNELS_PRODUCTS_H
#define KERNELS_PRODUCTS_H

#include "kernels/call.h"

/*
 * A matrix of 16-bit rows.  Columns are padded with zeros to a multiple of MATRIX_STEP
 * and rows to a multiple of 4, so that products need no remainder loops and compile to
 * multiply-add instructions.
 */
enum { MATRIX_STEP = 16 };

struct matrix {
	int16_t *v;
	int64_t rows;
	int64_t cols, pitch;
};

/* Allocates a matrix.  rows and cols come from call_matrices or are small constants. */
struct matrix matrix_new(struct arena *a, int64_t rows, int64_t cols);

/*
 * Checks that n filters of cols columns fit in memory and that their products take
 * finite time (call_work).  Sets *block to the number of patches to multiply at once, a
 * multiple of 4.
 */
bool call_matrices(struct call *c, int64_t outputs, int64_t n, int64_t cols,
		   int64_t *block);

static inline int16_t *
matrix_row(struct matrix m, int64_t row)
{
	return m.v + row * m.pitch;
}

/* Copies n elements of an 8- or 16-bit tensor, from element `at` on, minus zero. */
void copy_minus(int16_t *to, int type, const void *data, int64_t at, int64_t n,
		int32_t zero);

/*
 * acc[i * b.rows + j] = sum over k of a[i][k] * b[j][k] for the first n rows of
 * a.  Exact in 64 bits for b within -255..255.
 */
void matrix_products(struct matrix a, int64_t n, struct matrix b, int64_t *acc);

/* bias, multiplier, zero point and clamp per output channel: nputools-lowering(7) 3.2 */
struct requant {
	int64_t *bias;
	struct fixed_mult *mult;
	bool wide; /* 64-bit accumulators, rescaled by MBQM64 */
	int32_t zero;
	struct range range;
};

struct requant_from {
	const struct tfl_tensor *in, *weights, *bias, *out;
	const void *bias_data;
	int32_t n;	     /* number of output channels */
	int axis;	     /* axis of weights along which scales may vary */
	int32_t weight_zero;
	int64_t activation;
	bool float_product;  /* compute the product s_i * s_w in float32 if the weights
			      * have one scale */
	bool wide;
};

/*
 * Returns true if 16-bit values are summed in 64 bits and rescaled once.  False if the
 * bias is INT32, or if the operator has no bias and the option bias_type is INT32.
 */
bool sums_are_wide(const struct tfl_tensor *in, const struct tfl_tensor *bias,
		   int64_t bias_type);

/*
 * Checks the type of weights: UINT8 for an IFM of UINT8, else INT8 or constant INT4, whose
 * elements are bytes (tflite/tflite.h).
 */
bool call_weights(struct call *c, const struct tfl_tensor *in, const struct tfl_tensor *w);

bool requant_prepare(struct call *c, const struct requant_from *f,
		     struct requant *r);

/* Stores n channels of one position, from element `at` on.  Adds the bias to acc. */
void requant_store(const struct requant *r, const int64_t *acc, int32_t n,
		   const struct tfl_tensor *out, void *data, int64_t at);

/* one dimension of a sliding window: nputools-lowering(7) 3.2, "Padding (SAME)" */
struct window {
	int32_t in, out;
	int32_t kernel, stride, dilation;
	int64_t pad; /* leading padding */
};

/*
 * Computes the leading padding.  Fails unless stride, kernel and dilation are at least
 * 1 and w->out is the resulting size.
 */
bool window_prepare(struct call *c, struct window *w, int64_t padding);

static inline struct window
window_sized(int32_t in, int32_t out, int32_t kernel, int64_t stride, int64_t dilation)
{
	return (struct window){ .in = in, .out = out, .kernel = kernel,
				.stride = (int32_t)stride,
				.dilation = (int32_t)dilation };
}

/* what CONV_2D, DEPTHWISE_CONV_2D and TRANSPOSE_CONV share */
struct convolution {
	const struct tfl_tensor *in, *weights, *bias, *out; /* bias may be NULL */
	const void *x, *k, *b;	   /* data of in, weights and bias */
	void *y;		   /* data of out */
	struct nhwc i, f, o;	   /* shapes of in, weights and out */
	int32_t zero, weight_zero; /* zero points of input and weights; int16: both 0;
				    * int8: weight_zero is 0 */
	int64_t block; /* output pixels per product, for those with matrices */
	struct requant r;
};

/* Sets all but block and r from the inputs at three positions, after checks of types. */
bool conv_open(struct call *c, int in, int weights, int bias, struct convolution *v);
/* Sets r; axis and wide as in struct requant_from. */
bool conv_requant(struct call *c, struct convolution *v, int axis, int64_t activation,
		  bool wide);
/* TFLite Micro sums DEPTHWISE_CONV_2D and TRANSPOSE_CONV of int16 without an int32 bias wide. */
bool conv_is_wide(const struct convolution *v);

/*
 * Computes n channels of all output pixels, from channel `first` on, from filters that
 * are the rows of a tensor like the weights.  fill makes the row of a matrix that holds
 * the inputs of one output pixel.
 */
typedef void conv_fill(const void *ctx, int64_t pixel, int16_t *row);
void conv_products(struct call *c, const struct convolution *v, int32_t first, int32_t n,
		   conv_fill *fill, const void *ctx);

#endif
