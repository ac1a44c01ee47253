/* SPDX-License-Identifier: Apache-2.0 */
/* The tables with the numbers of each picture, and of facts without a picture. */
#include "report.h"

#include <math.h>
#include <string.h>

const char *const picture_names[PICTURES] = {
	[PIC_MEMORY] = "memory", [PIC_TIMELINE] = "timeline",
	[PIC_LAYERS] = "layers", [PIC_ROOFLINE] = "roofline",
	[PIC_CURVE] = "curve",
};

const char *const picture_titles[PICTURES] = {
	[PIC_MEMORY] = "Memory over time", [PIC_TIMELINE] = "Timeline",
	[PIC_LAYERS] = "Time by layer", [PIC_ROOFLINE] = "Roofline",
	[PIC_CURVE] = "What more memory would buy",
};

void
table_add(struct table *b, struct cell c)
{
	agrow(b->a, b->cell, b->n, &b->cap);
	b->cell[b->n++] = c;
}

struct table
table_of(struct arena *a, const char *title, const char *const *column)
{
	struct table b = { .a = a, .title = title, .column = column };
	while (column[b.n_columns])
		b.n_columns++;
	return b;
}

/* a whole number of cycles, as all that follows a cycle's point is less than the estimate knows */
static struct cell
cell_cycles(double v)
{
	return cell_number(round(v));
}

static void
put_cell(struct text *t, const struct cell *c)
{
	if (c->percent)
		text_printf(t, "%.1f %%", c->number);
	else
		text_rounded(t, c->number, 1e6); /* sums have rounding errors */
}

void
table_html(struct text *t, const struct table *b)
{
	text_puts(t, "<table>\n<thead><tr>");
	for (size_t i = 0; i < b->n_columns; i++) {
		bool number = i < b->n && !b->cell[i].text;
		text_puts(t, number ? "<th class=\"n\">" : "<th>");
		text_html(t, b->column[i]);
		text_puts(t, "</th>");
	}
	text_puts(t, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < b->n; i++) {
		const struct cell *c = &b->cell[i];
		if (i % b->n_columns == 0)
			text_puts(t, "<tr>");
		text_puts(t, !c->text ? "<td class=\"n\">" : c->name ? "<td title=\"" : "<td>");
		if (c->name) {
			text_html(t, c->name);
			text_puts(t, "\">");
		}
		if (c->text)
			text_html(t, *c->text ? c->text : "-");
		else
			put_cell(t, c);
		text_puts(t, "</td>");
		if (i % b->n_columns + 1 == b->n_columns)
			text_puts(t, "</tr>\n");
	}
	text_puts(t, "</tbody>\n</table>\n");
}

/* ---- as text ------------------------------------------------------------------------ */

enum { TEXT_MOST = 44 }; /* of a column of text */

static const char *
cell_string(struct arena *a, const struct cell *c)
{
	struct text t = { 0 };
	if (c->label)
		return text_plain(a, c->label);
	if (c->text) {
		const char *text = text_plain(a, c->text);
		return strchr(text, ' ') ? text : text_shortened(a, text, TEXT_MOST);
	}
	put_cell(&t, c);
	const char *s = arena_strndup(a, t.p, t.n);
	text_free(&t);
	return s;
}

/* Each column is as wide as its widest cell; numbers are right-aligned. */
void
table_text(struct text *t, const struct table *b)
{
	size_t *width = anew(b->a, size_t, b->n_columns);
	for (size_t i = 0; i < b->n_columns; i++)
		width[i] = strlen(b->column[i]);
	for (size_t i = 0; i < b->n; i++) {
		size_t k = i % b->n_columns;
		size_t n = strlen(cell_string(b->a, &b->cell[i]));
		if (n > width[k])
			width[k] = n;
	}
	for (size_t i = 0; i < b->n_columns; i++)
		text_printf(t, "  %-*s", (int)width[i], b->column[i]);
	text_putc(t, '\n');
	for (size_t i = 0; i < b->n; i++) {
		const struct cell *c = &b->cell[i];
		size_t k = i % b->n_columns;
		text_printf(t, c->text ? "  %-*s" : "  %*s", (int)width[k],
			    cell_string(b->a, c));
		if (k + 1 == b->n_columns)
			text_putc(t, '\n');
	}
}

