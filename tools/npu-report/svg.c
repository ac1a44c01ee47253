/* SPDX-License-Identifier: Apache-2.0 */
/* Draws shapes as SVG 1.1, without scripts and external files. */
#include "report.h"

#include <math.h>
#include <string.h>

void
svg_style(struct text *t)
{
	text_puts(t,
		":root { --ink: #1c2330; --soft: #5b6678; --grid: #d5dae2; --paper: #ffffff;"
		" --c1: #3b76c4; --c2: #2f9c7a; --c3: #d9822b; --c4: #c23f4f;"
		" --c5: #8560b8; --c6: #8c96a6; --c7: #c2449b; --c8: #82862b; }\n"
		"@media (prefers-color-scheme: dark) {\n"
		":root { --ink: #e6e9ef; --soft: #a3adbd; --grid: #3a4352; --paper: #161b24;"
		" --c1: #6ea2e8; --c2: #57c4a0; --c3: #f0a657; --c4: #ec7583;"
		" --c5: #b394e0; --c6: #7b8698; --c7: #e88ac7; --c8: #c3c76a; }\n}\n"
		"@media print { :root { --ink: #000; --soft: #333; --grid: #ccc;"
		" --paper: #fff; --c1: #3b76c4; --c2: #2f9c7a; --c3: #d9822b;"
		" --c4: #c23f4f; --c5: #8560b8; --c6: #8c96a6; --c7: #c2449b; --c8: #82862b; } }\n"
		"svg text { font: 10px 'DejaVu Sans Mono', 'Liberation Mono', monospace;"
		" fill: var(--ink); }\n"
		"svg .grid { stroke: var(--grid); stroke-width: 1; fill: none; }\n"
		"svg .mark { stroke: var(--c4); stroke-width: 1.5; fill: none;"
		" stroke-dasharray: 5 3; }\n"
		"svg .edge { stroke: var(--soft); stroke-width: 1.5; fill: none; }\n"
		"svg .paper { fill: var(--paper); }\n"
		"svg .band { fill: var(--c4); fill-opacity: 0.12; }\n");
	static const struct {
		const char *class, *colour;
	} fills[] = {
		{ "compute", "--c1" }, { "sram", "--c2" }, { "constants", "--c3" },
		{ "stall", "--c4" }, { "starting", "--c8" }, { "transfer", "--c5" },
		{ "cpu", "--c6" }, { "tensor", "--c1" },
		{ "buffer", "--c3" }, { "input", "--c2" }, { "output", "--c5" },
		{ "variable", "--c6" }, { "point", "--c1" },
	};
	for (size_t i = 0; i < ARRAY_LEN(fills); i++)
		text_printf(t, "svg .%s { fill: var(%s); }\n", fills[i].class,
			    fills[i].colour);
	text_puts(t, "svg .beaten { fill: var(--paper); stroke: var(--c1); stroke-width: 1.5; }\n"
		     "svg .span { fill-opacity: 0.75; stroke: var(--paper);"
		     " stroke-width: 0.5; }\n");
}

void
svg_open(struct text *t, const char *title, double width, double height, bool alone)
{
	if (alone)
		text_puts(t, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	text_printf(t, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
		       "viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\">\n<title>",
		    width, height, width, height);
	text_html(t, title);
	text_puts(t, "</title>\n");
	if (!alone)
		return;
	text_puts(t, "<style>\n");
	svg_style(t);
	text_puts(t, "</style>\n");
	svg_rect(t, "paper", 0, 0, width, height, NULL);
}

void
svg_close(struct text *t)
{
	text_puts(t, "</svg>\n");
}

void
svg_rect(struct text *t, const char *class, double x, double y, double w,
	 double h, const char *title)
{
	text_printf(t, "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
		       "height=\"%.2f\"", class, x, y, w, h);
	if (!title) {
		text_puts(t, "/>\n");
		return;
	}
	text_puts(t, "><title>");
	text_html(t, title);
	text_puts(t, "</title></rect>\n");
}

void
svg_line(struct text *t, const char *class, double x1, double y1, double x2,
	 double y2)
{
	text_printf(t, "<line class=\"%s\" x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" "
		       "y2=\"%.2f\"/>\n", class, x1, y1, x2, y2);
}

void
svg_text(struct text *t, enum anchor where, double x, double y, const char *s)
{
	static const char *const names[] = { "start", "middle", "end" };
	text_printf(t, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\">", x, y,
		    names[where]);
	text_html(t, s);
	text_puts(t, "</text>\n");
}

void
svg_dot(struct text *t, const char *class, double x, double y, const char *title)
{
	text_printf(t, "<circle class=\"%s\" cx=\"%.2f\" cy=\"%.2f\" r=\"3.5\"><title>",
		    class, x, y);
	text_html(t, title);
	text_puts(t, "</title></circle>\n");
}

void
svg_legend(struct text *t, double x, double y, const char *const *class,
	   const char *const *name, const bool *shown)
{
	enum { SWATCH = 10, GAP = 18 };
	for (size_t i = 0; class[i]; i++) {
		if (shown && !shown[i])
			continue;
		svg_rect(t, class[i], x, y - SWATCH + 1, SWATCH, SWATCH, NULL);
		svg_text(t, ANCHOR_START, x + SWATCH + 4, y, name[i]);
		x += SWATCH + 4 + LETTER * (double)strlen(name[i]) + GAP;
	}
}

double
axis_step(double most)
{
	const double marks = 5;
	if (!(most > 0))
		return 1;
	double ten = pow(10, floor(log10(most / marks)));
	double times = most / marks / ten;
	return ten * (times > 5 ? 10 : times > 2 ? 5 : times > 1 ? 2 : 1);
}

const char *
axis_label(struct arena *a, double v, double most)
{
	if (!(fabs(v) > 0))
		return "0";
	if (most >= 1e6)
		return arena_printf(a, "%.4g M", v / 1e6);
	return most >= 1e4 ? arena_printf(a, "%.4g k", v / 1e3)
			   : arena_printf(a, "%.4g", v);
}

void
draw(struct text *t, const struct report *r, enum picture p, bool alone)
{
	static void (*const functions[PICTURES])(struct text *, const struct report *,
						 bool) = {
		[PIC_MEMORY] = draw_memory, [PIC_TIMELINE] = draw_timeline,
		[PIC_LAYERS] = draw_layers, [PIC_ROOFLINE] = draw_roofline,
		[PIC_CURVE] = draw_curve,
	};
	functions[p](t, r, alone);
}
