/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in-process <COMMANDS
 *
 * Runs the kit's programs inside this process, as fuzz targets do: each line is the name of a
 * program and its arguments, without quotes, pipes and redirections.  Standard output of the
 * programs is dropped.  An output (-o FILE) may have the name of an earlier input: that file is
 * removed first.  Ends with the first program that fails: its command, its messages, its status.
 * To start a program takes longer than the program needs for a small model.
 */
#include "base/diag.h"
#include "fuzz/lib/programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ARGUMENTS = 40 };

static const struct {
	const char *name;
	int (*main)(int, char **);
} programs[] = {
#define X(name) { #name, main_##name },
	FUZZ_PROGRAMS(X)
#undef X
};

/* in names of programs, - and _ are the same */
static bool
is_name(const char *name, const char *word)
{
	while (*name && (*name == *word || (*name == '_' && *word == '-')))
		name++, word++;
	return *name == *word;
}

static int
run(struct bench *b, char **words)
{
	for (size_t i = 0; i < ARRAY_LEN(programs); i++)
		if (is_name(programs[i].name, words[0]))
			return bench_call(b, programs[i].main, words);
	fprintf(stderr, "in-process: no program %s\n", words[0]);
	return EXIT_TROUBLE;
}

int
main(void)
{
	struct bench *b = bench_clear();
	char *line = NULL;
	size_t size = 0;
	int status = EXIT_YES;
	while (!status && getline(&line, &size, stdin) > 0) {
		char *words[MAX_ARGUMENTS + 1], *rest = line, *word;
		int n = 0;
		while (n < MAX_ARGUMENTS && (word = strsep(&rest, " \n")))
			if (*word) {
				words[n++] = word;
				if (n > 1 && strcmp(words[n - 2], "-o") == 0)
					(void)unlink(word);
			}
		words[n] = NULL;
		status = n ? run(b, words) : EXIT_YES;
		for (int i = 0; status && i < n; i++)
			fprintf(stderr, "%s%c", words[i], i + 1 < n ? ' ' : '\n');
	}
	if (status)
		fprintf(stderr, "%.*s", (int)b->said.n, b->said.n ? b->said.p : "");
	free(line);
	return status;
}
