/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lookup tables of the reference, nputools-lowering(7) 3.8.  Used by the kernels, and
 * by the compiler to make the NPU's tables.
 */
#ifndef KERNELS_TABLES_H
#define KERNELS_TABLES_H

#include "kernels/call.h"

enum { TABLE16 = 513 };

/* Fills 513 points of f over all int16 values; float32 throughout, as in TFLite Micro. */
void table16_fill(int16_t t[TABLE16], struct affine in, struct affine out,
		  float (*f)(float));

/* interpolated value for x: "look" of the specification */
int32_t table16_lookup(const int16_t t[TABLE16], int32_t x);

/* parameters of LOGISTIC and TANH of int16 */
struct sigmoid16 {
	int32_t mult, shift;
	bool tanh;
	uint16_t half[256]; /* round(2^16 * sigmoid(i / 24)), with the reference's
			     * corrections */
};
void sigmoid16_prepare(struct sigmoid16 *s, float scale, bool is_tanh);
int32_t sigmoid16(const struct sigmoid16 *s, int32_t x);

/*
 * Exponentials of 8-bit SOFTMAX (nputools-lowering(7) 3.6): of differences to the
 * maximum of a row, which are -255...0.
 */
struct softmax_exp {
	struct fixed_mult scale; /* multiplier that converts differences to Q5 */
	int32_t diff_min;	 /* exponentials of smaller differences count as 0 */
};
/* scale: of the input.  Returns false if scale * beta is too small for the reference. */
bool softmax_exp_prepare(struct softmax_exp *s, double scale, double beta);
/* exp of a difference in Q0; -1 if the difference is below diff_min */
int32_t softmax_exp(const struct softmax_exp *s, int32_t diff);

#endif
