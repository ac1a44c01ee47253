/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: NAME-replay DIRECTORY-OR-FILE...
 * Runs every file unchanged, truncated, and mutated FUZZ_ROUNDS times (default 300).  The
 * seed depends only on the file's number and FUZZ_SEED (default 0).  A target with a
 * mutator of its own runs every file unchanged and mutated 2 times by that mutator.  A
 * failing input is written to the file named by FUZZ_CRASH.
 */
#include "fuzz.h"

#include "base/arena.h"
#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_FILES = 4096, SECONDS_PER_INPUT = 20, MAX_MUTANT = 1 << 18 };

/* the current input, for the signal handler */
static const uint8_t *volatile current;
static volatile size_t current_n;
static uint64_t first_seed; /* FUZZ_SEED */
static int crash_fd; /* FUZZ_CRASH, or standard error if it cannot be opened */

static void
save_and_die(int sig)
{
	static const char text[] = "\nfailed on the input in $FUZZ_CRASH\n";
	ssize_t n = write(crash_fd, current, current_n);
	n += write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)n;
	(void)signal(sig == SIGALRM ? SIGABRT : sig, SIG_DFL);
	(void)raise(sig == SIGALRM ? SIGABRT : sig);
}

/*
 * FUZZ_SURVEY=DIR: runs every input in a process of its own.  For a failing input,
 * DIR gets N.input and N.log, and the run continues.
 */
static const char *survey;
static long n_tried, n_failed;

static void
put_file(const char *path, const uint8_t *p, size_t n)
{
	struct err e = { 0 };
	if (!file_write(path, p, n, false, &e))
		fprintf(stderr, "%s\n", e.text);
}

static void
try_apart(const uint8_t *p, size_t n)
{
	char path[1000], input[1000];
	int status;
	(void)snprintf(path, sizeof(path), "%s/%ld.log", survey, n_failed);
	(void)snprintf(input, sizeof(input), "%s/%ld.input", survey, n_failed);
	pid_t child = fork();
	if (!child) {
		(void)signal(SIGABRT, SIG_DFL);
		(void)signal(SIGALRM, SIG_DFL);
		if (!freopen(path, "w", stderr))
			_exit(0);
		(void)setvbuf(stderr, NULL, _IONBF, 0);
		(void)alarm(SECONDS_PER_INPUT);
		(void)LLVMFuzzerTestOneInput(p, n);
		_exit(0);
	}
	n_tried++;
	if (child > 0 && waitpid(child, &status, 0) == child && status) {
		put_file(input, p, n);
		n_failed++;
	}
}

static void
try(const uint8_t *p, size_t n)
{
	if (survey) {
		try_apart(p, n);
		return;
	}
	/* a copy of exactly this size, so that a sanitizer detects reads behind it */
	uint8_t *copy = malloc(n ? n : 1);
	if (!copy)
		out_of_memory();
	if (n)
		memcpy(copy, p, n);
	current = copy;
	current_n = n;
	(void)alarm(SECONDS_PER_INPUT);
	(void)LLVMFuzzerTestOneInput(copy, n);
	(void)alarm(0);
	free(copy);
}

