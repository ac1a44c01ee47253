/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints an HTML page: for each model a picture that has the fronts of all its targets, an
 * index of the targets, and each target's sentence and rows, folded.  Targets with the same
 * accelerator and rows share a curve and an entry.
 */
#include "sweep.h"

#include "base/human.h"

#include <math.h>
#include <string.h>

/* ---- the picture of a model ------------------------------------------------------------ */

struct shape {
	const char *class;
	int width, height, left;
	double across; /* marks that have space for their texts */
};

struct spot {
	double x, y;
};

struct chart {
	struct text *t;
	struct arena *a;
	const struct curve *curve;
	size_t n;
	bool in_ms; /* the clock of each target is known */
	double sram[2], time[2]; /* the least and the largest of all points; 0: no front */
	bool clamps; /* a point has less SRAM than sram[0] */
	const struct shape *shape;
	struct spot *taken; /* by labels */
	size_t n_taken;
};

static double
time_of(const struct chart *c, const struct curve *k, const struct point *v)
{
	return c->in_ms ? pick_ms(&k->pick, v) : v->cycles;
}

static const char *
time_text(const struct chart *c, double v)
{
	return c->in_ms ? human_ms(c->a, v) : human_count(c->a, v);
}

static void
widen(double range[2], double v)
{
	range[0] = range[0] > 0 && range[0] < v ? range[0] : v;
	range[1] = range[1] > v ? range[1] : v;
}

/*
 * The axis of SRAM begins at 1 KiB or above: a part whose NPU has fast memory of its own may
 * have a plan of a few bytes, and a logarithmic axis would give it half of the picture.
 */
static void
find_ranges(struct chart *c)
{
	const double least = 1024, margin = 1.08;
	double smaller[2] = { 0 };
	c->in_ms = true;
	for (size_t i = 0; i < c->n; i++)
		c->in_ms &= !c->curve[i].pick.any || c->curve[i].pick.clock > 0;
	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; c->curve[i].pick.any && k < c->curve[i].front.n_points; k++) {
			const struct point *v = &c->curve[i].front.point[k];
			widen(v->sram < least ? smaller : c->sram, v->sram);
			widen(c->time, time_of(c, &c->curve[i], v));
		}
	c->clamps = smaller[0] > 0 && c->sram[0] > 0;
	/* a margin, also where all points are equal */
	for (int i = 0; i < 2; i++) {
		c->sram[i] = c->sram[i] > 0 ? c->sram[i] : smaller[i];
		c->sram[i] = i ? c->sram[i] * margin : c->sram[i] / margin;
		c->time[i] = i ? c->time[i] * margin : c->time[i] / margin;
	}
}

/* ---- the picture ----------------------------------------------------------------------- */

enum { RIGHT = 20, TOP = 20, BELOW = 24, STYLES = 4 };
static const struct shape shapes[] = {
	{ .class = "large", .width = 960, .height = 420, .left = 90, .across = 8 },
	{ .class = "small", .width = 368, .height = 300, .left = 62, .across = 5 }, /* for a telephone */
};

/* both axes are logarithmic: fronts of a small and a large NPU are in one picture */
static double
x_of(const struct chart *c, double sram)
{
	double part = log(fmax(sram, c->sram[0]) / c->sram[0]) / log(c->sram[1] / c->sram[0]);
	return c->shape->left + part * (c->shape->width - c->shape->left - RIGHT);
}

static double
y_of(const struct chart *c, double time)
{
	return TOP + c->shape->height -
	       log(time / c->time[0]) / log(c->time[1] / c->time[0]) * c->shape->height;
}

/*
 * The marks of a logarithmic axis are 1, 2 and 5 times the powers of ten.  An axis with few of them
 * has the multiples of a step instead, which is such a number, too.
 */
struct marks {
	double step; /* 0: there are enough of the others */
	double v;
};

/* 1, 2 or 5 times a power of ten, above v */
static double
next_round(double v)
{
	double ten = pow(10, floor(log10(v) + 1e-9)), k = v / ten;
	return ten * (k < 1.5 ? 2 : k < 3.5 ? 5 : 10);
}

