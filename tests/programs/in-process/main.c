/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in-process <COMMANDS
 *
 * Runs the kit's programs inside this process, as fuzz targets do: each line is the name of a
 * program and its arguments, without quotes, pipes and redirections.  Standard output of the
 * programs is dropped.  An output (-o FILE) may have the name of an earlier input: that file is
 * removed first.  Ends with the first program that fails: its command, its messages, its status.
 * Behind the word "silent", a program that writes a message fails, too.  To start a program takes
 * longer than the program needs for a small model.
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
	if (strcmp(words[0], "silent") == 0 && words[1]) {
		int status = run(b, words + 1);
		return status || !b->said.n ? status : EXIT_NO;
	}
	for (size_t i = 0; i < ARRAY_LEN(programs); i++)
		if (is_name(programs[i].name, words[0]))
			return bench_call(b, programs[i].main, words);
	fprintf(stderr, "in-process: no program %s\n", words[0]);
	return EXIT_TROUBLE;
}

/* the command that runs */
static struct bench *bench;
static char *words[MAX_ARGUMENTS + 1];
static FILE *screen; /* standard error is another one while a program runs */

/* at the end, also if a program calls exit(): the command that failed, and its messages */
static void
tell(void)
{
	for (int i = 0; words[i]; i++)
		fprintf(screen, "%s%c", words[i], words[i + 1] ? ' ' : '\n');
	if (words[0])
		fprintf(screen, "%.*s", (int)bench->said.n,
			bench->said.n ? bench->said.p : "");
}

/* splits a line; an output that exists is removed */
static void
split(char *line)
{
	int n = 0;
	for (char *word; n < MAX_ARGUMENTS && (word = strsep(&line, " \n"));) {
		if (!*word)
			continue;
		if (n > 1 && strcmp(words[n - 1], "-o") == 0)
			(void)unlink(word);
		words[n++] = word;
	}
	words[n] = NULL;
}

int
main(void)
{
	char *line = NULL;
	size_t size = 0;
	int status = EXIT_YES;
	bench = bench_clear();
	screen = stderr;
	if (atexit(tell))
		return EXIT_TROUBLE;
	while (!status && getline(&line, &size, stdin) > 0) {
		split(line);
		status = words[0] ? run(bench, words) : EXIT_YES;
	}
	if (!status)
		words[0] = NULL;
	return status;
}
