/* SPDX-License-Identifier: Apache-2.0 */
/* usage: gen-tosa SEED [single|full|computed|moves|pads|indices|borders|loop|if|broken] >graph.tosa */
#include "gen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(struct gen *);
	} kinds[] = { { "", draw_graph }, { "single", draw_single },
		      { "full", draw_full },
		      { "computed", draw_computed }, { "moves", draw_moves },
		      { "pads", draw_pads }, { "indices", draw_indices }, { "borders", draw_borders },
		      { "loop", draw_loop }, { "if", draw_if },
		      { "broken", draw_broken } };
	size_t kind = 0;
	while (argc == 3 && kind < ARRAY_LEN(kinds) && strcmp(argv[2], kinds[kind].name))
		kind++;
	if (argc < 2 || argc > 3 || kind == ARRAY_LEN(kinds)) {
		(void)fprintf(stderr, "usage: gen-tosa SEED [single|full|computed|moves|pads|indices|borders|loop|if|broken] "
			      ">graph.tosa\n");
		return EXIT_TROUBLE;
	}
	struct arena *a = arena_open();
	struct gen *g = anew(a, struct gen, 1);
	struct err e = { 0 };
	struct bytes file = { 0 };
	g->a = a;
	g->w = fbw_open();
	g->state = strtoull(argv[1], NULL, 10);
	kinds[kind].run(g);
	bool ok = gen_file(g, &file, &e) &&
		  fwrite(file.p, 1, file.n, stdout) == file.n && !fflush(stdout);
	fbw_close(g->w);
	arena_close(a);
	return ok ? EXIT_YES : EXIT_TROUBLE;
}
