/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control-model KIND TURNS <network.tflite >model.tflite
 *
 * Writes a model that runs a network and then calls the network from IF and WHILE.  KIND is
 *   if     IF: the network, or another one with other constants
 *   while  WHILE: TURNS times the network.  Each result becomes the network's input of its type
 *          and shape, if there is one
 *   both   WHILE whose body is the IF: the other network in odd turns
 * Outputs are the results of the first run, which stay in memory, and of IF or WHILE.
 */
#include "base/cli.h"
#include "base/file.h"
#include "kernels/kernels.h"
#include "tflite/fields.h"
#include "tflite/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct maker {
	struct arena *a;
	struct tflw_model w;
	const struct tfl_subgraph *g; /* the network */
	size_t cap_buffers;
};

static uint32_t
add_buffer(struct maker *k, const void *p, size_t n)
{
	uint8_t *copy = arena_alloc(k->a, n, 1);
	memcpy(copy, p, n);
	agrow(k->a, k->w.buffer, (size_t)k->w.n_buffers, &k->cap_buffers);
	k->w.buffer[k->w.n_buffers] = (struct bytes){ .p = copy, .n = n };
	return (uint32_t)k->w.n_buffers++;
}

static uint32_t
add_opcode(struct maker *k, int code)
{
	k->w.opcode[k->w.n_opcodes] = (struct tflw_opcode){ .code = code, .version = 1 };
	return (uint32_t)k->w.n_opcodes++;
}

/* a scalar of INT32 or BOOL; value NULL: computed */
static int
add_scalar(struct maker *k, struct tflw_subgraph *s, int type, const char *name,
	   const int32_t *value)
{
	s->tensor[s->n_tensors].t = (struct tfl_tensor){
		.name = name, .type = type, .rank = 1, .dim = { 1 }, .has_shape = true };
	if (value)
		s->tensor[s->n_tensors].buffer = add_buffer(k, value, sizeof(*value));
	return s->n_tensors++;
}

static int *
list(struct maker *k, int first, const int *v, int n, const int *more, int n_more)
{
	int *all = anew(k->a, int, (size_t)(n + n_more) + 2), m = 0;
	if (first >= 0)
		all[m++] = first;
	for (int i = 0; i < n; i++)
		all[m++] = v[i];
	for (int i = 0; i < n_more; i++)
		all[m++] = more[i];
	return all;
}

/* Appends an operator with two scalar options. */
static void
add_op(struct maker *k, struct tflw_subgraph *s, int code, const int *in, int n_in,
       const int *out, int n_out, int64_t a, int64_t b)
{
	static const struct fb_table *const tables[] = {
		[TFL_ADD] = &fb_AddOptions, [TFL_LESS] = &fb_LessOptions,
		[TFL_IF] = &fb_IfOptions, [TFL_WHILE] = &fb_WhileOptions };
	static const int tags[] = {
#define TFL_OP(c, name, options) [c] = options,
#include "tflite_ops.def"
	};
	int64_t *option = anew(k->a, int64_t, 2);
	option[0] = a;
	option[1] = b;
	s->op[s->n_ops++] = (struct tflw_op){
		.opcode = add_opcode(k, code), .in = in, .out = out, .n_in = n_in, .n_out = n_out,
		.options = tables[code], .options_tag = tags[code], .option = option };
}

/* An empty subgraph with room for a copy of the network and a few things more. */
static struct tflw_subgraph
new_subgraph(struct maker *k, const char *name)
{
	size_t n = (size_t)k->g->n_tensors + (size_t)k->g->n_in + (size_t)k->g->n_out + 8;
	return (struct tflw_subgraph){ .name = name, .tensor = anew(k->a, struct tflw_tensor, n),
				       .op = anew(k->a, struct tflw_op, (size_t)k->g->n_ops + 4) };
}

