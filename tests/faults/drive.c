/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests every failure of a program (tests/faults/inject.c): the nth memory request, read or
 * write fails, for each n, or for so many of them, evenly spread.
 * usage: [FAULTS_INTO=OTHER] drive INJECT.SO SAMPLES PROGRAM [ARGUMENT...]
 * OTHER: the one of PROGRAM's child programs in which calls fail
 *
 * Runs in the current directory, whose files must not be lost.  A program that fails keeps
 * these files, leaves no others, exits with status 2 and prints exactly one line more than
 * without a failure.  A program that exits with 0 must have done the same as without a
 * failure, including its outputs.
 */
#include "base/arena.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_KINDS = 3, MAX_FILES = 64, PATIENCE = 20 /* seconds */ };

static const char *const kinds[N_KINDS] = { "memory", "read", "write" };

struct drive {
	const char *so;
	char **argv;	  /* of the program */
	const char *name; /* its last component */
	char out[40], err[40], count[40]; /* outside of the directory */
	char hidden[40]; /* a directory with copies of the original files */
};

struct result {
	int status; /* as waitpid has it */
	uint64_t files; /* names and contents below the current directory */
	uint64_t out;
	struct text err;
};

static uint64_t
hash_file(const char *path)
{
	struct arena *a = arena_open();
	struct err e = { 0 };
	struct bytes b = { 0 };
	(void)file_read(a, path, SIZE_MAX / 4, &b, &e);
	uint64_t h = hash_xxh3_seeded(b.p, b.n, e.status != 0);
	arena_close(a);
	return h;
}

/* a sum: the order of names has no influence */
static uint64_t
hash_tree(const char *path)
{
	DIR *d = opendir(path);
	const struct dirent *f;
	uint64_t sum = 0;
	while (d && (f = readdir(d))) {
		struct stat st;
		char at[4096];
		if (!strcmp(f->d_name, ".") || !strcmp(f->d_name, ".."))
			continue;
		(void)snprintf(at, sizeof(at), "%s/%s", path, f->d_name);
		if (lstat(at, &st))
			continue;
		uint64_t h = S_ISDIR(st.st_mode) ? hash_tree(at) : hash_file(at);
		sum += hash_xxh3_seeded(at, strlen(at), h);
	}
	if (d)
		(void)closedir(d);
	return sum;
}

