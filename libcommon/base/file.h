/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files in, whole files out. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/spool.h"
#include "base/text.h"

/* "standard input" for NULL and "-", else the path: for diagnostics */
const char *file_name(const char *path);
/* what is behind the last slash; "-" for NULL */
const char *file_base(const char *path);

/*
 * Reads all of path (NULL or "-": standard input) into the arena; one NUL
 * byte follows the content.  More than max bytes is an error.
 */
bool file_read(struct arena *a, const char *path, size_t max,
	       struct bytes *out, struct err *e);
/* the same, n bytes that the caller may change */
bool file_take(struct arena *a, const char *path, size_t max, uint8_t **p, size_t *n,
	       struct err *e);

/*
 * False if output is the regular file input, by the same name, a link or another
 * name: writing it would destroy what is read.  NULL and "-" are no such file.
 */
bool file_check_output(const char *output, const char *input, struct err *e);

/*
 * Writes a file whole or not at all: a temporary file beside it, then its name;
 * a link stays, and what it leads to is written so.  Devices and pipes are written
 * in place; names of open files, such as /dev/stderr, are these files, where they
 * stand.  NULL or "-" is standard output.  Binary data is refused if what is open
 * is a terminal.  Every write is checked, the last flush too.
 */
bool file_write(const char *path, const void *p, size_t n, bool binary,
		struct err *e);
/* as file_write, a text, which is freed */
bool file_write_text(const char *path, struct text *t, struct err *e);
/* all of n bytes to what is open; false: errno says why */
bool file_put(int fd, const void *p, size_t n);
/* as file_write, what n parts make one behind the other */
bool file_write_parts(const char *path, const struct bytes *part, size_t n,
		      bool binary, struct err *e);

/*
 * Several files that appear together or not at all.  What is added waits in
 * memory, so that a program that ends for want of it leaves nothing.  The commit
 * writes each beside its place, then what goes to devices, pipes and open files,
 * then gives the names; if one can't be given, the others are given back and old
 * files are as they were (on systems that can exchange names; elsewhere what was
 * replaced before is gone).
 * A program killed in the commit leaves files called .nputools-*.
 */
struct file_set;
struct file_set *file_set_open(struct arena *a);
bool file_set_add(struct file_set *s, const char *path, const void *p, size_t n,
		  bool binary, struct err *e);
bool file_set_parts(struct file_set *s, const char *path,
		    const struct bytes *part, size_t n, bool binary,
		    struct err *e);
/* as file_set_add without a copy: b stays as it is until the commit */
bool file_set_lend(struct file_set *s, const char *path, struct bytes b, bool binary,
		   struct err *e);
/* as file_set_add, p and what waits in a spool, which the commit reads and leaves open */
bool file_set_spool(struct file_set *s, const char *path, const void *p, size_t n,
		    const struct spool *rest, struct err *e);
/*
 * Made in the commit with what leads to it, where there is none; what is added later
 * may be in it.  Gone again if the commit fails.
 */
void file_set_directory(struct file_set *s, const char *path);
/*
 * A file that is whole already and takes path's name in the commit; it is on the
 * same file system.  A device or a pipe gets what it holds.
 */
bool file_set_adopt(struct file_set *s, const char *path, const char *whole,
		    struct err *e);
bool file_set_commit(struct file_set *s, struct err *e);
void file_set_drop(struct file_set *s);
/* one or the other; false if anything failed, before or now */
bool file_set_end(struct file_set *s, bool ok, struct err *e);

#endif
