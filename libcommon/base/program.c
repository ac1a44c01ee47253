/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the path of another program of nputools. */
#include "base/program.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef __wasi__

/* Returns the path if the directory (n bytes at dir) has this program, else NULL. */
static const char *
in_directory(struct arena *a, const char *dir, size_t n, const char *name)
{
	const char *path = arena_printf(a, "%.*s/%s", (int)n, dir, name);
	struct stat st;
	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK) ? path : NULL;
}

/* Returns the directory of the running program; symbolic links are followed. */
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

bool
program_find(struct arena *a, const char *name, const char **path, struct err *e)
{
	const char *own = own_directory(a);
	*path = own ? in_directory(a, own, strlen(own), name) : NULL;
	if (!*path)
		*path = in_path(a, name);
	return *path || err_set(e, "can't find %s, neither in the directory of this "
				   "program nor in PATH", name);
}

#else /* WASI: the host runs a program by its name, or by its file in NPUTOOLS_MODULES */

bool
program_find(struct arena *a, const char *name, const char **path, struct err *e)
{
	const char *dir = getenv("NPUTOOLS_MODULES");
	(void)e;
	*path = dir ? arena_printf(a, "%s/%s.wasm", dir, name) : name;
	return true;
}

#endif
