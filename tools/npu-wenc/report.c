/* SPDX-License-Identifier: Apache-2.0 */
/* Prints sizes of weights (--stats) and addresses of constants (--verbose-allocation). */
#include "wenc.h"

#include "graph/build.h"
#include "graph/facts.h"
#include "graph/table.h"
#include "target/memory.h"

#include <inttypes.h>
#include <stdio.h>

void
print_stats(const struct wenc *w, struct text *t)
{
	int64_t source = 0, stream = 0, scales = 0;
	text_printf(t, "%-6s %-20s %12s %12s %12s %8s %6s  %s\n", "weights",
		    "shape (O,H,W,I)", "weights", "stream bytes", "scale bytes",
		    "bits/w", "slices", "name");
	for (size_t i = 0; i < w->n_coded; i++) {
		const struct coded *c = &w->coded[i];
		const int32_t *d = c->w->shape.dim;
		int64_t n = (int64_t)d[0] * d[1] * d[2] * d[3], s = 0, k = 0;
		for (int p = 0; p < c->slices * c->cores; p++) {
			s += (int64_t)c->piece[p].stream.n;
			k += (int64_t)c->piece[p].scales.n;
		}
		char shape[64];
		(void)snprintf(shape, sizeof(shape), "%d,%d,%d,%d", d[0], d[1], d[2], d[3]);
		text_printf(t, "w%-6d %-20s %12" PRId64 " %12" PRId64 " %12" PRId64
			    " %8.3f %6d  %s\n",
			    c->w->rec.id, shape, n, s, k,
			    n ? 8.0 * (double)s / (double)n : 0.0, c->slices,
			    c->w->name ? text_plain(w->a, c->w->name) : "");
		source += n;
		stream += s;
		scales += k;
	}
	text_printf(t, "%-27s %12" PRId64 " %12" PRId64 " %12" PRId64 " %8.3f\n",
		    "total", source, stream, scales,
		    source ? 8.0 * (double)stream / (double)source : 0.0);
}

/* Scales and biases are listed as feature maps, as in the reference's listing. */
void
print_allocation(const struct wenc *w, struct text *t)
{
	const struct graph *g = w->g;
	struct g_blob *flash = graph_find_blob(g, "flash");
	const struct g_target *target = g->targets[0];
	struct table_row r = { .hi = 1, .usage = flash->bytes };
	table_head(t, memory_area_name((enum mem_area)target->const_area),
		   "Permanent_NPU", "LinearAlloc", "Npu");
	for (size_t i = 0; i < g->n_codes; i++) {
		const struct g_code *c = g->codes[i];
		r.at = c->scale_bytes.at;
		r.bytes = c->scale_bytes.bytes;
		r.purpose = "FeatureMap";
		/* biases have the name of the operation that adds them */
		const char *label = arena_printf(w->a, "w%d", c->weights->rec.id);
		for (size_t k = w->n_coded; k-- > 0;)
			if (w->coded[k].w == c->weights && w->coded[k].op->name)
				label = text_plain(w->a, w->coded[k].op->name);
		r.name = arena_printf(w->a, "%s_bias_%d", label, c->slice);
		table_put(t, &r);
		r.at = c->weight_bytes.at;
		r.bytes = c->weight_bytes.bytes;
		r.purpose = "Weights";
		r.name = arena_printf(w->a, "%s_npu_encoded_weights",
				      table_name(w->a, c->weights->name, 'w', c->weights->rec.id));
		table_put(t, &r);
	}
	for (size_t i = 0; i < g->n_luts; i++) {
		const struct g_lut *l = g->luts[i];
		r.at = l->at;
		r.bytes = (int64_t)l->values.n * (l->bits == 8 ? 1 : 4);
		r.purpose = "LUT";
		r.name = table_name(w->a, NULL, 'l', l->rec.id);
		table_put(t, &r);
	}
	for (size_t i = 0; i < g->n_tensors; i++) {
		const struct g_tensor *x = g->tensors[i];
		if (!tensor_is_const(x))
			continue;
		r.at = x->at;
		r.bytes = tensor_bytes(x);
		r.purpose = "FeatureMap";
		r.name = table_name(w->a, x->name, 't', x->rec.id);
		table_put(t, &r);
	}
	table_end(t, flash->bytes, flash->bytes);
}
