/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MACs per cycle over MACs per byte, with the limits of the MAC array and the memories
 * (roofline).
 */
#include "report.h"

#include <math.h>
#include <string.h>

enum { LEFT = 74, RIGHT = 150, TOP = 16, HEIGHT = 300, BELOW = 44 };

/* exponents of the powers of ten around all points */
struct plot {
	struct text *t;
	const struct report *r;
	double x_lo, x_hi, y_lo, y_hi;
};

static double
x_of(const struct plot *p, double v)
{
	return LEFT + (log10(v) - p->x_lo) / (p->x_hi - p->x_lo) *
			      (SVG_WIDTH - LEFT - RIGHT);
}

static double
y_of(const struct plot *p, double v)
{
	return TOP + HEIGHT - (log10(v) - p->y_lo) / (p->y_hi - p->y_lo) * HEIGHT;
}

static bool
has_point(const struct layer *l)
{
	return l->macs > 0 && l->bytes > 0 && l->total > 0;
}

/*
 * The line of a memory's bandwidth, up to the limit of the array.  Its name is beside the
 * line, on the side away from the other memory's line: in the middle, or as near to it as
 * the name covers no point.
 */
static void
draw_roof(const struct plot *p, double rate, bool below, const char *name)
{
	enum { HIGH = 12, DOT = 4 };
	static const double places[] = { 0.5, 0.6, 0.4, 0.7, 0.3, 0.8, 0.2, 0.9, 0.1 };
	double peak = p->r->macs_per_cycle;
	if (!(rate > 0 && peak > 0))
		return;
	double from = fmax(pow(10, p->x_lo), pow(10, p->y_lo) / rate);
	double to = fmin(pow(10, p->x_hi), peak / rate);
	if (from >= to)
		return;
	svg_line(p->t, "edge", x_of(p, from), y_of(p, from * rate), x_of(p, to),
		 y_of(p, to * rate));
	double w = LETTER * (double)strlen(name);
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		double v = from * pow(to / from, places[i]);
		double x = below ? x_of(p, v) + 6 : x_of(p, v) - 6 - w;
		double y = y_of(p, v * rate) + (below ? 10 : -4);
		bool is_free = !(x < LEFT || x + w > SVG_WIDTH - RIGHT || y > TOP + HEIGHT);
		for (size_t k = 0; k < p->r->n_layers && is_free; k++) {
			const struct layer *l = &p->r->layer[k];
			if (!has_point(l))
				continue;
			double px = x_of(p, l->macs / l->bytes), py = y_of(p, l->macs / l->total);
			is_free = !(px + DOT > x && px - DOT < x + w && py + DOT > y - HIGH &&
				    py - DOT < y + DOT);
		}
		if (!is_free)
			continue;
		svg_text(p->t, ANCHOR_START, x, y, name);
		return;
	}
}

void
draw_roofline(struct text *t, const struct report *r, bool alone)
{
	struct plot p = { .t = t, .r = r, .x_lo = -1, .x_hi = 3 };
	double peak = r->macs_per_cycle;
	p.y_hi = ceil(log10(peak > 0 ? peak : 1) + 0.01);
	p.y_lo = p.y_hi - 3;
	for (size_t i = 0; i < r->n_layers; i++) {
		const struct layer *l = &r->layer[i];
		if (!has_point(l))
			continue;
		p.x_lo = fmin(p.x_lo, floor(log10(l->macs / l->bytes)));
		p.x_hi = fmax(p.x_hi, ceil(log10(l->macs / l->bytes)));
		p.y_lo = fmin(p.y_lo, floor(log10(l->macs / l->total)));
	}
	svg_open(t, picture_titles[PIC_ROOFLINE], SVG_WIDTH, TOP + HEIGHT + BELOW, alone);
	for (int i = 0; i <= p.y_hi - p.y_lo; i++) {
		double v = pow(10, p.y_lo + i), y = y_of(&p, v);
		svg_line(t, "grid", LEFT, y, SVG_WIDTH - RIGHT, y);
		svg_text(t, ANCHOR_END, LEFT - 6, y + 3, axis_label(r->a, v, v));
	}
	for (int i = 0; i <= p.x_hi - p.x_lo; i++) {
		double v = pow(10, p.x_lo + i), x = x_of(&p, v);
		svg_line(t, "grid", x, TOP, x, TOP + HEIGHT);
		svg_text(t, ANCHOR_MIDDLE, x, TOP + HEIGHT + 14, axis_label(r->a, v, v));
	}
	svg_text(t, ANCHOR_START, LEFT, TOP + HEIGHT + 32,
		 "MACs a byte moved (across); MACs a cycle (up)");
	if (peak > 0) {
		svg_line(t, "edge", LEFT, y_of(&p, peak), SVG_WIDTH - RIGHT,
			 y_of(&p, peak));
		svg_text(t, ANCHOR_START, SVG_WIDTH - RIGHT + 6, y_of(&p, peak) + 3,
			 arena_printf(r->a, "%.0f MACs a cycle", peak));
	}
	bool sram_lower = r->sram_rate < r->constant_rate;
	draw_roof(&p, r->sram_rate, sram_lower,
		  arena_printf(r->a, "%s, %.3g B a cycle", fast_text(r), r->sram_rate));
	draw_roof(&p, r->constant_rate, !sram_lower,
		  arena_printf(r->a, "%s, %.3g B", constants_text(r), r->constant_rate));
	for (size_t i = 0; i < r->n_layers; i++) {
		const struct layer *l = &r->layer[i];
		if (has_point(l))
			svg_dot(t, "point", x_of(&p, l->macs / l->bytes),
				y_of(&p, l->macs / l->total),
				arena_printf(r->a, "%s: %.0f MACs, %.0f bytes, %.0f cycles", l->name,
					     l->macs, l->bytes, l->total));
	}
	svg_close(t);
}
