/* SPDX-License-Identifier: Apache-2.0 */
/* Reuses the section choices that npu-sched found when it measured the weights. */
#include "wenc.h"

#include "base/little_endian.h"
#include "graph/build.h"

#include <inttypes.h>

/* the coding of one weights record in the blob */
static bool
read_span(struct wenc *w, const struct g_weights *g, struct bytes *out)
{
	struct g_blob *b = graph_find_blob(w->g, GRAPH_CODING);
	if (!b)
		return graph_err(w->g, g, w->e, "there is no blob '" GRAPH_CODING "'");
	if (!graph_blob(w->g, b, out, w->e))
		return false;
	int64_t at = g->coding.at, n = g->coding.bytes, all = (int64_t)out->n;
	if (at < 0 || n < 0 || at > all || n > all - at)
		return graph_err(w->g, g, w->e, "w%d: coding= reaches past the blob's %"
						PRId64 " bytes", g->rec.id, all);
	out->p += at;
	out->n = (size_t)n;
	return true;
}

/* The span is empty if npu-sched did not measure the streams by sections. */
bool
find_coding(struct wenc *w, struct coded *c, int level)
{
	const struct g_weights *g = c->w;
	struct bytes all;
	if (!G_HAS(g, G_WEIGHTS_coding) || level != g->level || c->op->fast ||
	    !g->coding.bytes)
		return true;
	if (!read_span(w, g, &all))
		return false;
	size_t n = (size_t)(c->slices * c->cores);
	c->coding = anew(w->a, struct bytes, n);
	struct reader r = reader_init(all.p, all.n);
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

void
drop_codings(struct wenc *w)
{
	for (size_t i = 0; i < w->g->n_weights; i++)
		w->g->weights[i]->rec.has &= ~((uint64_t)1 << G_WEIGHTS_coding);
	graph_drop_blob(w->g, graph_find_blob(w->g, GRAPH_CODING));
}
