/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --against: compares the rows of this sweep with an older table.  Two rows are compared,
 * column by column, if they have the same model, system, accelerator, goal and limit.
 */
#include "sweep.h"

#include "base/file.h"
#include "base/json.h"

#include <string.h>

enum { METRICS = 3, TABLE_MAX = 1 << 30 };
static const char *const metric_names[METRICS] = { "cycles", "sram", "flash" };

struct old_row {
	const char *model, *system, *accel, *goal;
	double limit; /* -1: none */
	double v[METRICS]; /* -1: not known */
	bool ok;
};

struct change {
	const struct old_row *old;
	const char *column, *verdict;
	double before, after; /* -1: not known */
	const char *message;  /* of a job that fails now; or NULL */
};

struct comparison {
	struct arena *a;
	const struct options *o;
	/*
	 * by model, system and accelerator, rows also by goal and limit.  Rows: all of this sweep.
	 * Targets: one row of each, a failed one if there is one.  Compared: targets whose row
	 * was compared with an old one.
	 */
	struct hash_table rows, targets, compared;
	struct change *change;
	size_t n, cap, worse;
	const char *unknown; /* the first target that was not compared; NULL: none */
};

/* ---- the old table ---------------------------------------------------------------------- */

static const char *
copy_of(struct arena *a, const struct json *o, const char *key)
{
	return text_plain(a, arena_strdup(a, json_string(o, key, "")));
}

static bool
take_object(struct arena *a, const struct json *o, struct old_row *r)
{
	if (o->kind != JSON_OBJECT)
		return false;
	*r = (struct old_row){
		.model = copy_of(a, o, "model"), .system = copy_of(a, o, "system"),
		.accel = copy_of(a, o, "accelerator"), .goal = copy_of(a, o, "optimise"),
		.limit = json_number(o, "limit", -1),
	};
	for (int m = 0; m < METRICS; m++)
		r->v[m] = json_number(o, metric_names[m], -1);
	r->ok = !strcmp(json_string(o, "status", "ok"), "ok") && r->v[0] >= 0;
	return *r->model && *r->accel;
}

/*
 * Reads a table that has one row on each line, as npu-sweep prints it.  Reading line by line
 * takes a tenth of the memory of one JSON tree.  False: the table has another layout.
 */
static bool
read_lines(struct arena *a, struct bytes file, struct old_row **out, size_t *n)
{
	struct arena *scratch = arena_open();
	size_t cap = 0, at = 2;
	bool ok = file.n > 2 && !memcmp(file.p, "[\n", 2);
	for (*n = 0; ok && at < file.n && file.p[at] == '{';) {
		const uint8_t *line = file.p + at, *end = memchr(line, '\n', file.n - at);
		size_t k = end ? (size_t)(end - line) : file.n - at;
		struct bytes b = { .p = line, .n = line[k - 1] == ',' ? k - 1 : k };
		struct err ignored = { 0 };
		struct json o;
		agrow(a, *out, *n, &cap);
		ok = json_parse(scratch, b, "row", &o, &ignored) &&
		     take_object(a, &o, &(*out)[(*n)++]);
		at += k + 1;
		arena_reset(scratch);
	}
	arena_close(scratch);
	return ok && at + 2 == file.n && !memcmp(file.p + at, "]\n", 2);
}

static bool
read_table(struct arena *a, struct bytes file, const char *name, struct old_row **out,
	   size_t *n, struct err *e)
{
	struct json *o = anew(a, struct json, 1);
	if (read_lines(a, file, out, n))
		return true;
	if (!json_parse(a, file, name, o, e))
		return false;
	if (o->kind != JSON_ARRAY)
		return err_at(e, name, 0, "not a table of npu-sweep --json");
	*n = o->n;
	*out = anew(a, struct old_row, o->n);
	for (size_t i = 0; i < o->n; i++)
		if (!take_object(a, &o->item[i], &(*out)[i]))
			return err_at(e, name, 0, "row %zu has no model or accelerator: not a "
				      "table of npu-sweep --json", i + 1);
	return true;
}

/* Prints the results of a store as the table that --merge --json would print. */
static bool
table_of_store(struct arena *a, const struct options *o, struct bytes *file, struct err *e)
{
	struct plan p = { .a = a, .interned = { .a = a } };
	struct options as_json = { .format = AS_JSON };
	struct rows r;
	struct text t = { 0 };
	if (!store_read_all(&p, o->against, e))
		return false;
	rows_make(a, &p, o->limits, false, &r);
	print_rows(&t, &r, &as_json);
	*file = (struct bytes){ .p = (const uint8_t *)arena_strndup(a, t.p, t.n), .n = t.n };
	text_free(&t);
	return true;
}

/* ---- the rows of this sweep ---------------------------------------------------------- */

static void **
at(struct hash_table *h, const char *model, const char *system, const char *accel,
   const char *goal, double limit)
{
	struct text t = { 0 };
	text_printf(&t, "%s\n%s\n%s\n%s\n%.0f", model, system, accel, goal, limit);
	uint64_t key = hash_xxh3(t.p, t.n);
	text_free(&t);
	return hash_table_at(h, key);
}

/* ---- changes ------------------------------------------------------------------------------- */

static struct change *
add(struct comparison *c, const struct old_row *old, const char *verdict)
{
	agrow(c->a, c->change, c->n, &c->cap);
	struct change *k = &c->change[c->n++];
	*k = (struct change){ .old = old, .column = "status", .verdict = verdict,
			      .before = -1, .after = -1 };
	return k;
}

/*
 * Compares an old row with its row of this sweep.  A row whose limit or target this sweep
 * does not have is ignored.
 */
