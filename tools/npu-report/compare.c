/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two reports, layer by layer and tensor by tensor, by name. */
#include "report.h"

#include "map/map.h"

#include <math.h>
#include <string.h>

const struct layer *
layer_called(const struct report *r, const char *name)
{
	for (size_t i = 0; i < r->n_layers; i++)
		if (!strcmp(r->layer[i].name, name))
			return &r->layer[i];
	return NULL;
}

/*
 * A buffer has the name of the operation whose weights it holds; therefore the kind
 * must match, too.
 */
static const struct span *
span_like(const struct report *r, const struct span *s)
{
	for (size_t i = 0; i < r->n_spans; i++)
		if (!strcmp(r->span[i].name, s->name) &&
		    !strcmp(r->span[i].kind, s->kind))
			return &r->span[i];
	return NULL;
}

static const char *
verdict(double old, double new, const char *more, const char *less)
{
	const double noise = 0.5; /* in cycles: error of sums of fractions */
	if (new > old + noise)
		return more;
	return new < old - noise ? less : "";
}

/* ---- the machines ------------------------------------------------------------------ */

const char *
machine_text(const struct report *r)
{
	const char *part = json_string(r->root, "part", NULL);
	return arena_printf(r->a, "%s%s%s at %s, %s, %s",
			    json_string(r->root, "accelerator", "?"), part ? " of " : "",
			    part ? part : "", human_clock(r->a, r->clock),
			    json_string(r->root, "system_config", "?"),
			    json_string(r->root, "memory_mode", "?"));
}

static bool
same_clock(const struct report *old, const struct report *new)
{
	return !(fabs(old->clock - new->clock) > 0);
}

const char *
machine_differences(const struct report *old, const struct report *new)
{
	static const struct {
		const char *key, *name;
	} keys[] = {
		{ "accelerator", "accelerator" }, { "part", "part" },
		{ "system_config", "system configuration" }, { "memory_mode", "memory mode" },
	};
	const char *s = same_clock(old, new) ? NULL : "clock";
	for (size_t i = ARRAY_LEN(keys); i-- > 0;)
		if (strcmp(json_string(old->root, keys[i].key, ""),
			   json_string(new->root, keys[i].key, "")) != 0)
			s = s ? arena_printf(new->a, "%s, %s", keys[i].name, s) : keys[i].name;
	return s;
}

/*
 * The unit of times: cycles of the NPU if both reports have one clock, or else
 * microseconds.  A factor converts cycles of the report to the unit.
 */
struct unit {
	const char *name;
	double old, new, parts; /* parts: numbers are rounded to 1/parts */
};

static struct unit
unit_of(const struct report *old, const struct report *new)
{
	if (same_clock(old, new))
		return (struct unit){ .name = "cycles", .old = 1, .new = 1, .parts = 1 };
	return (struct unit){ .name = "\xc2\xb5s", .old = 1e6 / old->clock,
			      .new = 1e6 / new->clock, .parts = 10 };
}

/*
 * adds the old number, the new one, both rounded to 1/parts, and the difference in percent, of which 0
 * has none
 */
static void
add_numbers(struct table *b, double old, double new, double parts)
{
	table_add(b, cell_number(round(old * parts) / parts));
	table_add(b, cell_number(round(new * parts) / parts));
	table_add(b, old > 0 ? cell_percent(new - old, old) : cell_text(new > 0 ? "new" : "-"));
}

