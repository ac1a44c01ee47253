/* SPDX-License-Identifier: Apache-2.0 */
/* A TFLite file, run on random inputs: kernels are the border for meaning. */
#include "fuzz.h"

#include "sim/sim.h"

/* what runs in no time; limits of time and memory have tests of their own */
enum { MAX_ELEMENTS = 4096 };

static bool
is_small(const struct tfl_subgraph *g)
{
	for (int i = 0; i < g->n_tensors; i++)
		if (tfl_elements(&g->tensor[i]) > MAX_ELEMENTS)
			return false;
	return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_open();
	struct err e = { 0 };
	struct tfl_model *m;
	struct sim *s;
	struct bytes file = { .p = data, .n = size };
	uint64_t state = size;
	if (tfl_read(a, file, "fuzz", &m, &e) && is_small(&m->subgraph[0]) &&
	    sim_open(a, m, &s, &e)) {
		const struct tfl_subgraph *g = &m->subgraph[0];
		for (int k = 0; k < g->n_in; k++)
			sim_random(&state, &g->tensor[g->in[k]],
				   sim_tensor(s, g->in[k]));
		(void)sim_invoke(s, NULL, &e);
	}
	arena_close(a);
	return 0;
}
