/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a file is to be, and how one that is whole gets there.  Strings are
 * malloc'd; where a call fails, errno says why.
 */
#ifndef BASE_PLACE_H
#define BASE_PLACE_H

#include <stdbool.h>

/*
 * What path names once links are followed, whether there is such a file or not.
 * NULL: links go round in a circle, or memory is short.
 */
char *place_of(const char *path);

/* a directory that holds a file of this name: "." for "a", "/" for "/a" */
char *place_directory(const char *path);

/*
 * A new file beside place, for the one that writes it alone; its name, which has
 * no part of place's, which may be as long as a name can be.  -1: failed.
 */
int place_temporary(const char *place, char **name);

/* how a name was taken: what it takes to give it back */
enum place_taken {
	PLACE_FAILED,
	PLACE_NEW,	/* there was no file of this name */
	PLACE_EXCHANGED, /* the old file has the other name now */
	PLACE_REPLACED,	/* the old file is gone: a system without exchange */
};

/*
 * from gets place's name at once: a reader sees the old file or the new one.  With
 * PLACE_EXCHANGED it is the caller's to unlink from, once there is no way back.
 */
enum place_taken place_take(const char *from, const char *place);
/* the contrary, as far as it goes */
void place_give_back(const char *from, const char *place, enum place_taken how);

#endif
