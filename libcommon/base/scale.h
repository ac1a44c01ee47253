/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scales of the NPU's output stage (ethosu-commands(7) 6.2), defined in fixed.c.  Check values:
 * tests/unit/fixed.c.
 */
#ifndef BASE_SCALE_H
#define BASE_SCALE_H

#include <stdbool.h>
#include <stdint.h>

/* The NPU's scale: multiply by mult, then shift right by shift (0 to 63). */
struct npu_scale {
	uint32_t mult;
	int shift;
};

/*
 * quantise() of nputools-lowering(7) 4.1: with r = f * 2^x, mult = round(f * 2^31) and
 * shift = 31 - x, normalised so that mult < 2^31.  A shift above 63 drops low bits of
 * mult (both are 0 if no bit is left).  A shift below 0 moves into mult while mult fits
 * 32 bits.  Returns false if r can't be expressed.
 */
bool npu_quantise(double r, struct npu_scale *out);
/*
 * TensorFlow Lite Micro shifts a sum left by the scale's power of two before it
 * multiplies.  Returns true if this shift overflows 32 bits for sums of magnitude
 * `most`.
 */
bool npu_scale_leaves_word(struct npu_scale s, double most);

/*
 * Reduces a scale to a multiplier of 15 bits, for 64-bit biases (ethosu-weights(7) 4.4).  Scales
 * below 2^-32 become 0, as in fixed_quantize(): a sum of 64 bits can be large enough to notice.
 */
struct npu_scale npu_scale_reduce(struct npu_scale s);

#endif
