/* SPDX-License-Identifier: Apache-2.0 */
/* The profile in a compiled file is printed and read as a graph without operators. */
#include "map/profile.h"

#include "base/text.h"
#include "graph/build.h"
#include "graph/graph.h"
#include "graph/records.h"
#include "tflite/tflite.h"

#include <string.h>

struct bytes
profile_print(struct arena *a, const struct accel *accel, const struct memory_system *m)
{
	struct graph *g = graph_new(a, PROFILE_METADATA);
	struct text t = { 0 };
	graph_set_target(g, accel, m);
	graph_print(g, &t);
	uint8_t *p = arena_alloc(a, t.n, 1);
	memcpy(p, t.p, t.n);
	struct bytes b = { .p = p, .n = t.n };
	text_free(&t);
	return b;
}

bool
profile_read(struct arena *a, const struct tfl_model *m, struct profile *out,
	     struct err *e)
{
	struct bytes b = tfl_metadata(m, PROFILE_METADATA);
	struct graph *g;
	*out = (struct profile){ .accel = NULL };
	if (!b.p)
		return true;
	const char *name =
	    arena_printf(a, "%s (its metadata %s)", m->name, PROFILE_METADATA);
	return graph_read(a, b, name, STAGE_NONE, &g, e) &&
	       graph_target(g, &out->accel, &out->memory, e);
}
