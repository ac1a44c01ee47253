/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that reads foreign files gives up what it does not need, before it reads them:
 * nputools-security(7).  On Linux with Landlock, from version 5.13, the process then opens only
 * the files that it named before, and on x86-64 and AArch64 a filter of system calls
 * refuses other programs, sockets, signals to other processes and new executable memory.
 * Where the system does not offer this, in WebAssembly and under sanitizers, all functions
 * do nothing.
 */
#ifndef BASE_SANDBOX_H
#define BASE_SANDBOX_H

#include <stdbool.h>

struct sandbox {
	int rules; /* a file descriptor; -1: the system offers no sandbox */
};

/* Begins a list of files for sandbox_enter(), which ends it. */
void sandbox_open(struct sandbox *s);
/*
 * Permits to read the file path, or all files of the directory path and below.  NULL, "-" and
 * paths that do not exist change nothing.
 */
void sandbox_read(const struct sandbox *s, const char *path);
/* Permits to write the file path and, beside it, its temporary file, as file_write() does. */
void sandbox_write(const struct sandbox *s, const char *path);
/* Permits to make the directory path and its missing parents, and to write files in it. */
void sandbox_write_in(const struct sandbox *s, const char *path);
/* Confines this thread and the threads that it starts later, until the process ends. */
void sandbox_enter(struct sandbox *s);

/* True if only the sandbox keeps this process from reading path. */
bool sandbox_refuses(const char *path);

/*
 * True: sandbox_open() finds no sandbox.  A process that calls several main() functions sets
 * this, as it cannot leave a sandbox.
 */
extern bool sandbox_forbidden;

#endif
