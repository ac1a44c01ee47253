/* SPDX-License-Identifier: Apache-2.0 */
/* One HTML file: pictures, and under each its numbers. */
#include "report.h"

static const char style[] =
	"body { font: 15px/1.45 system-ui, 'DejaVu Sans', sans-serif; color: var(--ink);"
	" background: var(--paper); max-width: 960px; margin: 24px auto;"
	" padding: 0 16px; }\n"
	"h1 { font-size: 24px; margin: 0 0 4px; } h2 { font-size: 18px;"
	" margin: 36px 0 8px; }\n"
	"h1, h2, li, td:first-child { overflow-wrap: anywhere; }\n"
	"svg { max-width: 100%; height: auto; display: block; }\n"
	"table { border-collapse: collapse; font-size: 12px; width: 100%; }\n"
	"th { text-align: left; color: var(--soft); font-weight: 600; }\n"
	"td, th { padding: 2px 8px 2px 0; border-bottom: 1px solid var(--grid);"
	" vertical-align: top; }\n"
	"td, th { white-space: nowrap; }\n"
	"td:first-child, td:last-child { white-space: normal; }\n"
	".n { text-align: right; font-variant-numeric: tabular-nums;"
	" white-space: nowrap; }\n"
	"summary { cursor: pointer; color: var(--soft); margin: 8px 0; }\n"
	"@media print { body { margin: 0; max-width: none; } svg { break-inside: avoid; }"
	" h2 { break-after: avoid; } tr { break-inside: avoid; } }\n";

void
page_open(struct text *t, const char *title)
{
	text_puts(t, "<!DOCTYPE html>\n<html lang=\"en\" "
		     "xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
		     "<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
		     "content=\"width=device-width, initial-scale=1\"/>\n"
		     "<meta name=\"color-scheme\" content=\"light dark\"/>\n<title>");
	escape(t, title);
	text_puts(t, "</title>\n<style>\n");
	svg_style(t);
	text_puts(t, style);
	text_puts(t, "</style>\n</head>\n<body>\n<h1>");
	escape(t, title);
	text_puts(t, "</h1>\n");
}

void
page_close(struct text *t)
{
	text_puts(t, "</body>\n</html>\n");
}

static void
put_heading(struct text *t, const char *title)
{
	text_puts(t, "<h2>");
	escape(t, title);
	text_puts(t, "</h2>\n");
}

/* tables are open: so they are printed, too, and need no script */
static void
put_numbers(struct text *t, const struct table *b)
{
	if (!b->n)
		return;
	text_puts(t, "<details open=\"open\"><summary>numbers</summary>\n");
	table_html(t, b);
	text_puts(t, "</details>\n");
}

static void
put_table(struct text *t, const struct table *b)
{
	if (!b->n)
		return;
	put_heading(t, b->title);
	table_html(t, b);
}

static void
put_warnings(struct text *t, const struct report *r)
{
	struct table b = table_warnings(r);
	if (!b.n)
		return;
	put_heading(t, b.title);
	text_puts(t, "<ul>\n");
	for (size_t i = 0; i < b.n; i++) {
		text_puts(t, "<li>");
		escape(t, b.cell[i].text);
		text_puts(t, "</li>\n");
	}
	text_puts(t, "</ul>\n");
}

/* who is in memory when it is fullest */
static void
put_peaks(struct text *t, const struct report *r)
{
	for (size_t i = 0; i < r->n_peaks; i++) {
		const struct peak *p = &r->peak[i];
		text_puts(t, "<p>In the ");
		escape(t, p->place);
		text_printf(t, " at its peak, %.0f bytes in use:</p>\n<ul>\n", p->bytes);
		for (size_t k = 0; k < p->n_names; k++) {
			text_puts(t, "<li>");
			escape(t, p->names[k].string);
			text_puts(t, "</li>\n");
		}
		text_puts(t, "</ul>\n");
	}
}

void
draw(struct text *t, const struct report *r, enum picture p, bool alone)
{
	static void (*const functions[PICTURES])(struct text *, const struct report *,
						 bool) = {
		[PIC_MEMORY] = draw_memory, [PIC_TIMELINE] = draw_timeline,
		[PIC_LAYERS] = draw_layers, [PIC_ROOFLINE] = draw_roofline,
		[PIC_CURVE] = draw_curve,
	};
	functions[p](t, r, alone);
}

void
print_page(struct text *t, const struct report *r)
{
	struct table summary = table_summary(r), weights = table_weights(r);
	page_open(t, r->network);
	put_table(t, &summary);
	put_warnings(t, r);
	for (int p = 0; p < PICTURES; p++) {
		struct table b = table_picture(r, (enum picture)p);
		put_heading(t, b.title);
		draw(t, r, (enum picture)p, false);
		if (p == PIC_MEMORY)
			put_peaks(t, r);
		put_numbers(t, &b);
	}
	if (weights.n) {
		put_heading(t, weights.title);
		draw_weights(t, r, false);
		put_numbers(t, &weights);
	}
	page_close(t);
}
