/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles over SRAM: the Pareto front of the plans, and the plans that it beats as hollow marks. */
#include "report.h"

#include <math.h>

enum { LEFT = 84, RIGHT = 20, TOP = 16, HEIGHT = 280, BELOW = 44 };

/* the axes begin and end a little beside the data */
struct range {
	double least, most;
};

struct plot {
	struct range sram, cycles;
};

static void
add_margin(struct range *x)
{
	const double part = 0.06;
	double more = part * (x->most > x->least ? x->most - x->least
			      : x->most > 0	 ? x->most
						 : 1);
	x->least = x->least > more ? x->least - more : 0;
	x->most += more;
}

static double
part_of(const struct range *x, double v)
{
	return (v - x->least) / (x->most - x->least);
}

static double
x_of(const struct plot *p, double sram)
{
	return LEFT + part_of(&p->sram, sram) * (SVG_WIDTH - LEFT - RIGHT);
}

static double
y_of(const struct plot *p, double cycles)
{
	return TOP + HEIGHT - part_of(&p->cycles, cycles) * HEIGHT;
}

void
draw_curve(struct text *t, const struct report *r, bool alone)
{
	struct plot p = { .sram = { r->sram, r->sram },
			  .cycles = { r->cycles, r->cycles } };
	for (size_t i = 0; i < r->n_points; i++) {
		const struct point *v = &r->point[i];
		p.sram.least = fmin(p.sram.least, v->sram);
		p.sram.most = fmax(p.sram.most, v->sram);
		p.cycles.least = fmin(p.cycles.least, v->cycles);
		p.cycles.most = fmax(p.cycles.most, v->cycles);
	}
	add_margin(&p.sram);
	add_margin(&p.cycles);
	svg_open(t, picture_titles[PIC_CURVE], SVG_WIDTH, TOP + HEIGHT + BELOW, alone);
	if (!r->n_points) {
		svg_text(t, ANCHOR_START, LEFT, TOP + LINE,
			 "no curve was given: npu-report --front=FILE takes one from npu-sched "
			 "--front --json");
		svg_close(t);
		return;
	}
	double step = axis_step(p.cycles.most - p.cycles.least);
	for (double i = ceil(p.cycles.least / step); i * step <= p.cycles.most; i++) {
		double v = i * step;
		svg_line(t, "grid", LEFT, y_of(&p, v), SVG_WIDTH - RIGHT, y_of(&p, v));
		svg_text(t, ANCHOR_END, LEFT - 6, y_of(&p, v) + 3,
			 axis_label(r->a, v, p.cycles.most));
	}
	double sram = axis_step(p.sram.most - p.sram.least);
	for (double i = ceil(p.sram.least / sram); i * sram <= p.sram.most; i++) {
		double x = x_of(&p, i * sram);
		svg_text(t, x > SVG_WIDTH - 40 ? ANCHOR_END : ANCHOR_MIDDLE, x,
			 TOP + HEIGHT + 14, axis_label(r->a, i * sram, p.sram.most));
	}
	bool any_beaten = false;
	for (size_t i = 0; i < r->n_points; i++)
		any_beaten |= r->point[i].is_beaten;
	svg_text(t, ANCHOR_START, LEFT, TOP + HEIGHT + 32,
		 arena_printf(r->a, "%s, bytes (across); cycles (up); the axes begin at the data; "
				    "dashed: this plan%s", fast_text(r),
			      any_beaten ? "; hollow: not faster than a plan of less" : ""));
	double this_x = x_of(&p, r->sram), this_y = y_of(&p, r->cycles);
	svg_line(t, "mark", this_x, TOP, this_x, TOP + HEIGHT);
	svg_line(t, "mark", LEFT, this_y, SVG_WIDTH - RIGHT, this_y);
	/* SRAM between two points permits the plan of the smaller point */
	const struct point *v = r->point, *last = v;
	for (size_t i = 1; i < r->n_points; i++) {
		double x = x_of(&p, v[i].sram), y = y_of(&p, last->cycles);
		if (v[i].is_beaten)
			continue;
		svg_line(t, "edge", x_of(&p, last->sram), y, x, y);
		svg_line(t, "edge", x, y, x, y_of(&p, v[i].cycles));
		last = &v[i];
	}
	for (size_t i = 0; i < r->n_points; i++)
		svg_dot(t, v[i].is_beaten ? "point beaten" : "point", x_of(&p, v[i].sram), y_of(&p, v[i].cycles),
			arena_printf(r->a, "%.0f bytes, %.0f cycles: %s", v[i].sram,
				     v[i].cycles, v[i].change));
	svg_close(t);
}
