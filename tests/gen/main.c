/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gen SEED [NAME] >model.tflite   one operator (NAME, or any), from a seed
 * gen -g SEED >model.tflite       a small graph
 * gen -l                          the names
 */
#include "gen.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct draw *const lists[] = { move_draws, conv_draws, element_draws };

static int
count_draws(void)
{
	int n = 0;
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (const struct draw *d = lists[i]; d->name; d++)
			n++;
	return n;
}

static const struct draw *
draw_at(int k)
{
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (const struct draw *d = lists[i]; d->name; d++)
			if (k-- == 0)
				return d;
	return NULL;
}

static const struct draw *
draw_named(const char *name)
{
	for (int k = 0; k < count_draws(); k++)
		if (!strcmp(draw_at(k)->name, name))
			return draw_at(k);
	return NULL;
}

/* inputs are what nobody makes, outputs what nobody takes */
static bool
write_model(struct gen *g, struct err *e)
{
	int *in = anew(g->a, int, GEN_TENSORS), *out = anew(g->a, int, GEN_TENSORS);
	struct tflw_subgraph sg = { .tensor = g->tensor, .n_tensors = g->n_tensors,
				    .op = g->op, .n_ops = g->n_ops,
				    .in = in, .out = out };
	for (int i = 0; i < g->n_tensors; i++) {
		if (g->is_const[i])
			continue;
		if (!g->is_made[i])
			in[sg.n_in++] = i;
		else if (!g->is_used[i])
			out[sg.n_out++] = i;
	}
	struct tflw_model m = {
		.description = "random", .opcode = g->code, .n_opcodes = g->n_ops,
		.buffer = g->buffer, .n_buffers = g->n_buffers + 1,
		.subgraph = &sg, .n_subgraphs = 1,
	};
	struct bytes b;
	return tfl_write(g->a, &m, &b, e) && file_write(NULL, b.p, b.n, false, e);
}

static bool
generate(bool graph, uint64_t seed, const struct draw *d)
{
	struct arena *a = arena_open();
	struct gen *g = anew(a, struct gen, 1);
	struct err e = { 0 };
	g->a = a;
	g->state = seed;
	g->graph = graph;
	int n = graph ? (int)gen_range(g, 2, 7) : 1;
	for (int i = 0; i < n; i++) {
		const struct draw *k = d ? d : draw_at((int)gen_range(g, 0, count_draws() - 1));
		k->run(g, k->code);
	}
	bool ok = write_model(g, &e);
	if (!ok)
		fprintf(stderr, "gen: %s\n", e.text);
	arena_close(a);
	return ok;
}

int
main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "-l")) {
		for (int k = 0; k < count_draws(); k++)
			puts(draw_at(k)->name);
		return 0;
	}
	bool graph = argc > 1 && !strcmp(argv[1], "-g");
	argv += graph;
	argc -= graph;
	const struct draw *d = argc == 3 ? draw_named(argv[2]) : NULL;
	if (argc < 2 || argc > 3 || (argc == 3 && !d)) {
		fprintf(stderr, "usage: gen [-g] SEED [NAME] | gen -l\n");
		return 2;
	}
	return generate(graph, strtoull(argv[1], NULL, 0), d) ? 0 : 2;
}
