/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory of records, DIR/ab/cdef....json, named by their keys.  Any number of processes
 * may write: each writes a record under a unique name, flushes the file to the disk, and then
 * renames it.  Two writers of one key write the same result, so that no lock is necessary.
 */
#include "sweep.h"

#include "base/file.h"
#include "base/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *
store_path(const struct store *s, struct arena *a, struct hash128 key)
{
	return arena_printf(a, "%s/%02x/%014llx%016llx.json", s->dir,
			    (unsigned)(key.high >> 56),
			    (unsigned long long)(key.high & (UINT64_MAX >> 8)),
			    (unsigned long long)key.low);
}

/* Makes a directory and its parents. */
static bool
make_directory(struct arena *a, const char *path, struct err *e)
{
	struct file_set *f = file_set_open(a);
	file_set_directory(f, path);
	return file_set_commit(f, e);
}

bool
store_make(const struct store *s, struct err *e)
{
	struct arena *scratch = arena_open();
	bool ok = make_directory(scratch, s->dir, e);
	arena_close(scratch);
	return ok;
}

bool
store_get(struct store *s, const struct job *j, struct record *r)
{
	struct arena *scratch = arena_open();
	const char *path = store_path(s, scratch, j->key);
	struct err ignored = { 0 };
	struct bytes file;
	bool exists = file_read(scratch, path, RECORD_MAX, &file, &ignored);
	bool whole = exists && record_read(s->a, file, &j->key, r, NULL);
	if (exists && !whole)
		s->damaged++;
	arena_close(scratch);
	return whole;
}

/* Opens a file with a unique name in the directory of path. */
static int
open_beside(struct arena *a, const char *path, char **name, struct err *e)
{
	int fd = place_temporary(path, name);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	char *dir = place_directory(path);
	if (!dir)
		out_of_memory();
	bool ok = make_directory(a, dir, e);
	free(dir);
	return ok ? place_temporary(path, name) : -1;
}

/* Writes and flushes a file.  Its mode is 0666 without the bits of the umask. */
static bool
write_durably(int fd, struct bytes file)
{
	mode_t mask = umask(0);
	(void)umask(mask);
	bool ok = file_put(fd, file.p, file.n) && !fchmod(fd, 0666 & ~mask) && !fsync(fd);
	int saved = errno;
	bool closed = !close(fd);
	if (!ok)
		errno = saved;
	return ok && closed;
}

bool
store_put(const struct store *s, const struct job *j, struct bytes file, struct err *e)
{
	struct arena *scratch = arena_open();
	const char *path = store_path(s, scratch, j->key);
	char *name = NULL;
	int fd = open_beside(scratch, path, &name, e);
	bool ok = fd >= 0 && write_durably(fd, file) && !rename(name, path);
	int saved = errno;
	if (!ok && fd >= 0)
		(void)unlink(name);
	free(name);
	ok = ok || err_at(e, path, 0, "%s", strerror(saved));
	arena_close(scratch);
	return ok;
}

void
store_load(struct store *s, struct plan *p, const bool *want)
{
	struct record r;
	for (size_t i = 0; i < p->n_jobs; i++)
		if (want[i] && store_get(s, &p->job[i], &r)) {
			struct record *own = anew(p->a, struct record, 1);
			*own = r;
			p->job[i].record = own;
		}
}

bool
store_forget_failed(const struct store *s, struct plan *p, const bool *want, struct err *e)
{
	struct arena *scratch = arena_open();
	bool ok = true;
	for (size_t i = 0; ok && i < p->n_jobs; i++) {
		struct job *j = &p->job[i];
		if (!want[i] || !j->record || j->record->status == OK)
			continue;
		const char *path = store_path(s, scratch, j->key);
		ok = !unlink(path) || errno == ENOENT ||
		     err_at(e, path, 0, "%s", strerror(errno));
		if (ok)
			j->record = NULL;
	}
	arena_close(scratch);
	return ok;
}