static struct table
compare_totals(const struct report *old, const struct report *new)
{
	static const char *const columns[] = { "what", "old", "new", "difference", "",
					       NULL };
	const struct {
		const char *key, *name;
		bool batch; /* only if one of the two runs has a batch */
	} keys[] = {
		{ "batch_size", "inputs of a run", true },
		{ "cycles_per_inference", "an inference, ", true },
		{ "calibrated_cycles", "calibrated, ", false },
		{ "timeline_cycles", "timeline, ", false },
		{ "bound_cycles", "lower bound of calibrated and timeline, ", false },
		{ "sram_bytes", arena_printf(new->a, "%s, bytes", common_fast_text(old, new)),
		  false },
		{ "flash_bytes", "constants, bytes", false },
		{ "stream_bytes", "command streams, bytes", false },
		{ "cpu_operators", "operators on the CPU", false },
	};
	struct table b = { .a = new->a, .title = "Totals", .column = columns,
			   .n_columns = ARRAY_LEN(columns) - 1 };
	bool batch = batch_of(old) > 1 || batch_of(new) > 1;
	const struct unit u = unit_of(old, new);
	/* the time of the page: NPU and CPU */
	double before = cycles_ms(old, old->whole) * 1e3, now = cycles_ms(new, new->whole) * 1e3;
	table_add(&b, cell_text("time of an inference, \xc2\xb5s"));
	add_numbers(&b, before, now, 10);
	table_add(&b, cell_text(verdict(before, now, "slower", "faster")));
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (keys[i].batch && !batch)
			continue;
		double x = json_number(old->root, keys[i].key, -1);
		double y = json_number(new->root, keys[i].key, -1);
		if (x < 0 || y < 0)
			continue;
		bool time = strstr(keys[i].key, "cycles") != NULL;
		x *= time ? u.old : 1;
		y *= time ? u.new : 1;
		table_add(&b, cell_text(arena_printf(b.a, "%s%s", keys[i].name, time ? u.name : "")));
		add_numbers(&b, x, y, time ? u.parts : 1);
		table_add(&b, cell_text(time ? verdict(x, y, "slower", "faster")
					     : verdict(x, y, "larger", "smaller")));
	}
	return b;
}

static struct table
compare_layers(const struct report *old, const struct report *new, const struct rows *l)
{
	const struct unit u = unit_of(old, new);
	const char *bytes = l->weights_only ? "weights" : "constants";
	const char *const columns[] = { "layer", arena_printf(new->a, "old %s", u.name),
					arena_printf(new->a, "new %s", u.name), "difference",
					arena_printf(new->a, "old %s", bytes),
					arena_printf(new->a, "new %s", bytes), "", NULL };
	const char **column = anew(new->a, const char *, ARRAY_LEN(columns));
	memcpy(column, columns, sizeof(columns));
	struct table b = table_of(new->a, "Layers", column);
	for (size_t i = 0; i < l->n; i++) {
		const struct row *x = &l->v[i];
		table_add(&b, cell_name(row_name(new->a, x, false), row_name(new->a, x, true)));
		add_numbers(&b, u.old * x->old_cycles, u.new * x->new_cycles, u.parts);
		table_add(&b, cell_number(x->old_bytes));
		table_add(&b, cell_number(x->new_bytes));
		/* such as "slower, larger"; "new"; "gone"; or the operators of a stage */
		const char *what = x->n_new ? "new" : "gone";
		if (x->is_stage) {
			what = arena_printf(new->a, "stage: %zu, before %zu", x->n_new, x->n_old);
		} else if (x->n_old && x->n_new) {
			const char *time = verdict(u.old * x->old_cycles, u.new * x->new_cycles,
						   "slower", "faster");
			const char *size = verdict(x->old_bytes, x->new_bytes, "larger", "smaller");
			what = arena_printf(new->a, "%s%s%s", time, *time && *size ? ", " : "", size);
		}
		table_add(&b, cell_text(what));
	}
	return b;
}

static void
add_span(struct table *b, const struct span *x, const struct span *y)
{
	static const struct span none = { .place = "" };
	const char *what = !x ? "new" : !y ? "gone" : NULL;
	table_add(b, y ? cell_name(y->name, y->label) : cell_name(x->name, x->label));
	x = x ? x : &none;
	y = y ? y : &none;
	if (!what) {
		const char *size = verdict(x->bytes, y->bytes, "larger", "smaller");
		bool moved = x->at != y->at || strcmp(x->place, y->place) != 0;
		what = arena_printf(b->a, "%s%s%s", moved ? "moved" : "",
				    moved && *size ? ", " : "", size);
	}
	table_add(b, cell_number(x->bytes));
	table_add(b, cell_number(y->bytes));
	table_add(b, cell_number(x->at));
	table_add(b, cell_number(y->at));
	table_add(b, cell_text(what));
}

/* lists the tensors that changed */
static struct table
compare_memory(const struct report *old, const struct report *new)
{
	static const char *const columns[] = { "tensor or buffer", "old bytes",
					       "new bytes", "old address",
					       "new address", "", NULL };
	struct table b = { .a = new->a, .title = "Memory that changed",
			   .column = columns, .n_columns = ARRAY_LEN(columns) - 1 };
	if (!old->has_map || !new->has_map)
		return b;
	for (size_t i = 0; i < new->n_spans; i++) {
		const struct span *y = &new->span[i], *x = span_like(old, y);
		if (!x || x->at != y->at || x->bytes != y->bytes ||
		    strcmp(x->place, y->place) != 0)
			add_span(&b, x, y);
	}
	for (size_t i = 0; i < old->n_spans; i++)
		if (!span_like(new, &old->span[i]))
			add_span(&b, &old->span[i], NULL);
	return b;
}

