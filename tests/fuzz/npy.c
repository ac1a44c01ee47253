/* SPDX-License-Identifier: Apache-2.0 */
/* A NumPy array: an array that can be read is written and read again with the same
 * content. */
#include "fuzz.h"

#include "base/arena.h"
#include "base/npy.h"

#include <stdlib.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes in = { .p = data, .n = size };
	struct npy x, y;
	struct err e = { 0 };
	struct text t = { 0 };
	if (!npy_parse(in, "fuzz", &x, &e))
		return 0;
	npy_print(&t, &x);
	struct bytes out = { .p = (const uint8_t *)t.p, .n = t.n };
	if (!npy_parse(out, "again", &y, &e) || x.rank != y.rank ||
	    x.kind != y.kind || x.data.n != y.data.n ||
	    (x.data.n && memcmp(x.data.p, y.data.p, x.data.n) != 0))
		abort();
	text_free(&t);
	return 0;
}
