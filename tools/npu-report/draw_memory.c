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

static void
draw_axes(const struct plot *p)
{
	struct arena *a = p->r->a;
	double one = highest(p) < 1024 ? 1 : highest(p) < 1048576 ? 1024 : 1048576;
	double step = axis_step(highest(p) / one);
	for (int i = 0; i <= highest(p) / one / step; i++) {
		double y = y_of(p, i * step * one);
		svg_line(p->t, "grid", LEFT, y, LEFT + p->width, y);
		svg_text(p->t, ANCHOR_END, LEFT - 6, y + 3,
			 arena_printf(a, "%.6g %s", i * step, one > 1024 ? "MiB" : one > 1 ? "KiB" : "bytes"));
	}
	draw_time_axis(p->t, p->r, LEFT, LEFT + p->width, p->y0, p->y0);
}

static void
draw_span(const struct plot *p, const struct span *s)
{
	struct arena *a = p->r->a;
	double x = x_of(p, s->start), w = x_of(p, s->end) - x;
	double y = y_of(p, s->at + s->bytes), h = y_of(p, s->at) - y;
	const char *class = arena_printf(a, "span %s", s->kind);
	const char *title = arena_printf(a, "%s %s: %.0f bytes at %.0f, %s to %s", s->name,
					 s->shape, s->bytes, s->at,
					 human_ms(a, cycles_ms(p->r, s->start)),
					 human_ms(a, cycles_ms(p->r, s->end)));
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
		const char *label = label_in(p->r, s->label, (size_t)n_letters);
		if (!label)
			continue;
		svg_text(p->t, ANCHOR_START, x + INSIDE, y + HIGH / 2.0 + 3, label);
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
		 arena_printf(p->r->a, "%s: peak of %s in use, of %s", place_text(p->r, k->place),
			      human_bytes(p->r->a, k->bytes), human_bytes(p->r->a, k->top)));
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
