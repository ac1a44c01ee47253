/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of every layer, encoded beside what they were before. */
#include "report.h"

enum { LEFT = 244, RIGHT = 190, TOP = 30, BAR = 11 };

static void
draw_layer(struct text *t, const struct report *r, const struct layer *l, double y,
	   double most)
{
	double scale = most > 0 ? (SVG_WIDTH - LEFT - RIGHT) / most : 0;
	double before = l->original_bytes * scale, after = l->weight_bytes * scale;
	svg_text(t, ANCHOR_END, LEFT - 8, y + BAR - 2, l->label);
	svg_rect(t, "variable", LEFT, y, before, BAR,
		 arena_printf(r->a, "%s: %.0f elements", l->name, l->original_bytes));
	svg_rect(t, "constants", LEFT, y + 3, after, BAR - 6,
		 arena_printf(r->a, "%s: %.0f bytes", l->name, l->weight_bytes));
	svg_text(t, ANCHOR_START, LEFT + (before > after ? before : after) + 6,
		 y + BAR - 2,
		 arena_printf(r->a, "%.0f of %.0f, %.1f %%", l->weight_bytes,
			      l->original_bytes,
			      l->original_bytes > 0
				  ? 100 * l->weight_bytes / l->original_bytes : 0));
}

void
draw_weights(struct text *t, const struct report *r, bool alone)
{
	static const char *const classes[] = { "variable", "constants", NULL };
	static const char *const names[] = { "elements", "encoded bytes", NULL };
	double most = 0;
	size_t n = 0;
	for (size_t i = 0; i < r->n_layers; i++) {
		const struct layer *l = &r->layer[i];
		n += l->weight_bytes > 0;
		most = l->original_bytes > most ? l->original_bytes : most;
		most = l->weight_bytes > most ? l->weight_bytes : most;
	}
	svg_open(t, "Weights and their compression", TOP + LINE * (double)(n + 1),
		 alone);
	svg_legend(t, LEFT, LINE, classes, names, NULL);
	n = 0;
	for (size_t i = 0; i < r->n_layers; i++)
		if (r->layer[i].weight_bytes > 0)
			draw_layer(t, r, &r->layer[i], TOP + LINE * (double)n++, most);
	svg_close(t);
}
