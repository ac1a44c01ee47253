/* SPDX-License-Identifier: Apache-2.0 */
/* A weight stream: values that were decoded are encoded and decoded to the same
 * values. */
#include "fuzz.h"

#include "weights/weights.h"

#include <stdlib.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_open();
	struct err e = { 0 };
	struct weights_values v, w;
	struct bytes in = { .p = data, .n = size };
	if (weights_decode(a, in, -1, &v, &e)) {
		struct bytes again = weights_encode(a, v.v, v.n,
						    WEIGHTS_LEVEL_MIN);
		if (!weights_decode(a, again, (int64_t)v.n, &w, &e) ||
		    (v.n && memcmp(v.v, w.v, v.n * sizeof(*v.v)) != 0))
			abort();
	}
	arena_close(a);
	return 0;
}