/* ---- summary and warnings ------------------------------------------------------------ */

/* keys in the report of npu-perf --json, and their names in the table */
static const struct line {
	const char *key, *name;
} lines[] = {
	{ "network", "network" }, { "accelerator", "accelerator" },
	{ "system_config", "system configuration" },
	{ "memory_mode", "memory mode" }, { "core_clock", "clock, Hz" },
	{ "inference_seconds", "an inference, seconds" },
	{ "inference_seconds_low", "range from, seconds" },
	{ "inference_seconds_high", "range to, seconds" },
	{ "inference_ms", "the NPU in an inference, ms" },
	{ "calibrated_cycles", "calibrated, cycles" },
	{ "calibrated_low", "the 80 % interval of the NPU from, cycles" },
	{ "calibrated_high", "the 80 % interval of the NPU to, cycles" },
	{ "measured_cycles", "measured, cycles" },
	{ "timeline_cycles", "timeline, cycles" },
	{ "contention_cycles", "with contention, cycles" },
	{ "bound_cycles", "lower bound of calibrated and timeline, cycles" },
	{ "sram_bytes", "SRAM, bytes" }, { "flash_bytes", "constants, bytes" },
	{ "stream_bytes", "command streams, bytes" },
	{ "yield_every_cycles", "--yield-every, cycles" },
	{ "yield_longest_cycles", "longest operator of the NPU, cycles" },
	{ "yield_added_cycles", "cycles added by the division" },
	{ "yield_added_stream_bytes", "command streams: bytes added by the division" },
	{ "yield_kept_bytes", "live between operators, bytes at most" },
	{ "encoded_weight_bytes", "weights, encoded bytes" },
	{ "original_weight_bytes", "weights, elements" },
	{ "npu_layers", "operators on the NPU" },
	{ "cpu_operators", "operators on the CPU" },
	{ "cpu", "CPU" },
	{ "inference_cpu_cycles", "on the CPU, cycles, roughly" },
};

struct table
table_summary(const struct report *r)
{
	static const char *const columns[] = { "what", "value", NULL };
	struct table b = table_of(r->a, "Summary", columns);
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		const struct json *v = json_get(r->root, lines[i].key);
		if (!v || (v->kind != JSON_NUMBER && v->kind != JSON_STRING))
			continue;
		table_add(&b, cell_text(!strcmp(lines[i].key, "sram_bytes")
					    ? arena_printf(r->a, "%s, bytes", fast_text(r))
					    : lines[i].name));
		table_add(&b, v->kind == JSON_STRING ? cell_text(v->string)
						     : cell_number(v->number));
	}
	return b;
}

static void
note(struct table *b, const char *s)
{
	table_add(b, cell_text(s));
}

/* notes alone are no warnings */
static void
warn(struct table *b, const char *s)
{
	b->title = "Warnings";
	note(b, s);
}

struct table
table_warnings(const struct report *r)
{
	static const char *const columns[] = { "warning", NULL };
	/* shares of the time that are worth a warning */
	const double stall_share = 0.1, flash_share = 0.3;
	struct table b = table_of(r->a, "Notes", columns);
	double cpu = json_number(r->root, "cpu_operators", 0);
	const struct shares s = limit_shares(r);
	const char *overflow = overflow_text(r);
	if (overflow)
		warn(&b, overflow);
	if (cpu > 0)
		warn(&b, arena_printf(r->a, "%.0f operator%s on the CPU; the CPU's time "
					    "is known to a factor of %.2g",
				      cpu, cpu > 1 ? "s run" : " runs", r->cpu_error));
	double bodies = json_number(r->root, "npu_operators_in_bodies", 0);
	if (bodies > 0)
		warn(&b, arena_printf(r->a, "times count each body of IF and WHILE once (%.0f NPU "
					    "operator%s): how often a body runs is not known",
				      bodies, bodies > 1 ? "s" : ""));
	if (!json_get(r->root, "tensors"))
		warn(&b, "the compiled file has no source map: no names, no memory over time");
	if (s.of[LIMIT_STALL] > stall_share)
		warn(&b, arena_printf(r->a, "%s takes %.0f %% of the time: no kernel runs then",
				      limit_text(r, LIMIT_STALL), 100 * s.of[LIMIT_STALL]));
	/* in one memory, there is nothing to copy */
	if (s.of[LIMIT_CONSTANTS] > flash_share && !has_one_memory(r))
		warn(&b, arena_printf(r->a, "%s takes %.0f %% of the time, by kernels whose %s are not "
					    "copied to %s", limit_text(r, LIMIT_CONSTANTS),
				      100 * s.of[LIMIT_CONSTANTS],
				      has_data_beside_constants(r) ? "data" : "constants",
				      fast_text(r)));
	const char *commands = commands_text(r), *faster = faster_text(r), *formulas = formulas_text(r);
	if (commands)
		warn(&b, commands);
	if (faster)
		note(&b, faster);
	if (formulas)
		note(&b, formulas);
	const char *of_report = json_string(r->root, "note", NULL);
	if (of_report)
		note(&b, of_report);
	return b;
}

