/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the destination of an output file and moves a complete file there.  Strings are
 * malloc'd.  If a function fails, errno has the reason.
 */
#ifndef BASE_PLACE_H
#define BASE_PLACE_H

#include <stdbool.h>

/*
 * Follows the symbolic links of path and returns the path of the real file, which need
 * not exist.  Returns NULL if the links are cyclic, or memory is exhausted.
 */
char *place_of(const char *path);

/* Returns the directory of path: "." for "a", "/" for "/a". */
char *place_directory(const char *path);

/*
 * Creates a temporary file in the directory of place, for this user only.  Returns a file
 * descriptor for writing, or -1 on failure. *name is the file's path; it does not contain
 * the file name of place, which may already have the maximum length.
 */
int place_temporary(const char *place, char **name);

/* How place_take() gave the name; place_give_back() needs it to undo the rename. */
enum place_taken {
	PLACE_FAILED,
	PLACE_NEW,	/* no file had this name */
	PLACE_EXCHANGED, /* the old file now has the temporary name */
	PLACE_REPLACED,	/* the old file is lost: the system can't exchange names */
};

/*
 * Renames `from` to place in one step: a reader sees either the old file or the new
 * one.  After PLACE_EXCHANGED `from` is the old file, and the caller unlinks it once
 * the rename will not be undone.
 */
enum place_taken place_take(const char *from, const char *place);
/* Undoes place_take(), as far as possible: after PLACE_REPLACED it does nothing. */
void place_give_back(const char *from, const char *place, enum place_taken how);

#endif
