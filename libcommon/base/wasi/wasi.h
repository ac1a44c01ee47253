/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations that wasi-libc lacks; the compiler of `make wasm` includes this file
 * before every source.
 */
#ifndef BASE_WASI_H
#define BASE_WASI_H

#include <stdbool.h>
#include <sys/types.h>

extern char *program_invocation_name, *program_invocation_short_name;

mode_t umask(mode_t mask);
int fchmod(int fd, mode_t mode);
int mkstemp(char *name);
ssize_t getrandom(void *p, size_t n, unsigned flags);
void qsort_r(void *p, size_t n, size_t size,
	     int (*compare)(const void *a, const void *b, void *ctx), void *ctx);

#endif
