/* SPDX-License-Identifier: Apache-2.0 */
/* Writes files: first under a temporary name, then renamed to their destination. */
#include "base/file.h"

#include "base/place.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Enlarges a pipe's buffer for large outputs, so that reader and writer alternate less
 * often.
 */
static void
widen_pipe(int fd, size_t n)
{
#ifdef F_SETPIPE_SZ
	enum { USUAL_BYTES = 1 << 16, WIDE_BYTES = 1 << 20 };
	if (n > USUAL_BYTES)
		(void)fcntl(fd, F_SETPIPE_SZ, WIDE_BYTES); /* fails harmlessly if fd is not a
							    * pipe */
#else
	(void)fd, (void)n;
#endif
}

/* Writes the parts and then the content of the spool `rest`; NULL: no spool. */
static bool
write_all(int fd, const struct bytes *part, size_t n, const struct spool *rest)
{
	for (size_t i = 0; i < n; i++)
		if (!file_put(fd, part[i].p, part[i].n))
			return false;
	return !rest || spool_copy(rest, fd);
}

/* Writes to fd and closes it.  On failure returns false and sets errno. */
static bool
write_and_close(int fd, const struct bytes *part, size_t n, const struct spool *rest)
{
	bool ok = fd >= 0 && write_all(fd, part, n, rest);
	int saved = errno;
	if (fd >= 0 && close(fd) && ok)
		return false;
	errno = saved;
	return ok;
}

/*
 * Writes a complete temporary file in the directory of place; returns its path, or NULL.
 * The file gets the mode that open() would have given it: 0666 without the umask.
 */
static char *
write_beside(const char *place, const struct bytes *part, size_t n,
	     const struct spool *rest)
{
	char *name;
	int fd = place_temporary(place, &name);
	if (fd < 0)
		return NULL;
	mode_t mask = umask(0);
	(void)umask(mask);
	bool mode = !fchmod(fd, 0666 & ~mask);
	if (write_and_close(fd, part, n, rest) && mode)
		return name;
	int saved = errno;
	(void)unlink(name);
	free(name);
	errno = saved;
	return NULL;
}

/* Returns the number of the open file that path names (/dev/stdout, ...), or -1. */
static int
open_number(const char *path)
{
	static const char *const dirs[] = { "/dev/fd/", "/proc/self/fd/" };
	if (!strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		size_t n = strlen(dirs[i]);
		char *end;
		if (strncmp(path, dirs[i], n) != 0 || !isdigit((unsigned char)path[n]))
			continue;
		long fd = strtol(path + n, &end, 10);
		if (!*end && fd <= INT_MAX)
			return (int)fd;
	}
	return -1;
}

