/* SPDX-License-Identifier: Apache-2.0 */
/* Finds other programs of this kit, for programs that run them. */
#ifndef BASE_PROGRAM_H
#define BASE_PROGRAM_H

#include "base/arena.h"
#include "base/diag.h"

/*
 * Finds a program: first in the directory of the running program, whose symbolic links
 * are followed, then in PATH.
 */
bool program_find(struct arena *a, const char *name, const char **path, struct err *e);

/* Returns v as posix_spawn() takes words: it does not change them. */
static inline char **
program_words(const char **v)
{
	union {
		const char **from;
		char **to;
	} u = { v };
	return u.to;
}

#endif
