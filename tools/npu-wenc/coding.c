/* SPDX-License-Identifier: Apache-2.0 */
/* Reuses the section choices that npu-sched found when it measured the weights. */
#include "wenc.h"

#include "base/little_endian.h"
#include "graph/build.h"

#include <inttypes.h>

/* The span is empty if npu-sched did not measure the streams by sections. */
bool
find_coding(struct wenc *w, struct coded *c, int level)
{
	const struct g_weights *g = c->w;
	if (!G_HAS(g, G_WEIGHTS_coding) || level != g->level || c->op->fast ||
	    !g->coding.bytes)
		return true;
	struct g_blob *b = graph_find_blob(w->g, GRAPH_CODING);
	struct bytes all;
	if (!b)
		return graph_err(w->g, g, w->e, "there is no blob '" GRAPH_CODING "'");
	if (!graph_blob(w->g, b, &all, w->e))
		return false;
	int64_t at = g->coding.at, bytes = g->coding.bytes, end = (int64_t)all.n;
	if (at < 0 || bytes < 0 || at > end || bytes > end - at)
		return graph_err(w->g, g, w->e, "w%d: coding= reaches past the blob's %"
						PRId64 " bytes", g->rec.id, end);
	size_t n = (size_t)(c->slices * c->cores);
	c->coding = anew(w->a, struct bytes, n);
	struct reader r = reader_init(all.p + at, (size_t)bytes);
	for (size_t i = 0; i < n; i++) {
		struct weights_order ord = emit_weights_order(w->accel, c->op, (int)i / c->cores,
						      (int)i % c->cores);
		if (!weights_order_channels(&ord))
			continue;
		size_t length = reader_u32(&r);
		c->coding[i] = (struct bytes){ .p = reader_take(&r, length), .n = length };
	}
	if (r.overrun || r.at < r.n)
		return graph_err(w->g, g, w->e, "w%d: coding= does not match %d slices "
						"in %d streams",
						g->rec.id, c->slices, c->cores);
	return true;
}
