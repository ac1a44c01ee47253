/* SPDX-License-Identifier: Apache-2.0 */
#include "programs.h"

#include "base/file.h"
#include "base/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ARGUMENTS = 24, PATHS = 4 };

static struct bench bench;
static char directory[64];
static FILE *errors; /* standard error while a program runs */

/* keeps messages; the text of a failed assertion is printed, too, as it is the program's last
 * message */
static ssize_t
keep(void *cookie, const char *p, size_t n)
{
	struct bench *b = cookie;
	text_put(&b->said, p, n);
	if (memmem(p, n, "Assertion", 9) || b->loud)
		(void)!write(STDERR_FILENO, p, n);
	return (ssize_t)n;
}

static void
each_file(int (*what)(const char *path), int *n)
{
	DIR *d = opendir(bench.dir);
	for (struct dirent *f; d && (f = readdir(d));)
		if (strcmp(f->d_name, ".") != 0 && strcmp(f->d_name, "..") != 0) {
			(*n)++;
			if (what)
				(void)what(bench_path(&bench, f->d_name));
		}
	if (d)
		(void)closedir(d);
}

static void
leave(void)
{
	int n = 0;
	each_file(remove, &n);
	(void)rmdir(bench.dir);
}

static void
open_bench(void)
{
	const char *shm = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
	const char *owner = getenv("FUZZ_BENCH"); /* the process that removes the directory
						   * if this one dies */
	(void)snprintf(directory, sizeof(directory), "%s/nputools-fuzz-%.16s-XXXXXX", shm,
		       owner ? owner : "0");
	bench.dir = mkdtemp(directory);
	errors = fopencookie(&bench, "w", (cookie_io_functions_t){ .write = keep });
	if (!bench.dir || !errors || atexit(leave))
		abort();
	(void)setvbuf(errors, NULL, _IONBF, 0);
	bench.loud = getenv("FUZZ_LOUD") != NULL;
}

struct bench *
bench_clear(void)
{
	int n = 0;
	sandbox_forbidden = true;
	if (!bench.dir)
		open_bench();
	each_file(remove, &n);
	return &bench;
}

const char *
bench_path(struct bench *b, const char *name)
{
	static char path[PATHS][sizeof(directory) + 300];
	static int next;
	next = (next + 1) % PATHS;
	(void)snprintf(path[next], sizeof(path[next]), "%s/%s", b->dir, name);
	return path[next];
}

void
bench_put(struct bench *b, const char *name, struct bytes content)
{
	int fd = open(bench_path(b, name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, content.p, content.n) != (ssize_t)content.n)
		abort();
	(void)close(fd);
}

bool
bench_get(struct bench *b, struct arena *a, const char *name, struct bytes *out)
{
	struct err e = { 0 };
	return file_read(a, bench_path(b, name), SIZE_MAX / 4, out, &e);
}

int
bench_count(struct bench *b)
{
	int n = 0;
	(void)b;
	each_file(NULL, &n);
	return n;
}

/* sets the arguments as main expects them, and the name with - instead of _ */
static void
arguments(char **v, char *name, const char *called, va_list ap)
{
	int n = 0;
	(void)snprintf(name, 32, "%s", called);
	for (char *p = name; (p = strchr(p, '_'));)
		*p = '-';
	for (v[n++] = name; n < MAX_ARGUMENTS; n++)
		if (!(v[n] = va_arg(ap, char *)))
			return;
	abort();
}

static void
tell(int n, char **v)
{
	for (int i = 0; i < n; i++)
		fprintf(stderr, "%s%c", v[i], i + 1 < n ? ' ' : '\n');
}

int
bench_call(struct bench *b, int (*main)(int, char **), char **v)
{
	static char name[32];
	int n = 1;
	while (v[n])
		n++;
	(void)snprintf(name, sizeof(name), "%s", v[0]);
	if (b->loud)
		tell(n, v);
	b->said.n = 0;
	b->ran = name;
	char *was = program_invocation_short_name, *full = program_invocation_name;
	FILE *screen = stderr;
	(void)fflush(stdout);
	int out = dup(STDOUT_FILENO), null = open("/dev/null", O_WRONLY);
	(void)dup2(null, STDOUT_FILENO);
	program_invocation_short_name = program_invocation_name = name;
	stderr = errors;
	b->status = main(n, v);
	stderr = screen;
	program_invocation_short_name = was;
	program_invocation_name = full;
	(void)dup2(out, STDOUT_FILENO);
	(void)close(out);
	(void)close(null);
	return b->status;
}