/* ---- operators on the CPU ------------------------------------------------------------ */

static const struct cpu_operator *
cpu_like(const struct report *r, const struct cpu_operator *c)
{
	for (size_t i = 0; i < r->n_cpu; i++)
		if (!strcmp(r->cpu[i].name, c->name) && !strcmp(r->cpu[i].kind, c->kind))
			return &r->cpu[i];
	return NULL;
}

static void
add_cpu(struct table *b, const struct report *r, const struct cpu_operator *x,
	const struct cpu_operator *y)
{
	const struct cpu_operator *c = y ? y : x;
	table_add(b, cell_name(*c->name ? c->name : c->kind, cpu_label(r, c)));
	table_add(b, cell_text(c->kind));
	add_numbers(b, x ? x->cycles : 0, y ? y->cycles : 0, 1);
	table_add(b, cell_text(!x ? "new on the CPU" : !y ? "no longer on the CPU" : ""));
}

static struct table
compare_cpu(const struct report *old, const struct report *new)
{
	static const char *const columns[] = { "operator", "kind", "old cycles",
					       "new cycles", "difference", "", NULL };
	struct table b = { .a = new->a, .title = "On the CPU, rough estimates",
			   .column = columns, .n_columns = ARRAY_LEN(columns) - 1 };
	for (size_t i = 0; i < new->n_cpu; i++)
		add_cpu(&b, new, cpu_like(old, &new->cpu[i]), &new->cpu[i]);
	for (size_t i = 0; i < old->n_cpu; i++)
		if (!cpu_like(new, &old->cpu[i]))
			add_cpu(&b, old, &old->cpu[i], NULL);
	return b;
}

void
print_comparison(struct text *t, const struct report *old, size_t n_old,
		 const struct report *new, bool html)
{
	enum { NAME = 44 };
	struct arena *a = new->a;
	size_t n = n_old + 1;
	/* the files in a length for a line, the new one last; different files remain different */
	const char **whole = anew(a, const char *, n);
	for (size_t i = 0; i < n; i++)
		whole[i] = text_plain(a, i < n_old ? old[i].file : new->file);
	const char **file = map_short_labels(a, whole, n, NAME);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(file[i], file[k]) && strcmp(whole[i], whole[k]) != 0) {
				file[i] = whole[i];
				file[k] = whole[k];
			}
	const char *now = file[n_old];
	const char *title = arena_printf(a, "%s compared with", now);
	for (size_t i = 0; i < n_old; i++)
		title = arena_printf(a, "%s%s %s", title, i ? "," : "", file[i]);
	if (html)
		page_open(t, title);
	for (size_t i = 0; i < n_old; i++) {
		struct rows rows = match_layers(&old[i], new);
		struct table b[] = { compare_totals(&old[i], new),
				     compare_layers(&old[i], new, &rows),
				     compare_cpu(&old[i], new),
				     compare_memory(&old[i], new) };
		if (html) {
			if (n_old > 1) { /* the title names all of them */
				text_puts(t, "<h1>");
				text_html(t, arena_printf(a, "%s compared with %s", now, file[i]));
				text_puts(t, "</h1>\n");
			}
			print_comparison_page(t, &old[i], new, &rows, b, ARRAY_LEN(b));
			continue;
		}
		const char *differs = machine_differences(&old[i], new);
		text_printf(t, "%s%s compared with %s\n", i ? "\n" : "", now, file[i]);
		text_printf(t, "  old: %s\n  new: %s\n", text_plain(a, machine_text(&old[i])),
			    text_plain(a, machine_text(new)));
		if (differs)
			text_printf(t, "  warning: different machines (%s): a change of the time "
				       "may come from the machine\n", differs);
		if (rows.by_shape)
			text_printf(t, "%s\n", match_text(&old[i], new, &rows, "\n"));
		for (size_t k = 0; k < ARRAY_LEN(b); k++) {
			if (!b[k].n)
				continue;
			text_printf(t, "\n%s\n", b[k].title);
			table_text(t, &b[k]);
		}
	}
	if (html)
		page_close(t);
}
