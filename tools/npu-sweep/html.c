/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints an HTML page: for each model a picture that has the fronts of all its targets, an
 * index of the targets, and each target's sentence and rows, folded.
 */
#include "sweep.h"

#include "base/human.h"

#include <math.h>
#include <string.h>

/* ---- the targets of a model ---------------------------------------------------------- */

struct curve {
	const struct target *of;
	struct record front; /* only if pick.any: the plans that fit */
	struct pick pick;
	size_t first, n; /* rows */
	size_t number;	 /* on the page, from 0 */
	int hue;
};

struct chart {
	struct text *t;
	struct arena *a;
	const struct curve *curve;
	size_t n;
	bool in_ms; /* the clock of each target is known */
	double sram[2], time[2]; /* the least and the largest of all points; 0: no front */
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

static void
find_ranges(struct chart *c)
{
	c->in_ms = true;
	for (size_t i = 0; i < c->n; i++)
		c->in_ms &= !c->curve[i].pick.any || c->curve[i].pick.clock > 0;
	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; c->curve[i].pick.any && k < c->curve[i].front.n_points; k++) {
			const struct point *v = &c->curve[i].front.point[k];
			widen(c->sram, v->sram);
			widen(c->time, time_of(c, &c->curve[i], v));
		}
	/* a margin, also where all points are equal */
	const double margin = 1.08;
	for (int i = 0; i < 2; i++) {
		c->sram[i] = i ? c->sram[i] * margin : c->sram[i] / margin;
		c->time[i] = i ? c->time[i] * margin : c->time[i] / margin;
	}
}

/* ---- the picture ----------------------------------------------------------------------- */

enum { WIDTH = 960, HEIGHT = 420, LEFT = 90, RIGHT = 20, TOP = 14, BELOW = 44 };

/* both axes are logarithmic: fronts of a small and a large NPU are in one picture */
static double
x_of(const struct chart *c, double sram)
{
	return LEFT + log(sram / c->sram[0]) / log(c->sram[1] / c->sram[0]) *
			      (WIDTH - LEFT - RIGHT);
}

static double
y_of(const struct chart *c, double time)
{
	return TOP + HEIGHT -
	       log(time / c->time[0]) / log(c->time[1] / c->time[0]) * HEIGHT;
}

/* the next mark of an axis: 1, 2 or 5 times a power of the base's decades */
static double
next_mark(double v)
{
	double ten = pow(10, floor(log10(v) + 1e-9)), k = v / ten;
	return ten * (k < 1.5 ? 2 : k < 3.5 ? 5 : 10);
}

static double
first_mark(double least)
{
	double v = pow(10, floor(log10(least)));
	while (v < least)
		v = next_mark(v);
	return v;
}

static void
draw_axes(const struct chart *c)
{
	const double kib = 1024;
	text_printf(c->t, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP,
		    TOP + HEIGHT, WIDTH - RIGHT);
	for (double v = first_mark(c->sram[0] / kib); v * kib <= c->sram[1]; v = next_mark(v)) {
		double x = x_of(c, v * kib);
		text_printf(c->t, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>"
				  "<text class=\"across\" x=\"%.1f\" y=\"%d\">%g KiB</text>\n",
			    x, TOP, TOP + HEIGHT, x, TOP + HEIGHT + 16, v);
	}
	bool micro = c->in_ms && c->time[1] < 1; /* all marks share the unit */
	double one = micro ? 1e-3 : 1;
	for (double v = first_mark(c->time[0] / one); v * one <= c->time[1]; v = next_mark(v)) {
		double y = y_of(c, v * one);
		text_printf(c->t, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>"
				  "<text class=\"up\" x=\"%d\" y=\"%.1f\">%.10g%s</text>\n",
			    LEFT, y, WIDTH - RIGHT, LEFT - 8, y + 4, v,
			    !c->in_ms ? "" : micro ? " µs" : " ms");
	}
	text_printf(c->t, "<text x=\"%d\" y=\"%d\">SRAM (across); %s (up); both axes are "
			  "logarithmic and begin at the data</text>\n", LEFT,
		    TOP + HEIGHT + 36, c->in_ms ? "time" : "cycles");
}