static void
compare(struct comparison *c, const struct old_row *old)
{
	static const char *const verdicts[METRICS][2] = {
		{ "faster", "slower" }, { "smaller", "larger" }, { "smaller", "larger" },
	};
	const struct row *now = *at(&c->rows, old->model, old->system, old->accel, old->goal,
				    old->limit);
	const struct row *any = *at(&c->targets, old->model, old->system, old->accel, "", 0);
	bool failed = any && any->status != OK;
	bool fails = old->limit < 0 && failed; /* once, not for each limit */
	if (old->ok ? now || fails : any != NULL)
		*at(&c->compared, old->model, old->system, old->accel, "", 0) = c;
	if (old->ok && now) {
		const double v[METRICS] = { now->cycles, now->sram, now->flash };
		for (int m = 0; m < METRICS; m++) {
			double before = old->v[m], after = v[m];
			bool more = after > before;
			if (before < 0 || after < 0 || !(more || after < before))
				continue;
			struct change *k = add(c, old, verdicts[m][more]);
			k->column = metric_names[m];
			k->before = before;
			k->after = after;
			c->worse += after - before > before * c->o->tolerance / 100;
		}
	} else if (old->ok && fails) {
		add(c, old, "fails")->message = any->message ? any->message
							     : row_status(any);
		c->worse++;
	} else if (!old->ok && any && !failed) {
		(void)add(c, old, "works");
	}
}

/* Adds a line for the target of a row of this sweep if the old table has no row for it. */
static void
find_unknown(struct comparison *c, const struct row *w)
{
	const struct target *of = w->target;
	void **compared = at(&c->compared, of->model->name, of->system, of->accel, "", 0);
	if (*compared)
		return;
	*compared = c;
	struct old_row *none = anew(c->a, struct old_row, 1);
	*none = (struct old_row){ .model = of->model->name, .system = of->system,
				  .accel = of->accel, .goal = "", .limit = -1 };
	(void)add(c, none, "not compared");
	if (!c->unknown)
		c->unknown = arena_printf(c->a, "%s, %s, %s", none->model, none->system,
					  none->accel);
}

/* ---- printing ------------------------------------------------------------------------------ */

enum { COLUMNS = 10 };
static const char *const heading[COLUMNS] = {
	"model", "system", "accelerator", "optimise", "limit", "column", "old", "new",
	"percent", "change",
};

/* Returns the text of a number; "" for a negative number, which means none. */
static const char *
number_text(struct arena *a, double v)
{
	return v < 0 ? "" : arena_printf(a, "%.0f", v);
}

static void
put_object(const struct json_out *j, const char *const v[COLUMNS])
{
	json_line(j, 0);
	json_open(j, NULL, '{');
	for (int i = 0; i < COLUMNS; i++) {
		bool is_number = i == 4 || (i >= 6 && i <= 8);
		if (is_number) {
			json_key(j, heading[i]);
			text_puts(j->t, *v[i] ? v[i] : "null");
		} else {
			json_put_string(j, heading[i], v[i]);
		}
	}
	json_close(j, '}');
}

static void
put_line(struct text *t, const char *const v[COLUMNS], bool csv)
{
	for (int i = 0; i < COLUMNS; i++) {
		if (i)
			text_putc(t, csv ? ',' : '\t');
		if (csv)
			text_csv(t, v[i]);
		else
			text_puts(t, *v[i] ? v[i] : "-");
	}
	text_putc(t, '\n');
}

bool
print_changes(struct text *t, const struct rows *now, const struct options *o, size_t *worse,
	      const char **unknown, struct err *e)
{
	struct arena *a = now->a;
	struct comparison c = { .a = a, .o = o, .rows = { .a = a }, .targets = { .a = a },
				.compared = { .a = a } };
	struct old_row *old = NULL;
	struct bytes file;
	size_t n = 0;
	if (file_is_directory(o->against) ? !table_of_store(a, o, &file, e)
					  : !file_read(a, o->against, TABLE_MAX, &file, e))
		return false;
	if (!read_table(a, file, o->against, &old, &n, e))
		return false;
	for (size_t i = 0; i < now->n; i++) {
		struct row *w = &now->v[i];
		const struct target *of = w->target;
		void **any = at(&c.targets, of->model->name, of->system, of->accel, "", 0);
		if (!*any || w->status != OK)
			*any = w;
		if (w->status == OK)
			*at(&c.rows, of->model->name, of->system, of->accel,
			    goal_names[w->goal], (double)w->limit) = w;
	}
	for (size_t i = 0; i < n; i++)
		compare(&c, &old[i]);
	for (size_t i = 0; i < now->n; i++)
		find_unknown(&c, &now->v[i]);
	*worse = c.worse;
	*unknown = c.unknown;
	const struct json_out out = { .t = t, .style = JSON_SPACED }, *j = &out;
	bool json = o->format == AS_JSON, csv = o->format == AS_CSV;
	if (json)
		json_root(j, '[');
	else
		put_line(t, heading, csv);
	for (size_t i = 0; i < c.n; i++) {
		const struct change *k = &c.change[i];
		double percent = k->before > 0 ? 100 * (k->after - k->before) / k->before : 0;
		const char *v[COLUMNS] = {
			k->old->model, k->old->system, k->old->accel, k->old->goal,
			number_text(a, k->old->limit), k->column, number_text(a, k->before),
			number_text(a, k->after),
			k->before > 0 ? arena_printf(a, "%.2f", percent) : "",
			k->message ? arena_printf(a, "%s: %s", k->verdict, k->message) : k->verdict,
		};
		if (json)
			put_object(j, v);
		else
			put_line(t, v, csv);
	}
	if (json) {
		if (!c.n)
			json_line(j, 0); /* as release 1.0.0 did */
		json_close_line(j, 0, ']');
		text_putc(t, '\n');
	}
	return true;
}
