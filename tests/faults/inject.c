/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded before libc (LD_PRELOAD): the nth call of a kind fails.  Kinds: "memory" (malloc,
 * calloc, realloc, mmap of anonymous memory), "read", "write".
 *
 *   INJECT_INTO=PROGRAM   its short name; other programs are not affected
 *   INJECT=KIND:N         N from 1
 *   INJECT_COUNT=FILE     at the end, a line with the three counts
 *
 * libc's stdio calls its own write without the symbol table.  Therefore standard output
 * becomes a stream whose buffer is written by the write below.  Standard error is not
 * replaced, as a program that cannot print a message cannot report the failure.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum kind { MEMORY, READ, WRITE, N_KINDS };

static const char *const names[N_KINDS] = { "memory", "read", "write" };
static atomic_long count[N_KINDS];
static long which[N_KINDS]; /* the call that fails; 0: none */
static bool ready;
static int counts = -1; /* of INJECT_COUNT; opened early, as a sandbox forbids it later */
static pid_t owner; /* children by fork are not counted */

/* libc's own functions, under names that interposing does not change */
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

static bool
fails(enum kind k, int error)
{
	if (!ready)
		return false;
	if (atomic_fetch_add(&count[k], 1) + 1 != which[k])
		return false;
	errno = error;
	return true;
}

void *
malloc(size_t n)
{
	return fails(MEMORY, ENOMEM) ? NULL : __libc_malloc(n);
}

void *
calloc(size_t n, size_t size)
{
	return fails(MEMORY, ENOMEM) ? NULL : __libc_calloc(n, size);
}

void *
realloc(void *p, size_t n)
{
	return fails(MEMORY, ENOMEM) ? NULL : __libc_realloc(p, n);
}

/* the function that would be called without this library */
static void *
next(void **cache, const char *name)
{
	if (!*cache)
		*cache = dlsym(RTLD_NEXT, name);
	return *cache;
}

void *
mmap(void *p, size_t n, int protection, int flags, int fd, off_t at)
{
	static void *libc;
	if ((flags & MAP_ANONYMOUS) && fails(MEMORY, ENOMEM))
		return MAP_FAILED;
	return ((void *(*)(void *, size_t, int, int, int, off_t))next(
	    &libc, "mmap"))(p, n, protection, flags, fd, at);
}

ssize_t
read(int fd, void *p, size_t n)
{
	static void *libc;
	return fails(READ, EIO)
		   ? -1
		   : ((ssize_t(*)(int, void *, size_t))next(&libc, "read"))(fd, p, n);
}

ssize_t
write(int fd, const void *p, size_t n)
{
	static void *libc;
	return fails(WRITE, ENOSPC)
		   ? -1
		   : ((ssize_t(*)(int, const void *, size_t))next(&libc, "write"))(
			 fd, p, n);
}

static ssize_t
write_out(void *cookie, const char *p, size_t n)
{
	(void)cookie;
	ssize_t done = write(STDOUT_FILENO, p, n);
	return done < 0 ? 0 : done; /* a cookie's 0 is an error */
}

static void
replace_stdout(void)
{
	FILE *f = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = write_out });
	if (f)
		stdout = f;
}

__attribute__((constructor)) static void
begin(void)
{
	const char *into = getenv("INJECT_INTO"), *what = getenv("INJECT");
	if (into && strcmp(into, program_invocation_short_name) != 0)
		return;
	for (int k = 0; what && k < N_KINDS; k++) {
		size_t n = strlen(names[k]);
		if (!strncmp(what, names[k], n) && what[n] == ':')
			which[k] = strtol(what + n + 1, NULL, 10);
	}
	const char *file = getenv("INJECT_COUNT");
	if (file)
		counts = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	owner = getpid();
	replace_stdout();
	ready = true;
}

__attribute__((destructor)) static void
end(void)
{
	char line[100];
	if (!ready || counts < 0 || getpid() != owner)
		return;
	ready = false;
	int n = snprintf(line, sizeof(line), "%ld %ld %ld\n", count[MEMORY],
			 count[READ], count[WRITE]);
	if (write(counts, line, (size_t)n) == n)
		(void)close(counts);
}
