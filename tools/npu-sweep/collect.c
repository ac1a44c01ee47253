/* SPDX-License-Identifier: Apache-2.0 */
/* Visits all files of a store: --gc deletes unusable files, --against reads all records. */
#include "sweep.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum kind { KEPT, TEMPORARY, DAMAGED, OTHER_BUILD, PLAN, KINDS };

struct walk {
	struct arena *a; /* memory for one file; reset after the file */
	struct hash128 build;
	size_t count[KINDS];
	struct plan *p; /* gets the records; NULL: delete unusable files */
	struct err *e;
};

/* ---- deleting -------------------------------------------------------------------------- */

static enum kind
kind_of(struct walk *w, const char *path, const char *name)
{
	enum { HOUR = 3600 };
	bool temporary = !strncmp(name, ".nputools-", strlen(".nputools-"));
	struct record r;
	struct record_identity of;
	struct bytes file;
	struct err ignored = { 0 };
	if (temporary || text_has_suffix(name, ".jsonl")) {
		/* a writer holds its file for less than a second; a clock may be wrong by
		 * more */
		struct stat st;
		if (stat(path, &st) || st.st_mtime + HOUR >= time(NULL))
			return KEPT;
		return temporary ? TEMPORARY : PLAN;
	}
	if (!text_has_suffix(name, ".json"))
		return KEPT;
	if (!file_read(w->a, path, RECORD_MAX, &file, &ignored) ||
	    !record_read(w->a, file, NULL, &r, &of))
		return DAMAGED;
	return hash128_equal(of.build, w->build) ? KEPT : OTHER_BUILD;
}

/* ---- reading ------------------------------------------------------------------------------ */

static bool
add_record(struct walk *w, const char *path)
{
	struct plan *p = w->p;
	struct record *r = anew(p->a, struct record, 1);
	struct record_identity of;
	struct bytes file;
	struct err ignored = { 0 };
	if (!file_read(w->a, path, RECORD_MAX, &file, &ignored) ||
	    !record_read(p->a, file, NULL, r, &of))
		return true; /* ignore a damaged file */
	struct setup setup = { .mode = of.mode, .config = of.config, .effort = of.effort };
	struct target t = { .system = of.system, .accel = of.accel };
	t.setup = plan_setup(p, setup);
	t.model = plan_model(p, of.model, &of.model_hash, w->e);
	struct job *j = plan_add_job(p, &t, of.goal);
	if (!j)
		return err_at(w->e, path, 0, "there is another result of %s for %s, %s, by "
			      "another build; compare with a table of --json, or remove one "
			      "build's results with --gc", of.model, of.accel, of.system);
	j->key = of.key;
	j->record = r;
	return true;
}

/* ---- both --------------------------------------------------------------------------------- */

static bool
visit_directory(struct walk *w, const char *dir)
{
	DIR *d = opendir(dir);
	struct arena *names = arena_open();
	const struct dirent *f;
	bool ok = true;
	while (d && ok && (f = readdir(d))) {
		const char *name = f->d_name, *path = arena_printf(names, "%s/%s", dir, name);
		if (!strcmp(name, ".") || !strcmp(name, ".."))
			continue;
		if (!w->p) {
			enum kind k = kind_of(w, path, name);
			w->count[k]++;
			ok = k == KEPT || !unlink(path) || errno == ENOENT ||
			     err_at(w->e, path, 0, "%s", strerror(errno));
		} else if (text_has_suffix(name, ".json")) {
			ok = add_record(w, path);
		}
		arena_reset(w->a);
	}
	if (d)
		(void)closedir(d);
	arena_close(names);
	return ok;
}

static bool
visit_store(struct walk *w, const char *dir)
{
	DIR *d = opendir(dir);
	struct arena *names = arena_open();
	const struct dirent *f;
	bool ok = d || err_at(w->e, dir, 0, "%s", strerror(errno));
	while (ok && (f = readdir(d))) {
		/* directories of records or of plans; others belong to the user */
		const char *name = f->d_name;
		bool is_ours = !strcmp(name, "plans") ||
			       (strlen(name) == 2 && strspn(name, "0123456789abcdef") == 2);
		if (is_ours)
			ok = visit_directory(w, arena_printf(names, "%s/%s", dir, name));
	}
	if (d)
		(void)closedir(d);
	arena_close(names);
	return ok;
}

bool
store_collect(const char *dir, struct hash128 build, struct text *t,
	      struct err *e)
{
	struct walk w = { .a = arena_open(), .build = build, .e = e };
	bool ok = visit_store(&w, dir);
	arena_close(w.a);
	text_printf(t, "removed: %zu temporary files, %zu damaged results, %zu results of "
		       "other builds, %zu plans\nkept: %zu files\n", w.count[TEMPORARY],
		    w.count[DAMAGED], w.count[OTHER_BUILD], w.count[PLAN], w.count[KEPT]);
	return ok;
}

bool
store_read_all(struct plan *p, const char *dir, struct err *e)
{
	struct walk w = { .a = arena_open(), .p = p, .e = e };
	bool ok = visit_store(&w, dir);
	arena_close(w.a);
	return ok;
}
