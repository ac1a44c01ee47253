/* SPDX-License-Identifier: Apache-2.0 */
/* Walks through models that other compilers made, for the tests that check them. */
#ifndef TESTS_REFERENCE_H
#define TESTS_REFERENCE_H

#include "base/arena.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

struct reference {
	const char *shared, *version;
	const char *path;   /* of the .tflite file */
	const char *folder; /* the folder of the file */
	const char *stem;   /* the file's name without .tflite */
};

typedef void reference_visit(const struct reference *r);

static const char *const reference_versions[] = { "3.12.0", "5.1.0" };

static const char *
reference_shared(void)
{
	const char *shared = getenv("NPUTOOLS_SHARED");
	return shared && *shared ? shared : "../shared";
}

static void
reference_folder(struct reference r, const char *dir, reference_visit *f)
{
	struct arena *a = arena_open();
	struct dirent **file;
	int n = scandir(dir, &file, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		const char *base = file[i]->d_name;
		const char *dot = strstr(base, ".tflite");
		if (dot) {
			r.path = arena_printf(a, "%s/%s", dir, base);
			r.stem = arena_strndup(a, base, (size_t)(dot - base));
			f(&r);
		}
		free(file[i]);
	}
	if (n >= 0)
		free(file);
	arena_close(a);
}

/* every model in the folders of shared/reference/KIND/VERSION */
static void
reference_models(const char *kind, const char *version, reference_visit *f)
{
	struct arena *a = arena_open();
	struct reference r = { .shared = reference_shared(),
			       .version = version };
	const char *dir = arena_printf(a, "%s/reference/%s/%s", r.shared, kind,
				       version);
	struct dirent **folder;
	int n = scandir(dir, &folder, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		r.folder = folder[i]->d_name;
		if (r.folder[0] != '.')
			reference_folder(r, arena_printf(a, "%s/%s", dir,
							 r.folder), f);
		free(folder[i]);
	}
	if (n >= 0)
		free(folder);
	arena_close(a);
}

#endif
