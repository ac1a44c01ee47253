/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes streams that Vela 5.1 compiled for Ethos-U85: the streams listed in INDEX.tsv
 * of $NPUTOOLS_SHARED/reference/vela-u85 must give the golden outputs, byte for byte.
 *
 * usage: npu85_reference [STEP]    every STEP-th of them
 */
#include "golden_run.h"

#include <stdio.h>
#include <sys/stat.h>

static int n_exact, n_failed;

static void
judge(const char *path, const char *dir)
{
	struct arena *a = arena_open();
	struct err e = { 0 };
	int64_t most = golden_run(a, path, dir, &e);
	if (most == 0) {
		n_exact++;
	} else {
		n_failed++;
		printf("%s: %s: %s, largest difference %lld\n", path, dir,
		       most < 0 ? e.text : "differs", (long long)most);
	}
	arena_close(a);
}

static bool
exists(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0;
}

/* networks have several sets of inputs, numbered */
static void
judge_line(const char *root, const char *file, const char *golden)
{
	struct arena *a = arena_open();
	const char *path = arena_printf(a, "%s/reference/vela-u85/%s", root, file);
	const char *dir = arena_printf(a, "%s/%s", root, golden);
	const char *set = arena_printf(a, "%s/0", dir);
	if (!exists(set))
		judge(path, dir);
	for (int k = 0; exists(set); k++) {
		judge(path, set);
		set = arena_printf(a, "%s/%d", dir, k + 1);
	}
	arena_close(a);
}

int
main(int argc, char **argv)
{
	int step = argc > 1 ? atoi(argv[1]) : 1, line = 0;
	const char *shared = getenv("NPUTOOLS_SHARED");
	shared = shared && *shared ? shared : "../shared";
	char text[1024], name[1100];
	(void)snprintf(name, sizeof(name), "%s/reference/vela-u85/INDEX.tsv",
		       shared);
	FILE *f = fopen(name, "r");
	if (!f) {
		printf("no reference models (NPUTOOLS_SHARED)\n");
		return 77;
	}
	while (fgets(text, sizeof(text), f)) {
		char *tab = strchr(text, '\t');
		if (line++ % step != 1 % step || !tab || line == 1)
			continue;
		*tab = '\0';
		tab[strcspn(tab + 1, "\n") + 1] = '\0';
		const char *golden = tab + 1;
		if (!strncmp(golden, "shared/", 7))
			golden += 7;
		else
			golden = (snprintf(name, sizeof(name),
					   "reference/vela-u85/%s", golden),
				  name);
		judge_line(shared, text, golden);
	}
	(void)fclose(f);
	printf("%d exact, %d failed\n", n_exact, n_failed);
	return n_failed != 0;
}
