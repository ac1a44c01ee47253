/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that print(parse(text)) is the text, byte for byte, for canonical texts.
 * The arguments are such files, or a text that need not be canonical and is printed
 * twice.
 */
#include "base/file.h"
#include "base/text.h"
#include "graph/graph.h"

#include <stdio.h>

static bool
print_again(struct arena *a, struct bytes in, const char *name, struct text *t,
	    struct err *e)
{
	struct graph *g;
	if (!graph_read(a, in, name, STAGE_NONE, &g, e))
		return false;
	graph_print(g, t);
	return true;
}

/* 0 equal, 1 not */
static int
compare(struct bytes in, const struct text *t, const char *name)
{
	size_t i = 0, line = 1;
	for (; i < in.n && i < t->n && in.p[i] == (uint8_t)t->p[i]; i++)
		line += in.p[i] == '\n';
	if (i == in.n && i == t->n)
		return 0;
	printf("%s:%zu: printed differently: %.*s\n", name, line,
	       (int)(t->n - i < 60 ? t->n - i : 60), t->p + i);
	return 1;
}

static int
round_trip(const char *path, bool canonical)
{
	struct arena *a = arena_open();
	struct text first = { 0 }, second = { 0 };
	struct err e = { 0 };
	struct bytes in;
	int failed = 1;
	if (!file_read(a, path, SIZE_MAX / 4, &in, &e) ||
	    !print_again(a, in, path, &first, &e)) {
		printf("%s\n", e.text);
	} else if (canonical) {
		failed = compare(in, &first, path);
	} else {
		in = (struct bytes){ .p = (const uint8_t *)first.p, .n = first.n };
		failed = !print_again(a, in, path, &second, &e) ||
			 compare(in, &second, path);
	}
	text_free(&first);
	text_free(&second);
	arena_close(a);
	return failed;
}

int
main(int argc, char **argv)
{
	int failed = 0;
	for (int i = 1; i < argc; i++)
		failed |= round_trip(argv[i], true);
	if (argc == 1)
		failed = round_trip("tests/fuzz/corpus/graph/part", false);
	return failed;
}