/* such as "1,234 less"; saved: by the rewrite */
static struct cell
cell_saved(const struct report *r, double saved)
{
	double v = fabs(round(saved));
	return cell_text(v > 0 ? arena_printf(r->a, "%s %s", human_count(r->a, v),
					      saved > 0 ? "less" : "more") : "0");
}

/* What the exact rewrites changed; equal changes are one row. */
struct table
table_rewrites(const struct report *r)
{
	static const char *const columns[] = { "operator", "change", "rule", "bytes stored",
					       "cycles", NULL };
	struct table b = table_of(r->a, "Exact rewrites", columns);
	size_t n, same;
	const struct json *v = json_items(r->root, "rewrites", &n);
	for (size_t i = 0; i < n; i += same) {
		double bytes = 0, cycles = 0;
		const char *rule = json_string(&v[i], "rule", "");
		const char *text = json_string(&v[i], "text", "");
		for (same = 0; i + same < n; same++) {
			if (strcmp(json_string(&v[i + same], "rule", ""), rule) != 0 ||
			    strcmp(json_string(&v[i + same], "text", ""), text) != 0)
				break;
			bytes += json_number(&v[i + same], "bytes", 0);
			cycles += json_number(&v[i + same], "cycles", 0);
		}
		const char *label = rewrite_label(r, &v[i]);
		table_add(&b, cell_name(json_string(&v[i], "name", ""),
					same > 1 ? arena_printf(r->a, "%s and %zu more", label, same - 1)
						 : label));
		table_add(&b, cell_text(rewrite_text(r, &v[i])));
		table_add(&b, cell_text(json_string(&v[i], "rule", "?")));
		table_add(&b, cell_saved(r, bytes));
		table_add(&b, cell_saved(r, cycles));
	}
	return b;
}

struct table
table_weights(const struct report *r)
{
	static const char *const columns[] = { "layer", "encoded bytes", "elements",
					       "encoded / elements",
					       "with scales and tables", NULL };
	struct table b = table_of(r->a, "Weights and their compression", columns);
	for (size_t i = 0; i < r->n_layers; i++) {
		const struct layer *l = &r->layer[i];
		if (!(l->constant_bytes > 0))
			continue;
		table_add(&b, cell_layer(l));
		table_add(&b, cell_number(l->weight_bytes));
		table_add(&b, cell_number(l->original_bytes));
		table_add(&b, cell_percent(l->weight_bytes, l->original_bytes));
		table_add(&b, cell_number(l->constant_bytes));
	}
	return b;
}

/* ---- pictures -------------------------------------------------------------------------- */

static struct table
table_memory(const struct report *r)
{
	static const char *const columns[] = { "tensor or buffer", "kind", "memory",
					       "address", "bytes", "from cycle",
					       "to cycle", "shape", NULL };
	struct table b = table_of(r->a, picture_titles[PIC_MEMORY], columns);
	for (size_t i = 0; i < r->n_spans; i++) {
		const struct span *s = &r->span[i];
		table_add(&b, cell_name(s->name, s->label));
		table_add(&b, cell_text(s->kind));
		table_add(&b, cell_text(place_text(r, s->place)));
		table_add(&b, cell_number(s->at));
		table_add(&b, cell_number(s->bytes));
		table_add(&b, cell_cycles(s->start));
		table_add(&b, cell_cycles(s->end));
		table_add(&b, cell_text(s->shape));
	}
	return b;
}

