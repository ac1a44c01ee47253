/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and prints records.  A record is a line of JSON, followed by a line with the hash of
 * the first.  In a file that was cut short, the hash is missing or wrong.
 */
#include "sweep.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const status_names[STATUSES] = {
	[OK] = "ok", [REFUSED] = "refused", [FAILED] = "failed", [CRASHED] = "crashed",
	[TIMEOUT] = "timeout",
};

static void
put_number(struct text *t, const char *key, double v)
{
	text_printf(t, ", \"%s\": ", key);
	text_double(t, v);
}

static void
put_points(struct text *t, const struct record *r)
{
	text_puts(t, ", \"points\": [");
	for (size_t i = 0; i < r->n_points; i++) {
		text_puts(t, i ? ", [" : "[");
		text_double(t, r->point[i].sram);
		text_puts(t, ", ");
		text_double(t, r->point[i].cycles);
		text_putc(t, ']');
	}
	text_putc(t, ']');
}

static void
put_identity(struct text *t, const struct plan *p, const struct job *j)
{
	const struct target *of = plan_target(p, j);
	put_hash(t, "key", j->key);
	put_hash(t, "build", p->build);
	put_string(t, "model", of->model->name);
	put_hash(t, "model_xxh3", of->model->hash);
	put_string(t, "system", of->system);
	put_string(t, "accelerator", of->accel);
	put_string(t, "goal", goal_names[j->goal]);
	put_string(t, "memory_mode", of->setup->mode);
	put_string(t, "config", of->setup->config);
	put_string(t, "effort", of->setup->effort);
}

void
record_print(struct text *t, const struct plan *p, const struct job *j,
	     const struct record *r)
{
	text_puts(t, "{\"record\": 1");
	put_identity(t, p, j);
	put_string(t, "status", status_names[r->status]);
	put_number(t, "sram", r->sram);
	put_number(t, "flash", r->flash);
	put_number(t, "cycles", r->cycles);
	put_number(t, "ms", r->ms);
	put_number(t, "cpu_cycles", r->cpu_cycles);
	put_number(t, "low_ms", r->low_ms);
	put_number(t, "high_ms", r->high_ms);
	put_number(t, "core_clock", r->clock);
	put_points(t, r);
	if (r->message)
		put_string(t, "message", r->message);
	text_puts(t, "}\n");
	text_printf(t, "xxh3 %016" PRIx64 "\n", hash_xxh3(t->p, t->n));
}

/* ---- reading ------------------------------------------------------------------------ */

/* Sets *line to the line of JSON.  False: the hash in the second line is wrong or missing. */
static bool
whole_line(struct bytes file, struct bytes *line)
{
	enum { TAIL = 22 }; /* "xxh3 ", 16 digits, newline */
	char want[TAIL + 1];
	if (file.n <= TAIL)
		return false;
	*line = (struct bytes){ .p = file.p, .n = file.n - TAIL };
	(void)snprintf(want, sizeof(want), "xxh3 %016" PRIx64 "\n",
		       hash_xxh3(line->p, line->n));
	return !memcmp(file.p + line->n, want, TAIL);
}

static bool
get_identity(const struct json *o, struct record_identity *of)
{
	*of = (struct record_identity){
		.model = json_string(o, "model", ""), .system = json_string(o, "system", ""),
		.accel = json_string(o, "accelerator", ""),
		.mode = json_string(o, "memory_mode", ""),
		.config = json_string(o, "config", ""),
		.effort = json_string(o, "effort", ""),
	};
	return get_goal(o, &of->goal) && get_hash(o, "key", &of->key) && get_hash(o, "build", &of->build) &&
	       get_hash(o, "model_xxh3", &of->model_hash);
}

/* True if a number of bytes, cycles, ms or Hz is not negative and is exact as a double. */
static bool
is_plausible(double v)
{
	const double most = 9e15;
	return v >= 0 && v <= most;
}

static bool
get_points(struct arena *a, const struct json *o, struct record *r)
{
	const struct json *item = json_items(o, "points", &r->n_points);
	struct point *v = anew(a, struct point, r->n_points);
	for (size_t i = 0; i < r->n_points; i++) {
		if (item[i].kind != JSON_ARRAY || item[i].n != 2)
			return false;
		v[i] = (struct point){ .sram = item[i].item[0].number,
				       .cycles = item[i].item[1].number };
		if (!is_plausible(v[i].sram) || !is_plausible(v[i].cycles))
			return false;
	}
	r->point = v;
	return true;
}

static bool
get_status(const struct json *o, enum status *status)
{
	const char *s = json_string(o, "status", "");
	for (int k = 0; k < STATUSES; k++)
		if (!strcmp(status_names[k], s)) {
			*status = (enum status)k;
			return true;
		}
	return false;
}

static bool
get_result(struct arena *a, const struct json *o, struct record *r)
{
	enum status status;
	if (!get_status(o, &status))
		return false;
	const char *message = json_string(o, "message", NULL);
	*r = (struct record){
		.status = status, .sram = json_number(o, "sram", 0),
		.flash = json_number(o, "flash", 0), .cycles = json_number(o, "cycles", 0),
		.ms = json_number(o, "ms", 0), .clock = json_number(o, "core_clock", 0),
		.cpu_cycles = json_number(o, "cpu_cycles", 0),
		.low_ms = json_number(o, "low_ms", 0), .high_ms = json_number(o, "high_ms", 0),
		.message = message ? text_plain(a, arena_strdup(a, message)) : NULL,
	};
	return is_plausible(r->sram) && is_plausible(r->flash) &&
	       is_plausible(r->cycles) && is_plausible(r->ms) && is_plausible(r->clock) &&
	       is_plausible(r->cpu_cycles) && is_plausible(r->low_ms) &&
	       is_plausible(r->high_ms) &&
	       get_points(a, o, r);
}

static void
keep_identity(struct arena *a, struct record_identity *of)
{
	of->model = text_plain(a, arena_strdup(a, of->model));
	of->system = text_plain(a, arena_strdup(a, of->system));
	of->accel = text_plain(a, arena_strdup(a, of->accel));
	of->mode = arena_strdup(a, of->mode);
	of->config = arena_strdup(a, of->config);
	of->effort = arena_strdup(a, of->effort);
}

bool
record_read(struct arena *a, struct bytes file, const struct hash128 *key,
	    struct record *r, struct record_identity *of)
{
	struct arena *scratch = arena_open();
	struct record_identity own;
	struct bytes line;
	struct json o;
	struct err ignored = { 0 };
	bool ok = whole_line(file, &line) &&
		  json_parse(scratch, line, "record", &o, &ignored) &&
		  get_identity(&o, &own) &&
		  (!key || hash128_equal(own.key, *key)) &&
		  get_result(a, &o, r);
	if (ok && of) {
		*of = own;
		keep_identity(a, of);
	}
	arena_close(scratch);
	return ok;
}