/* Draws the front as steps: SRAM between two points permits the plan of the left point. */
static void
draw_curve(const struct chart *c, const struct curve *k)
{
	text_printf(c->t, "<a href=\"#t%zu\" class=\"curve\" style=\"--h:%d\"><title>", k->number,
		    k->hue);
	text_html(c->t, k->of->system);
	text_printf(c->t, ", %s</title>\n<path d=\"", k->of->accel);
	/* a point that is slower than one with less SRAM is off the line */
	double least = INFINITY;
	for (size_t i = 0; i < k->front.n_points; i++) {
		const struct point *v = &k->front.point[i];
		double time = time_of(c, k, v);
		if (time < least)
			text_printf(c->t, i ? "H%.1fV%.1f" : "M%.1f %.1f", x_of(c, v->sram),
				    y_of(c, time));
		least = fmin(least, time);
	}
	text_puts(c->t, "\"/>\n");
	for (size_t i = 0; i < k->front.n_points; i++) {
		const struct point *v = &k->front.point[i];
		bool knee = v->sram >= k->pick.knee.sram && v->sram <= k->pick.knee.sram;
		double time = time_of(c, k, v);
		text_printf(c->t, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\">"
				  "<title>%s, %s: %s (--arena-cache-size=%.0f), %s</title>"
				  "</circle>\n",
			    knee ? "knee" : "point", x_of(c, v->sram), y_of(c, time),
			    knee ? 6 : 3, k->of->accel, goal_names[FRONT],
			    human_bytes(c->a, v->sram), v->sram, time_text(c, time));
	}
	text_puts(c->t, "</a>\n");
}

static void
draw(const struct chart *c)
{
	text_printf(c->t, "<div class=\"wide picture\"><svg viewBox=\"0 0 %d %d\" role=\"group\" "
			  "aria-label=\"time over SRAM\">\n", WIDTH, TOP + HEIGHT + BELOW);
	draw_axes(c);
	for (size_t i = 0; i < c->n; i++)
		if (c->curve[i].pick.any)
			draw_curve(c, &c->curve[i]);
	text_puts(c->t, "</svg></div>\n");
}

/* ---- the index of a model's targets ------------------------------------------------------ */

static void
put_numbers(const struct chart *c, const struct curve *k)
{
	const struct point *v[] = { &k->pick.knee, &k->pick.smallest, &k->pick.fastest };
	for (size_t i = 0; i < ARRAY_LEN(v); i++)
		text_printf(c->t, "<td>%s</td><td>%s</td>", human_bytes(c->a, v[i]->sram),
			    time_text(c, time_of(c, k, v[i])));
}

static void
put_index(const struct chart *c, const struct rows *r)
{
	text_puts(c->t, "<div class=\"wide\"><table class=\"index\"><tr><th class=\"name\">target"
			"</th><th class=\"name\">accelerator</th><th colspan=\"2\">take</th>"
			"<th colspan=\"2\">smallest</th><th colspan=\"2\">fastest</th></tr>\n");
	for (size_t i = 0; i < c->n; i++) {
		const struct curve *k = &c->curve[i];
		const struct row *w = &r->v[k->first];
		text_printf(c->t, "<tr><td class=\"name\"><a href=\"#t%zu\"><i class=\"key\" "
				  "style=\"--h:%d\"></i>", k->number, k->hue);
		text_html(c->t, k->of->system);
		text_printf(c->t, "</a></td><td class=\"name\">%s</td>", k->of->accel);
		if (k->pick.any) {
			put_numbers(c, k);
		} else {
			text_puts(c->t, "<td class=\"name\" colspan=\"6\">");
			text_html(c->t, w->message ? w->message : "no front");
			text_puts(c->t, "</td>");
		}
		text_puts(c->t, "</tr>\n");
	}
	text_puts(c->t, "</table></div>\n");
}

/* ---- the rows of a target ------------------------------------------------------------------ */

static void
put_cell(struct text *t, double v, int digits)
{
	if (v < 0 || isinf(v))
		text_puts(t, "<td>-</td>");
	else
		text_printf(t, "<td>%.*f</td>", digits, v);
}

