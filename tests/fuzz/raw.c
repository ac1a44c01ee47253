/* SPDX-License-Identifier: Apache-2.0 */
/* An npz file or a packed stream: an accepted file is a model that can be read. */
#include "fuzz.h"

#include "raw/raw.h"
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
	if (raw_model(a, file, "fuzz", &file, &e) && tfl_read(a, file, "fuzz", &m, &e))
		(void)sim_open(a, m, &s, &e);
	arena_close(a);
	return 0;
}