static void
become(const struct drive *d, const char *what)
{
	int out = open(d->out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	int err = open(d->err, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (out < 0 || err < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(100);
	(void)close(out);
	(void)close(err);
	(void)setenv("LD_PRELOAD", d->so, 1);
	(void)setenv("INJECT_INTO", d->name, 1);
	if (what)
		(void)setenv("INJECT", what, 1);
	else
		(void)setenv("INJECT_COUNT", d->count, 1);
	(void)alarm(PATIENCE);
	(void)execvp(d->argv[0], d->argv);
	_exit(101);
}

static void
run(const struct drive *d, const char *what, struct result *r)
{
	struct arena *a = arena_open();
	struct err e = { 0 };
	struct bytes b = { 0 };
	*r = (struct result){ .status = -1 };
	pid_t pid = fork();
	if (!pid)
		become(d, what);
	if (pid > 0)
		(void)waitpid(pid, &r->status, 0);
	r->files = hash_tree(".");
	r->out = hash_file(d->out);
	if (file_read(a, d->err, SIZE_MAX / 4, &b, &e))
		text_put(&r->err, b.p, b.n);
	arena_close(a);
}

/* these commands contain only file names that this test makes */
static bool
restore(const struct drive *d)
{
	char command[200];
	(void)snprintf(command, sizeof(command),
		       "find . -mindepth 1 -delete && cp -a %s/. .", d->hidden);
	return !system(command);
}

/* counts lines that are not printed without a failure */
static int
new_lines(struct text *t, const struct result *good)
{
	int n = 0;
	struct text usual = { 0 };
	text_put(&usual, good->err.p, good->err.n);
	char *p = strdup(text_str(t)), *rest = p, *line;
	while (p && (line = strsep(&rest, "\n")))
		n += *line && !strstr(text_str(&usual), line);
	free(p);
	text_free(&usual);
	return n;
}

/* the fault of a run in which a call failed; NULL if there is none */
static const char *
judge(struct result *r, uint64_t before, const struct result *good)
{
	if (WIFSIGNALED(r->status))
		return "ended by a signal";
	int status = WEXITSTATUS(r->status);
	if (status == 0)
		return r->files != good->files ? "status 0, and other files" :
		       r->out != good->out     ? "status 0, and another output" :
						 NULL;
	if (status != 2)
		return "status is neither 0 nor 2";
	if (r->files != before)
		return "files are not as they were";
	return new_lines(&r->err, good) != 1 ? "not one line of error" : NULL;
}

static bool
try_one(const struct drive *d, int kind, long n, uint64_t before,
	const struct result *good)
{
	struct result r;
	char what[40];
	(void)snprintf(what, sizeof(what), "%s:%ld", kinds[kind], n);
	run(d, what, &r);
	const char *why = judge(&r, before, good);
	if (why) {
		printf("%s, %s: %s (status %#x)\n%s", d->name, what, why,
		       (unsigned)r.status, text_str(&r.err));
		(void)fflush(stdout);
		if (system("find . | sort"))
			printf("no find\n");
	}
	bool changed = r.files != before;
	text_free(&r.err);
	return !(changed && !restore(d)) && !why;
}

/* half of the samples are the first calls, which belong to the program's start */
static long
sample(long i, long n_samples, long n)
{
	if (n <= n_samples)
		return i + 1;
	long first = n_samples / 2;
	return i < first ? i + 1
			 : first + (n - first) * (i - first + 1) / (n_samples - first);
}

static bool
read_counts(const struct drive *d, long *n)
{
	FILE *f = fopen(d->count, "r");
	bool ok = f && fscanf(f, "%ld %ld %ld", &n[0], &n[1], &n[2]) == N_KINDS;
	if (f)
		(void)fclose(f);
	return ok;
}

static bool
try_all(const struct drive *d, long n_samples)
{
	uint64_t before = hash_tree(".");
	struct result good;
	long n[N_KINDS], bad = 0;
	run(d, NULL, &good);
	if (good.status || !restore(d) || !read_counts(d, n)) {
		printf("%s: status %#x where nothing fails\n%s", d->name,
		       (unsigned)good.status, text_str(&good.err));
		return false;
	}
	for (int k = 0; k < N_KINDS; k++) {
		long m = n[k] < n_samples ? n[k] : n_samples;
		for (long i = 0; i < m; i++)
			bad += !try_one(d, k, sample(i, n_samples, n[k]), before,
					&good);
		printf("%s: %ld of %ld calls (%s)\n", d->name, m, n[k], kinds[k]);
	}
	text_free(&good.err);
	return !bad;
}

int
main(int argc, char **argv)
{
	struct drive d = { 0 };
	char dir[] = "/tmp/faults.XXXXXX", command[100];
	if (argc < 4 || !mkdtemp(dir))
		return 2;
	d.so = argv[1];
	d.argv = argv + 3;
	const char *slash = strrchr(argv[3], '/');
	const char *into = getenv("FAULTS_INTO");
	d.name = into ? into : slash ? slash + 1 : argv[3];
	(void)snprintf(d.out, sizeof(d.out), "%s/out", dir);
	(void)snprintf(d.err, sizeof(d.err), "%s/err", dir);
	(void)snprintf(d.count, sizeof(d.count), "%s/count", dir);
	(void)snprintf(d.hidden, sizeof(d.hidden), "%s/hidden", dir);
	(void)snprintf(command, sizeof(command), "cp -a . %s", d.hidden);
	bool ok = !system(command) && try_all(&d, strtol(argv[2], NULL, 10));
	(void)snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command) || !ok;
}
