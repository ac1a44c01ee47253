/* SPDX-License-Identifier: Apache-2.0 */
/* Prints rows as a table with tabs, as CSV and as JSON. */
#include "sweep.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool
failed(const struct row *w)
{
	return w->status != OK;
}

/* ---- fields ---------------------------------------------------------------------------- */

enum { MODEL, SYSTEM, ACCEL, GOAL, LIMIT, SRAM, FLASH, CYCLES, MS, FRONT_MARK, STATUS,
       MESSAGE, COLUMNS };
static const char *const heading[COLUMNS] = {
	"model", "system", "accelerator", "optimise", "limit", "sram", "flash", "cycles",
	"ms", "front", "status", "message",
};

/* Returns the text of a column; NULL: the column is a number, or the row has no value. */
static const char *
text_field(const struct row *w, int column)
{
	switch (column) {
	case MODEL: return w->target->model->name;
	case SYSTEM: return w->target->system;
	case ACCEL: return w->target->accel;
	case GOAL: return goal_names[w->goal];
	case STATUS: return row_status(w);
	case MESSAGE: return w->message;
	default: return NULL;
	}
}

/* Returns the number of a column; negative: the row has no value. */
static double
number_field(const struct row *w, int column)
{
	if (column == LIMIT)
		return (double)w->limit;
	if (failed(w))
		return -1;
	switch (column) {
	case SRAM: return w->sram;
	case FLASH: return w->flash;
	case CYCLES: return w->cycles;
	case MS: return w->ms;
	default: return -1;
	}
}

static void
put_number(struct text *t, const struct row *w, int column, const char *none)
{
	double v = number_field(w, column);
	if (v < 0)
		text_puts(t, none);
	else if (column == MS)
		text_printf(t, "%.3f", v);
	else
		text_double(t, v);
}

/* ---- text ------------------------------------------------------------------------------ */

static void
put_field(struct text *t, const struct row *w, int column, bool csv)
{
	const char *s = column == FRONT_MARK ? (w->front ? "*" : "-")
					     : text_field(w, column);
	if (column == MESSAGE && !s)
		s = csv ? "" : "-";
	if (!s)
		put_number(t, w, column, csv ? "" : "-");
	else if (csv)
		text_csv(t, s);
	else
		text_puts(t, s);
}

static void
put_line(struct text *t, const struct row *w, int first, int last, bool csv)
{
	for (int c = first; c <= last; c++) {
		if (c > first)
			text_putc(t, csv ? ',' : '\t');
		if (w)
			put_field(t, w, c, csv);
		else
			text_puts(t, heading[c]);
	}
	text_putc(t, '\n');
}

/*
 * The text table omits model and system if there is one of each, and status and message if
 * no job failed.  CSV has all columns.
 */
static void
print_lines(struct text *t, const struct rows *r, bool csv, bool front)
{
	bool any = r->n_failed || r->n_missing;
	int first = csv || r->several ? MODEL : ACCEL;
	int last = csv || any ? MESSAGE : FRONT_MARK;
	put_line(t, NULL, first, last, csv);
	for (size_t i = 0; i < r->n; i++)
		if (!front || r->v[i].front || failed(&r->v[i]))
			put_line(t, &r->v[i], first, last, csv);
}

/* ---- JSON ------------------------------------------------------------------------------ */

static void
put_member(struct text *t, const struct row *w, int column)
{
	const char *s = text_field(w, column);
	text_printf(t, "%s\"%s\": ", column ? ", " : "", heading[column]);
	if (column == FRONT_MARK)
		text_puts(t, w->front ? "true" : "false");
	else if (s)
		text_quoted(t, s, strlen(s));
	else
		put_number(t, w, column, "null");
}

static void
put_seconds(struct text *t, const char *key, double ms)
{
	const double parts = 1e9; /* a nanosecond */
	text_printf(t, ", \"%s\": ", key);
	if (ms < 0)
		text_puts(t, "null");
	else
		text_double(t, round(ms / 1e3 * parts) / parts);
}

/* one inference: NPU and CPU together */
static void
put_inference(struct text *t, const struct row *w)
{
	bool none = failed(w);
	text_puts(t, ", \"inference_npu_cycles\": ");
	put_number(t, w, CYCLES, "null");
	text_puts(t, ", \"inference_cpu_cycles\": ");
	if (none)
		text_puts(t, "null");
	else
		text_double(t, w->cpu_cycles);
	put_seconds(t, "inference_seconds", none ? -1 : w->ms);
	put_seconds(t, "inference_seconds_low", none ? -1 : w->low_ms);
	put_seconds(t, "inference_seconds_high", none ? -1 : w->high_ms);
}

static void
print_json(struct text *t, const struct rows *r, bool front)
{
	size_t n = 0;
	text_puts(t, "[\n");
	for (size_t i = 0; i < r->n; i++) {
		const struct row *w = &r->v[i];
		if (front && !w->front && !failed(w))
			continue;
		text_puts(t, n++ ? ",\n{" : "{");
		for (int c = 0; c < COLUMNS; c++)
			put_member(t, w, c);
		put_inference(t, w);
		text_putc(t, '}');
	}
	text_puts(t, "\n]\n");
}

void
print_rows(struct text *t, const struct rows *r, const struct options *o)
{
	if (o->format == AS_JSON)
		print_json(t, r, o->front);
	else
		print_lines(t, r, o->format == AS_CSV, o->front);
}
