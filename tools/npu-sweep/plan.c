/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a plan: jobs for all models, systems and accelerators, with the keys of their results. */
#include "sweep.h"

#include "base/file.h"
#include "target/accel.h"
#include "target/generation.h"
#include "target/memory.h"
#include "target/part.h"
#include "target/target.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MODEL_MAX = INT32_MAX };

const char *const goal_names[GOALS] = {
	[PERFORMANCE] = "Performance", [SIZE] = "Size", [FRONT] = "Front",
};

/* ---- models, setups and targets ------------------------------------------------------------ */

static bool
hash_file(const char *path, struct hash128 *h, struct err *e)
{
	struct arena *scratch = arena_open();
	struct bytes b;
	bool ok = file_read(scratch, path, MODEL_MAX, &b, e);
	if (ok)
		*h = hash_xxh3_128(b.p, b.n);
	arena_close(scratch);
	return ok;
}

/* Returns the slot of p->interned for the key in t.  Frees t. */
static void **
interned_slot(struct plan *p, struct text *t)
{
	uint64_t key = hash_xxh3(t->p, t->n);
	text_free(t);
	return hash_table_at(&p->interned, key);
}

const struct model *
plan_model(struct plan *p, const char *path, const struct hash128 *hash, struct err *e)
{
	struct text t = { 0 };
	struct hash128 h = { 0 };
	text_printf(&t, "model %s", path);
	if (hash)
		text_hash128(&t, *hash);
	void **at = interned_slot(p, &t);
	const struct model *interned = *at;
	if (interned)
		return interned;
	if (!hash && !hash_file(path, &h, e))
		return NULL;
	struct model *m = anew(p->a, struct model, 1);
	/* the name in tables: without directories and .tflite, on one line */
	const char *name = arena_strdup(p->a, text_cut(p->a, file_base(path), ".tflite"));
	*m = (struct model){ .path = arena_strdup(p->a, path), .hash = hash ? *hash : h,
			     .name = text_plain(p->a, name), .index = p->n_models++ };
	*at = m;
	return m;
}

const struct setup *
plan_setup(struct plan *p, struct setup s)
{
	struct text t = { 0 };
	text_printf(&t, "setup %s\n%s\n%s\n%" PRIx64, s.mode, s.config, s.effort,
		    s.config_hash);
	void **at = interned_slot(p, &t);
	if (!*at) {
		struct setup *own = anew(p->a, struct setup, 1);
		*own = (struct setup){ .mode = arena_strdup(p->a, s.mode),
				       .config = arena_strdup(p->a, s.config),
				       .effort = arena_strdup(p->a, s.effort),
				       .config_hash = s.config_hash };
		*at = own;
	}
	return *at;
}

/* Returns the copy of a name that all targets share.  Adds 1 to *count for a new name. */
static const char *
interned_name(struct plan *p, const char *kind, const char *name, size_t *count)
{
	struct text t = { 0 };
	text_printf(&t, "%s %s", kind, name);
	void **at = interned_slot(p, &t);
	if (!*at) {
		*at = arena_strdup(p->a, name);
		(*count)++;
	}
	return *at;
}

struct job *
plan_add_job(struct plan *p, const struct target *t, enum goal goal)
{
	struct text key = { 0 };
	size_t ignored = 0;
	text_printf(&key, "target %p %p %s\n%s", (const void *)t->model,
		    (const void *)t->setup, t->system, t->accel);
	void **interned = interned_slot(p, &key);
	size_t *position = *interned;
	if (!position) {
		*interned = position = anew(p->a, size_t, 1);
		*position = p->n_targets;
		agrow(p->a, p->target, p->n_targets, &p->cap_targets);
		p->target[p->n_targets] = (struct target){ .model = t->model, .setup = t->setup };
		struct target *own = &p->target[p->n_targets++];
		own->system = interned_name(p, "system", t->system, &p->n_systems);
		own->accel = interned_name(p, "accelerator", t->accel, &ignored);
	}
	size_t at = *position;
	if (p->target[at].job[goal])
		return NULL;
	agrow(p->a, p->job, p->n_jobs, &p->cap_jobs);
	struct job *j = &p->job[p->n_jobs++];
	*j = (struct job){ .target = at, .goal = goal };
	p->target[at].job[goal] = p->n_jobs;
	return j;
}

const struct target *
plan_target(const struct plan *p, const struct job *j)
{
	return &p->target[j->target];
}

/* Names contain no newline.  Therefore different targets give different texts to hash. */
struct hash128
plan_key(const struct plan *p, const struct target *t, enum goal goal)
{
	struct text key = { 0 };
	text_puts(&key, "npu-sweep 1\n");
	text_hash128(&key, p->build);
	text_hash128(&key, t->model->hash);
	text_printf(&key, "%016" PRIx64 "\n%s\n%s\n%s\n%s\n%s\n", t->setup->config_hash,
		    t->setup->mode, t->setup->effort, t->system, t->accel,
		    goal_names[goal]);
	struct hash128 h = hash_xxh3_128(key.p, key.n);
	text_free(&key);
	return h;
}

/* ---- the plan of options ----------------------------------------------------------- */

bool
target_is_part(const struct target *t)
{
	return !*t->setup->mode;
}

/* Loads a system for accelerator i; made_for: it must be made for this accelerator. */
static bool
load_system(const struct options *o, const char *system, size_t i, bool made_for,
	    struct err *e)
{
	struct arena *scratch = arena_open();
	struct memory_system m;
	const struct accel *accel = accel_find(o->accels.v[i]);
	bool ok = memory_load(scratch, o->config, system, o->mode, accel, &m, e) &&
		  (!made_for || o->any_accelerator || memory_check_accel(&m, accel, e));
	arena_close(scratch);
	return ok;
}

