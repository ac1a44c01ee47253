/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses over time: a rectangle for every tensor and buffer. */
#include "report.h"

#include <string.h>

enum { LEFT = 74, RIGHT = 12, TOP = 40, HEIGHT = 300, BELOW = 44 };

struct plot {
	struct text *t;
	const struct report *r;
	const struct peak *peak;
	double y0, width; /* y of the lowest address; width of the whole time */
};

static double
x_of(const struct plot *p, double cycle)
{
	double end = p->r->axis > 0 ? p->r->axis : p->r->whole;
	return LEFT + (end > 0 ? cycle / end * p->width : 0);
}

static double
highest(const struct plot *p)
{
	return p->peak->axis > p->peak->top ? p->peak->axis : p->peak->top;
}

static double
y_of(const struct plot *p, double address)
{
	return p->y0 - (highest(p) > 0 ? address / highest(p) * HEIGHT : 0);
}

enum { INSIDE = 4, HIGH = 12, FEWEST = 6 }; /* pixels around a name; fewest letters of a name */

/*
 * Draws a span's name inside the span, if the span is large enough and no later span
 * covers the name.
 */
static void
draw_name(const struct plot *p, size_t i)
{
	static const double heights[] = { 0.5, 0.75, 0.25 };
	const struct span *s = &p->r->span[i];
	double x = x_of(p, s->start), end = x_of(p, s->end);
	double top = y_of(p, s->at + s->bytes), h = y_of(p, s->at) - top;
	if (h < HIGH)
		return;
	for (size_t k = 0; k < ARRAY_LEN(heights); k++) {
		double y = top + (h - HIGH) * heights[k];
		double until = end; /* the x up to which no later span covers the name's strip */
		for (size_t m = i + 1; m < p->r->n_spans; m++) {
			const struct span *o = &p->r->span[m];
			double from = x_of(p, o->start);
			if (!strcmp(o->place, s->place) && from < until && x < x_of(p, o->end) &&
			    y < y_of(p, o->at) && y_of(p, o->at + o->bytes) < y + HIGH)
				until = from > x ? from : x;
		}
		double n_letters = (until - x - 2 * INSIDE) / LETTER;
		if (n_letters < FEWEST)
			continue;
		const char *label = label_in(p->r, s->label, (size_t)n_letters);
		if (!label)
			continue;
		svg_text(p->t, ANCHOR_START, x + INSIDE, y + HIGH / 2.0 + 3, label);
		return;
	}
}

void
draw_memory(struct text *t, const struct report *r, bool alone)
{
	static const char *const classes[] = { "span tensor", "span buffer",
					       "span input", "span output",
					       "span variable", NULL };
	static const char *const names[] = { "tensor", "weights on their way", "input",
					     "output", "variable", NULL };
	enum { EACH = TOP + HEIGHT + BELOW };
	bool shown[ARRAY_LEN(classes)] = { false };
	double width = r->width > 0 ? r->width : SVG_WIDTH;
	for (size_t i = 0; i < r->n_spans; i++)
		for (size_t k = 0; classes[k]; k++)
			if (!strcmp(classes[k] + strlen("span "), r->span[i].kind))
				shown[k] = true;
	svg_open(t, picture_titles[PIC_MEMORY], width,
		 LINE + 8 + (double)EACH * (double)(r->n_peaks ? r->n_peaks : 1), alone);
	if (alone)
		svg_legend(t, LEFT, LINE, classes, names, shown);
	for (size_t i = 0; i < r->n_peaks; i++) {
		struct plot p = { .t = t, .r = r, .peak = &r->peak[i],
				  .width = width - LEFT - RIGHT,
				  .y0 = LINE + (double)EACH * (double)i + TOP + HEIGHT };
		double one = highest(&p) < 1024 ? 1 : highest(&p) < 1048576 ? 1024 : 1048576;
		double step = axis_step(highest(&p) / one);
		for (int k = 0; k <= highest(&p) / one / step; k++) {
			double y = y_of(&p, k * step * one);
			svg_line(t, "grid", LEFT, y, LEFT + p.width, y);
			svg_text(t, ANCHOR_END, LEFT - 6, y + 3,
				 arena_printf(r->a, "%.6g %s", k * step,
					      one > 1024 ? "MiB" : one > 1 ? "KiB" : "bytes"));
		}
		draw_time_axis(t, r, LEFT, LEFT + p.width, p.y0, p.y0);
		for (size_t k = 0; k < r->n_spans; k++) {
			const struct span *s = &r->span[k];
			double left = x_of(&p, s->start), w = x_of(&p, s->end) - left;
			double y = y_of(&p, s->at + s->bytes), h = y_of(&p, s->at) - y;
			if (strcmp(s->place, p.peak->place) != 0)
				continue;
			const char *class = arena_printf(r->a, "span %s", s->kind);
			const char *title = arena_printf(r->a, "%s %s: %.0f bytes at %.0f, %s to %s",
							 s->name, s->shape, s->bytes, s->at,
							 human_ms(r->a, cycles_ms(r, s->start)),
							 human_ms(r->a, cycles_ms(r, s->end)));
			svg_rect(t, class, left, y, w > 0.5 ? w : 0.5, h > 0.5 ? h : 0.5, title);
		}
		/* the time of the peak, and what it takes */
		double x = x_of(&p, p.peak->start), w = x_of(&p, p.peak->end) - x;
		double top = y_of(&p, p.peak->top);
		svg_rect(t, "band", x, p.y0 - HEIGHT, w > 1 ? w : 1, HEIGHT, NULL);
		svg_line(t, "mark", LEFT, top, LEFT + p.width, top);
		svg_text(t, ANCHOR_START, LEFT, p.y0 - HEIGHT - 6,
			 arena_printf(r->a, "%s: peak of %s in use, of %s", place_text(r, p.peak->place),
				      human_bytes(r->a, p.peak->bytes),
				      human_bytes(r->a, p.peak->top)));
		for (size_t k = 0; k < r->n_spans; k++)
			if (!strcmp(r->span[k].place, p.peak->place))
				draw_name(&p, k);
	}
	if (!r->n_peaks)
		svg_text(t, ANCHOR_START, LEFT, TOP + LINE,
			 "the compiled file has no source map, which lists its memory");
	svg_close(t);
}
