/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels, transfers, and times without a running kernel. */
#include "report.h"

enum { LEFT = 74, RIGHT = 12, LANE = 34, GAP = 12, TOP = 34, LANES = 4 };
enum lane { KERNELS, STALLS, TRANSFERS, ON_CPU };

static double
x_of(const struct report *r, double cycle)
{
	return LEFT + (r->whole > 0 ? cycle / r->whole * (SVG_WIDTH - LEFT - RIGHT)
				     : 0);
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

static void
draw_operation(struct text *t, const struct report *r, const struct operation *o)
{
	static const char *const classes[] = { "compute", "sram", "constants" };
	const char *title = arena_printf(r->a, "%s: %s, cycles %.0f to %.0f, %.0f bytes",
					 o->name, o->kind, o->start, o->end, o->bytes);
	if (o->is_transfer) {
		draw_bar(t, r, TRANSFERS, "transfer", o->start, o->end, title);
		return;
	}
	draw_bar(t, r, KERNELS, classes[o->limit], o->start, o->end, title);
	if (o->stall > 0)
		draw_bar(t, r, STALLS, "stall", o->start - o->stall, o->start,
			 arena_printf(r->a, "%.0f cycles before %s", o->stall, o->name));
}

enum { STALL_CLASS = LIMIT_STALL, TRANSFER_CLASS, CPU_CLASS, CLASSES };

static void
find_shown(const struct report *r, bool shown[CLASSES])
{
	for (size_t i = 0; i < r->n_ops; i++) {
		const struct operation *o = &r->op[i];
		shown[o->is_transfer ? TRANSFER_CLASS : (int)o->limit] = true;
		shown[STALL_CLASS] = shown[STALL_CLASS] ||
				     (!o->is_transfer && o->stall > 0);
	}
	shown[CPU_CLASS] = r->n_cpu > 0;
}

void
draw_timeline(struct text *t, const struct report *r, bool alone)
{
	static const char *const classes[] = { "compute", "sram", "constants", "stall",
					       "transfer", "cpu", NULL };
	static const char *const names[] = { "kernel: compute", "kernel: SRAM",
					     "kernel: constants", "no kernel",
					     "transfer", "CPU", NULL };
	static const char *const lanes[LANES] = { "kernels", "stalls", "transfers", "CPU" };
	int n = r->n_cpu ? LANES : ON_CPU;
	double bottom = y_of((enum lane)(n - 1)) + LANE, step = axis_step(r->whole);
	bool shown[CLASSES] = { false };
	find_shown(r, shown);
	svg_open(t, picture_titles[PIC_TIMELINE], bottom + 40, alone);
	svg_legend(t, LEFT, LINE, classes, names, shown);
	for (int i = 0; i <= r->whole / step; i++) {
		double v = i * step, x = x_of(r, v);
		svg_line(t, "grid", x, TOP, x, bottom);
		svg_text(t, x > SVG_WIDTH - 30 ? ANCHOR_END : ANCHOR_MIDDLE, x,
			 bottom + 14, axis_label(r->a, v, r->whole));
	}
	svg_text(t, ANCHOR_START, LEFT, bottom + 30, "cycles");
	for (int i = 0; i < n; i++)
		svg_text(t, ANCHOR_END, LEFT - 8, y_of((enum lane)i) + LANE / 2 + 3,
			 lanes[i]);
	for (size_t i = 0; i < r->n_ops; i++)
		draw_operation(t, r, &r->op[i]);
	for (size_t i = 0; i < r->n_cpu; i++) {
		const struct cpu_operator *c = &r->cpu[i];
		draw_bar(t, r, ON_CPU, "cpu", c->start, c->end,
			 arena_printf(r->a, "%s: %s on the CPU, roughly cycles %.0f to %.0f of the NPU's "
					    "clock", c->name, c->kind, c->start, c->end));
	}
	svg_close(t);
}
