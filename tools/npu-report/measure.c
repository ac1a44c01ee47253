/* SPDX-License-Identifier: Apache-2.0 */
/* Runs npu-perf if the input is a compiled model instead of a report. */
#include "report.h"

#include "base/file.h"
#include "base/program.h"
#include "raw/raw.h"
#include "map/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#ifdef __wasi__
#include "base/wasi/host.h"
#else
#include "base/spawn.h"
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

static char **
arguments(struct arena *a, const char *file, const char *const *option)
{
	size_t n = 0, k = 0;
	while (option[n])
		n++;
	const char **v = anew(a, const char *, n + 5);
	v[k++] = "npu-perf";
	v[k++] = "--json";
	for (size_t i = 0; i < n; i++)
		v[k++] = option[i];
	v[k++] = "--";
	v[k++] = file;
	return program_words(v);
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

#ifdef __wasi__

static bool
run(struct arena *a, const char *path, char **argv, struct bytes *json, int *status,
    struct err *e)
{
	int argc = 0, out = host_buffer();
	while (argv[argc])
		argc++;
	int how = host_run(argv, argc, -1, out, STDERR_FILENO);
	bool ok = how < 0 ? err_at(e, path, 0, "no such program")
			  : read_all(a, out, json, e);
	(void)close(out);
	*status = ok ? how >> 8 & 0xff : EXIT_TROUBLE;
	return !*status;
}

#else

static bool
run(struct arena *a, const char *path, char **argv, struct bytes *json, int *status,
    struct err *e)
{
	int end[2], how = 0;
	pid_t pid;
	if (pipe2(end, O_CLOEXEC))
		return err_set(e, "pipe: %s", strerror(errno));
	const struct spawn perf = {
		.path = path, .argv = argv, .in = SPAWN_OWN, .out = end[1],
		.err = SPAWN_OWN, .group = SPAWN_OWN,
	};
	int bad = spawn_program(&perf, &pid);
	(void)close(end[1]);
	bool ok = bad ? err_at(e, path, 0, "%s", strerror(bad))
		      : read_all(a, end[0], json, e);
	(void)close(end[0]);
	while (!bad && waitpid(pid, &how, 0) < 0 && errno == EINTR)
		;
	if (!ok)
		return false;
	*status = WIFEXITED(how) ? WEXITSTATUS(how) : EXIT_TROUBLE;
	return !*status;
}

#endif

bool
measure(struct arena *a, const char *file, const char *const *option,
	struct bytes *json, int *status, struct err *e)
{
	const char *path;
	if (!file_read(a, file, REPORT_MAX, json, e))
		return false;
	if (is_json(*json))
		return true;
	if (!json->n)
		return err_at(e, file_name(file), 0, "empty, neither a compiled model nor a report "
			      "of npu-perf --json; name a file");
	if (!file || !strcmp(file, "-"))
		return err_at(e, file_name(file), 0, "not a report of npu-perf --json; give a "
			      "compiled model as a file, not on standard input");
	return program_find(a, "npu-perf", &path, e) &&
	       run(a, path, arguments(a, file, option), json, status, e);
}

bool
lacks_memory_system(struct arena *a, const char *file)
{
	struct bytes b;
	struct err none = { 0 };
	struct tfl_model *m;
	struct profile p;
	if (!file || !strcmp(file, "-") || !file_read(a, file, REPORT_MAX, &b, &none) ||
	    is_json(b))
		return false;
	return raw_read_file(a, file, &m, &none) && profile_read(a, m, &p, &none) &&
	       !p.accel;
}
