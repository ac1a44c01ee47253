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

void
record_print(struct text *t, const struct plan *p, const struct job *j, const struct record *r)
{
	const struct json_out out = { .t = t, .style = JSON_SPACED };
	const struct target *of = plan_target(p, j);
	json_root(&out, '{');
	json_put_i64(&out, "record", 1);
	put_hash(&out, "key", j->key);
	put_hash(&out, "build", p->build);
	json_put_string(&out, "model", of->model->name);
	put_hash(&out, "model_xxh3", of->model->hash);
	put_job(&out, of, j->goal);
	json_put_string(&out, "effort", of->setup->effort);
	json_put_string(&out, "status", status_names[r->status]);
#define FIGURE(member, key, source, factor) json_put_f64(&out, key, r->member);
#include "figures.def"
	json_open(&out, "points", '[');
	for (size_t i = 0; i < r->n_points; i++) {
		json_open(&out, NULL, '[');
		json_put_f64(&out, NULL, r->point[i].sram);
		json_put_f64(&out, NULL, r->point[i].cycles);
		json_put_f64(&out, NULL, r->point[i].flash);
		json_put_f64(&out, NULL, r->point[i].streams);
		json_close(&out, ']');
	}
	json_close(&out, ']');
	if (r->message)
		json_put_string(&out, "message", r->message);
	json_close(&out, '}');
	text_putc(t, '\n');
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
		/* release 1.0.0 wrote two numbers */
		bool old = item[i].n == 2;
		if (item[i].kind != JSON_ARRAY || (!old && item[i].n != 4))
			return false;
		v[i] = (struct point){ .sram = item[i].item[0].number,
				       .cycles = item[i].item[1].number,
				       .flash = old ? -1 : item[i].item[2].number,
				       .streams = old ? -1 : item[i].item[3].number };
		if (!is_plausible(v[i].sram) || !is_plausible(v[i].cycles) ||
		    !is_plausible(v[i].flash + 1) || !is_plausible(v[i].streams + 1))
			return false;
	}
	r->point = v;
	return true;
}

static bool
get_result(struct arena *a, const struct json *o, struct record *r)
{
	const char *s = json_string(o, "status", "");
	int status = 0;
	while (status < STATUSES && strcmp(status_names[status], s) != 0)
		status++;
	if (status == STATUSES)
		return false;
	const char *message = json_string(o, "message", NULL);
	*r = (struct record){
		.status = (enum status)status,
#define FIGURE(member, key, source, factor) .member = json_number(o, key, 0),
#include "figures.def"
		.message = message ? text_plain(a, arena_strdup(a, message)) : NULL,
	};
	return
#define FIGURE(member, key, source, factor) is_plausible(r->member) &&
#include "figures.def"
		get_points(a, o, r);
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
		of->model = text_plain(a, arena_strdup(a, own.model));
		of->system = text_plain(a, arena_strdup(a, own.system));
		of->accel = text_plain(a, arena_strdup(a, own.accel));
		of->mode = arena_strdup(a, own.mode);
		of->config = arena_strdup(a, own.config);
		of->effort = arena_strdup(a, own.effort);
	}
	arena_close(scratch);
	return ok;
}
