/* SPDX-License-Identifier: Apache-2.0 */
/* Random values that stand in for the results of an operator without a kernel. */
#include "base/hash.h"
#include "sim/sim.h"
#include "tflite/tflite.h"

#include <string.h>

void
sim_stand_in_values(const struct tfl_subgraph *g, const struct tfl_op *op,
		    uint8_t *const *data)
{
	uint64_t state = (uint64_t)op->code;
	for (int k = 0; k < op->n_in; k++)
		if (op->in[k] >= 0)
			state = hash_xxh3_seeded(
			    data[op->in[k]],
			    (size_t)tfl_bytes(&g->tensor[op->in[k]]), state);
	for (int k = 0; k < op->n_out; k++) {
		const struct tfl_tensor *t = &g->tensor[op->out[k]];
		uint8_t *to = data[op->out[k]];
		sim_random(&state, t, to);
		/*
		 * Integers of 32 and 64 bits are small: sums and products of indices must not
		 * wrap, because kernels and NPU differ then (nputools-ops(7)).
		 */
		size_t size = t->type == TFL_INT32 ? 4 : t->type == TFL_INT64 ? 8 : 0;
		size_t n = size ? (size_t)tfl_bytes(t) / size : 0;
		for (size_t i = 0; i < n; i++) {
			memset(to + i * size + 2, 0, size - 2);
			to[i * size + 1] &= 0xf;
		}
	}
}
