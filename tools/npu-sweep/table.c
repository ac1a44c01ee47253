/* SPDX-License-Identifier: Apache-2.0 */
/* Prints rows as a table with tabs, as CSV and as JSON. */
#include "sweep.h"

#include <inttypes.h>
#include <math.h>

static bool
failed(const struct row *w)
{
	return w->status != OK;
}

/* ---- fields ---------------------------------------------------------------------------- */

enum { MODEL, SYSTEM, ACCEL, GOAL, LIMIT, SRAM, FLASH, CYCLES, MS, FRONT_MARK, ARENA,
       STATUS, MESSAGE, ROUGH, COLUMNS };
static const char *const heading[COLUMNS] = {
	"model", "system", "accelerator", "optimise", "limit", "sram", "flash", "cycles",
	"ms", "front", "arena_memory", "status", "message", "flash_is_rough",
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
	case ARENA: return w->arena_memory;
	case STATUS: return row_status(w);
	case MESSAGE: return w->message;
	case ROUGH: return failed(w) ? NULL : row_flash_is_rough(w) ? "true" : "false";
	default: return NULL;
	}
}

static void
put_number(struct text *t, const struct row *w, int column, const char *none)
{
	const double numbers[] = { w->sram, w->flash, w->cycles, w->ms }; /* from SRAM to MS */
	double v = column == LIMIT ? (double)w->limit : -1; /* negative: the row has no value */
	if (!failed(w) && column >= SRAM && column <= MS)
		v = numbers[column - SRAM];
	if (v < 0)
		text_puts(t, none);
	else if (column == MS)
		text_printf(t, "%.3f", v);
	else
		text_double(t, v);
}

/* ---- text ------------------------------------------------------------------------------ */

/* A line of the columns of row w, without ARENA unless `arena`; w NULL: the heading. */
static void
put_line(struct text *t, const struct row *w, int first, int last, bool arena, bool csv)
{
	for (int c = first; c <= last; c++) {
		if (c == ARENA && !arena)
			continue;
		const char *s = !w ? heading[c]
				: c == FRONT_MARK ? (w->front ? "*" : "-")
						  : text_field(w, c);
		if (c > first)
			text_putc(t, csv ? ',' : '\t');
		if (w && c == FLASH && !csv && row_flash_is_rough(w))
			text_putc(t, '~');
		if (!s)
			put_number(t, w, c, csv ? "" : "-");
		else if (w && csv)
			text_csv(t, s);
		else
			text_puts(t, s);
	}
	text_putc(t, '\n');
}

/* ---- JSON ------------------------------------------------------------------------------ */

static void
put_seconds(const struct json_out *j, const char *key, double ms)
{
	if (ms < 0)
		json_put_null(j, key);
	else
		json_put_rounded(j, key, ms / 1e3, 1e9); /* to a nanosecond */
}

static void
print_json(struct text *t, const struct rows *r, bool front)
{
	const struct json_out out = { .t = t, .style = JSON_SPACED }, *j = &out;
	size_t n = 0;
	json_root(j, '[');
	for (size_t i = 0; i < r->n; i++) {
		const struct row *w = &r->v[i];
		if (front && !w->front && !failed(w))
			continue;
		n++;
		json_line(j, 0);
		json_open(j, NULL, '{');
		for (int c = 0; c < COLUMNS; c++) {
			const char *s = text_field(w, c);
			if (c == FRONT_MARK) {
				json_put_bool(j, heading[c], w->front);
			} else if (c == ROUGH && s) {
				json_put_bool(j, heading[c], row_flash_is_rough(w));
			} else if (s) {
				json_put_string(j, heading[c], s);
			} else {
				json_key(j, heading[c]);
				put_number(t, w, c, "null");
			}
		}
		/* one inference: NPU and CPU together */
		bool none = failed(w);
		json_key(j, "inference_npu_cycles");
		put_number(t, w, CYCLES, "null");
		json_put_f64(j, "inference_cpu_cycles", none ? (double)NAN : w->cpu_cycles);
		put_seconds(j, "inference_seconds", none ? -1 : w->ms);
		put_seconds(j, "inference_seconds_low", none ? -1 : w->low_ms);
		put_seconds(j, "inference_seconds_high", none ? -1 : w->high_ms);
		json_close(j, '}');
	}
	if (!n)
		json_line(j, 0); /* as release 1.0.0 did */
	json_close_line(j, 0, ']');
	text_putc(t, '\n');
}

/*
 * The text table omits model and system if there is one of each, the memory of the arena if
 * all arenas are in SRAM, and status and message if no job failed.  It marks a rough size of flash with
 * "~", for which CSV and JSON have a column.  CSV has all columns.
 */
void
print_rows(struct text *t, const struct rows *r, const struct options *o)
{
	bool csv = o->format == AS_CSV, any = r->n_failed || r->n_missing;
	int first = csv || r->several ? MODEL : ACCEL;
	int last = csv ? ROUGH : any ? MESSAGE : ARENA;
	bool arena = csv || r->outside;
	if (o->format == AS_JSON) {
		print_json(t, r, o->front);
		return;
	}
	put_line(t, NULL, first, last, arena, csv);
	for (size_t i = 0; i < r->n; i++)
		if (!o->front || r->v[i].front || failed(&r->v[i]))
			put_line(t, &r->v[i], first, last, arena, csv);
}
