/* SPDX-License-Identifier: Apache-2.0 */
/* The NPU graph's text: print(parse(x)) parses, and prints the same again. */
#include "fuzz.h"

#include "base/text.h"
#include "graph/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
parse(struct arena *a, const void *p, size_t n, struct text *out,
      struct err *e)
{
	struct graph *g;
	/* the reader needs a NUL behind the text, as file_read provides */
	char *copy = arena_strndup(a, p, n);
	struct bytes text = { .p = (uint8_t *)copy, .n = n };
	if (!graph_read(a, text, "fuzz", STAGE_PART, &g, e))
		return false;
	graph_print(g, out);
	return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_open();
	struct err e = { 0 };
	struct text once = { 0 }, twice = { 0 };
	if (parse(a, data, size, &once, &e)) {
		if (!parse(a, once.p, once.n, &twice, &e)) {
			fprintf(stderr, "printed, then refused: %s\n", e.text);
			abort();
		}
		if (once.n != twice.n || memcmp(once.p, twice.p, once.n) != 0)
			abort();
	}
	text_free(&once);
	text_free(&twice);
	arena_close(a);
	return 0;
}
