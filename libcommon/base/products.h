/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of products of 16 bits, the inner loops of convolutions: of the kernels of TFLite and
 * of the simulated NPU.  The caller keeps the number of products so small that their sums fit
 * 32 bits.
 */
#ifndef BASE_PRODUCTS_H
#define BASE_PRODUCTS_H

#include <stdint.h>

/*
 * Sets s[2 * i + j] to the sum of n products of row i (0 to 3) of a and row j (0, 1) of b.
 * The pitches are elements between rows.
 */
static inline void
products_4x2(const int16_t *restrict a, int64_t a_pitch, const int16_t *restrict b,
	     int64_t b_pitch, int64_t n, int32_t s[8])
{
	const int16_t *a1 = a + a_pitch, *a2 = a1 + a_pitch, *a3 = a2 + a_pitch;
	const int16_t *b1 = b + b_pitch;
	int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
	for (int64_t k = 0; k < n; k++) {
		s0 += a[k] * b[k];
		s1 += a[k] * b1[k];
		s2 += a1[k] * b[k];
		s3 += a1[k] * b1[k];
		s4 += a2[k] * b[k];
		s5 += a2[k] * b1[k];
		s6 += a3[k] * b[k];
		s7 += a3[k] * b1[k];
	}
	s[0] = s0;
	s[1] = s1;
	s[2] = s2;
	s[3] = s3;
	s[4] = s4;
	s[5] = s5;
	s[6] = s6;
	s[7] = s7;
}

/* Adds the product of each of n elements to the sum of the element. */
static inline void
add_products(int32_t *restrict sum, const int16_t *restrict a, const int16_t *restrict b,
	     int32_t n)
{
	for (int32_t i = 0; i < n; i++)
		sum[i] += a[i] * b[i];
}

#endif
