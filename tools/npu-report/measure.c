/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs npu-perf if the input is a compiled model instead of a report.  The sandbox forbids to
 * start a program, so that for each file a process waits before the sandbox begins.  It
 * takes two names of a memory system from the sandbox, and nothing else.
 */
#include "report.h"

#include "base/cli.h"
#include "base/file.h"
#include "base/program.h"
#include "map/profile.h"
#include "raw/raw.h"
#include "tflite/tflite.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __wasi__
#include "base/wasi/host.h"
#else
#include <sys/wait.h>
#endif

static bool
is_json(struct bytes b)
{
	size_t i = 0;
	while (i < b.n && strchr(" \t\r\n", b.p[i]))
		i++;
	return i < b.n && (b.p[i] == '{' || b.p[i] == '[');
}

static bool
read_all(struct arena *a, int fd, struct bytes *out, struct err *e)
{
	enum { READ_STEP = 1 << 16 };
	size_t n = 0, cap = 0;
	uint8_t *p = NULL;
	for (;;) {
		while (cap - n < READ_STEP) {
			uint8_t *more = arena_alloc(a, 2 * cap + READ_STEP, 1);
			if (n)
				memcpy(more, p, n);
			cap = 2 * cap + READ_STEP;
			p = more;
		}
		ssize_t got = read(fd, p + n, cap - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_set(e, "npu-perf: %s", strerror(errno));
		n += (size_t)got;
		if (got == 0 || n > REPORT_MAX)
			break;
	}
	*out = (struct bytes){ .p = p, .n = n };
	return true;
}

/*
 * Words of npu-perf for the file of m.  If npu-perf shall use the memory system of another file,
 * system and mode are its names, else "".
 */
static char **
arguments(struct arena *a, const struct meter *m, const char *system, const char *mode)
{
	size_t n = 0, k = 0;
	while (m->option[n])
		n++;
	const char **v = anew(a, const char *, n + 9);
	v[k++] = "npu-perf";
	v[k++] = "--json";
	for (size_t i = 0; i < n; i++)
		v[k++] = m->option[i];
	if (*system) {
		v[k++] = "--system-config";
		v[k++] = system;
		v[k++] = "--memory-mode";
		v[k++] = mode;
	}
	v[k++] = "--";
	v[k++] = m->file;
	return program_words(v);
}

#ifdef __wasi__

static void
start(struct arena *a, struct meter *all, int i)
{
	(void)a, (void)all, (void)i;
}

static int
stop(const struct meter *m)
{
	(void)m;
	return 0;
}

static bool
run(struct arena *a, struct meter *m, const char *system, const char *mode,
    struct bytes *json, int *status, struct err *e)
{
	char **argv = arguments(a, m, system, mode);
	int argc = 0, out = host_buffer();
	while (argv[argc])
		argc++;
	int how = host_run(argv, argc, -1, out, STDERR_FILENO);
	bool ok = how < 0 ? err_at(e, "npu-perf", 0, "no such program")
			  : read_all(a, out, json, e);
	(void)close(out);
	*status = ok ? how >> 8 & 0xff : EXIT_TROUBLE;
	return !*status;
}

#else

enum { NAMES_MAX = 512 }; /* bytes of both names, with their zeros: a pipe takes these at once */

/*
 * The process that waits: reads two names and becomes npu-perf.  It ends without a message if
 * the pipe ends.
 */
static _Noreturn void
wait_for_names(struct arena *a, const struct meter *m, int in, int out)
{
	char names[NAMES_MAX];
	const char *path, *mode = NULL;
	struct err e = { 0 };
	ssize_t got;
	while ((got = read(in, names, sizeof(names))) < 0 && errno == EINTR)
		;
	if (got > 1 && !names[got - 1])
		mode = memchr(names, '\0', (size_t)got - 1);
	if (!mode)
		_exit(EXIT_TROUBLE);
	if (dup2(out, STDOUT_FILENO) < 0) {
		err_set(&e, "pipe: %s", strerror(errno));
	} else if (program_find(a, "npu-perf", &path, &e)) {
		/* npu-perf's messages have the name that the user called */
		char **words = arguments(a, m, names, mode + 1), own[] = "npu-report";
		words[0] = own;
		(void)execv(path, words);
		err_at(&e, path, 0, "%s", strerror(errno));
	}
	_exit(cli_finish(&e));
}

static void
start(struct arena *a, struct meter *all, int i)
{
	struct meter *m = &all[i];
	int ask[2], json[2];
	if (pipe2(ask, O_CLOEXEC) || pipe2(json, O_CLOEXEC))
		return;
	m->pid = fork();
	if (!m->pid) {
		/* the end of a pipe is seen when no process has its other end */
		for (int k = 0; k < i; k++)
			if (all[k].pid > 0)
				(void)close(all[k].ask);
		(void)close(ask[1]);
		wait_for_names(a, m, ask[0], json[1]);
	}
	(void)close(ask[0]);
	(void)close(json[1]);
	m->ask = ask[1];
	m->json = json[0];
}

/* Returns the status of the process, as waitpid() sets it. */
static int
stop(struct meter *m)
{
	int how = 0;
	(void)close(m->ask);
	(void)close(m->json);
	while (waitpid(m->pid, &how, 0) < 0 && errno == EINTR)
		;
	m->pid = -1;
	return how;
}

static bool
run(struct arena *a, struct meter *m, const char *system, const char *mode,
    struct bytes *json, int *status, struct err *e)
{
	struct text names = { 0 };
	if (m->pid <= 0)
		return err_set(e, "npu-perf: no process");
	text_printf(&names, "%s%c%s%c", system, '\0', mode, '\0');
	bool fits = names.n <= NAMES_MAX &&
		    write(m->ask, names.p, names.n) == (ssize_t)names.n;
	bool ok = fits ? read_all(a, m->json, json, e)
		       : err_set(e, "npu-perf: the names of its memory system are too long");
	text_free(&names);
	int how = stop(m);
	if (!ok)
		return false;
	*status = WIFEXITED(how) ? WEXITSTATUS(how) : EXIT_TROUBLE;
	return !*status;
}

#endif

/* npu-perf reads a file again, which a pipe does not allow */
static bool
is_file(const char *path)
{
	struct stat st;
	return !file_is_standard(path) && !stat(path, &st) && S_ISREG(st.st_mode);
}

void
meters_open(struct arena *a, struct meter *m, int n)
{
	for (int i = 0; i < n; i++)
		if (is_file(m[i].file))
			start(a, m, i);
}

void
meters_close(struct meter *m, int n)
{
	for (int i = 0; i < n; i++)
		if (m[i].pid > 0)
			(void)stop(&m[i]);
}

static bool
take_content(struct arena *a, struct meter *m, struct err *e)
{
	m->is_read = m->is_read || file_read(a, m->file, REPORT_MAX, &m->content, e);
	return m->is_read;
}

bool
measure(struct arena *a, struct meter *m, const char *system, const char *mode,
	struct bytes *json, int *status, struct err *e)
{
	if (!take_content(a, m, e))
		return false;
	*json = m->content;
	if (is_json(*json))
		return true;
	if (!json->n)
		return err_at(e, file_name(m->file), 0, "empty, neither a compiled model nor a "
			      "report of npu-perf --json; name a file");
	if (!is_file(m->file))
		return err_at(e, file_name(m->file), 0, "not a report of npu-perf --json; a compiled "
			      "model must be a file, not a pipe or standard input");
	return run(a, m, system, mode, json, status, e);
}

bool
lacks_memory_system(struct arena *a, struct meter *m)
{
	struct bytes b;
	struct err none = { 0 };
	struct tfl_model *model;
	struct profile p;
	if (!take_content(a, m, &none) || is_json(m->content))
		return false;
	const char *name = file_name(m->file);
	return raw_model(a, m->content, name, &b, &none) && tfl_read(a, b, name, &model, &none) &&
	       profile_read(a, model, &p, &none) && !p.accel;
}
