/* SPDX-License-Identifier: Apache-2.0 */
/* Values for inputs: random ones (npu-sim(1), RANDOM INPUTS), minimum and maximum. */
#include "sim/sim.h"

#include "base/little_endian.h"
#include "tflite/tflite.h"

#include <string.h>

/* SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom generators"). */
static uint64_t
next(uint64_t *state)
{
	uint64_t z = *state += 0x9E3779B97F4A7C15u;
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return z ^ z >> 31;
}

void
sim_random(uint64_t *state, const struct tfl_tensor *t, void *data)
{
	int bytes = tfl_type_bytes(t->type);
	uint8_t *to = data;
	if (bytes < 1 || bytes > 8)
		return; /* strings and complex numbers are left unchanged */
	for (int64_t i = 0; i < tfl_elements(t); i++, to += bytes) {
		uint64_t r = next(state);
		uint8_t le[8];
		if (t->type == TFL_BOOL) {
			*to = (uint8_t)(r >> 63);
		} else if (t->type == TFL_FLOAT32) {
			float f =
			    (float)((int32_t)(r >> 40) - (1 << 23)) * 0x1p-23f;
			store_f32(to, f);
		} else {
			store_le64(le, r >> (64 - 8 * bytes));
			memcpy(to, le, (size_t)bytes);
		}
	}
}

const char *
sim_values_name(enum sim_values v)
{
	static const char *const names[SIM_N_VALUES] = {
		[SIM_RANDOM] = "random", [SIM_MIN] = "min", [SIM_MAX] = "max",
		[SIM_ALTERNATING] = "alternating",
	};
	return names[v];
}

/* The bits of the minimum or maximum of a type. */
static uint64_t
extreme(int type, bool least)
{
	float f = least ? -1 : 1;
	uint32_t bits;
	switch (type) {
	case TFL_FLOAT32:
		memcpy(&bits, &f, sizeof(bits));
		return bits;
	case TFL_BOOL:
		return !least;
	case TFL_UINT8:
	case TFL_UINT16:
	case TFL_UINT32:
		return least ? 0 : UINT64_MAX;
	default: {
		uint64_t sign = 1ULL << (8 * tfl_type_bytes(type) - 1);
		return least ? sign : sign - 1;
	}
	}
}

void
sim_make_values(enum sim_values v, uint64_t *state, const struct tfl_tensor *t,
		void *data)
{
	int bytes = tfl_type_bytes(t->type);
	uint8_t *to = data, le[8];
	if (v == SIM_RANDOM) {
		sim_random(state, t, data);
		return;
	}
	if (bytes < 1 || bytes > 8)
		return;
	for (int64_t i = 0; i < tfl_elements(t); i++, to += bytes) {
		bool least = v == SIM_ALTERNATING ? i % 2 == 0 : v == SIM_MIN;
		store_le64(le, extreme(t->type, least));
		memcpy(to, le, (size_t)bytes);
	}
}

void
sim_make_indices(enum sim_values v, uint64_t *state, const struct tfl_tensor *t,
		 int64_t n, void *data)
{
	int bytes = tfl_type_bytes(t->type);
	uint8_t *to = data, le[8];
	if ((t->type != TFL_INT32 && t->type != TFL_INT64) || n < 1 || n > INT32_MAX) {
		sim_make_values(v, state, t, data);
		return;
	}
	for (int64_t i = 0; i < tfl_elements(t); i++, to += bytes) {
		bool least = v == SIM_ALTERNATING ? i % 2 == 0 : v == SIM_MIN;
		uint64_t at = least ? 0 : (uint64_t)n - 1;
		if (v == SIM_RANDOM)
			at = (next(state) >> 32) * (uint64_t)n >> 32;
		store_le64(le, at);
		memcpy(to, le, (size_t)bytes);
	}
}