/* the network; other: with other constants of 8 bits */
static struct tflw_subgraph
network(struct maker *k, const char *name, bool other)
{
	struct tflw_subgraph s = new_subgraph(k, name);
	const struct tflw_subgraph *from = &k->w.subgraph[0];
	memcpy(s.tensor, from->tensor, (size_t)from->n_tensors * sizeof(*s.tensor));
	memcpy(s.op, from->op, (size_t)from->n_ops * sizeof(*s.op));
	s.n_tensors = from->n_tensors;
	s.n_ops = from->n_ops;
	s.in = from->in;
	s.n_in = from->n_in;
	s.out = from->out;
	s.n_out = from->n_out;
	for (int i = 0; other && i < s.n_tensors; i++) {
		const struct tfl_tensor *t = &k->g->tensor[i];
		if (!t->data.p || t->type != TFL_INT8)
			continue;
		s.tensor[i].buffer = add_buffer(k, t->data.p, t->data.n);
		uint8_t *p = (uint8_t *)(uintptr_t)k->w.buffer[s.tensor[i].buffer].p;
		for (size_t b = 0; b < t->data.n; b++)
			p[b] = (uint8_t)(p[b] / 2 + b % 3);
	}
	return s;
}

/* tensors of s like n tensors v of the network, without values: their first number */
static int *
add_like(struct maker *k, struct tflw_subgraph *s, const int *v, int n)
{
	int *made = anew(k->a, int, (size_t)n + 1);
	for (int i = 0; i < n; i++) {
		made[i] = s->n_tensors;
		s->tensor[s->n_tensors++] = (struct tflw_tensor){ .from = k->g->tensor[v[i]].ref };
	}
	return made;
}

/* For each input of the network: the output that has its type and shape, or the input. */
static int *
next_inputs(struct maker *k, const int *in, const int *out)
{
	int *next = list(k, -1, in, k->g->n_in, NULL, 0);
	for (int i = 0; i < k->g->n_in; i++)
		for (int o = k->g->n_out; o-- > 0;) {
			const struct tfl_tensor *x = &k->g->tensor[k->g->in[i]];
			const struct tfl_tensor *y = &k->g->tensor[k->g->out[o]];
			if (x->type == y->type && x->rank == y->rank &&
			    !memcmp(x->dim, y->dim, sizeof(*x->dim) * (size_t)x->rank))
				next[i] = out[o];
		}
	return next;
}

static struct tflw_subgraph
condition(struct maker *k, int32_t turns)
{
	struct tflw_subgraph s = new_subgraph(k, "condition");
	int *count = anew(k->a, int, 2), *is = anew(k->a, int, 1);
	count[0] = add_scalar(k, &s, TFL_INT32, "count", NULL);
	int *in = add_like(k, &s, k->g->in, k->g->n_in);
	int *out = add_like(k, &s, k->g->out, k->g->n_out);
	count[1] = add_scalar(k, &s, TFL_INT32, "turns", &turns);
	is[0] = add_scalar(k, &s, TFL_BOOL, "goes on", NULL);
	add_op(k, &s, TFL_LESS, count, 2, is, 1, 0, 0);
	s.in = list(k, count[0], in, k->g->n_in, out, k->g->n_out);
	s.n_in = 1 + k->g->n_in + k->g->n_out;
	s.out = is;
	s.n_out = 1;
	return s;
}

/* Counts, and runs the network or, if there are others, IF of them. */
static struct tflw_subgraph
loop(struct maker *k, bool calls)
{
	const int32_t one = 1;
	struct tflw_subgraph s = calls ? new_subgraph(k, "loop") : network(k, "loop", false);
	const int *in = calls ? add_like(k, &s, k->g->in, k->g->n_in) : k->g->in;
	const int *out = calls ? add_like(k, &s, k->g->out, k->g->n_out) : k->g->out;
	int *count = anew(k->a, int, 2), *next = anew(k->a, int, 1);
	count[0] = add_scalar(k, &s, TFL_INT32, "count", NULL);
	int *old = add_like(k, &s, k->g->out, k->g->n_out);
	count[1] = add_scalar(k, &s, TFL_INT32, "one", &one);
	next[0] = add_scalar(k, &s, TFL_INT32, "next", NULL);
	add_op(k, &s, TFL_ADD, count, 2, next, 1, 0, 0);
	if (calls) {
		int *is = anew(k->a, int, 1);
		is[0] = add_scalar(k, &s, TFL_BOOL, "first", NULL);
		add_op(k, &s, TFL_LESS, count, 2, is, 1, 0, 0);
		add_op(k, &s, TFL_IF, list(k, is[0], in, k->g->n_in, NULL, 0), 1 + k->g->n_in,
		       out, k->g->n_out, 3, 4);
	}
	s.in = list(k, count[0], in, k->g->n_in, old, k->g->n_out);
	s.out = list(k, next[0], next_inputs(k, in, out), k->g->n_in, out, k->g->n_out);
	s.n_in = s.n_out = 1 + k->g->n_in + k->g->n_out;
	return s;
}

