/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: float-model INTEGER.tflite FLOAT.tflite: writes the float version of an integer
 * model, in which every quantized tensor is FLOAT32, for the tests of tfl-quantize.
 */
#include "base/cli.h"
#include "base/file.h"
#include "base/little_endian.h"
#include "kernels/kernels.h"
#include "real/real.h"
#include "tflite/write.h"

#include <stdio.h>

static struct bytes
floats_of(struct arena *a, const struct tfl_tensor *t)
{
	size_t n = (size_t)tfl_elements(t);
	double *v = anew(a, double, n + 1);
	uint8_t *p = arena_alloc(a, n + 1, 4);
	real_from_elements(t, t->data.p, v);
	for (size_t i = 0; i < n; i++)
		store_f32(p + 4 * i, (float)v[i]);
	return (struct bytes){ .p = p, .n = 4 * n };
}

static void
add_tensors(struct arena *a, const struct tfl_subgraph *g, struct tflw_model *m,
	    struct tflw_subgraph *to)
{
	to->tensor = anew(a, struct tflw_tensor, (size_t)g->n_tensors + 1);
	for (int i = 0; i < g->n_tensors; i++) {
		const struct tfl_tensor *t = &g->tensor[i];
		struct tflw_tensor *w = &to->tensor[to->n_tensors++];
		struct bytes data = t->data;
		w->t = *t;
		if (is_real(t)) {
			data = t->data.p ? floats_of(a, t) : data;
			w->t.type = TFL_FLOAT32;
			w->t.quant = (struct tfl_quant){ 0 };
		}
		if (data.p) {
			w->buffer = (uint32_t)m->n_buffers;
			m->buffer[m->n_buffers++] = data;
		}
	}
}

static void
add_ops(struct arena *a, const struct tfl_subgraph *g, struct tflw_model *m,
	struct tflw_subgraph *to)
{
	to->op = anew(a, struct tflw_op, (size_t)g->n_ops + 1);
	for (int i = 0; i < g->n_ops; i++) {
		const struct tfl_op *op = &g->op[i];
		m->opcode[m->n_opcodes] = (struct tflw_opcode){ .code = op->code, .version = 1,
								.custom = op->custom };
		to->op[to->n_ops++] = (struct tflw_op){
			.from = op->ref, .opcode = (uint32_t)m->n_opcodes++,
			.n_in = op->n_in, .in = op->in, .n_out = op->n_out, .out = op->out };
	}
}

/*
 * Biases of an LSTM may lack a scale in the file: the scale of the input times that of the
 * weights counts.
 */
static void
decode_biases(struct arena *a, const struct tfl_subgraph *g)
{
	for (int i = 0; i < g->n_ops; i++) {
		const struct tfl_op *op = &g->op[i];
		bool lstm = op->code == TFL_UNIDIRECTIONAL_SEQUENCE_LSTM;
		for (int k = 0; lstm && k < LSTM_N_GATES; k++) {
			struct tfl_tensor *b = &g->tensor[op->in[LSTM_BIAS + k]];
			float *scale = anew(a, float, 1);
			*scale = g->tensor[op->in[LSTM_X]].quant.scale[0] *
				 g->tensor[op->in[LSTM_WEIGHTS + k]].quant.scale[0];
			b->quant = (struct tfl_quant){ .n_scale = 1, .scale = scale };
		}
	}
}

/* Subgraphs that are kept: those of CALL_ONCE.  Others are drawn to test readers. */
static int
count_subgraphs(const struct tfl_model *m)
{
	for (int i = 0; i < m->subgraph[0].n_ops; i++)
		if (m->subgraph[0].op[i].code == TFL_CALL_ONCE)
			return m->n_subgraphs;
	return 1;
}

static bool
convert(struct arena *a, char **argv, struct err *e)
{
	struct tfl_model *m;
	struct bytes file;
	if (!model_read_file(a, argv[1], &m, e))
		return false;
	size_t n_tensors = 0, n_ops = 0;
	const int n = count_subgraphs(m);
	for (int i = 0; i < n; i++) {
		n_tensors += (size_t)m->subgraph[i].n_tensors;
		n_ops += (size_t)m->subgraph[i].n_ops;
	}
	struct tflw_model w = { .n_subgraphs = n, .n_buffers = 1,
				.subgraph = anew(a, struct tflw_subgraph, (size_t)n),
				.buffer = anew(a, struct bytes, n_tensors + 1),
				.opcode = anew(a, struct tflw_opcode, n_ops + 1) };
	for (int i = 0; i < n; i++) {
		const struct tfl_subgraph *g = &m->subgraph[i];
		w.subgraph[i] = (struct tflw_subgraph){ .name = g->name, .in = g->in, .n_in = g->n_in,
							.out = g->out, .n_out = g->n_out };
		decode_biases(a, g);
		add_tensors(a, g, &w, &w.subgraph[i]);
		add_ops(a, g, &w, &w.subgraph[i]);
	}
	return tfl_write(a, &w, &file, e) && file_write(argv[2], file.p, file.n, true, e);
}

int
main(int argc, char **argv)
{
	struct arena *a = arena_open();
	struct err e = { 0 };
	if (argc != 3) {
		fprintf(stderr, "usage: float-model INTEGER.tflite FLOAT.tflite\n");
		return EXIT_TROUBLE;
	}
	if (!convert(a, argv, &e))
		cli_print(&e);
	arena_close(a);
	return e.status;
}
