/* SPDX-License-Identifier: Apache-2.0 */
/* A TOSA file: the simulator allocates memory for an accepted graph. */
#include "fuzz.h"

#include "sim/sim.h"
#include "tosa/tosa.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_open();
	struct err e = { 0 };
	struct tosa_graph *g;
	struct sim *s;
	struct bytes file = { .p = data, .n = size };
	if (tosa_read(a, file, "fuzz", &g, &e))
		(void)sim_open_tosa(a, g, &s, &e);
	arena_close(a);
	return 0;
}
