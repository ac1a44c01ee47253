/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of 48 bits can't be stored for the NPU to read again: each RESCALE of them
 * gets an operator of its own that makes them.
 */
#include "part.h"

#include <string.h>

static bool
has_sums(const struct tosa_graph *g, const struct tosa_op *op)
{
	const struct tosa_tensor *t = tosa_out(g, op);
	return t->type == TOSA_INT48 && !t->is_output && t->uses > 1 &&
	       (op->code == TOSA_CONV2D || op->code == TOSA_DEPTHWISE_CONV2D ||
		op->code == TOSA_TRANSPOSE_CONV2D || op->code == TOSA_MATMUL);
}

void
split_sums(struct arena *a, struct tosa_graph *g)
{
	int extra = 0, n = g->n_tensors, n_ops = g->n_ops;
	for (int i = 0; i < n_ops; i++)
		extra += has_sums(g, &g->op[i]) ? tosa_out(g, &g->op[i])->uses - 1 : 0;
	if (!extra)
		return;
	const struct tosa_op *old = g->op;
	const struct tosa_tensor *tensor = g->tensor;
	/* index of the first copy of each tensor; 0: none */
	int *first = anew(a, int, (size_t)n);
	g->tensor = anew(a, struct tosa_tensor, (size_t)(n + extra));
	g->op = anew(a, struct tosa_op, (size_t)(n_ops + extra));
	memcpy(g->tensor, tensor, (size_t)n * sizeof(*tensor));
	g->n_ops = 0;
	for (int i = 0; i < n_ops; i++) {
		int t = old[i].out[0], copies = 0;
		if (has_sums(g, &old[i]))
			copies = g->tensor[t].uses - 1;
		g->op[g->n_ops++] = old[i];
		for (int k = 0; k < copies; k++) {
			struct tosa_op *op = &g->op[g->n_ops++];
			*op = old[i];
			/* a new tensor like its result is its result */
			int *out = anew(a, int, 1);
			*out = g->n_tensors++;
			g->tensor[*out] = g->tensor[t];
			g->tensor[*out].uses = 1;
			op->out = out;
			first[t] = first[t] ? first[t] : *out;
		}
		if (copies)
			g->tensor[t].uses = 1;
	}
	/* all readers of t except the first one read the copies from first[t] on */
	int *seen = anew(a, int, (size_t)n);
	for (int i = 0; i < g->n_ops; i++) {
		struct tosa_op *op = &g->op[i];
		for (int k = 0; k < op->n_in; k++) {
			int t = op->in[k];
			if (t >= n || !first[t] || !seen[t]++)
				continue;
			int *in = anew(a, int, (size_t)op->n_in);
			memcpy(in, op->in, (size_t)op->n_in * sizeof(*in));
			in[k] = first[t] + seen[t] - 2;
			op->in = in;
		}
	}
	for (int i = 0; i < g->n_ops; i++)
		g->tensor[g->op[i].out[0]].producer = i;
}
