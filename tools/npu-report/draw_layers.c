/* SPDX-License-Identifier: Apache-2.0 */
/* A bar for every layer, divided by limits. */
#include "report.h"

enum { LEFT = 244, RIGHT = 150, TOP = 30, BAR = 11 };

void
draw_layers(struct text *t, const struct report *r, bool alone)
{
	static const char *const classes[] = { "compute", "sram", "constants", "stall", "starting",
					       NULL };
	const char *names[LIMITS + 1] = { NULL };
	double most = 0;
	bool shown[LIMITS] = { false };
	for (int k = 0; k < LIMITS; k++)
		names[k] = limit_text(r, (enum limit)k);
	for (size_t i = 0; i < r->n_layers; i++) {
		if (r->layer[i].total > most)
			most = r->layer[i].total;
		for (int k = 0; k < LIMITS; k++)
			shown[k] = shown[k] || r->layer[i].cycles[k] > 0;
	}
	svg_open(t, picture_titles[PIC_LAYERS], SVG_WIDTH,
		 TOP + LINE * (double)(r->n_layers + 1), alone);
	svg_legend(t, LEFT, LINE, classes, names, shown);
	for (size_t i = 0; i < r->n_layers; i++) {
		const struct layer *l = &r->layer[i];
		double x = LEFT, y = TOP + LINE * (double)i;
		svg_text(t, ANCHOR_END, LEFT - 8, y + BAR - 2, l->label);
		for (int k = 0; k < LIMITS; k++) {
			double w = most > 0 ? l->cycles[k] / most * (SVG_WIDTH - LEFT - RIGHT)
					    : 0;
			if (w > 0)
				svg_rect(t, classes[k], x, y, w, BAR,
					 arena_printf(r->a, "%s: %.0f cycles, %s", l->name,
						      l->cycles[k], names[k]));
			x += w;
		}
		svg_text(t, ANCHOR_START, x + 6, y + BAR - 2,
			 arena_printf(r->a, "%.0f  %.1f %%", l->total,
				      100 * share_of_time(r, l->total)));
	}
	svg_close(t);
}