static void
put_row(struct text *t, const struct row *w)
{
	text_printf(t, "<tr class=\"%s\"><td class=\"name\">%s</td>",
		    w->front ? "front" : "other", goal_names[w->goal]);
	put_cell(t, (double)w->limit, 0);
	put_cell(t, w->sram, 0);
	put_cell(t, w->flash, 0);
	put_cell(t, w->cycles, 0);
	put_cell(t, w->status == OK ? w->ms : -1, 3);
	text_printf(t, "<td class=\"name\">%s</td><td class=\"name\">", row_status(w));
	text_html(t, w->message ? w->message : "");
	text_puts(t, "</td></tr>\n");
}

static void
put_target(struct text *t, const struct plan *p, const struct curve *k, const struct rows *r,
	   bool front)
{
	struct text sentence = { 0 };
	/* a link to an element inside unfolds the details */
	text_puts(t, "<details><summary>");
	text_html(t, k->of->system);
	text_printf(t, ", %s</summary>\n<p id=\"t%zu\">", k->of->accel, k->number);
	pick_sentence(&sentence, p, k->of, &k->pick);
	text_html(t, text_str(&sentence));
	text_free(&sentence);
	text_puts(t, "</p>\n<div class=\"wide\"><table><tr><th class=\"name\">optimise</th><th>limit</th>"
		     "<th>SRAM</th><th>flash</th><th>cycles</th><th>ms</th>"
		     "<th class=\"name\">status</th><th class=\"name\">message</th></tr>\n");
	for (size_t i = k->first; i < k->first + k->n; i++)
		if (!front || r->v[i].front || r->v[i].status != OK)
			put_row(t, &r->v[i]);
	text_puts(t, "</table></div>\n</details>\n");
}

/* ---- the page ---------------------------------------------------------------------------- */

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
	"<meta name=\"color-scheme\" content=\"light dark\">"
	"<title>npu-sweep</title>\n<style>\n"
	":root { --ink: #1b2430; --soft: #5b6678; --paper: #fff; --grid: #dfe3ea; --l: 42%; }\n"
	"@media (prefers-color-scheme: dark) { :root { --ink: #e3e8ef; --soft: #a3adbd; "
	"--paper: #12161c; --grid: #2c3442; --l: 66%; } }\n"
	"body { font: 15px/1.45 system-ui, 'DejaVu Sans', sans-serif; color: var(--ink); "
	"background: var(--paper); max-width: 1568px; margin: 1em auto; padding: 0 16px; }\n"
	"h1 { font-size: 24px; } h2 { font-size: 18px; margin-top: 2em; }\n"
	"h2, p, summary { overflow-wrap: anywhere; } .wide { overflow-x: auto; }\n"
	"a { color: inherit; }\n"
	".two { display: grid; gap: 24px; align-items: start; }\n"
	"@media (min-width: 1300px) { .two { grid-template-columns: minmax(0, 1fr) fit-content(50%); } }\n"
	"svg { width: 100%; min-width: 560px; font-size: 12px; display: block; }\n"
	/* a narrow window shows the end with most SRAM, where most curves are */
	".picture { direction: rtl; } svg { direction: ltr; } svg text { fill: var(--soft); }\n"
	"path { fill: none; } .axis { stroke: var(--soft); } .grid { stroke: var(--grid); }\n"
	".curve path { stroke: hsl(var(--h) 70% var(--l)); stroke-width: 1.5; }\n"
	".curve circle { fill: hsl(var(--h) 70% var(--l)); }\n"
	".curve:hover path, .curve:focus path { stroke-width: 4; }\n"
	".knee { stroke: var(--ink); stroke-width: 1.5; }\n"
	".key { display: inline-block; width: 11px; height: 11px; border-radius: 2px; "
	"margin-right: 6px; background: hsl(var(--h) 70% var(--l)); }\n"
	".up { text-anchor: end; } .across { text-anchor: middle; }\n"
	"table { border-collapse: collapse; font-size: 13px; } td, th { padding: 2px 8px; "
	"text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }\n"
	"td { border-top: 1px solid var(--grid); } .index { width: 100%; }\n"
	".name { text-align: left; } td.name[colspan], details td.name { white-space: normal; } .front { font-weight: bold; }\n"
	"details { border-top: 1px solid var(--grid); padding: 4px 0; } summary { cursor: pointer; }\n"
	"p:target { background: hsl(50 60% 50% / .15); }\n"
	"@media (max-width: 600px) { .index tr:first-child { display: none; } "
	".index tr { display: grid; grid-template-columns: 1fr 1fr; border: 1px solid var(--grid); "
	"border-radius: 8px; margin: 8px 0; padding: 6px; } .index td { border: 0; padding: 1px 4px; }"
	".index td:nth-child(1), .index td:nth-child(2) { grid-column: 1 / -1; }"
	".index td:nth-child(n+3) { display: flex; justify-content: space-between; gap: 8px; } "
	".index td:nth-child(2n+4) { justify-content: flex-end; }"
	".index td:nth-child(3)::before { content: 'take '; color: var(--soft); }"
	".index td:nth-child(5)::before { content: 'smallest '; color: var(--soft); }"
	".index td:nth-child(7)::before { content: 'fastest '; color: var(--soft); } "
	".index td[colspan] { grid-column: 1 / -1; } }\n"
	"</style></head><body>\n<h1>SRAM and time of each plan</h1>\n"
	"<p>Cycles are estimates. A large dot is the plan to take; a dot names the option that "
	"gives its plan. Bold rows: no other result of the same model, system and accelerator is "
	"better in SRAM and time.</p>\n";

