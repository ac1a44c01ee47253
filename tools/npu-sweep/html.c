/* SPDX-License-Identifier: Apache-2.0 */
/* Prints an HTML page: for each target a sentence, a picture of its front, and its rows. */
#include "sweep.h"

#include "base/human.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 720, HEIGHT = 260, LEFT = 90, RIGHT = 20, TOP = 20, BELOW = 40 };

static void
put_text(struct text *t, const char *s)
{
	for (; *s; s++) {
		switch (*s) {
		case '<': text_puts(t, "&lt;"); break;
		case '>': text_puts(t, "&gt;"); break;
		case '&': text_puts(t, "&amp;"); break;
		case '"': text_puts(t, "&quot;"); break;
		default: text_putc(t, *s);
		}
	}
}

/* ---- the front ------------------------------------------------------------------------ */

struct plot {
	struct text *t;
	struct arena *a;
	const struct record *front;
	struct pick pick;
};

static double
x_of(const struct plot *p, double sram)
{
	return LEFT + sram / p->pick.fastest.sram * (WIDTH - LEFT - RIGHT);
}

static double
y_of(const struct plot *p, double cycles)
{
	return TOP + HEIGHT - cycles / p->pick.smallest.cycles * HEIGHT;
}

/* Draws the front as steps: SRAM between two points permits the plan of the left point. */
static void
draw_steps(const struct plot *p)
{
	text_puts(p->t, "<path d=\"");
	for (size_t i = 0; i < p->front->n_points; i++) {
		const struct point *v = &p->front->point[i];
		if (i)
			text_printf(p->t, "H%.1fV%.1f", x_of(p, v->sram), y_of(p, v->cycles));
		else
			text_printf(p->t, "M%.1f %.1f", x_of(p, v->sram), y_of(p, v->cycles));
	}
	text_puts(p->t, "\"/>\n");
}

static void
draw_points(const struct plot *p)
{
	for (size_t i = 0; i < p->front->n_points; i++) {
		const struct point *v = &p->front->point[i];
		bool knee = v->sram >= p->pick.knee.sram && v->sram <= p->pick.knee.sram;
		text_printf(p->t, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\">"
				  "<title>%s (--arena-cache-size=%.0f), %s cycles</title>"
				  "</circle>\n",
			    knee ? "knee" : "point", x_of(p, v->sram), y_of(p, v->cycles),
			    knee ? 6 : 3, human_bytes(p->a, v->sram), v->sram,
			    human_count(p->a, v->cycles));
	}
}

/* Prints the numbers of a point at the axes, unless they would cover the knee's numbers. */
static void
label(const struct plot *p, const struct point *v)
{
	const double wide = 70, high = 14;
	const struct pick *k = &p->pick;
	double x = x_of(p, v->sram), y = y_of(p, v->cycles);
	bool knee = v == &p->pick.knee;
	const char *class = x > WIDTH - RIGHT - wide / 2 ? "up" : "across";
	if (knee || fabs(x - x_of(p, p->pick.knee.sram)) > wide)
		text_printf(p->t, "<text class=\"%s\" x=\"%.1f\" y=\"%d\">%s</text>\n",
			    class, x, TOP + HEIGHT + 14, human_bytes(p->a, v->sram));
	if (knee || fabs(y - y_of(p, p->pick.knee.cycles)) > high)
		text_printf(p->t, "<text class=\"up\" x=\"%d\" y=\"%.1f\">%s</text>\n",
			    LEFT - 6, y + 4,
			    k->clock > 0 ? human_ms(p->a, pick_ms(k, v))
					 : human_count(p->a, v->cycles));
}

