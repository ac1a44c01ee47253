/* SPDX-License-Identifier: Apache-2.0 */
/* Where the stages' programs are. */
#include "npucc.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const names[N_PROGRAMS] = {
	[QUANTCHECK] = "tfl-quantcheck", [PARTITION] = "tfl-partition",
	[SCHED] = "npu-sched", [WENC] = "npu-wenc", [CMDGEN] = "npu-cmdgen",
	[TFL2C] = "tfl2c", [PERF] = "npu-perf", [REPORT] = "npu-report", [DIS] = "npu-dis",
	[SIM] = "npu-sim", [TOSA_PARTITION] = "tosa-partition",
};

const char *
program_name(enum program p)
{
	return names[p];
}

static bool
is_program(const char *path)
{
	struct stat st;
	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* NULL: in n bytes at dir there is none of this name */
static const char *
in_directory(struct arena *a, const char *dir, size_t n, const char *name)
{
	const char *path = arena_printf(a, "%.*s/%s", (int)n, dir, name);
	return is_program(path) ? path : NULL;
}

/* the directory that this program is in; links to it lead there */
static const char *
own_directory(struct arena *a)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *path = program_invocation_name;
	if (n > 0) {
		self[n] = '\0';
		path = self;
	}
	const char *slash = strrchr(path, '/');
	return slash ? arena_strndup(a, path, (size_t)(slash - path)) : NULL;
}

static const char *
in_path(struct arena *a, const char *name)
{
	const char *dirs = getenv("PATH"), *found = NULL;
	while (dirs && !found) {
		size_t n = strcspn(dirs, ":");
		found = n ? in_directory(a, dirs, n, name)
			  : in_directory(a, ".", 1, name);
		dirs = dirs[n] ? dirs + n + 1 : NULL;
	}
	return found;
}

enum program
first_stage(const struct npucc *c)
{
	return c->tosa ? PARTITION : QUANTCHECK;
}

enum program
program_of(const struct npucc *c, enum program p)
{
	return c->tosa && p == PARTITION ? TOSA_PARTITION : p;
}

static bool
is_needed(const struct npucc *c, enum program p)
{
	const struct options *o = c->o;
	if (p == TOSA_PARTITION)
		return c->tosa;
	if (c->tosa && p <= PARTITION)
		return false;
	if (p < N_STAGES)
		return o->keep || p <= o->last;
	return p == PERF || p == REPORT ? o->keep != NULL : o->check;
}

bool
programs_find(struct npucc *c)
{
	const char *own = own_directory(c->a);
	for (int p = 0; p < N_PROGRAMS; p++) {
		if (!is_needed(c, (enum program)p))
			continue;
		c->path[p] = own ? in_directory(c->a, own, strlen(own), names[p])
				 : NULL;
		if (!c->path[p])
			c->path[p] = in_path(c->a, names[p]);
		if (!c->path[p])
			return err_set(c->e, "no %s beside me nor in PATH", names[p]);
	}
	return true;
}
