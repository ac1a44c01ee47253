/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a comparison: first the main facts, then operator by operator. */
#include "report.h"

#include <math.h>

static double
number(const struct report *r, const char *key)
{
	return json_number(r->root, key, 0);
}

/* such as "12.3 % more", "as before" */
static const char *
change(struct arena *a, double old, double new)
{
	const double least = 0.0005;
	double part = old > 0 ? new / old - 1 : 0;
	if (!(old > 0) || fabs(part) < least)
		return new == old || old > 0 ? "as before" : "new";
	return arena_printf(a, "%.1f %% %s", 100 * fabs(part), part > 0 ? "more" : "less");
}

static void
put_fact(struct text *t, struct arena *a, const char *name, const char *now,
	 const char *before, double old, double new)
{
	text_puts(t, "<div><dt>");
	escape(t, name);
	text_puts(t, "</dt><dd><b>");
	escape(t, now);
	text_puts(t, "</b><small>");
	escape(t, change(a, old, new));
	text_puts(t, "; it was ");
	escape(t, before);
	text_puts(t, "</small></dd></div>\n");
}

static void
put_bytes(struct text *t, const char *name, const char *key, const struct report *old,
	  const struct report *new)
{
	double x = number(old, key), y = number(new, key);
	put_fact(t, new->a, name, human_bytes(new->a, y), human_bytes(new->a, x), x, y);
}

static void
put_headline(struct text *t, const struct report *old, const struct report *new)
{
	struct arena *a = new->a;
	double x = cycles_ms(old, old->cycles), y = cycles_ms(new, new->cycles);
	text_puts(t, "<p>");
	escape(t, new->file);
	text_printf(t, " takes %s an inference, ", human_ms(a, y));
	escape(t, old->file);
	text_printf(t, " %s. <span class=\"soft\">Estimates.</span></p>\n<dl class=\"facts\">\n",
		    human_ms(a, x));
	put_fact(t, a, "Time", human_ms(a, y), human_ms(a, x), x, y);
	put_bytes(t, "SRAM", "sram_bytes", old, new);
	put_bytes(t, "Flash", "flash_bytes", old, new);
	x = number(old, "cpu_operators");
	y = number(new, "cpu_operators");
	put_fact(t, a, "On the CPU", arena_printf(a, "%.0f", y), arena_printf(a, "%.0f", x), x,
		 y);
	text_puts(t, "</dl>\n");
}

/* ---- operators by change of time ----------------------------------------------------- */

struct pair {
	const struct layer *old, *new; /* NULL: only in the other report */
	double more; /* ms */
};

static struct pair
pair_of(const struct report *old, const struct layer *x, const struct report *new,
	const struct layer *y)
{
	return (struct pair){ .old = x, .new = y,
			      .more = (y ? cycles_ms(new, y->total) : 0) -
				      (x ? cycles_ms(old, x->total) : 0) };
}

enum { TOP = 10 };

/* inserts p, with the largest changes first */
static size_t
insert_by_change(struct pair *v, size_t n, struct pair p)
{
	const double noise = 1e-6; /* ms: error of sums of fractions */
	size_t at = n;
	while (at > 0 && fabs(v[at - 1].more) < fabs(p.more))
		at--;
	if (at == TOP || fabs(p.more) < noise)
		return n;
	n += n < TOP;
	for (size_t k = n - 1; k > at; k--)
		v[k] = v[k - 1];
	v[at] = p;
	return n;
}

static size_t
list_pairs(const struct report *old, const struct report *new, struct pair *v)
{
	size_t n = 0;
	for (size_t i = 0; i < new->n_layers; i++)
		n = insert_by_change(v, n, pair_of(old, layer_called(old, new->layer[i].name),
					 new, &new->layer[i]));
	for (size_t i = 0; i < old->n_layers; i++)
		if (!layer_called(new, old->layer[i].name))
			n = insert_by_change(v, n, pair_of(old, &old->layer[i], new, NULL));
	return n;
}

static void
put_time(struct text *t, const struct report *r, const struct layer *l)
{
	text_puts(t, "<td class=\"n\">");
	text_puts(t, l ? human_ms(r->a, cycles_ms(r, l->total)) : "-");
	text_puts(t, "</td>");
}

static void
put_pairs(struct text *t, const struct report *old, const struct report *new)
{
	struct pair v[TOP];
	size_t n = list_pairs(old, new, v);
	double all = cycles_ms(old, old->cycles);
	if (!n)
		return;
	text_puts(t, "<h2>What changed most</h2>\n<table>\n<thead><tr><th>operator</th>"
		     "<th class=\"n\">before</th><th class=\"n\">now</th>"
		     "<th class=\"n\">of the time</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < n; i++) {
		const struct layer *l = v[i].new ? v[i].new : v[i].old;
		double part = all > 0 ? v[i].more / all : 0;
		text_puts(t, "<tr><td>");
		escape(t, l->label);
		text_puts(t, "</td>");
		put_time(t, old, v[i].old);
		put_time(t, new, v[i].new);
		text_printf(t, "<td class=\"n share\" style=\"--p:%.1f%%\">%+.1f %%</td>"
			       "</tr>\n",
			    100 * fabs(v[i].more) / fabs(v[0].more), 100 * part);
	}
	text_puts(t, "</tbody>\n</table>\n");
}

void
print_comparison_page(struct text *t, const struct report *old, const struct report *new,
		      const struct table *tables, size_t n)
{
	put_headline(t, old, new);
	put_pairs(t, old, new);
	for (size_t i = 0; i < n; i++) {
		if (!tables[i].n)
			continue;
		text_printf(t, "<h2>%s</h2>\n<details><summary>Numbers</summary>\n"
			       "<div class=\"wide\">\n", tables[i].title);
		table_html(t, &tables[i]);
		text_puts(t, "</div>\n</details>\n");
	}
}