/* Finds the targets of the model of row i, and returns the first row of the next model. */
static size_t
find_curves(const struct plan *p, const struct rows *r, size_t i, struct curve *v, size_t *n,
	    size_t *number)
{
	const struct model *model = r->v[i].target->model;
	for (*n = 0; i < r->n && r->v[i].target->model == model; (*n)++) {
		const struct target *of = r->v[i].target;
		struct curve *k = &v[*n];
		*k = (struct curve){ .of = of, .pick = pick_knee(p, of), .first = i,
				     .number = (*number)++ };
		for (; i < r->n && r->v[i].target == of; i++)
			k->n++;
		k->front = front_candidates(p, of);
	}
	for (size_t k = 0; k < *n; k++)
		v[k].hue = (int)(360 * k / *n);
	return i;
}

static void
put_model(struct chart *c, const struct plan *p, const struct rows *r, bool front)
{
	text_printf(c->t, "<h2 id=\"m%zu\">", c->curve[0].of->model->index);
	text_html(c->t, c->curve[0].of->model->name);
	text_puts(c->t, "</h2>\n<div class=\"two\">\n");
	find_ranges(c);
	if (c->sram[0] > 0)
		draw(c);
	put_index(c, r);
	text_puts(c->t, "</div>\n");
	for (size_t i = 0; i < c->n; i++)
		put_target(c->t, p, &c->curve[i], r, front);
}

/* links to the models, if there are several */
static void
put_models(struct text *t, const struct plan *p, const struct rows *r)
{
	const struct model *last = NULL;
	if (p->n_models < 2)
		return;
	text_puts(t, "<p>Models:");
	for (size_t i = 0; i < r->n; i++) {
		const struct model *m = r->v[i].target->model;
		if (m == last)
			continue;
		text_printf(t, " <a href=\"#m%zu\">", m->index);
		text_html(t, m->name);
		text_puts(t, "</a>");
		last = m;
	}
	text_puts(t, "</p>\n");
}

void
print_page(struct text *t, const struct plan *p, const struct rows *r,
	   const struct options *o)
{
	size_t n, number = 0;
	struct curve *v = anew(p->a, struct curve, r->n + 1);
	text_puts(t, head);
	put_models(t, p, r);
	for (size_t i = 0; i < r->n;) {
		i = find_curves(p, r, i, v, &n, &number);
		struct chart c = { .t = t, .a = p->a, .curve = v, .n = n };
		put_model(&c, p, r, o->front);
	}
	text_puts(t, "</body></html>\n");
}
