/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of products for the convolution family, and the way from accumulators
 * to outputs.  Private to libcommon/kernels.
 */
#ifndef KERNELS_PRODUCTS_H
#define KERNELS_PRODUCTS_H

#include "kernels/call.h"

/*
 * A matrix of 16-bit rows, each padded with zeros to a multiple of
 * MATRIX_STEP columns and the rows to a multiple of 4, so that products need
 * no tails and compile to multiply-add instructions.
 */
enum { MATRIX_STEP = 16 };

struct matrix {
	int16_t *v;
	int64_t rows;
	int64_t cols, pitch;
};

/* rows and cols come from call_matrices or are known to be small */
struct matrix matrix_new(struct arena *a, int64_t rows, int64_t cols);

/*
 * Can n filters of cols columns, and a block of as many patches as *block then
 * says (a multiple of 4), be held in memory and multiplied in finite time?
 */
bool call_matrices(struct call *c, int64_t outputs, int64_t n, int64_t cols,
		   int64_t *block);

static inline int16_t *
matrix_row(struct matrix m, int64_t row)
{
	return m.v + row * m.pitch;
}

/* n elements of an 8- or 16-bit tensor from element at, minus zero */
void copy_minus(int16_t *to, int type, const void *data, int64_t at, int64_t n,
		int32_t zero);

/*
 * acc[i * b.rows + j] = sum over k of a[i][k] * b[j][k] for the first n rows of
 * a.  Exact in 64 bits for b within -255..255.
 */
void matrix_products(struct matrix a, int64_t n, struct matrix b, int64_t *acc);

/* bias, multiplier, zero point and clamp of every output channel: section 3.2 */
struct requant {
	int64_t *bias;
	struct fixed_mult *mult;
	bool wide; /* 64-bit accumulators: MBQM64 */
	int32_t zero;
	struct range range;
};

struct requant_from {
	const struct tfl_tensor *in, *weights, *bias, *out;
	const void *bias_data;
	int32_t n;	     /* output channels */
	int axis;	     /* of weights along which scales may vary */
	int32_t weight_zero;
	int64_t activation;
	bool float_product;  /* f32(s_i * s_w) when per tensor */
	bool wide;
};

/*
 * Are 16-bit values summed in 64 bits, and rescaled once?  Unless the bias is
 * INT32, or there is none and the options say that it would be (bias_type).
 */
bool sums_are_wide(const struct tfl_tensor *in, const struct tfl_tensor *bias,
		   int64_t bias_type);

bool requant_prepare(struct call *c, const struct requant_from *f,
		     struct requant *r);

/* n channels of one position from element at on; acc has no bias yet */
void requant_store(const struct requant *r, const int64_t *acc, int32_t n,
		   const struct tfl_tensor *out, void *data, int64_t at);

/* one dimension of a sliding window: section 3.2, "Padding (SAME)" */
struct window {
	int32_t in, out;
	int32_t kernel, stride, dilation;
	int64_t pad; /* leading */
};

/*
 * Computes the leading padding; fails unless stride, kernel and dilation are
 * at least 1 and w->out is the size that follows from them.
 */
bool window_prepare(struct call *c, struct window *w, int64_t padding);

/* the zero point subtracted from x and from weights, by type: section 3.2 */
struct offsets {
	int32_t in, weights;
};
bool conv_types(struct call *c, const struct tfl_tensor *in,
		const struct tfl_tensor *weights, const struct tfl_tensor *bias,
		const struct tfl_tensor *out, struct offsets *o);

#endif
