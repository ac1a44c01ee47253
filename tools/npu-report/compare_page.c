/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a comparison: first the main facts, then operator by operator. */
#include "report.h"

#include <math.h>
#include <string.h>

static double
number(const struct report *r, const char *key)
{
	return json_number(r->root, key, 0);
}

static void
put_fact(struct text *t, struct arena *a, const char *name, const char *now,
	 const char *before, double old, double new)
{
	const double least = 0.0005; /* part that is worth a word */
	double part = old > 0 ? new / old - 1 : 0;
	const char *change = new == old || old > 0 ? "as before" : "new";
	if (old > 0 && !(fabs(part) < least))
		change = arena_printf(a, "%.1f %% %s", 100 * fabs(part), part > 0 ? "more" : "less");
	text_puts(t, "<div><dt>");
	text_html(t, name);
	text_puts(t, "</dt><dd><b>");
	text_html(t, now);
	text_puts(t, "</b><small>");
	text_html(t, change);
	text_puts(t, "; it was ");
	text_html(t, before);
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
	double x = cycles_ms(old, old->whole), y = cycles_ms(new, new->whole);
	const struct report *both[] = { old, new };
	const double ms[] = { x, y };
	const char *differs = machine_differences(old, new);
	for (size_t i = 0; i < ARRAY_LEN(both); i++) {
		text_puts(t, i ? "<p>Now: " : "<p>Before: ");
		text_html(t, both[i]->file);
		text_printf(t, ", about %s an inference on <span class=\"soft\">",
			    human_ms(a, ms[i]));
		text_html(t, machine_text(both[i]));
		text_puts(t, "</span></p>\n");
	}
	if (differs) {
		text_puts(t, "<p class=\"warning\">Different machines (");
		text_html(t, differs);
		text_puts(t, "): a change of the time may come from the machine.</p>\n");
	}
	text_puts(t, "<dl class=\"facts\">\n");
	put_fact(t, a, "Time", human_ms(a, y), human_ms(a, x), x, y);
	put_bytes(t, common_fast_text(old, new), "sram_bytes", old, new);
	/* the memory of the constants, if it is the same, and no other */
	const char *memory = constants_text(new), *key = constants_key(new);
	if (has_one_memory(new) || strcmp(constants_text(old), memory) != 0 ||
	    strcmp(constants_key(old), key) != 0) {
		memory = "Constants";
		key = "flash_bytes";
	} else if (!strcmp(memory, "flash")) {
		memory = "Flash";
	}
	put_bytes(t, memory, key, old, new);
	x = number(old, "cpu_operators");
	y = number(new, "cpu_operators");
	put_fact(t, a, "On the CPU", arena_printf(a, "%.0f", y), arena_printf(a, "%.0f", x), x,
		 y);
	text_puts(t, "</dl>\n");
}

/* ---- operators by change of time ----------------------------------------------------- */

static double
old_ms(const struct report *old, const struct row *x)
{
	return cycles_ms(old, x->old_cycles);
}

static double
new_ms(const struct report *new, const struct row *x)
{
	return cycles_ms(new, x->new_cycles);
}

enum { TOP = 10 };

struct change {
	const struct row *row;
	double more; /* ms */
};

static void
put_time(struct text *t, struct arena *a, size_t n, double ms)
{
	text_puts(t, "<td class=\"n\">");
	text_puts(t, n ? human_ms(a, ms) : "-");
	text_puts(t, "</td>");
}

static const char *
block_text(struct arena *a, struct extent b)
{
	return arena_printf(a, "%.0fx%.0fx%.0f", b.h, b.w, b.c);
}

static void
add_reason(struct text *t, const char *name, const char *before, const char *now)
{
	if (strcmp(before, now) != 0)
		text_printf(t, "%s%s: %s \xe2\x86\x92 %s", t->n ? "; " : "", name, before,
			    now);
}

/* True if the operator that makes this tensor is on the CPU. */
static bool
is_on_cpu(const struct report *r, const char *name)
{
	for (size_t i = 0; i < r->n_cpu; i++)
		if (*name && !strcmp(r->cpu[i].name, name))
			return true;
	return false;
}