int
bench_run(struct bench *b, int (*main)(int, char **), const char *called, ...)
{
	char name[32], *v[MAX_ARGUMENTS + 1];
	va_list ap;
	va_start(ap, called);
	arguments(v, name, called, ap);
	va_end(ap);
	return bench_call(b, main, v);
}

static jmp_buf next_input;

int
bench_try(struct bytes input, unsigned choice,
	  void (*run)(struct bench *b, struct arena *a, struct bytes input,
		      unsigned choice))
{
	struct arena *a = arena_open();
	struct bench *b = bench_clear();
	if (!setjmp(next_input))
		run(b, a, input, choice);
	arena_close(a);
	return 0;
}

void
finding(const struct bench *b, const char *fmt, ...)
{
	char kind[200];
	const char *only = getenv("FUZZ_ONLY");
	va_list ap;
	(void)snprintf(kind, sizeof(kind), "%s: %s", b->ran, fmt);
	if (only && strcmp(only, kind) != 0)
		longjmp(next_input, 1);
	va_start(ap, fmt);
	fprintf(stderr, "\nKIND: %s\nFINDING: %s, status %d: ", kind, b->ran, b->status);
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, "\n%.*s", (int)b->said.n, b->said.p ? b->said.p : "");
	va_end(ap);
	abort();
}

/* counts the lines with errors: they begin with the program's name and have no label
 * of a note */
static int
errors_in(struct bench *b, const char **last)
{
	int n = 0;
	size_t skip = strlen(b->ran) + 2;
	char *all = strdup(text_str(&b->said)), *rest = all;
	static char line[2000];
	for (char *s; (s = strsep(&rest, "\n"));) {
		if (!*s)
			continue;
		if (strncmp(s, b->ran, skip - 2) != 0)
			finding(b, "a line without the program's name: %s", s);
		size_t word = strcspn(s + skip, " ");
		/* a label is one or a few words with a colon; a place contains a
		 * slash */
		if (strlen(s) > skip && word && !memchr(s + skip, '/', word) &&
		    strncmp(s + skip, "error:", 6) != 0)
			continue;
		(void)snprintf(line, sizeof(line), "%s", s);
		*last = line;
		n++;
	}
	free(all);
	return n;
}

/* true if one of the words is in the line; the list ends with NULL */
static bool
says(const char *line, const char *const *words)
{
	for (; *words; words++)
		if (strstr(line, *words))
			return true;
	return false;
}

/* true if a place follows the name of the file: ":LINE: " of a text, or a place in a
 * model */
static bool
has_place(const char *behind, enum place place)
{
	static const char *const in_model[] = { "subgraph ", "operator ", " at byte ",
						"no TFL3", "not a TFLite model but ",
						"schema version ",
						" are too few ", "the model has ",
						"buffer ", NULL };
	static const char *const in_tosa[] = { "operator ", "tensor ", "constant ",
					       " at byte ", "not a TOSA graph ",
					       "version", " are too few ",
					       " region", "shape ", "the graph", "a name has ",
					       " are called ", NULL };
	/* late errors are about the model that is made, or about missing records */
	static const char *const in_graph[] = { "subgraph ", "there is no ",
						"the network needs ", NULL };
	if (place == IN_DATA)
		return true;
	if (place == IN_MODEL)
		return says(behind, in_model);
	if (place == IN_TOSA)
		return says(behind, in_tosa);
	size_t digits = behind[0] == ':' ? strspn(behind + 1, "0123456789") : 0;
	return (digits && behind[1 + digits] == ':') || says(behind, in_graph);
}

void
expect_refusal(struct bench *b, const char *file, enum place place, int n)
{
	const char *line = "";
	if (b->status != EXIT_NO && b->status != EXIT_TROUBLE)
		finding(b, "neither done nor refused");
	int lines = errors_in(b, &line);
	if (lines != 1)
		finding(b, "%d lines of error, not one", lines);
	const char *named = strstr(line, file);
	if (!named)
		finding(b, "does not name %s", file);
	if (strlen(named) < strlen(file) + 8)
		finding(b, "says nothing but the file");
	if (!has_place(named + strlen(file), place))
		finding(b, "names no place in the file");
	if (bench_count(b) != n)
		finding(b, "%d files are there instead of %d", bench_count(b), n);
}
