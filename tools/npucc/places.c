/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the directories of the outputs, and makes private directories beside the
 * outputs.  Output files are written in private directories: they are on the same file
 * system, so that a rename completes an output.  The names are random, so that nobody
 * can guess them.
 */
#include "npucc.h"

#include "base/place.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* copies a string of place.h, which uses malloc */
static const char *
adopt(struct arena *a, char *s)
{
	const char *copy = s ? arena_strdup(a, s) : NULL;
	if (!copy)
		out_of_memory();
	free(s);
	return copy;
}

static bool
private_name(struct npucc *c, const char *dir, const char **name)
{
	uint64_t r[2];
	if (getrandom(r, sizeof(r), 0) != sizeof(r))
		return err_set(c->e, "no random numbers: %s", strerror(errno));
	*name = arena_printf(c->a, "%s/.npucc-%016" PRIx64 "%016" PRIx64, dir, r[0],
			     r[1]);
	return true;
}

/* Finds the directory of the file that -o names; a link stays a link. */
static bool
check_output(struct npucc *c, const char **dir)
{
	const char *out = c->o->out;
	if (file_is_directory(out))
		return err_at(c->e, out, 0, "is a directory");
	if (!file_check_output(out, c->o->in, c->e))
		return false;
	char *place = place_of(out);
	if (!place)
		return err_at(c->e, out, 0, "the link points to a directory that does "
					    "not exist");
	*dir = adopt(c->a, place_directory(place));
	bool is_link = strcmp(place, out) != 0;
	free(place);
	return !is_link || file_is_directory(*dir) ||
	       err_at(c->e, out, 0, "the link points to a directory that does not "
				    "exist");
}

/* notes the directories on the path, and the path itself, that do not exist yet */
static void
note_missing(struct npucc *c, const char *path, struct guarded *g)
{
	size_t cap = 0;
	char *p = arena_strdup(c->a, path);
	for (size_t i = 1; i <= strlen(path); i++) {
		if ((p[i] != '/' && p[i]) || p[i - 1] == '/')
			continue;
		const char *prefix = arena_strndup(c->a, path, i);
		if (!access(prefix, F_OK))
			continue;
		agrow(c->a, g->made, g->n_made, &cap);
		g->made[g->n_made++] = prefix;
	}
}

static bool
lacks_directory(struct npucc *c, const char *path)
{
	return err_at(c->e, path, 0, "its directory does not exist: create it, or name another file");
}

static bool
make(struct npucc *c, const char *path, const char *called, mode_t mode)
{
	if (!path || !mkdir(path, mode))
		return true;
	return errno == ENOENT && called == c->o->out ? lacks_directory(c, called)
						      : err_at(c->e, called, 0, "%s", strerror(errno));
}

bool
places_open(struct npucc *c)
{
	const struct options *o = c->o;
	const char *dir = ".";
	struct guarded g = { .trees = anew(c->a, const char *, 2) };
	c->files = file_set_open(c->a);
	if (!file_is_standard(o->out) && !check_output(c, &dir))
		return false;
	if (o->page && !file_check_output(o->page, o->in, c->e))
		return false;
	/* --keep may make the directory */
	if (o->page && !o->keep && !file_is_directory(adopt(c->a, place_directory(o->page))))
		return lacks_directory(c, o->page);
	const char *keep = o->keep;
	if (o->archive) {
		if (file_is_directory(keep))
			return err_at(c->e, keep, 0, "is a directory");
		keep = adopt(c->a, place_directory(keep));
	}
	if (keep && !access(keep, F_OK) && !file_is_directory(keep))
		return err_at(c->e, keep, 0, "is not a directory");
	if (keep)
		note_missing(c, keep, &g);
	if (!private_name(c, dir, &c->spare))
		return false;
	g.trees[g.n_trees++] = c->spare;
	/* an output needs a private file for a while */
	bool is_made = o->check || part_is_checked(o) || o->to[QUANTIZE].n || o->to[CUT].n;
	if (!file_is_standard(o->out) || (is_made && !o->keep))
		c->beside = c->spare;
	if (o->keep) {
		if (!private_name(c, keep, &c->in_keep))
			return false;
		g.trees[g.n_trees++] = c->in_keep;
	}
	if (!guard_start(&g, c->e))
		return false;
	for (size_t i = 0; i < g.n_made; i++) {
		int why = mkdir(g.made[i], 0777) ? errno : 0;
		/* another npucc may have made the directory of --keep in the meantime */
		if (why && !file_is_directory(g.made[i]))
			return err_at(c->e, g.made[i], 0, "%s", strerror(why));
	}
	return make(c, c->beside, file_is_standard(c->o->out) ? "." : c->o->out, 0700) &&
	       make(c, c->in_keep, c->o->keep, 0700);
}

const char *
place_spare(struct npucc *c)
{
	const char *dir = c->beside ? c->beside : c->in_keep;
	if (!dir && !c->bodies.n && !make(c, c->spare, ".", 0700))
		return NULL;
	return dir ? dir : c->spare;
}

const char *
place_private(struct npucc *c, const char *dir, const char *name,
	      const char *called)
{
	const char *path = arena_printf(c->a, "%s/%s", dir, name);
	if (called) {
		assert(c->n_alias < (int)ARRAY_LEN(c->alias));
		c->alias[c->n_alias++] = (struct alias){ path, called };
	}
	return path;
}

/* A signal comes before the commit, or has no effect any more. */
bool
places_commit(struct npucc *c)
{
	guard_hold_signals(true);
	bool ok = file_set_commit(c->files, c->e);
	if (!ok)
		guard_hold_signals(false);
	return ok;
}

void
places_close(struct npucc *c)
{
	if (c->files)
		file_set_drop(c->files);
	guard_end();
}