static void
draw(const struct plot *p)
{
	const struct pick *k = &p->pick;
	text_printf(p->t, "<div class=\"wide\"><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"cycles over "
			  "SRAM\">\n", WIDTH, TOP + HEIGHT + BELOW);
	text_printf(p->t, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP,
		    TOP + HEIGHT, WIDTH - RIGHT);
	draw_steps(p);
	draw_points(p);
	text_printf(p->t, "<text x=\"%.1f\" y=\"%.1f\">knee</text>\n",
		    x_of(p, k->knee.sram) + 9, y_of(p, k->knee.cycles) - 6);
	label(p, &k->knee);
	label(p, &k->smallest);
	label(p, &k->fastest);
	text_printf(p->t, "<text x=\"%d\" y=\"%d\">SRAM (across); %s (up)</text>\n"
			  "</svg></div>\n", LEFT, TOP + HEIGHT + 32,
		    k->clock > 0 ? "time" : "cycles");
}

/* ---- rows ------------------------------------------------------------------------------- */

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
	put_text(t, w->message ? w->message : "");
	text_puts(t, "</td></tr>\n");
}

static size_t
put_target(struct text *t, const struct plan *p, const struct rows *r, size_t i, bool front)
{
	const struct target *of = r->v[i].target;
	struct plot plot = { .t = t, .a = p->a, .pick = pick_knee(p, of) };
	struct text sentence = { 0 };
	text_puts(t, "<h2>");
	put_text(t, of->model->name);
	text_printf(t, ", %s, ", of->accel);
	put_text(t, of->system);
	text_puts(t, "</h2>\n<p>");
	pick_sentence(&sentence, of, &plot.pick);
	put_text(t, text_str(&sentence));
	text_free(&sentence);
	text_puts(t, "</p>\n");
	if (plot.pick.any) {
		plot.front = p->job[of->job[FRONT] - 1].record;
		draw(&plot);
	}
	text_puts(t, "<div class=\"wide\"><table><tr><th>optimise</th><th>limit</th><th>SRAM</th><th>flash</th>"
		     "<th>cycles</th><th>ms</th><th>status</th><th>message</th></tr>\n");
	for (; i < r->n && r->v[i].target == of; i++)
		if (!front || r->v[i].front || r->v[i].status != OK)
			put_row(t, &r->v[i]);
	text_puts(t, "</table></div>\n");
	return i;
}

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
	"<meta name=\"color-scheme\" content=\"light dark\">"
	"<title>npu-sweep</title>\n<style>\n"
	":root { --ink: #1b2430; --paper: #fff; --line: #26c; --knee: #c30; }\n"
	"@media (prefers-color-scheme: dark) { :root { --ink: #e3e8ef; --paper: #12161c; "
	"--line: #6aa5ff; --knee: #ff8a5c; } }\n"
	"body { font: 15px system-ui, 'DejaVu Sans', sans-serif; color: var(--ink); "
	"background: var(--paper); max-width: 60em; margin: 1em auto; padding: 0 1em; }\n"
	"h1 { font-size: 24px; } h2 { font-size: 18px; }\n"
	"h2, p { overflow-wrap: anywhere; } .wide { overflow-x: auto; }\n"
	"svg { width: 100%; min-width: 560px; font-size: 12px; }\n"
	"svg text { fill: var(--ink); }\n"
	"path { fill: none; stroke: var(--line); stroke-width: 1.5; }\n"
	".axis { stroke: #888; } .point { fill: var(--line); } .knee { fill: var(--knee); }\n"
	".up { text-anchor: end; } .across { text-anchor: middle; }\n"
	"table { border-collapse: collapse; } td, th { padding: 2px 8px; "
	"text-align: right; }\n"
	".name { text-align: left; } .front { font-weight: bold; }\n"
	"</style></head><body>\n<h1>SRAM and time of each plan</h1>\n"
	"<p>Cycles are estimates. Bold: no other result of the same model, system "
	"and accelerator is better in SRAM and time.</p>\n";

void
print_page(struct text *t, const struct plan *p, const struct rows *r,
	   const struct options *o)
{
	text_puts(t, head);
	for (size_t i = 0; i < r->n;)
		i = put_target(t, p, r, i, o->front);
	text_puts(t, "</body></html>\n");
}