static uint64_t
next(uint64_t *s)
{
	*s += 0x9e3779b97f4a7c15u;
	uint64_t z = (*s ^ (*s >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* values that break sums and bounds more often than random values */
static const uint32_t odd[] = { 0,	    1,		0x7f,	    0x80,
				0xff,	    0x7fff,	0xffff,	    0x7fffffff,
				0x80000000, 0xffffffff, 0xfffffffc, 0x10000 };

static size_t
mutate(uint8_t *p, size_t n, uint64_t *s)
{
	for (uint64_t k = 1 + next(s) % 4; n > 0 && k-- > 0;) {
		size_t at = (size_t)(next(s) % n);
		size_t len = (size_t)(1 + next(s) % 8);
		uint32_t v = odd[next(s) % ARRAY_LEN(odd)];
		if (len > n - at)
			len = n - at;
		switch (next(s) % 5) {
		case 0:
			p[at] ^= (uint8_t)(1u << next(s) % 8);
			break;
		case 1:
			p[at] = (uint8_t)next(s);
			break;
		case 2: /* little-endian, complete or truncated */
			memcpy(p + at, &v, len < 4 ? len : 4);
			break;
		case 3: /* a piece is removed */
			memmove(p + at, p + at + len, n - at - len);
			n -= len;
			break;
		case 4: /* a piece is copied from elsewhere */
			memmove(p + at, p + next(s) % (n - len + 1), len);
			break;
		}
	}
	return n;
}

/* runs mutants of the target's own mutator, each made from the previous one or from
 * the file */
static void
try_mutants(struct arena *a, struct bytes file, uint64_t seed, long rounds)
{
	uint8_t *p = anew(a, uint8_t, MAX_MUTANT);
	size_t n = 0;
	for (long i = 0; file.n < MAX_MUTANT && i < rounds; i++) {
		if (i % 4 == 0)
			memcpy(p, file.p, n = file.n);
		n = LLVMFuzzerCustomMutator(p, n, MAX_MUTANT, (unsigned)next(&seed));
		try(p, n);
	}
}

static bool
replay(struct arena *a, const char *path, int number, long rounds,
       struct err *e)
{
	struct bytes file;
	if (!file_read(a, path, SIZE_MAX / 2, &file, e))
		return false;
	uint64_t seed = (uint64_t)number + first_seed;
	if (LLVMFuzzerCustomMutator) {
		try(file.p, file.n);
		try_mutants(a, file, seed << 32, rounds);
		return true;
	}
	uint8_t *p = anew(a, uint8_t, file.n + 1);
	try(file.p, file.n);
	for (size_t cut = 0; cut < 64; cut++)
		try(file.p, file.n * cut / 64);
	for (long i = 0; i < rounds; i++) {
		memcpy(p, file.p, file.n);
		try(p, mutate(p, file.n, &seed));
	}
	return true;
}

static int
by_name(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

/* lists path itself, or the files of the directory in order of their names */
static size_t
list(struct arena *a, const char *path, char **out)
{
	DIR *d = opendir(path);
	size_t n = 0;
	if (!d) {
		out[0] = arena_strdup(a, path);
		return 1;
	}
	for (struct dirent *f; n < MAX_FILES && (f = readdir(d));)
		if (f->d_name[0] != '.')
			out[n++] = arena_printf(a, "%s/%s", path, f->d_name);
	(void)closedir(d);
	qsort(out, n, sizeof(*out), by_name);
	return n;
}

int
main(int argc, char **argv)
{
	const char *text = getenv("FUZZ_ROUNDS"), *crash = getenv("FUZZ_CRASH");
	const char *seed = getenv("FUZZ_SEED");
	/* a whole compilation takes longer than a reader, and one mutant finds more */
	long usual = LLVMFuzzerCustomMutator ? 2 : 300;
	long rounds = text ? strtol(text, NULL, 10) : usual;
	struct stat folder;
	survey = getenv("FUZZ_SURVEY");
	if (survey && (stat(survey, &folder) || !S_ISDIR(folder.st_mode))) {
		(void)fprintf(stderr, "FUZZ_SURVEY: %s is not a directory\n", survey);
		return EXIT_TROUBLE;
	}
	if (survey) /* files that a target opens only once are opened here */
		(void)LLVMFuzzerTestOneInput((const uint8_t *)"", 1);
	first_seed = seed ? strtoull(seed, NULL, 10) : 0;
	crash_fd = crash ? open(crash, O_WRONLY | O_CREAT, 0644) : -1;
	if (crash_fd < 0)
		crash_fd = STDERR_FILENO;
	static const int fatal[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL,
				     SIGALRM };
	for (size_t i = 0; i < ARRAY_LEN(fatal); i++)
		(void)signal(fatal[i], save_and_die);
	int number = 0;
	for (int i = 1; i < argc; i++) {
		struct arena *a = arena_open();
		struct err e = { 0 };
		char *files[MAX_FILES];
		size_t n = list(a, argv[i], files);
		for (size_t k = 0; k < n && !e.status; k++)
			(void)replay(a, files[k], ++number, rounds, &e);
		arena_close(a);
		if (e.status) {
			fprintf(stderr, "%s\n", e.text);
			return EXIT_TROUBLE;
		}
	}
	printf("%d files, each %schanged %ld times\n", number,
	       LLVMFuzzerCustomMutator ? "" : "cut 64 times and ", rounds);
	if (survey)
		printf("%ld inputs, %ld failed\n", n_tried, n_failed);
	return number > 0 ? EXIT_YES : EXIT_TROUBLE;
}
