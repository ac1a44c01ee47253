/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes whole files. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/spool.h"

/* Is path NULL or "-": standard input or output? */
bool file_is_standard(const char *path);
/* Returns the name for messages: "standard input" for NULL and "-", else the path. */
const char *file_name(const char *path);
/* Returns the part of path behind the last slash; "-" for NULL. */
const char *file_base(const char *path);

/*
 * Reads all of path (NULL or "-": standard input) into the arena.  A NUL byte follows
 * the content and is not counted.  More than max bytes are an error.
 */
bool file_read(struct arena *a, const char *path, size_t max,
	       struct bytes *out, struct err *e);
/*
 * What the program reads from standard input, such as "model".  If standard input is a
 * terminal, file_read() then prints a line that says what it waits for.  NULL: it prints nothing.
 */
void file_await(const char *what);
/* Like file_read(), but the caller may change the n bytes. */
bool file_take(struct arena *a, const char *path, size_t max, uint8_t **p, size_t *n,
	       struct err *e);

/*
 * Returns false if output and input are the same regular file, also through links,
 * because writing the output would destroy the input.  NULL and "-" are never the same
 * file.
 */
bool file_check_output(const char *output, const char *input, struct err *e);
struct stat;
/* Notes a regular file that the program reads; file_read() and file_take() do so themselves. */
void file_note_input(const char *path, const struct stat *st);
/* Returns false if output is a noted file.  All functions that write files call it. */
bool file_check_inputs(const char *output, struct err *e);

/* True if path names a directory, also through a symbolic link. */
bool file_is_directory(const char *path);

/*
 * Writes a file completely or not at all: the content goes to a temporary file in the
 * same directory, which is then renamed.  If path is a symbolic link, the link stays,
 * and the file that it points to is replaced in this manner.
 *
 * Devices and pipes are written directly.  Names of open files, such as /dev/stderr,
 * stand for the open file at its current position.  NULL and "-" are standard output.
 * Binary data for a terminal is refused.  Every write is checked, including the last
 * flush.
 */
bool file_write(const char *path, const void *p, size_t n, bool binary,
		struct err *e);
/* Like file_write(), for a text, which is freed. */
bool file_write_text(const char *path, struct text *t, struct err *e);
/* Writes all n bytes to an open file.  On failure returns false and sets errno. */
bool file_put(int fd, const void *p, size_t n);
/* Like file_write(), for the concatenation of n parts. */
bool file_write_parts(const char *path, const struct bytes *part, size_t n,
		      bool binary, struct err *e);

/*
 * A set of files that appear together or not at all.  The content waits in memory until
 * the commit, so a program that runs out of memory before leaves no file behind.
 *
 * The commit first writes each file under a temporary name in its directory.  Then it
 * writes to devices, pipes and open files.  Then it renames.  If a rename fails, the
 * earlier renames are undone and the old files are as before.  (This needs a system
 * that can exchange names; on other systems, files that were already replaced are
 * lost.)  A program that is killed during the commit leaves files called .nputools-*.
 */
struct file_set;
/* The set is allocated in a; it ends with file_set_commit() or file_set_drop(). */
struct file_set *file_set_open(struct arena *a);
/* Adds a file with a copy of n bytes; path and binary are as for file_write(). */
bool file_set_add(struct file_set *s, const char *path, const void *p, size_t n,
		  bool binary, struct err *e);
/* Adds a file with a copy of the concatenation of n parts. */
bool file_set_parts(struct file_set *s, const char *path,
		    const struct bytes *part, size_t n, bool binary,
		    struct err *e);
/* Like file_set_add() without a copy: b must not change before the commit. */
bool file_set_lend(struct file_set *s, const char *path, struct bytes b, bool binary,
		   struct err *e);
/*
 * Like file_set_add(), for p followed by the content of a spool.  The commit reads the
 * spool and leaves it open.
 */
bool file_set_spool(struct file_set *s, const char *path, const void *p, size_t n,
		    const struct spool *rest, struct err *e);
/*
 * Makes a directory, and its missing parents, in the commit, if it does not exist.
 * Files added later may be in it.  If the commit fails, the new directories are
 * removed.
 */
void file_set_directory(struct file_set *s, const char *path);
/*
 * Adds a file that is already complete: the commit renames it to path, which must be on
 * the same file system.  If path is a device or a pipe, the content is copied to it.
 */
bool file_set_adopt(struct file_set *s, const char *path, const char *whole,
		    struct err *e);
/* Writes all files.  On failure, the old files are restored. */
bool file_set_commit(struct file_set *s, struct err *e);
/* Ends the set without writing a file. */
void file_set_drop(struct file_set *s);
/*
 * Commits the set if ok is true, else drops it.  Returns false if ok is false or the
 * commit fails.
 */
bool file_set_end(struct file_set *s, bool ok, struct err *e);

#endif
