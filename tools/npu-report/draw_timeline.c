/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels, transfers, and times without a running kernel. */
#include "report.h"

enum { LEFT = 74, RIGHT = 12, LANE = 34, GAP = 12, TOP = 34, LANES = 4 };
enum lane { KERNELS, STALLS, TRANSFERS, ON_CPU };

static double
x_of(const struct report *r, double cycle)
{
	double width = r->width > 0 ? r->width : SVG_WIDTH, end = r->axis > 0 ? r->axis : r->whole;
	return LEFT + (end > 0 ? cycle / end * (width - LEFT - RIGHT) : 0);
}

void
draw_time_axis(struct text *t, const struct report *r, double left, double right, double top,
	       double bottom)
{
	const double edge = 40, space = 90; /* pixels: for the half of a text, between two texts */
	double width = right - left, ms = cycles_ms(r, r->axis > 0 ? r->axis : r->whole);
	double one = ms < 1 ? 1e-3 : ms < 1e3 ? 1 : 1e3; /* ms */
	double step = axis_step(ms / one), most = ms / one;
	while (most > 0 && step / most * width < space)
		step *= 2;
	for (int i = 0; i <= most / step; i++) {
		double v = i * step, x = left + (most > 0 ? v / most * width : 0);
		svg_line(t, "grid", x, top, x, bottom);
		svg_text(t, x > right - edge ? ANCHOR_END : ANCHOR_MIDDLE, x, bottom + 14,
			 arena_printf(r->a, "%.6g %s", v, one < 1 ? "µs" : one > 1 ? "s" : "ms"));
	}
}

static double
y_of(enum lane lane)
{
	return TOP + (double)lane * (LANE + GAP);
}

static void
draw_bar(struct text *t, const struct report *r, enum lane lane, const char *class,
	 double start, double end, const char *title)
{
	const double least = 0.3; /* smallest width that is visible */
	double x = x_of(r, start), w = x_of(r, end) - x;
	svg_rect(t, class, x, y_of(lane), w > least ? w : least, LANE, title);
}

enum { TRANSFER_CLASS = LIMITS, CPU_CLASS, CLASSES };

void
draw_timeline(struct text *t, const struct report *r, bool alone)
{
	static const char *const classes[] = { "compute", "sram", "constants", "stall", "starting",
					       "transfer", "cpu", NULL };
	static const char *const lanes[LANES] = { "NPU", "waiting", "DMA", "CPU" };
	const char *names[CLASSES + 1] = { [TRANSFER_CLASS] = "transfer", [CPU_CLASS] = "CPU" };
	double width = r->width > 0 ? r->width : SVG_WIDTH;
	int n = r->n_cpu ? LANES : ON_CPU;
	double bottom = y_of((enum lane)(n - 1)) + LANE;
	bool shown[CLASSES] = { false };
	for (size_t i = 0; i < r->n_ops; i++) {
		const struct operation *o = &r->op[i];
		shown[o->is_transfer ? TRANSFER_CLASS : (int)o->limit] = true;
		shown[LIMIT_STALL] = shown[LIMIT_STALL] ||
				     (!o->is_transfer && o->stall > o->starting);
		shown[LIMIT_START] = shown[LIMIT_START] || (!o->is_transfer && o->starting > 0);
	}
	shown[CPU_CLASS] = r->n_cpu > 0;
	for (int k = 0; k < LIMITS; k++)
		names[k] = limit_text(r, (enum limit)k);
	svg_open(t, picture_titles[PIC_TIMELINE], width, bottom + 24, alone);
	if (alone)
		svg_legend(t, LEFT, LINE, classes, names, shown);
	draw_time_axis(t, r, LEFT, width - RIGHT, TOP, bottom);
	for (int i = 0; i < n; i++)
		svg_text(t, ANCHOR_END, LEFT - 8, y_of((enum lane)i) + LANE / 2 + 3,
			 lanes[i]);
	for (size_t i = 0; i < r->n_ops; i++) {
		const struct operation *o = &r->op[i];
		const char *title = arena_printf(r->a, "%s: %s, %s from %s, %.0f bytes read, "
						       "%.0f written", o->name, o->kind,
						 human_ms(r->a, cycles_ms(r, o->end - o->start)),
						 human_ms(r->a, cycles_ms(r, o->start)), o->read_bytes,
						 o->written_bytes);
		if (o->is_transfer) {
			draw_bar(t, r, TRANSFERS, "transfer", o->start, o->end, title);
			continue;
		}
		draw_bar(t, r, KERNELS, classes[o->limit], o->start, o->end, title);
		const double begun = o->start - o->starting;
		if (o->stall > o->starting)
			draw_bar(t, r, STALLS, "stall", o->start - o->stall, begun,
				 arena_printf(r->a, "%s of %s before %s",
					      human_ms(r->a, cycles_ms(r, o->stall - o->starting)),
					      names[LIMIT_STALL], o->name));
		if (o->starting > 0)
			draw_bar(t, r, STALLS, "starting", begun, o->start,
				 arena_printf(r->a, "%s for the commands of %s",
					      human_ms(r->a, cycles_ms(r, o->starting)), o->name));
	}
	for (size_t i = 0; i < r->n_cpu; i++) {
		const struct cpu_operator *c = &r->cpu[i];
		draw_bar(t, r, ON_CPU, "cpu", c->start, c->end,
			 arena_printf(r->a, "%s: %s on the CPU, roughly %s", c->name, c->kind,
				      human_ms(r->a, cycles_ms(r, c->end - c->start))));
	}
	svg_close(t);
}
