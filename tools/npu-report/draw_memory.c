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
	return LEFT + (p->r->whole > 0 ? cycle / p->r->whole * p->width : 0);
}

static double
y_of(const struct plot *p, double address)
{
	return p->y0 - (p->peak->top > 0 ? address / p->peak->top * HEIGHT : 0);
}

static void
draw_axes(const struct plot *p)
{
	struct arena *a = p->r->a;
	double step = axis_step(p->peak->top), cycles = axis_step(p->r->whole);
	for (int i = 0; i <= p->peak->top / step; i++) {
		double v = i * step;
		svg_line(p->t, "grid", LEFT, y_of(p, v), LEFT + p->width, y_of(p, v));
		svg_text(p->t, ANCHOR_END, LEFT - 6, y_of(p, v) + 3, axis_label(a, v, p->peak->top));
	}
	for (int i = 0; i <= p->r->whole / cycles; i++) {
		double v = i * cycles;
		bool last = x_of(p, v) > SVG_WIDTH - 30;
		svg_text(p->t, last ? ANCHOR_END : ANCHOR_MIDDLE, x_of(p, v),
			 p->y0 + 14, axis_label(a, v, p->r->whole));
	}
	svg_text(p->t, ANCHOR_START, LEFT, p->y0 + 30, "cycles");
}

static void
draw_span(const struct plot *p, const struct span *s)
{
	struct arena *a = p->r->a;
	double x = x_of(p, s->start), w = x_of(p, s->end) - x;
	double y = y_of(p, s->at + s->bytes), h = y_of(p, s->at) - y;
	const char *class = arena_printf(a, "span %s", s->kind);
	const char *title = arena_printf(a, "%s %s: %.0f bytes at %.0f, cycles %.0f to "
					    "%.0f", s->name, s->shape, s->bytes, s->at,
					 s->start, s->end);
	svg_rect(p->t, class, x, y, w > 0.5 ? w : 0.5, h > 0.5 ? h : 0.5, title);
}

enum { INSIDE = 4, HIGH = 12, FEWEST = 6 }; /* pixels around a name; fewest letters of a name */

/*
 * Returns the x up to which a strip of height HIGH at y is not covered by spans that
 * are drawn after span i, from x up to end.
 */
static double
clear_until_x(const struct plot *p, size_t i, double x, double end, double y)
{
	const struct span *s = &p->r->span[i];
	for (size_t k = i + 1; k < p->r->n_spans; k++) {
		const struct span *o = &p->r->span[k];
		double from = x_of(p, o->start);
		if (!strcmp(o->place, s->place) && from < end && x < x_of(p, o->end) &&
		    y < y_of(p, o->at) && y_of(p, o->at + o->bytes) < y + HIGH)
			end = from > x ? from : x;
	}
	return end;
}

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
		double n_letters = (clear_until_x(p, i, x, end, y) - x - 2 * INSIDE) / LETTER;
		if (n_letters < FEWEST)
			continue;
		svg_text(p->t, ANCHOR_START, x + INSIDE, y + HIGH / 2.0 + 3,
			 shortened(p->r->a, s->label, (size_t)n_letters));
		return;
	}
}

static void
draw_peak(const struct plot *p)
{
	const struct peak *k = p->peak;
	double x = x_of(p, k->start), w = x_of(p, k->end) - x;
	svg_rect(p->t, "band", x, p->y0 - HEIGHT, w > 1 ? w : 1, HEIGHT, NULL);
	svg_line(p->t, "mark", LEFT, y_of(p, k->top), LEFT + p->width, y_of(p, k->top));
	svg_text(p->t, ANCHOR_START, LEFT, p->y0 - HEIGHT - 6,
		 arena_printf(p->r->a, "%s: peak of %.0f bytes in use at cycles %.0f to "
				       "%.0f, %zu tensors and buffers; %.0f bytes "
				       "reserved", k->place, k->bytes, k->start, k->end,
			      k->n_names, k->top));
}

void
draw_memory(struct text *t, const struct report *r, bool alone)
{
	static const char *const classes[] = { "span tensor", "span buffer",
					       "span input", "span output",
					       "span variable", NULL };
	static const char *const names[] = { "tensor", "buffer for weights", "input",
					     "output", "variable", NULL };
	enum { EACH = TOP + HEIGHT + BELOW };
	bool shown[ARRAY_LEN(classes)] = { false };
	for (size_t i = 0; i < r->n_spans; i++)
		for (size_t k = 0; classes[k]; k++)
			if (!strcmp(classes[k] + strlen("span "), r->span[i].kind))
				shown[k] = true;
	svg_open(t, picture_titles[PIC_MEMORY],
		 LINE + 8 + (double)EACH * (double)(r->n_peaks ? r->n_peaks : 1), alone);
	svg_legend(t, LEFT, LINE, classes, names, shown);
	for (size_t i = 0; i < r->n_peaks; i++) {
		struct plot p = { .t = t, .r = r, .peak = &r->peak[i],
				  .width = SVG_WIDTH - LEFT - RIGHT,
				  .y0 = LINE + (double)EACH * (double)i + TOP + HEIGHT };
		draw_axes(&p);
		for (size_t k = 0; k < r->n_spans; k++)
			if (!strcmp(r->span[k].place, p.peak->place))
				draw_span(&p, &r->span[k]);
		draw_peak(&p);
		for (size_t k = 0; k < r->n_spans; k++)
			if (!strcmp(r->span[k].place, p.peak->place))
				draw_name(&p, k);
	}
	if (!r->n_peaks)
		svg_text(t, ANCHOR_START, LEFT, TOP + LINE,
			 "the compiled file has no source map, which lists its memory");
	svg_close(t);
}
