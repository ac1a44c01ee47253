/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gen-model [-c] [-g] [-p] [-x] SEED [NAME] [K.I=VALUE...] >model.tflite
 * gen-model -l | -L | -w
 *
 * Writes one operator (NAME, or any), or with -g a small graph, from a seed.
 * K.I=VALUE sets choice I of operator K.  Operators count from 1 (0: the model), choices
 * from 1.  K.0=1 leaves operator K out.
 *   -c   prints all choices in this form instead
 *   -l   prints the names of the operators
 *   -L   also prints those that are drawn only by their names
 *   -w   prints each name as often as its share of a long run: operators of many types, values,
 *        axes, flags and neighbours are drawn more often than those of few
 *   -p   pairs: draws the operator several times, each time with another operator behind
 *   -x   changes scales, zero points and types of biases to values that converters rarely
 *        write, by the choices of an operator behind the last one
 */
#include "gen.h"

#include "base/cli.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Tests cite models by seed.  Therefore seeds below LATER_FROM draw only from the
 * families that existed when the first seed was cited: the first OLD lists.
 */
static const struct draw *const lists[] = { move_draws, conv_draws, element_draws,
					    memory_draws, later_move_draws,
					    later_element_draws, logic_draws };
enum { OLD = 4, LATER_FROM = 10000, LOOSE = 9 };

static int
count_draws(bool later)
{
	int n = 0;
	for (size_t i = 0; i < (later ? ARRAY_LEN(lists) : OLD); i++)
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
any_draw(struct gen *g)
{
	return draw_at((int)gen_choose(g, count_draws(g->seed >= LATER_FROM)));
}

static const struct draw *const named[] = { indexed_draws, shuffle_draws, int4_draws,
					    wide_draws, window_draws, channel_draws,
					    edge_draws };

static const struct draw *
draw_named(const char *name)
{
	for (int k = 0; k < count_draws(true); k++)
		if (!strcmp(draw_at(k)->name, name))
			return draw_at(k);
	for (size_t i = 0; i < ARRAY_LEN(named); i++)
		for (const struct draw *d = named[i]; d->name; d++)
			if (!strcmp(d->name, name))
				return d;
	return NULL;
}

int
gen_named(struct gen *g, const char *name)
{
	const struct draw *d = draw_named(name);
	d->run(g, d->code);
	return g->op_at[g->n_ops - 1].out[0];
}

/*
 * The inputs are tensors that no operator makes.  The outputs are tensors that no
 * operator reads, and some others.  A second subgraph has the same tensors, buffers
 * and operators.
 */
static bool
write_model(struct gen *g, struct err *e)
{
	int *in = anew(g->a, int, GEN_TENSORS), *out = anew(g->a, int, GEN_TENSORS);
	struct tflw_subgraph sg = { .tensor = g->tensor, .n_tensors = g->n_tensors,
				    .op = g->op_at, .n_ops = g->n_ops,
				    .in = in, .out = out };
	g->op = 0; /* continues after the number of operators */
	g->n = 2;
	bool twice = gen_chance(g, g->graph ? 15 : 0);
	for (int i = 0; i < g->n_tensors; i++) {
		if (g->is_const[i])
			continue;
		if (!g->is_made[i])
			in[sg.n_in++] = i;
		else if (!g->is_used[i] || gen_chance(g, 5))
			out[sg.n_out++] = i;
	}
	struct tflw_model m = {
		.description = "random", .opcode = g->code, .n_opcodes = g->n_ops,
		.buffer = g->buffer, .n_buffers = g->n_buffers + 1,
		.subgraph = (struct tflw_subgraph[]){ sg, sg },
		.n_subgraphs = 1 + twice,
	};
	struct bytes b;
	return tfl_write(g->a, &m, &b, e) &&
	       (g->show || file_write(NULL, b.p, b.n, false, e));
}

static bool
generate(struct gen *g, const struct draw *d, bool pairs)
{
	struct err e = { 0 };
	g->n = 1;
	if (pairs)
		gen_pairs(g, d ? d : any_draw(g));
	int n = pairs ? 0 : g->graph ? (int)gen_range(g, 1, 7) : 1;
	for (g->op = 1; g->op <= n; g->op++) {
		g->n = 0;
		if (gen_given(g))
			continue;
		g->n = 1;
		const struct draw *k = d ? d : any_draw(g);
		k->run(g, k->code);
	}
	if (g->loose) {
		g->op = LOOSE;
		g->n = 1;
		gen_loosen(g);
	}
	bool ok = write_model(g, &e);
	if (!ok)
		cli_print(&e);
	return ok;
}

static void
list_names(bool all)
{
	for (int k = 0; k < count_draws(true); k++)
		puts(draw_at(k)->name);
	for (size_t i = 0; all && i < ARRAY_LEN(named); i++)
		for (const struct draw *d = named[i]; d->name; d++)
			puts(d->name);
}

/*
 * Operators whose axes, flags or types have many combinations, of which compilers lower some
 * otherwise: one model shows one combination.  The edge draws are such, too.
 */
static const char *const often[] = {
	"SPLIT", "SPLIT_V", "STRIDED_SLICE", "MIRROR_PAD", "CAST",
	"RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "RSQRT",
	"MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_ANY", "REDUCE_ALL",
};

static void
list_shares(void)
{
	enum { OFTEN = 4 };
	list_names(true);
	for (int i = 1; i < OFTEN; i++) {
		for (const struct draw *d = edge_draws; d->name; d++)
			puts(d->name);
		for (size_t k = 0; k < ARRAY_LEN(often); k++)
			puts(often[k]);
	}
}

/* reads SEED, NAME or K.I=VALUE in any order; false for other words */
static bool
read_word(struct gen *g, struct choice *given, const char *s,
	  const struct draw **d)
{
	struct choice c;
	long long v;
	char *end;
	if (sscanf(s, "%d.%d=%lld", &c.op, &c.i, &v) == 3) {
		c.value = v;
		given[g->n_given++] = c;
		return true;
	}
	uint64_t seed = strtoull(s, &end, 0);
	if (end != s && !*end) {
		g->seed = seed;
		return true;
	}
	return (*d = draw_named(s)) != NULL;
}

int
main(int argc, char **argv)
{
	struct arena *a = arena_open();
	struct gen *g = anew(a, struct gen, 1);
	struct choice *given = anew(a, struct choice, (size_t)argc);
	const struct draw *d = NULL;
	bool ok = argc > 1, list = false, list_all = false, shares = false, pairs = false;
	g->a = a;
	g->given = given;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-g"))
			g->graph = true;
		else if (!strcmp(argv[i], "-x"))
			g->loose = true;
		else if (!strcmp(argv[i], "-p"))
			pairs = true;
		else if (!strcmp(argv[i], "-c"))
			g->show = true;
		else if (!strcmp(argv[i], "-l"))
			list = true;
		else if (!strcmp(argv[i], "-L"))
			list = list_all = true;
		else if (!strcmp(argv[i], "-w"))
			shares = true;
		else
			ok = ok && read_word(g, given, argv[i], &d);
	}
	if (!ok)
		fprintf(stderr, "usage: gen-model [-c] [-g] [-p] [-x] SEED [NAME] "
				"[K.I=VALUE...] | gen-model -l | -L | -w\n");
	else if (shares)
		list_shares();
	else if (list)
		list_names(list_all);
	else
		ok = generate(g, d, pairs);
	arena_close(a);
	return ok ? 0 : 2;
}
