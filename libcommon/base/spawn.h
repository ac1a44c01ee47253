/* SPDX-License-Identifier: Apache-2.0 */
/* Starts other programs as processes. */
#ifndef BASE_SPAWN_H
#define BASE_SPAWN_H

#ifndef __wasi__

#include <sys/types.h>

enum {
	SPAWN_OWN = -1,	 /* the stream, or the process group, of the caller */
	SPAWN_NULL = -2, /* /dev/null */
};

struct spawn {
	const char *path;
	char **argv;
	const char *from; /* file that is standard input; NULL: in */
	int in, out, err; /* descriptors for the standard streams, or SPAWN_... */
	pid_t group;	  /* process group; 0: a new one; SPAWN_OWN */
};

/*
 * Starts a program in which no signal is blocked, and SIGPIPE and SIGXFSZ have their
 * default actions.  Descriptors without O_CLOEXEC stay open in the program.  Returns 0,
 * or the error as posix_spawn() does.
 */
int spawn_program(const struct spawn *s, pid_t *pid);

#endif

#endif
