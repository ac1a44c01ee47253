/* SPDX-License-Identifier: Apache-2.0 */
/* A TFLite file: the simulator allocates memory for an accepted model. */
#include "fuzz.h"

#include "sim/sim.h"
#include "tflite/tflite.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_open();
	struct err e = { 0 };
	struct tfl_model *m;
	struct sim *s;
	struct bytes file = { .p = data, .n = size };
	if (tfl_read(a, file, "fuzz", &m, &e))
		(void)sim_open(a, m, &s, &e);
	arena_close(a);
	return 0;
}
