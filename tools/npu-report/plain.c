/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the report for a terminal; bars are made of characters. */
#include "report.h"

#include <math.h>
#include <string.h>

enum { BAR = 40, NAME = 36 };

static void
put_heading(struct text *t, const char *title)
{
	text_printf(t, "\n%s\n", title);
}

static void
put_bar(struct text *t, double part, double whole, char c)
{
	long n = whole > 0 ? lrint(part / whole * BAR) : 0;
	for (long i = 0; i < n; i++)
		text_putc(t, c);
}

static void
put_layers(struct text *t, const struct report *r)
{
	static const char marks[LIMITS] = { '#', 's', 'c', '.', ':' };
	double most = 0;
	for (size_t i = 0; i < r->n_layers; i++)
		most = fmax(most, r->layer[i].total);
	const char *legend = "";
	for (int k = 0; k < LIMITS; k++)
		legend = arena_printf(r->a, "%s%s%c %s", legend, k ? ", " : "", marks[k],
				      text_plain(r->a, limit_text(r, (enum limit)k)));
	put_heading(t, arena_printf(r->a, "Time by layer, cycles (%s)", legend));
	for (size_t i = 0; i < r->n_layers; i++) {
		const struct layer *l = &r->layer[i];
		text_printf(t, "  %-*s %10.0f %5.1f %% ", NAME,
			    text_plain(r->a, l->label), l->total,
			    100 * share_of_time(r, l->total));
		for (int k = 0; k < LIMITS; k++)
			put_bar(t, l->cycles[k], most, marks[k]);
		text_putc(t, '\n');
	}
}

static void
put_memory(struct text *t, const struct report *r)
{
	for (size_t i = 0; i < r->n_peaks; i++) {
		const struct peak *p = &r->peak[i];
		text_printf(t, "\nMemory at its peak: %s, %.0f bytes in use, ",
			    text_plain(r->a, place_text(r, p->place)), p->bytes);
		if (p->start < p->end)
			text_printf(t, "cycles %.0f to %.0f\n", p->start, p->end);
		else
			text_printf(t, "at cycle %.0f\n", p->start);
		size_t width = NAME; /* of the labels: that of the longest */
		for (size_t k = 0; k < r->n_spans; k++) {
			size_t n = strlen(text_plain(r->a, r->span[k].label));
			if (is_in_peak(&r->span[k], p) && n > width)
				width = n;
		}
		for (size_t k = 0; k < r->n_spans; k++) {
			const struct span *s = &r->span[k];
			if (!is_in_peak(s, p))
				continue;
			text_printf(t, "  %-*s %10.0f %5.1f %% ", (int)width,
				    text_plain(r->a, s->label), s->bytes,
				    p->bytes > 0 ? 100 * s->bytes / p->bytes : 0);
			put_bar(t, s->bytes, p->bytes, '#');
			text_putc(t, '\n');
		}
	}
}

static void
put_curve(struct text *t, const struct report *r)
{
	double most = 0;
	for (size_t i = 0; i < r->n_points; i++)
		most = fmax(most, r->point[i].cycles);
	if (r->n_points)
		put_heading(t, arena_printf(r->a, "Cycles by %s",
					    text_plain(r->a, fast_text(r))));
	for (size_t i = 0; i < r->n_points; i++) {
		const struct point *p = &r->point[i];
		text_printf(t, "  %10.0f bytes %12.0f ", p->sram, p->cycles);
		put_bar(t, p->cycles, most, '#');
		text_printf(t, " %s\n", text_plain(r->a, p->change));
	}
}

void
print_plain(struct text *t, const struct report *r)
{
	struct table summary = table_summary(r), weights = table_weights(r);
	struct table warnings = table_warnings(r), rewrites = table_rewrites(r);
	struct table quantized = table_quantized(r);
	const char *range = range_text(r);
	text_printf(t, "An inference takes %s%s%s.\n\n", human_ms(r->a, inference_ms(r).ms),
		    range ? ": " : "", range ? range : "");
	table_text(t, &summary);
	if (warnings.n)
		put_heading(t, warnings.title);
	for (size_t i = 0; i < warnings.n; i++)
		text_printf(t, "  %s\n", text_plain(r->a, warnings.cell[i].text));
	put_memory(t, r);
	put_layers(t, r);
	print_measured(t, r);
	put_curve(t, r);
	if (rewrites.n) {
		put_heading(t, rewrites.title);
		table_text(t, &rewrites);
	}
	if (quantized.n) {
		size_t n;
		const char **line = list_quantized(r, &n);
		put_heading(t, quantized.title);
		for (size_t i = 0; i < n; i++)
			text_printf(t, "  %s\n", text_plain(r->a, line[i]));
		table_text(t, &quantized);
	}
	if (!weights.n)
		return;
	put_heading(t, weights.title);
	table_text(t, &weights);
}

/*
 * Prints all members of the report that are numbers: the numbers of the whole network, in
 * the order of the report.
 */
void
print_numbers(struct text *t, const struct report *r)
{
	for (size_t i = 0; i < r->root->n; i++) {
		const struct json *x = &r->root->item[i];
		if (x->kind != JSON_NUMBER)
			continue;
		text_printf(t, "%s\t", x->key);
		text_number(t, x->number);
		text_putc(t, '\n');
	}
}
