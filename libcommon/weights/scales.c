/* SPDX-License-Identifier: Apache-2.0 */
/* The 10-byte records of bias, scale and shift (spec: weight-stream, 4.1). */
#include "weights/weights.h"

#include <inttypes.h>

#define BIAS_LIMIT (INT64_C(1) << 39)

size_t
weights_scales_size(size_t n)
{
	return (n * WEIGHTS_SCALE_SIZE + WEIGHTS_ALIGN - 1) / WEIGHTS_ALIGN *
	       WEIGHTS_ALIGN;
}

bool
weights_scale_pack(const struct weights_scale *s,
		   uint8_t out[WEIGHTS_SCALE_SIZE], struct err *e)
{
	if (s->bias < -BIAS_LIMIT || s->bias >= BIAS_LIMIT)
		return err_set(e, "bias %" PRId64 " needs more than 40 bits",
			       s->bias);
	if (s->shift > 63)
		return err_set(e, "scale shift %u is above 63", s->shift);
	store_le32(out, (uint32_t)s->bias);
	out[4] = (uint8_t)((uint64_t)s->bias >> 32);
	store_le32(out + 5, s->scale);
	out[9] = s->shift;
	return true;
}

bool
weights_scale_unpack(const uint8_t in[WEIGHTS_SCALE_SIZE],
		     struct weights_scale *s, struct err *e)
{
	uint64_t bias = load_le32(in) | (uint64_t)in[4] << 32;

	if (in[9] > 63)
		return err_set(e, "scale record: bits 78 and 79 are not zero");
	s->bias = (int64_t)(bias ^ (uint64_t)BIAS_LIMIT) - BIAS_LIMIT;
	s->scale = load_le32(in + 5);
	s->shift = in[9];
	return true;
}
