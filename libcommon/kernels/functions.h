/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixed-point functions of nputools-lowering(7) 3.5; check values of
 * nputools-lowering(7) 3.11 are in tests/unit/functions.c.  Qk: a raw int32 with k
 * integer bits and 31 - k fractional bits.
 */
#ifndef KERNELS_FUNCTIONS_H
#define KERNELS_FUNCTIONS_H

#include "base/fixed.h"

/* exp(a) in Q0, for a <= 0 in Q(integer_bits); integer_bits is 4 or 5 */
int32_t fixed_exp(int32_t a, int integer_bits);
int32_t fixed_recip(int32_t x);	   /* 1 / (1 + x) in Q0, 0 <= x <= 1 */
int32_t fixed_logistic(int32_t a); /* Q4 to Q0 */
int32_t fixed_tanh(int32_t a);	   /* Q4 to Q0 */

/*
 * Returns 1 / sqrt(v), v >= 1, as a multiplier for fixed_mbqm.  Takes five Newton steps
 * as the reference does, so that the result is sometimes slightly below the true value
 * (nputools-lowering(7) 3.8).
 */
struct fixed_mult fixed_inv_sqrt(int32_t v);

/* ln(x) in Q5, for x >= 1 in Q12; used by LOG_SOFTMAX */
int32_t fixed_log_q12(int32_t x);

#endif
