/* SPDX-License-Identifier: Apache-2.0 */
/* The 10-byte records of bias, scale and shift (ethosu-weights(7) 4.1). */
#include "weights/weights.h"

#include "base/little_endian.h"

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

/*
 * bits of the bias and of the multiplier in U85's two record types (ethosu-weights(7)
 * 25)
 */
static const struct record {
	int bias, mult;
} records[2] = { { .bias = 32, .mult = 31 }, { .bias = 48, .mult = 15 } };

bool
weights_scale85_pack(const struct weights_scale *s, bool wide,
		     uint8_t out[WEIGHTS_SCALE_SIZE], struct err *e)
{
	const struct record *r = &records[wide];
	int64_t limit = INT64_C(1) << (r->bias - 1);
	if (s->bias < -limit || s->bias >= limit)
		return err_set(e, "bias %" PRId64 " needs more than %d bits",
			       s->bias, r->bias);
	if (s->scale >> r->mult)
		return err_set(e, "multiplier %" PRIu32 " needs more than %d bits",
			       s->scale, r->mult);
	if (s->shift > 63)
		return err_set(e, "scale shift %u is above 63", s->shift);
	store_le32(out, (uint32_t)s->bias);
	if (wide) {
		store_le16(out + 4, (uint16_t)((uint64_t)s->bias >> 32));
		store_le16(out + 6, (uint16_t)s->scale);
	} else {
		store_le32(out + 4, s->scale);
	}
	out[8] = s->shift;
	out[9] = 0;
	return true;
}

bool
weights_scale85_unpack(const uint8_t in[WEIGHTS_SCALE_SIZE], bool wide,
		       struct weights_scale *s, struct err *e)
{
	const struct record *r = &records[wide];
	int64_t sign = INT64_C(1) << (r->bias - 1);
	uint64_t bias = load_le32(in);
	uint32_t mult = wide ? load_le16(in + 6) : load_le32(in + 4);
	if (wide)
		bias |= (uint64_t)load_le16(in + 4) << 32;
	if (mult >> r->mult || in[8] > 63 || in[9])
		return err_set(e, "scale record: reserved bits are not zero");
	s->bias = (int64_t)(bias ^ (uint64_t)sign) - sign;
	s->scale = mult;
	s->shift = in[8];
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