static struct table
table_timeline(const struct report *r)
{
	static const char *const columns[] = { "operation", "kind", "from cycle",
					       "to cycle", "cycles", "waiting before",
					       "bytes read", "bytes written", NULL };
	struct table b = table_of(r->a, picture_titles[PIC_TIMELINE], columns);
	for (size_t i = 0; i < r->n_ops; i++) {
		const struct operation *o = &r->op[i];
		table_add(&b, cell_name(o->name, o->label));
		table_add(&b, cell_text(o->kind));
		table_add(&b, cell_cycles(o->start));
		table_add(&b, cell_cycles(o->end));
		table_add(&b, cell_cycles(o->cycles));
		table_add(&b, cell_cycles(o->stall));
		table_add(&b, cell_number(o->read_bytes));
		table_add(&b, cell_number(o->written_bytes));
	}
	for (size_t i = 0; i < r->n_cpu; i++) {
		const struct cpu_operator *c = &r->cpu[i];
		table_add(&b, cell_name(*c->name ? c->name : c->kind, cpu_label(r, c)));
		table_add(&b, cell_text(arena_printf(r->a, "%s on the CPU, roughly", c->kind)));
		table_add(&b, cell_cycles(c->start));
		table_add(&b, cell_cycles(c->end));
		table_add(&b, cell_cycles(c->end - c->start));
		table_add(&b, cell_number(0));
		table_add(&b, cell_number(0));
		table_add(&b, cell_number(0));
	}
	return b;
}

static struct table
table_layers(const struct report *r)
{
	enum { FIRST = 2 }; /* column of a limit */
	static const char *const last[] = { "cycles", "share", NULL };
	const char **column = anew(r->a, const char *, FIRST + LIMITS + ARRAY_LEN(last));
	column[0] = "layer";
	column[1] = "kind";
	for (int k = 0; k < LIMITS; k++)
		column[FIRST + k] = limit_text(r, (enum limit)k);
	memcpy(column + FIRST + LIMITS, last, sizeof(last));
	struct table b = table_of(r->a, picture_titles[PIC_LAYERS], column);
	for (size_t i = 0; i < r->n_layers; i++) {
		const struct layer *l = &r->layer[i];
		table_add(&b, cell_layer(l));
		table_add(&b, cell_text(l->kind));
		for (int k = 0; k < LIMITS; k++)
			table_add(&b, cell_cycles(l->cycles[k]));
		table_add(&b, cell_cycles(l->total));
		table_add(&b, cell_percent(l->total, r->whole));
	}
	return b;
}

static struct table
table_roofline(const struct report *r)
{
	static const char *const columns[] = { "layer", "MACs", "bytes moved", "cycles",
					       "of the MACs' peak", NULL };
	struct table b = table_of(r->a, picture_titles[PIC_ROOFLINE], columns);
	for (size_t i = 0; i < r->n_layers; i++) {
		const struct layer *l = &r->layer[i];
		if (l->is_memory)
			continue;
		table_add(&b, cell_layer(l));
		table_add(&b, cell_number(l->macs));
		table_add(&b, cell_number(l->bytes));
		table_add(&b, cell_cycles(l->total));
		table_add(&b, cell_percent(l->macs, l->total * r->macs_per_cycle));
	}
	return b;
}

static struct table
table_curve(const struct report *r)
{
	const char **columns = anew(r->a, const char *, 4);
	columns[0] = arena_printf(r->a, "%s, bytes", fast_text(r));
	columns[1] = "cycles";
	columns[2] = "change";
	struct table b = table_of(r->a, picture_titles[PIC_CURVE], columns);
	for (size_t i = 0; i < r->n_points; i++) {
		table_add(&b, cell_number(r->point[i].sram));
		table_add(&b, cell_number(r->point[i].cycles));
		table_add(&b, cell_text(r->point[i].change));
	}
	return b;
}

struct table
table_picture(const struct report *r, enum picture p)
{
	switch (p) {
	case PIC_MEMORY: return table_memory(r);
	case PIC_TIMELINE: return table_timeline(r);
	case PIC_LAYERS: return table_layers(r);
	case PIC_ROOFLINE: return table_roofline(r);
	default: return table_curve(r);
	}
}