static double
first_round(double least)
{
	double v = pow(10, floor(log10(least)));
	while (v < least)
		v = next_round(v);
	return v;
}

/* Returns the first mark from least on; up to most, a step gives 2 to `space` marks. */
static struct marks
marks_of(double least, double most, double space)
{
	enum { FEW = 4 };
	struct marks m = { .v = first_round(least) };
	double v = m.v;
	int n = 0;
	for (; n < FEW && v <= most; n++)
		v = next_round(v);
	if (n == FEW)
		return m;
	m.step = first_round((most - least) / space);
	m.v = ceil(least / m.step) * m.step;
	return m;
}

static void
next_mark(struct marks *m)
{
	m->v = m->step > 0 ? round(m->v / m->step + 1) * m->step : next_round(m->v);
}

/* Marks that are closer than their texts get a line and no text. */
static void
draw_axes(const struct chart *c)
{
	const double kib = 1024, text_width = 55, text_height = 18, up = 8;
	const int left = c->shape->left, bottom = TOP + c->shape->height;
	double last = -text_width;
	text_printf(c->t, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", left, TOP, bottom,
		    c->shape->width - RIGHT);
	struct marks m = marks_of(c->sram[0] / kib, c->sram[1] / kib, c->shape->across);
	for (; m.v * kib <= c->sram[1]; next_mark(&m)) {
		double x = x_of(c, m.v * kib);
		text_printf(c->t, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>\n", x, TOP, bottom);
		if (x < last + text_width)
			continue;
		last = x;
		text_printf(c->t, "<text class=\"across\" x=\"%.1f\" y=\"%d\">%g KiB</text>\n", x,
			    bottom + 16, m.v);
	}
	bool micro = c->in_ms && c->time[1] < 1; /* all marks share the unit */
	double one = micro ? 1e-3 : 1;
	last = bottom + text_height;
	m = marks_of(c->time[0] / one, c->time[1] / one, up);
	for (; m.v * one <= c->time[1]; next_mark(&m)) {
		double y = y_of(c, m.v * one);
		text_printf(c->t, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", left, y,
			    c->shape->width - RIGHT);
		if (y > last - text_height)
			continue;
		last = y;
		text_printf(c->t, "<text class=\"up\" x=\"%d\" y=\"%.1f\">%.10g%s</text>\n",
			    left - 8, y + 4, m.v, !c->in_ms ? "" : micro ? " µs" : " ms");
	}
}

/* Writes the curve's number above the knee, or above another point whose place is free. */
static void
draw_label(struct chart *c, const struct curve *k)
{
	const double above = 9, text_width = 18, text_height = 14;
	for (size_t i = 0; i <= k->front.n_points; i++) {
		const struct point *v = i ? &k->front.point[i - 1] : &k->pick.knee;
		struct spot s = { .x = x_of(c, v->sram), .y = y_of(c, time_of(c, k, v)) - above };
		bool is_taken = false;
		for (size_t n = 0; n < c->n_taken; n++)
			is_taken |= fabs(s.x - c->taken[n].x) < text_width &&
				    fabs(s.y - c->taken[n].y) < text_height;
		if (is_taken)
			continue;
		c->taken[c->n_taken++] = s;
		text_printf(c->t, "<text class=\"label s%d\" style=\"--h:%d\" x=\"%.1f\" "
				  "y=\"%.1f\">%d</text>\n", k->label % STYLES, k->hue, s.x, s.y,
			    k->label);
		return;
	}
}

/* Draws the front as steps: SRAM between two points permits the plan of the left point. */
static void
draw_curve(const struct chart *c, const struct curve *k)
{
	text_printf(c->t, "<a href=\"#t%zu\" class=\"curve s%d\" style=\"--h:%d\"><title>",
		    k->number, k->label % STYLES, k->hue);
	text_html(c->t, k->names);
	text_printf(c->t, ", %s</title>\n<path d=\"", k->of->accel);
	for (size_t i = 0; i < k->front.n_points; i++) {
		const struct point *v = &k->front.point[i];
		text_printf(c->t, i ? "H%.1fV%.1f" : "M%.1f %.1f", x_of(c, v->sram),
			    y_of(c, time_of(c, k, v)));
	}
	text_puts(c->t, "\"/>\n");
	for (size_t i = 0; i < k->front.n_points; i++) {
		const struct point *v = &k->front.point[i];
		bool knee = !(v->sram < k->pick.knee.sram || v->sram > k->pick.knee.sram);
		double time = time_of(c, k, v);
		text_printf(c->t, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\">"
				  "<title>%d: %s (--arena-cache-size=%.0f), %s</title></circle>\n",
			    knee ? "knee" : "point", x_of(c, v->sram), y_of(c, time),
			    knee ? 6 : 3, k->label, human_bytes(c->a, v->sram), v->sram,
			    time_text(c, time));
	}
	text_puts(c->t, "</a>\n");
}

static void
draw(struct chart *c)
{
	text_puts(c->t, "<div class=\"picture\">\n");
	c->taken = anew(c->a, struct spot, c->n);
	for (size_t s = 0; s < ARRAY_LEN(shapes); s++) {
		c->shape = &shapes[s];
		c->n_taken = 0;
		text_printf(c->t, "<svg class=\"%s\" viewBox=\"0 0 %d %d\" role=\"group\" "
				  "aria-label=\"time over SRAM\">\n", c->shape->class,
			    c->shape->width, TOP + c->shape->height + BELOW);
		draw_axes(c);
		for (size_t i = 0; i < c->n; i++)
			if (c->curve[i].pick.any)
				draw_curve(c, &c->curve[i]);
		/* in front of all curves */
		for (size_t i = 0; i < c->n; i++)
			if (c->curve[i].pick.any)
				draw_label(c, &c->curve[i]);
		text_puts(c->t, "</svg>\n");
	}
	bool outside = false;
	for (size_t i = 0; i < c->n; i++)
		outside |= c->curve[i].pick.any && c->curve[i].arena.is_not_sram;
	text_printf(c->t, "<p class=\"soft\">Across: SRAM; up: %s; both axes are logarithmic and "
			  "begin at the data.%s%s</p></div>\n",
		    c->in_ms ? "time of an inference, NPU and CPU" : "cycles of the NPU",
		    c->clamps ? " Plans of less SRAM than the axis has are at its left end." : "",
		    outside ? " Where the arena is in DRAM, SRAM has only copies of tensors." : "");
}

/* ---- rows -------------------------------------------------------------------------------- */

/* front: --front, which leaves out plans that are not on the front of all results */
static bool
is_shown(const struct row *w, bool front)
{
	return !front || w->front || w->status != OK;
}

/*
 * The row of the plan to take, once, although several goals may give a plan of its SRAM: that of its
 * limit, or else that of its cycles, which a plan of Size may have fewer of.  NULL: no row has it.
 */
static const struct row *
row_to_take(const struct rows *r, const struct curve *k, bool front)
{
	const struct point *v = &k->pick.knee;
	const struct row *found = NULL;
	for (size_t m = k->first; k->pick.any && m < k->first + k->n; m++) {
		const struct row *w = &r->v[m];
		if (!is_shown(w, front) || w->status != OK || w->cycles > round(v->cycles) ||
		    w->sram > v->sram || w->sram < v->sram)
			continue;
		if (w->limit == (int64_t)v->sram)
			return w;
		if (!found || w->cycles > found->cycles)
			found = w;
	}
	return found;
}

/* ---- the index of a model's targets ------------------------------------------------------ */

static void
put_index(const struct chart *c, const struct rows *r, bool front)
{
	const char *pair = c->in_ms ? "<th>SRAM</th><th>time</th>"
				    : "<th>SRAM</th><th>cycles</th>";
	text_printf(c->t, "<div class=\"wide\"><table class=\"index\"><thead><tr>"
			  "<th class=\"name\" rowspan=\"2\">target</th>"
			  "<th class=\"name\" rowspan=\"2\">accelerator</th>"
			  "<th class=\"pair\" colspan=\"2\">take</th>"
			  "<th class=\"pair\" colspan=\"2\">smallest</th>"
			  "<th class=\"pair\" colspan=\"2\">fastest</th>"
			  "<th rowspan=\"2\">flash</th></tr>\n"
			  "<tr>%s%s%s</tr></thead>\n", pair, pair, pair);
	for (size_t i = 0; i < c->n; i++) {
		const struct curve *k = &c->curve[i];
		const struct row *w = &r->v[k->first];
		text_printf(c->t, "<tr><td class=\"name\"><a href=\"#t%zu\">", k->number);
		if (k->pick.any)
			text_printf(c->t, "<i class=\"key s%d\" style=\"--h:%d\">%d</i>",
				    k->label % STYLES, k->hue, k->label);
		/* names divided by ", ": a line ends behind a name, not within it */
		for (const char *names = k->names, *end; *names; names = *end ? end + 2 : end) {
			end = strstr(names, ", ");
			end = end ? end : names + strlen(names);
			text_puts(c->t, "<span>");
			text_html(c->t, arena_strndup(c->a, names, (size_t)(end - names)));
			text_puts(c->t, *end ? ",</span> " : "</span>");
		}
		text_puts(c->t, "</a>");
		if (k->arena.is_not_sram || k->arena.has_model) {
			text_puts(c->t, k->arena.has_model ? " <span class=\"soft\">flash is in "
							   : " <span class=\"soft\">arena in ");
			text_html(c->t, k->arena.name);
			text_puts(c->t, "</span>");
		}
		text_printf(c->t, "</td><td class=\"name\">%s</td>", k->of->accel);
		const struct point *v[] = { &k->pick.knee, &k->pick.smallest, &k->pick.fastest };
		for (size_t m = 0; k->pick.any && m < ARRAY_LEN(v); m++)
			text_printf(c->t, "<td>%s</td><td>%s</td>", human_bytes(c->a, v[m]->sram),
				    time_text(c, time_of(c, k, v[m])));
		const struct row *take = row_to_take(r, k, front);
		const double flash = take ? take->flash : -1;
		if (k->pick.any)
			text_printf(c->t, "<td>%s%s</td>", take && row_flash_is_rough(take) ? "~" : "",
				    flash >= 0 ? human_bytes(c->a, flash) : "-");
		if (!k->pick.any) {
			text_puts(c->t, "<td class=\"name\" colspan=\"7\">");
			if (w->status == REFUSED && target_is_part(k->of) && w->message) {
				text_puts(c->t, "does not fit: ");
				text_html(c->t, reason_text(c->a, w->message));
			} else {
				text_html(c->t, w->message ? w->message : "no front");
			}
			text_puts(c->t, "</td>");
		}
		text_puts(c->t, "</tr>\n");
	}
	text_puts(c->t, "</table></div>\n");
}

static void
put_cell(struct text *t, double v, int digits)
{
	if (v < 0 || isinf(v))
		text_puts(t, "<td>-</td>");
	else
		text_printf(t, "<td>%.*f</td>", digits, v);
}

/* ---- the page ---------------------------------------------------------------------------- */

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
	"<meta name=\"color-scheme\" content=\"light dark\">"
	"<title>npu-sweep</title>\n<style>\n"
	":root { --ink: #1b2430; --soft: #5b6678; --paper: #fff; --grid: #dfe3ea; --l: 42%; --m: 30%; }\n"
	"@media (prefers-color-scheme: dark) { :root { --ink: #e3e8ef; --soft: #a3adbd; "
	"--paper: #12161c; --grid: #2c3442; --l: 62%; --m: 78%; } }\n"
	"body { font: 15px/1.45 system-ui, 'DejaVu Sans', sans-serif; color: var(--ink); "
	"background: var(--paper); max-width: 1568px; margin: 1em auto; padding: 0 16px; }\n"
	"h1 { font-size: 24px; } h2 { font-size: 18px; margin-top: 2em; }\n"
	"h2, p, summary { overflow-wrap: anywhere; } .wide { overflow-x: auto; }\n"
	"a { color: inherit; }\n"
	".two { display: grid; gap: 24px; align-items: start; grid-template-columns: minmax(0, 1fr); }\n"
	"@media (min-width: 1300px) { .two { grid-template-columns: minmax(0, 1fr) fit-content(56%); } }\n"
	"@media (min-width: 1300px) { .picture { position: sticky; top: 8px; } }\n"
	"svg { width: 100%; font-size: 13px; display: block; } svg text { fill: var(--soft); }\n"
	".small { display: none; max-width: 480px; font-size: 12px; }\n"
	"@media (max-width: 640px) { .large { display: none; } .small { display: block; } }\n"
	"path { fill: none; } .axis { stroke: var(--soft); } .grid { stroke: var(--grid); }\n"
	/* neighbours in hue differ in lightness and in dashes */
	".curve, .key, .label { --c: hsl(var(--h) 70% var(--l)); }\n"
	".s1, .s3 { --c: hsl(var(--h) 70% var(--m)); }\n"
	".s2 path { stroke-dasharray: 7 3; } .s3 path { stroke-dasharray: 2 3; }\n"
	".curve path { stroke: var(--c); stroke-width: 1.5; } .curve circle { fill: var(--c); }\n"
	".curve:hover path, .curve:focus path { stroke-width: 4; }\n"
	"svg .label { fill: var(--c); font-weight: bold; text-anchor: middle; paint-order: stroke; "
	"stroke: var(--paper); stroke-width: 4; pointer-events: none; }\n"
	".knee { stroke: var(--ink); stroke-width: 1.5; } .soft { color: var(--soft); }\n"
	".key { display: inline-block; min-width: 16px; border-radius: 2px; margin-right: 6px; "
	"padding: 0 2px; text-align: center; font: bold 11px/16px sans-serif; color: var(--paper); "
	"background: var(--c); }\n"
	".up { text-anchor: end; } .across { text-anchor: middle; }\n"
	"table { border-collapse: collapse; font-size: 13px; } td, th { padding: 2px 8px; "
	"text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }\n"
	"td { border-top: 1px solid var(--grid); } .index { width: 100%; }\n"
	".name { text-align: left; } .index td.name:first-child, td.name[colspan], "
	"details td.name { white-space: normal; min-width: 9em; } th.pair { text-align: center; border-bottom: 1px solid var(--grid); }\n"
	" .take { font-weight: bold; }\n"
	".index span { display: inline-block; max-width: 100%; overflow-wrap: anywhere; "
	"text-decoration: inherit; }\n"
	"details { border-top: 1px solid var(--grid); padding: 4px 0; } summary { cursor: pointer; }\n"
	"p:target { background: hsl(50 60% 50% / .15); }\n"
	"@media (max-width: 600px) { .index thead { display: none; } "
	".index tr { display: grid; grid-template-columns: 1fr 1fr; border: 1px solid var(--grid); "
	"border-radius: 8px; margin: 8px 0; padding: 6px; } .index td { border: 0; padding: 1px 4px; }"
	".index td:nth-child(1), .index td:nth-child(2) { grid-column: 1 / -1; }"
	".index td:nth-child(n+3) { display: flex; justify-content: space-between; gap: 8px; } "
	".index td:nth-child(2n+4) { justify-content: flex-end; }"
	".index td:nth-child(3)::before { content: 'take '; color: var(--soft); }"
	".index td:nth-child(5)::before { content: 'smallest '; color: var(--soft); }"
	".index td:nth-child(7)::before { content: 'fastest '; color: var(--soft); } "
	".index td:nth-child(9) { grid-column: 1 / -1; }"
	".index td:nth-child(9)::before { content: 'flash '; color: var(--soft); } "
	".index td[colspan] { grid-column: 1 / -1; } .index td[colspan]::before { content: none; } }\n"
	"</style></head><body>\n<h1>SRAM and time of each plan</h1>\n"
	"<p>Cycles and times are estimates. Each curve has the number of its entry in the table. A "
	"large dot is the plan to take; a dot names the option that gives its plan.</p>\n";

static void
put_model(struct chart *c, const struct plan *p, const struct rows *r, bool front)
{
	struct text *t = c->t;
	text_printf(t, "<h2 id=\"m%zu\">", c->curve[0].of->model->index);
	text_html(t, c->curve[0].of->model->name);
	text_puts(t, "</h2>\n<div class=\"two\">\n");
	find_ranges(c);
	if (c->sram[0] > 0)
		draw(c);
	put_index(c, r, front);
	text_puts(t, "</div>\n<p>");
	struct text best = { 0 };
	pick_best(&best, p, c->curve, c->n);
	text_html(t, text_str(&best));
	text_free(&best);
	text_puts(t, "</p>\n<p>The plans of each target. The NPU's cycles do not include the "
		     "CPU's part of an inference. Flash has the constants and the command streams; "
		     "~: estimated. In bold: the plan to take.</p>\n");
	for (size_t i = 0; i < c->n; i++) {
		const struct curve *k = &c->curve[i];
		struct text sentence = { 0 };
		/* a link to an element inside unfolds the details */
		text_puts(t, "<details><summary>");
		text_html(t, k->names);
		text_printf(t, ", %s</summary>\n<p id=\"t%zu\">", k->of->accel, k->number);
		pick_sentence(&sentence, p, k);
		text_html(t, text_str(&sentence));
		text_free(&sentence);
		text_puts(t, "</p>\n<div class=\"wide\"><table><tr><th class=\"name\">optimise</th><th>limit, bytes</th>"
			     "<th>SRAM, bytes</th><th>flash, bytes</th><th>NPU cycles</th>"
			     "<th>ms, NPU and CPU</th>"
			     "<th class=\"name\">status</th><th class=\"name\">message</th></tr>\n");
		const struct row *chosen = row_to_take(r, k, front);
		for (size_t m = k->first; m < k->first + k->n; m++) {
			const struct row *w = &r->v[m];
			if (!is_shown(w, front))
				continue;
			bool take = w == chosen;
			text_printf(t, "<tr class=\"%s\"><td class=\"name\">%s</td>",
				    take ? "take" : "other", goal_names[w->goal]);
			/* the limit of the sentence gives the plan, too, of a row without a limit */
			put_cell(t, take ? k->pick.knee.sram : (double)w->limit, 0);
			put_cell(t, w->sram, 0);
			if (row_flash_is_rough(w))
				text_printf(t, "<td>~%.0f</td>", w->flash);
			else
				put_cell(t, w->flash, 0);
			put_cell(t, w->cycles, 0);
			put_cell(t, w->status == OK ? w->ms : -1, 3);
			text_printf(t, "<td class=\"name\">%s</td><td class=\"name\">",
				    take ? "ok: take this plan" : row_status(w));
			text_html(t, w->message ? w->message : "");
			text_puts(t, "</td></tr>\n");
		}
		text_puts(t, "</table></div>\n</details>\n");
	}
}

void
print_page(struct text *t, const struct plan *p, const struct rows *r,
	   const struct options *o)
{
	size_t n, number = 0;
	struct curve *v = anew(p->a, struct curve, r->n + 1);
	text_puts(t, head);
	/* links to the models, if there are several */
	const struct model *last = NULL;
	text_puts(t, p->n_models < 2 ? "" : "<p>Models:");
	for (size_t i = 0; p->n_models >= 2 && i < r->n; i++) {
		const struct model *m = r->v[i].target->model;
		if (m == last)
			continue;
		text_printf(t, " <a href=\"#m%zu\">", m->index);
		text_html(t, m->name);
		text_puts(t, "</a>");
		last = m;
	}
	text_puts(t, p->n_models < 2 ? "" : "</p>\n");
	for (size_t i = 0; i < r->n;) {
		i = find_curves(p, r, i, v, &n, &number);
		struct chart c = { .t = t, .a = p->a, .curve = v, .n = n };
		put_model(&c, p, r, o->front);
	}
	text_puts(t, "</body></html>\n");
}