bool
file_is_directory(const char *path)
{
	struct stat st;
	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/*
 * True if the output is written directly to path, because path is no regular file. (A
 * regular file is written under another name and then renamed.) Sets *fd to the number
 * of the open file that path stands for, or to -1 for a device or a pipe, which is
 * opened by its path.
 */
static bool
is_direct(const char *path, int *fd)
{
	struct stat st;
	*fd = file_is_standard(path) ? STDOUT_FILENO : open_number(path);
	return *fd >= 0 || (!stat(path, &st) && !S_ISREG(st.st_mode));
}

static bool
write_direct(const char *path, int fd, const struct bytes *part, size_t n,
	     const struct spool *rest, struct err *e)
{
	const char *name = file_is_standard(path) ? "standard output" : path;
	if (fd < 0)
		return write_and_close(open(path, O_WRONLY | O_CLOEXEC), part, n,
				       rest) ||
		       err_at(e, name, 0, "%s", strerror(errno));
	size_t bytes = 0;
	for (size_t i = 0; i < n; i++)
		bytes += part[i].n;
	widen_pipe(fd, bytes);
	return (!fflush(stdout) && write_all(fd, part, n, rest)) ||
	       err_at(e, name, 0, "%s", strerror(errno));
}

static bool
check_terminal(int fd, bool binary, struct err *e)
{
	return !binary || fd < 0 || !isatty(fd) ||
	       err_set(e, "binary output is not written to a terminal: "
			  "use -o FILE or redirect");
}

/* ---- files that appear together ------------------------------------------ */

struct output {
	struct output *next;
	char *path; /* NULL: standard output */
	bool is_directory;
	size_t made; /* length of the path of the outermost directory that was made; 0: none */
	struct text text; /* content; empty for an adopted file */
	struct bytes lent; /* content that is not copied to text; n is 0 if the content is in
			    * text */
	const struct spool *rest; /* content that follows; NULL: none */
	int fd;		  /* the open file's number; -1: opened by path */
	bool direct;
	char *place, *beside; /* NULL for a direct output and before the commit */
	enum place_taken taken;
};

struct file_set {
	struct arena *a;
	struct output *first, **last;
};

struct file_set *
file_set_open(struct arena *a)
{
	struct file_set *s = anew(a, struct file_set, 1);
	s->a = a;
	s->last = &s->first;
	return s;
}

static struct output *
append(struct file_set *s, const char *path)
{
	struct output *o = anew(s->a, struct output, 1);
	o->path = path ? arena_strdup(s->a, path) : NULL;
	*s->last = o;
	s->last = &o->next;
	return o;
}

bool
file_set_parts(struct file_set *s, const char *path, const struct bytes *part,
	       size_t n, bool binary, struct err *e)
{
	struct output *o = append(s, path);
	o->direct = is_direct(path, &o->fd);
	for (size_t i = 0; i < n; i++)
		text_put(&o->text, part[i].p, part[i].n);
	return !o->direct || check_terminal(o->fd, binary, e);
}

bool
file_set_add(struct file_set *s, const char *path, const void *p, size_t n,
	     bool binary, struct err *e)
{
	struct bytes whole = { .p = p, .n = n };
	return file_set_parts(s, path, &whole, 1, binary, e);
}

bool
file_set_lend(struct file_set *s, const char *path, struct bytes b, bool binary,
	      struct err *e)
{
	struct output *o = append(s, path);
	o->direct = is_direct(path, &o->fd);
	o->lent = b;
	return !o->direct || check_terminal(o->fd, binary, e);
}

bool
file_set_spool(struct file_set *s, const char *path, const void *p, size_t n,
	       const struct spool *rest, struct err *e)
{
	struct output *o = append(s, path);
	o->direct = is_direct(path, &o->fd);
	text_put(&o->text, p, n);
	o->rest = rest;
	return !o->direct || check_terminal(o->fd, true, e);
}

void
file_set_directory(struct file_set *s, const char *path)
{
	append(s, path)->is_directory = true;
}

bool
file_set_adopt(struct file_set *s, const char *path, const char *whole,
	       struct err *e)
{
	struct bytes b;
	int fd;
	if (is_direct(path, &fd))
		return file_read(s->a, whole, SIZE_MAX / 4, &b, e) &&
		       file_set_add(s, path, b.p, b.n, false, e);
	struct output *o = append(s, path);
	o->fd = -1;
	o->beside = strdup(whole);
	return o->beside || err_at(e, path, 0, "%s", strerror(errno));
}

static struct bytes
content(const struct output *o)
{
	return o->lent.n ? o->lent
			 : (struct bytes){ .p = (const uint8_t *)o->text.p,
					   .n = o->text.n };
}

/* Makes the directory and its missing parents. */
static bool
make_directories(struct output *o)
{
	size_t n = strlen(o->path);
	errno = ENOENT;
	for (size_t i = 1; i <= n; i++) {
		char rest = o->path[i];
		if ((rest && rest != '/') || o->path[i - 1] == '/')
			continue;
		o->path[i] = '\0';
		bool made = !mkdir(o->path, 0777);
		int why = errno;
		bool ok = made || !access(o->path, F_OK);
		o->path[i] = rest;
		errno = why;
		if (!ok)
			return false;
		if (made && !o->made)
			o->made = i;
	}
	return n > 0;
}

static bool
is_same_output(const struct output *x, const struct output *y)
{
	if (x->direct || y->direct)
		return x->direct && y->direct && x->fd == STDOUT_FILENO && y->fd == x->fd;
	/* do both paths end with the same name in the same directory? */
	struct stat dx, dy;
	if (!x->place || !y->place || strcmp(file_base(x->place), file_base(y->place)) != 0)
		return false;
	char *in_x = place_directory(x->place), *in_y = place_directory(y->place);
	bool same = in_x && in_y && !stat(in_x, &dx) && !stat(in_y, &dy) &&
		    dx.st_dev == dy.st_dev && dx.st_ino == dy.st_ino;
	free(in_x);
	free(in_y);
	return same;
}

/* Finds the output's place.  False: it would overwrite an input, or an output before it. */
static bool
find_place(const struct file_set *s, struct output *o, struct err *e)
{
	if (o->is_directory)
		return true;
	if (!o->direct && !(o->place = place_of(o->path)))
		return err_at(e, o->path, 0, "%s", strerror(errno));
	for (const struct output *b = s->first; b != o; b = b->next)
		if (is_same_output(b, o))
			return err_at(e, o->direct ? "standard output" : o->path, 0,
				      "two outputs have this name; name another file for one of "
				      "them");
	return o->direct || file_check_inputs(o->path, e);
}

/*
 * Empties the set and removes the temporary files.  If back is true, the destinations
 * get their old files again.
 */
static void
clear(struct file_set *s, bool back)
{
	for (struct output *o = s->first; o; o = o->next) {
		if (o->place && o->beside && back)
			place_give_back(o->beside, o->place, o->taken);
		if (o->beside && (back || o->taken == PLACE_EXCHANGED))
			(void)unlink(o->beside);
		free(o->beside);
		free(o->place);
		text_free(&o->text);
	}
	/* after the files inside, the directories that were made, the innermost first */
	for (struct output *o = s->first; o && back; o = o->next)
		for (size_t i = o->made ? strlen(o->path) : 0; i && i >= o->made; i--) {
			if ((o->path[i] && o->path[i] != '/') || o->path[i - 1] == '/')
				continue;
			o->path[i] = '\0';
			(void)rmdir(o->path);
		}
	s->first = NULL;
	s->last = &s->first;
}

/* Writes the outputs of the set; false: at least one failed. */
static bool
write_outputs(struct file_set *s, struct err *e)
{
	struct output *o;
	/* Everything that may fail for lack of memory or disk space comes first.  Later no
	 * allocation can end the program, so temporary files are always removed. */
	for (o = s->first; o; o = o->next) {
		struct bytes b = content(o);
		if (!find_place(s, o, e))
			return false;
		if (!o->is_directory && !o->direct && !o->beside)
			o->beside = write_beside(o->place, &b, 1, o->rest);
		bool ok = o->is_directory ? make_directories(o) : o->direct || o->beside;
		if (!ok)
			return err_at(e, o->path, 0, "%s", strerror(errno));
	}
	/* direct outputs, which can't be undone, are written before names are taken */
	for (o = s->first; o; o = o->next) {
		struct bytes b = content(o);
		if (o->direct && !write_direct(o->path, o->fd, &b, 1, o->rest, e))
			return false;
	}
	for (o = s->first; o; o = o->next) {
		if (!o->beside)
			continue;
		o->taken = place_take(o->beside, o->place);
		if (o->taken == PLACE_FAILED)
			return err_at(e, o->path, 0, "%s", strerror(errno));
	}
	return true;
}

bool
file_set_commit(struct file_set *s, struct err *e)
{
	bool ok = write_outputs(s, e);
	clear(s, !ok);
	return ok;
}

void
file_set_drop(struct file_set *s)
{
	clear(s, true);
}

bool
file_set_end(struct file_set *s, bool ok, struct err *e)
{
	if (ok)
		return file_set_commit(s, e);
	file_set_drop(s);
	return false;
}

/* ---- one file ------------------------------------------------------------- */

/* Renames a temporary file to its destination; then unlinks the old file, or on failure the
 * new one. */
static bool
write_file(const char *path, const struct bytes *part, size_t n)
{
	char *place = place_of(path);
	char *beside = place ? write_beside(place, part, n, NULL) : NULL;
	enum place_taken how = beside ? place_take(beside, place) : PLACE_FAILED;
	int saved = errno;
	if (beside && (how == PLACE_FAILED || how == PLACE_EXCHANGED))
		(void)unlink(beside);
	free(beside);
	free(place);
	errno = saved;
	return how != PLACE_FAILED;
}

bool
file_write(const char *path, const void *p, size_t n, bool binary,
	   struct err *e)
{
	struct bytes whole = { .p = p, .n = n };
	return file_write_parts(path, &whole, 1, binary, e);
}

bool
file_write_text(const char *path, struct text *t, struct err *e)
{
	bool ok = file_write(path, t->p, t->n, false, e);
	text_free(t);
	return ok;
}

bool
file_write_parts(const char *path, const struct bytes *part, size_t n,
		 bool binary, struct err *e)
{
	int fd;
	if (is_direct(path, &fd))
		return check_terminal(fd, binary, e) &&
		       write_direct(path, fd, part, n, NULL, e);
	return file_check_inputs(path, e) &&
	       (write_file(path, part, n) || err_at(e, path, 0, "%s", strerror(errno)));
}