static void
put_row(struct text *t, const struct report *old, const struct report *new,
	const struct row *x, double most)
{
	const double least = 0.02; /* change of the weights' size that is worth a word */
	struct arena *a = new->a;
	struct text s = { 0 };
	text_printf(t, "<tr%s><td title=\"", x->is_stage ? " class=\"stage\"" : "");
	text_html(t, row_name(a, x, false));
	text_puts(t, "\">");
	text_html(t, row_name(a, x, true));
	text_puts(t, "</td>");
	put_time(t, a, x->n_old, old_ms(old, x));
	put_time(t, a, x->n_new, new_ms(new, x));
	/* a bar whose length is the part of the largest change */
	double more = new_ms(new, x) - old_ms(old, x), all = cycles_ms(old, old->whole);
	double percent = round(all > 0 ? 1000 * more / all : 0) / 10;
	text_printf(t, "<td class=\"%s\" style=\"--p:%.1f%%\">", more > 0 ? "n share more" : "n share",
		    most > 0 ? 100 * fabs(more) / most : 0);
	text_printf(t, fabs(percent) > 0 ? "%+.1f %%</td>" : "0.0 %%</td>", percent);
	/* what differs between the operators of the row: limit, block, kernels, weights */
	if (x->is_stage) {
		text_printf(&s, "stage: %zu operator%s, before %zu", x->n_new,
			    x->n_new == 1 ? "" : "s", x->n_old);
	} else if (!x->n_old) {
		text_puts(&s, is_on_cpu(old, x->new->name) ? "was on the CPU" : "new");
	} else if (!x->n_new) {
		text_puts(&s, is_on_cpu(new, x->old->name) ? "now on the CPU" : "gone");
	} else {
		add_reason(&s, "limit", limit_text(old, layer_limit(x->old)),
			   limit_text(new, layer_limit(x->new)));
		add_reason(&s, "block", block_text(a, x->old->block),
			   block_text(a, x->new->block));
		add_reason(&s, "kernels", arena_printf(a, "%zu", x->old->n_kernels),
			   arena_printf(a, "%zu", x->new->n_kernels));
		if (fabs(x->new->weight_bytes - x->old->weight_bytes) >
		    least * x->old->weight_bytes)
			add_reason(&s, "weights", human_bytes(a, x->old->weight_bytes),
				   human_bytes(a, x->new->weight_bytes));
	}
	text_puts(t, "<td class=\"why\">");
	text_html(t, text_str(&s));
	text_puts(t, "</td></tr>\n");
	text_free(&s);
}

static void
open_rows(struct text *t, const char *title)
{
	text_printf(t, "<h2>%s</h2>\n<table class=\"rows\">\n<thead><tr><th>operator</th>"
		       "<th class=\"n\">before</th><th class=\"n\">now</th>"
		       "<th class=\"n\">of the time</th><th class=\"why\">what changed</th>"
		       "</tr></thead>\n<tbody>\n", title);
}

static void
put_rows(struct text *t, const struct report *old, const struct report *new,
	 const struct rows *l)
{
	const double noise = 1e-6; /* ms: error of sums of fractions */
	struct change v[TOP]; /* the largest changes first */
	size_t n = 0;
	for (size_t i = 0; i < l->n; i++) {
		double more = new_ms(new, &l->v[i]) - old_ms(old, &l->v[i]);
		size_t at = n;
		while (at > 0 && fabs(v[at - 1].more) < fabs(more))
			at--;
		if (at == TOP || fabs(more) < noise)
			continue;
		n += n < TOP;
		for (size_t k = n - 1; k > at; k--)
			v[k] = v[k - 1];
		v[at] = (struct change){ .row = &l->v[i], .more = more };
	}
	double most = n ? fabs(v[0].more) : 0;
	if (n)
		open_rows(t, "What changed most");
	for (size_t i = 0; i < n; i++)
		put_row(t, old, new, v[i].row, most);
	text_puts(t, n ? "</tbody>\n</table>\n" : "");
	open_rows(t, "Operator by operator");
	for (size_t i = 0; i < l->n; i++)
		put_row(t, old, new, &l->v[i], most);
	text_puts(t, "</tbody>\n</table>\n");
}

