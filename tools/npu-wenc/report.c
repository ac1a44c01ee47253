/* SPDX-License-Identifier: Apache-2.0 */
#include "wenc.h"

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
			    c->w->name ? c->w->name : "");
		source += n;
		stream += s;
		scales += k;
	}
	text_printf(t, "%-27s %12" PRId64 " %12" PRId64 " %12" PRId64 " %8.3f\n",
		    "total", source, stream, scales,
		    source ? 8.0 * (double)stream / (double)source : 0.0);
}
