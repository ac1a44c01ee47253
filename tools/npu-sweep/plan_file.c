/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and prints a plan as lines of JSON, one for each job.  Each line describes its job
 * completely; therefore any selection of lines, in any order, is a plan, too.
 */
#include "sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void
plan_print_job(struct text *t, const struct plan *p, size_t k)
{
	const struct job *j = &p->job[k];
	const struct target *of = plan_target(p, j);
	const struct json_out out = { .t = t, .style = JSON_SPACED };
	json_root(&out, '{');
	json_put_i64(&out, "job", (int64_t)k + 1);
	put_hash(&out, "key", j->key);
	put_hash(&out, "build", p->build);
	json_put_string(&out, "model", of->model->path);
	put_hash(&out, "model_xxh3", of->model->hash);
	put_job(&out, of, j->goal);
	json_put_format(&out, "config_xxh3", "%016" PRIx64, of->setup->config_hash);
	json_put_string(&out, "effort", of->setup->effort);
	json_close(&out, '}');
	text_putc(t, '\n');
}

/* ---- reading ---------------------------------------------------------------------------- */

/* True if s has no control characters, and so can be an argument of a program. */
static bool
is_word(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ')
			return false;
	return true;
}

/* The build of the plan is that of the first job. */
static bool
take_job(struct plan *p, const struct json *o, const char *name, unsigned line,
	 struct err *e)
{
	struct target t = { .system = json_string(o, "system", ""),
			    .accel = json_string(o, "accelerator", "") };
	struct setup setup = { .mode = json_string(o, "memory_mode", ""),
			       .config = json_string(o, "config", ""),
			       .effort = json_string(o, "effort", "") };
	const char *path = json_string(o, "model", "");
	struct hash128 build, hash, key;
	enum goal goal;
	char *end;
	bool has_build = get_hash(o, "build", &build);
	if (has_build && !p->n_jobs)
		p->build = build;
	if (!has_build || !hash128_equal(build, p->build))
		return err_at(e, name, line, "the job is for another build of the programs than "
			      "the first job, or for none; make the plan again");
	setup.config_hash = strtoull(json_string(o, "config_xxh3", "0"), &end, 16);
	bool is_setup = !*end && is_word(setup.mode) && is_word(setup.effort);
	if (!*path || *path == '-' || !*t.system || !*t.accel || !is_word(t.system) ||
	    !is_word(t.accel) || !is_setup || !get_hash(o, "model_xxh3", &hash) ||
	    !get_goal(o, &goal) || !get_hash(o, "key", &key))
		return err_at(e, name, line, "not a line of npu-sweep --emit=jsonl: model, "
			      "system, accelerator, goal, key or a hash is missing");
	t.setup = plan_setup(p, setup);
	t.model = plan_model(p, path, &hash, e);
	struct job *j = plan_add_job(p, &t, goal);
	if (!j)
		return err_at(e, name, line, "the plan has this job already");
	j->key = key;
	return true;
}

bool
plan_read(struct plan *p, struct bytes file, const char *name, struct err *e)
{
	unsigned line = 1;
	for (size_t at = 0; at < file.n; line++) {
		const uint8_t *end = memchr(file.p + at, '\n', file.n - at);
		size_t n = end ? (size_t)(end - file.p) - at : file.n - at;
		struct bytes b = { .p = file.p + at, .n = n };
		at += n + 1;
		if (!n)
			continue;
		struct arena *scratch = arena_open();
		struct err why = { 0 };
		struct json o;
		bool ok = json_parse(scratch, b, name, &o, &why)
				  ? take_job(p, &o, name, line, e)
				  : err_at(e, name, line, "the line is not JSON");
		arena_close(scratch);
		if (!ok)
			return false;
	}
	return p->n_jobs || err_at(e, name, 0, "the plan has no job");
}

bool
plan_check_job(struct plan *p, const struct job *j, struct err *e)
{
	struct target t = *plan_target(p, j);
	size_t n_models = p->n_models;
	t.model = plan_model(p, t.model->path, NULL, e);
	p->n_models = n_models; /* the plan has counted this model already */
	if (!t.model)
		return false;
	return hash128_equal(plan_key(p, &t, j->goal), j->key) ||
	       err_at(e, t.model->path, 0, "the model or an option of job %zu has changed since "
		      "the plan was made; make the plan again", (size_t)(j - p->job) + 1);
}
