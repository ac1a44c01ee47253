/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: tfl-tosa [-s] MODEL.tflite >graph.tosa
 *
 * -s: single rounding, as ExecuTorch writes it, instead of TFLite's.  A SOFTMAX that is the
 * network's last operator is left out, with a note: TOSA's decomposition is other work than
 * TFLite's operator.  Status 1 names an operator that cannot be converted to TOSA.
 */
#include "base/cli.h"
#include "base/file.h"
#include "turn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 16 }; /* the largest number of tensors and operators that one operator becomes */

static const struct {
	int code;
	turn_fn *run;
} turns[] = {
	{ TFL_CONV_2D, turn_conv },
	{ TFL_DEPTHWISE_CONV_2D, turn_depthwise },
	{ TFL_TRANSPOSE_CONV, turn_transpose_conv },
	{ TFL_FULLY_CONNECTED, turn_full },
	{ TFL_AVERAGE_POOL_2D, turn_pool },
	{ TFL_MAX_POOL_2D, turn_pool },
	{ TFL_MEAN, turn_mean },
	{ TFL_ADD, turn_sum },
	{ TFL_SUB, turn_sum },
	{ TFL_LEAKY_RELU, turn_leaky_relu },
	{ TFL_QUANTIZE, turn_quantize },
	{ TFL_RESHAPE, turn_reshape },
	{ TFL_PAD, turn_pad },
	{ TFL_STRIDED_SLICE, turn_slice },
};

const struct tfl_tensor *
in_of(const struct turn *t, const struct tfl_op *op, int k)
{
	return &t->s->tensor[op->in[k]];
}

const struct tfl_tensor *
out_of(const struct turn *t, const struct tfl_op *op)
{
	return &t->s->tensor[op->out[0]];
}

void *
refuse(struct turn *t, const char *why)
{
	t->why = t->why ? t->why : why;
	return NULL;
}

int
value_of(struct turn *t, int tensor)
{
	const struct tfl_tensor *x = &t->s->tensor[tensor];
	if (t->value[tensor] < 0 && x->data.p && tosa_of(x->type) != TOSA_UNKNOWN &&
	    x->rank <= TOSA_MAX_RANK) {
		int64_t n = tfl_elements(x), *v = anew(t->g->a, int64_t, (size_t)n);
		for (int64_t i = 0; i < n; i++)
			v[i] = number_of(x, i);
		t->value[tensor] =
		    gen_const(t->g, tosa_of(x->type), x->rank, x->dim, v);
	}
	if (t->value[tensor] < 0)
		refuse(t, "an operand is of a type or rank that TOSA does not have");
	return t->value[tensor] < 0 ? 0 : t->value[tensor];
}

static bool
is_last(const struct turn *t, int i)
{
	return i == t->s->n_ops - 1 && t->s->n_out == 1 &&
	       t->s->op[i].out[0] == t->s->out[0];
}

static bool
turn_op(struct turn *t, int i)
{
	const struct tfl_op *op = &t->s->op[i];
	if (op->code == TFL_SOFTMAX && is_last(t, i)) {
		t->value[op->out[0]] = value_of(t, op->in[0]);
		(void)fprintf(stderr, "tfl-tosa: SOFTMAX left out: its input is the output\n");
		return !t->why;
	}
	for (size_t k = 0; k < sizeof(turns) / sizeof(*turns); k++)
		if (turns[k].code == op->code) {
			int y = turns[k].run(t, op);
			t->value[op->out[0]] = y;
			return !t->why;
		}
	refuse(t, "not one that tfl-tosa turns into TOSA");
	return false;
}

static bool
add_inputs(struct turn *t)
{
	for (int i = 0; i < t->s->n_in; i++) {
		const struct tfl_tensor *x = &t->s->tensor[t->s->in[i]];
		if (tosa_of(x->type) == TOSA_UNKNOWN || x->rank > TOSA_MAX_RANK)
			return false;
		/* a computed output shape is no operand in TOSA */
		if (x->type == TFL_INT32 && !x->quant.n_scale)
			continue;
		int y = gen_new(t->g, tosa_of(x->type), x->rank, x->dim);
		t->value[t->s->in[i]] = t->g->in[t->g->n_in++] = y;
	}
	return true;
}

static int
turn_all(struct turn *t, const char *name, struct bytes *file, struct err *e)
{
	if (t->s->n_ops > MAX_OPS / ROOM || !add_inputs(t)) {
		(void)fprintf(stderr, "tfl-tosa: %s: too large, or an input of a type that "
			      "TOSA does not have\n", name);
		return EXIT_NO;
	}
	for (int i = 0; i < t->s->n_ops; i++)
		if (!turn_op(t, i)) {
			(void)fprintf(stderr, "tfl-tosa: %s: operator %d %s: %s\n", name, i,
				      tfl_op_label(&t->s->op[i]), t->why);
			return EXIT_NO;
		}
	for (int i = 0; i < t->s->n_out; i++)
		t->g->out[t->g->n_out++] = value_of(t, t->s->out[i]);
	return gen_file(t->g, file, e) ? EXIT_YES : EXIT_TROUBLE;
}

static int
run(struct arena *a, struct turn *t, const char *name)
{
	struct tfl_model *m;
	struct bytes file = { 0 };
	struct err e = { 0 };
	if (!tfl_read_file(a, name, &m, &e)) {
		cli_print(&e);
		return EXIT_TROUBLE;
	}
	t->s = &m->subgraph[0];
	t->value = anew(a, int, (size_t)t->s->n_tensors);
	memset(t->value, 0xff, sizeof(int) * (size_t)t->s->n_tensors);
	int status = turn_all(t, name, &file, &e);
	if (status == EXIT_YES &&
	    (fwrite(file.p, 1, file.n, stdout) != file.n || fflush(stdout)))
		status = EXIT_TROUBLE;
	return status;
}

int
main(int argc, char **argv)
{
	bool single = argc == 3 && !strcmp(argv[1], "-s");
	if (argc != 2 + single) {
		(void)fprintf(stderr, "usage: tfl-tosa [-s] MODEL.tflite >graph.tosa\n");
		return EXIT_TROUBLE;
	}
	struct arena *a = arena_open();
	struct turn t = { .g = anew(a, struct gen, 1), .single = single };
	t.g->a = a;
	t.g->w = fbw_open();
	int status = run(a, &t, argv[argc - 1]);
	fbw_close(t.g->w);
	arena_close(a);
	return status;
}
