/* SPDX-License-Identifier: Apache-2.0 */
/* The map of a compiled model: a map that can be read is written and read again with
 * the same content. */
#include "fuzz.h"

#include "base/text.h"
#include "map/map.h"

#include <stdlib.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct npu_map map, again;
	struct err e = { 0 };
	struct text t = { 0 }, u = { 0 };
	struct arena *a = arena_open();
	if (map_decode(a, (struct bytes){ .p = data, .n = size }, &map, &e)) {
		if (!map_decode(a, map_encode(a, &map), &again, &e))
			abort();
		map_print(&t, &map);
		map_print(&u, &again);
		if (t.n != u.n || memcmp(t.p, u.p, t.n) != 0)
			abort();
		(void)map_npu_layers(&map);
	}
	text_free(&t);
	text_free(&u);
	arena_close(a);
	return 0;
}