static void
put_key(struct text *t, const char *colour, const char *name)
{
	text_printf(t, "<span class=\"key\"><i style=\"background: var(--%s)\"></i>", colour);
	text_html(t, name);
	text_puts(t, "</span>\n");
}

static bool
has_variables(const struct report *r)
{
	for (size_t i = 0; i < r->n_spans; i++)
		if (!strcmp(r->span[i].kind, "variable"))
			return true;
	return false;
}

/*
 * The same picture of both reports with the same axes, side by side where the window is wide
 * enough; and a narrow one for narrow windows.
 */
static void
put_pair(struct text *t, const struct report *old, const struct report *new, enum picture p)
{
	static const struct {
		const char *class;
		double width;
	} sizes[] = { { "large", 760 }, { "small", 366 } };
	static const char *const names[] = { "before", "now" };
	static const char *const colours[LIMITS] = { "c1", "c2", "c3", "c4", "c8" };
	struct report both[] = { *old, *new };
	double ms = fmax(cycles_ms(old, old->whole), cycles_ms(new, new->whole));
	/* the peaks of one memory have the same axis in both reports */
	for (size_t i = 0; i < old->n_peaks; i++)
		for (size_t k = 0; k < new->n_peaks; k++) {
			struct peak *x = &both[0].peak[i], *y = &both[1].peak[k];
			if (!strcmp(x->place, y->place))
				x->axis = y->axis = fmax(x->top, y->top);
		}
	/* the legend of both pictures, in the words of the report */
	text_printf(t, "<h2>%s</h2>\n<div class=\"tools\">\n", picture_titles[p]);
	if (p == PIC_MEMORY) {
		put_key(t, "c1", "tensor");
		put_key(t, "c3", "weights on their way");
		put_key(t, "c2", "input");
		put_key(t, "c5", "output");
		if (has_variables(old) || has_variables(new))
			put_key(t, "c6", "variable");
	} else {
		for (int k = 0; k < LIMITS; k++) {
			const char *x = limit_text(old, (enum limit)k), *y = limit_text(new, (enum limit)k);
			put_key(t, colours[k], strcmp(x, y) != 0 ? arena_printf(new->a, "%s, now %s", x, y) : y);
		}
		put_key(t, "c5", "transfer");
		if (old->n_cpu || new->n_cpu)
			put_key(t, "c6", "on the CPU");
	}
	text_puts(t, "</div>\n<div class=\"pair\">\n");
	for (size_t i = 0; i < ARRAY_LEN(both); i++) {
		text_printf(t, "<figure><figcaption>%s: ", names[i]);
		text_html(t, both[i].file);
		text_puts(t, "</figcaption>\n");
		both[i].axis = ms / cycles_ms(&both[i], 1);
		for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
			both[i].width = sizes[k].width;
			text_printf(t, "<div class=\"%s\">\n", sizes[k].class);
			draw(t, &both[i], p, false);
			text_puts(t, "</div>\n");
		}
		text_puts(t, "</figure>\n");
	}
	text_puts(t, "</div>\n");
}

void
print_comparison_page(struct text *t, const struct report *old, const struct report *new,
		      const struct rows *rows, const struct table *tables, size_t n)
{
	put_headline(t, old, new);
	if (rows->by_shape) {
		text_puts(t, "<p class=\"soft\" id=\"paired\">");
		text_html(t, match_text(old, new, rows, " "));
		text_puts(t, "</p>\n");
	}
	put_pair(t, old, new, PIC_TIMELINE);
	put_pair(t, old, new, PIC_MEMORY);
	put_rows(t, old, new, rows);
	for (size_t i = 0; i < n; i++) {
		if (!tables[i].n)
			continue;
		text_printf(t, "<h2>%s</h2>\n<details><summary>Numbers</summary>\n"
			       "<div class=\"wide\">\n", tables[i].title);
		table_html(t, &tables[i]);
		text_puts(t, "</div>\n</details>\n");
	}
}