/* The network, and IF or WHILE on the same inputs. */
static struct tflw_subgraph
whole(struct maker *k, bool loops)
{
	const int32_t zero = 0;
	struct tflw_subgraph s = network(k, "main", false);
	const struct tfl_subgraph *g = k->g;
	int *result = add_like(k, &s, g->out, g->n_out);
	int first = add_scalar(k, &s, loops ? TFL_INT32 : TFL_BOOL, "first", loops ? &zero : NULL);
	s.in = list(k, loops ? -1 : first, g->in, g->n_in, NULL, 0);
	s.n_in = g->n_in + !loops;
	if (loops) {
		int last = add_scalar(k, &s, TFL_INT32, "last", NULL);
		int *left = add_like(k, &s, g->in, g->n_in);
		add_op(k, &s, TFL_WHILE, list(k, first, g->in, g->n_in, g->out, g->n_out),
		       1 + g->n_in + g->n_out, list(k, last, left, g->n_in, result, g->n_out),
		       1 + g->n_in + g->n_out, 1, 2);
		s.out = list(k, last, g->out, g->n_out, result, g->n_out);
	} else {
		add_op(k, &s, TFL_IF, list(k, first, g->in, g->n_in, NULL, 0), 1 + g->n_in,
		       result, g->n_out, 1, 2);
		s.out = list(k, -1, g->out, g->n_out, result, g->n_out);
	}
	s.n_out = 2 * g->n_out + loops;
	return s;
}

static bool
make(struct maker *k, const char *kind, int32_t turns, struct bytes *out, struct err *e)
{
	struct tflw_subgraph *s = anew(k->a, struct tflw_subgraph, 5);
	struct tflw_opcode *opcode = anew(k->a, struct tflw_opcode, (size_t)k->w.n_opcodes + 8);
	memcpy(opcode, k->w.opcode, (size_t)k->w.n_opcodes * sizeof(*opcode));
	k->w.opcode = opcode;
	bool loops = strcmp(kind, "if") != 0, both = !strcmp(kind, "both");
	int n = 0;
	s[n++] = whole(k, loops);
	if (loops) {
		s[n++] = condition(k, turns);
		s[n++] = loop(k, both);
	}
	if (!loops || both) {
		s[n++] = network(k, "then", false);
		s[n++] = network(k, "else", true);
	}
	k->w.subgraph = s;
	k->w.n_subgraphs = n;
	return tfl_write(k->a, &k->w, out, e);
}

int
main(int argc, char **argv)
{
	struct arena *a = arena_open();
	struct maker k = { .a = a };
	struct tfl_model *m;
	struct bytes file;
	struct err e = { 0 };
	if (argc != 3 || !file_read(a, NULL, TFL_MAX_BYTES, &file, &e) ||
	    !model_read(a, file, "standard input", &m, &e)) {
		fprintf(stderr, "usage: control-model if|while|both TURNS <network.tflite "
				">model.tflite %s\n", e.text);
		return EXIT_TROUBLE;
	}
	k.g = &m->subgraph[0];
	tflw_copy(a, m, &k.w);
	k.cap_buffers = (size_t)k.w.n_buffers;
	bool ok = make(&k, argv[1], (int32_t)strtol(argv[2], NULL, 10), &file, &e) &&
		  file_write(NULL, file.p, file.n, false, &e);
	if (!ok)
		cli_print(&e);
	arena_close(a);
	return ok ? EXIT_YES : EXIT_TROUBLE;
}