/*
 * Fails if no accelerator can have this system, for example because the name is unknown, or
 * if the system is made for another accelerator than one that the user named.  If only some
 * accelerators can have the system, the jobs of the others fail, and their rows contain the
 * message.
 */
static bool
check_system(const struct options *o, const char *system, bool named, struct err *e)
{
	struct err first = { 0 };
	bool any = false;
	for (size_t i = 0; i < o->accels.n; i++) {
		struct err why = { 0 };
		bool ok = load_system(o, system, i, true, &why);
		if (!ok && named && load_system(o, system, i, false, &(struct err){ 0 })) {
			*e = why;
			return false;
		}
		any |= ok;
		if (!ok && !first.status)
			first = why;
	}
	if (!any)
		*e = first;
	return any;
}

static void
add_target(const struct options *o, struct plan *p, const struct target *t)
{
	for (int g = 0; g < (o->limits ? GOALS : FRONT); g++) {
		struct job *j = plan_add_job(p, t, (enum goal)g);
		if (j)
			j->key = plan_key(p, t, (enum goal)g);
	}
}

static const char *
or_empty(const char *s)
{
	return s ? s : "";
}

/* A part of a file is named by the file, whose content is part of the keys. */
static bool
add_parts(const struct options *o, struct plan *p, const struct model *const *model,
	  struct err *e)
{
	for (size_t m = 0; m < o->models.n; m++)
		for (size_t i = 0; i < o->parts.n; i++) {
			const char *name = o->parts.v[i];
			const struct target_part *part = target_part_take(p->a, name, e);
			bool is_file = part && strcmp(part->name, name) != 0;
			struct hash128 h = { 0 };
			if (!part || (is_file && !hash_file(name, &h, e)))
				return false;
			struct setup setup = { .mode = "", .config = is_file ? name : "",
					       .config_hash = h.low,
					       .effort = or_empty(o->effort) };
			struct target t = { .model = model[m], .system = name,
					    .setup = plan_setup(p, setup),
					    .accel = part->accel };
			add_target(o, p, &t);
		}
	return true;
}

bool
plan_options(const struct options *options, struct plan *p, struct err *e)
{
	struct options o = *options;
	const struct model **model = anew(p->a, const struct model *, o.models.n);
	struct hash128 config = { 0 };
	bool named = o.accels.n > 0;
	if (!named) {
		for (int i = 0; i < ACCEL_COUNT; i++)
			if (generations[accels[i].generation].product == 55) {
				agrow(o.a, o.accels.v, o.accels.n, &o.accels.cap);
				o.accels.v[o.accels.n++] = accels[i].name;
			}
	}
	for (size_t i = 0; i < o.models.n; i++) {
		model[i] = plan_model(p, o.models.v[i], NULL, e);
		if (!model[i])
			return false;
	}
	if (o.parts.n)
		return add_parts(&o, p, model, e);
	if (!o.systems.n && !o.config && !o.like)
		return err_set(e, "--part or --system-config is required: there is no default; "
			       "--part=all takes all chips, npucc --list-parts lists them, and "
			       "npu-sched --list-profiles lists the system configurations");
	for (size_t i = 0; i < o.accels.n; i++)
		if (!accel_named(o.accels.v[i], e))
			return false;
	if (!o.systems.n && !check_system(&o, NULL, named, e))
		return false;
	for (size_t i = 0; i < o.systems.n; i++)
		if (!check_system(&o, o.systems.v[i], named, e))
			return false;
	if (o.config && !hash_file(o.config, &config, e))
		return false;
	struct setup setup = { .mode = or_empty(o.mode), .config = or_empty(o.config),
			       .effort = or_empty(o.effort), .config_hash = config.low };
	const struct setup *interned = plan_setup(p, setup);
	for (size_t m = 0; m < o.models.n; m++)
		for (size_t s = 0; s < o.systems.n; s++)
			for (size_t i = 0; i < o.accels.n; i++) {
				const char *system = o.systems.v[s];
				/* if the user named no accelerators, those that the system is made for */
				if (!named && !load_system(&o, system, i, true, &(struct err){ 0 }))
					continue;
				struct target t = { .model = model[m], .setup = interned,
						    .system = system, .accel = o.accels.v[i] };
				add_target(&o, p, &t);
			}
	return true;
}

/* ---- parts of a plan ---------------------------------------------------------------- */

/* Reads FIRST or FIRST-LAST at *s, and moves *s behind the range and its comma. */
static bool
take_range(const char **s, size_t most, size_t *first, size_t *last)
{
	char *end;
	if (!strchr("123456789", **s) || !**s)
		return false;
	unsigned long long from = strtoull(*s, &end, 10), to = from;
	if (*end == '-')
		to = strtoull(end + 1, &end, 10);
	if ((*end && *end != ',') || to < from || to > most)
		return false;
	*first = (size_t)from;
	*last = (size_t)to;
	*s = *end ? end + 1 : end;
	return true;
}

bool
plan_select(const struct plan *p, const char *list, bool *want, struct err *e)
{
	bool all = !list || !strcmp(list, "all");
	if (list && !*list)
		return err_set(e, "--run-jobs needs numbers from 1 to %zu, or all, not an empty "
			       "list", p->n_jobs);
	for (size_t i = 0; i < p->n_jobs; i++)
		want[i] = all;
	for (const char *s = all ? "" : list; *s;) {
		size_t first, last;
		if (!take_range(&s, p->n_jobs, &first, &last))
			return err_set(e, "--run-jobs needs numbers from 1 to %zu, for example "
				       "1-20,25, not '%s'", p->n_jobs, list);
		for (size_t i = first; i <= last; i++)
			want[i - 1] = true;
	}
	return true;
}
