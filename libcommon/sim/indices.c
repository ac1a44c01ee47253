/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds inputs that are indices, and how many things they index: npu-sim(1), RANDOM
 * INPUTS.
 */
#include "sim/sim.h"

#include "tflite/fields.h"
#include "tflite/tflite.h"

/*
 * The smallest of the first n extents: any number of an index tuple may select along any
 * of these axes.
 */
static int64_t
least_extent(const struct tfl_tensor *t, int64_t n)
{
	int64_t least = 0;
	for (int d = 0; d < t->rank && d < n; d++)
		if (!d || t->dim[d] < least)
			least = t->dim[d];
	return least;
}

/* How many things input k of op selects from; 0: the input has no indices. */
static int64_t
count_choices(const struct tfl_subgraph *g, const struct tfl_op *op, int k)
{
	const struct tfl_tensor *from = tfl_input(g, op, !k);
	const struct tfl_tensor *at = tfl_input(g, op, k);
	int64_t axis;
	if (!from || !at || !op->n_out)
		return 0;
	/* how many numbers of a tensor of indices make one index tuple */
	int64_t tuple = at->rank ? at->dim[at->rank - 1] : 0;
	switch (op->code) {
	case TFL_GATHER:
		axis = TFL_OPT(op, GatherOptions, axis);
		axis += axis < 0 ? from->rank : 0;
		return k == 1 && axis >= 0 && axis < from->rank ? from->dim[axis] : 0;
	case TFL_GATHER_ND:
		return k == 1 ? least_extent(from, tuple) : 0;
	case TFL_SCATTER_ND:
		return k == 0 ? least_extent(&g->tensor[op->out[0]], tuple) : 0;
	case TFL_EMBEDDING_LOOKUP:
		return k == 0 ? least_extent(from, 1) : 0;
	default:
		return 0;
	}
}

int64_t *
sim_indices(struct arena *a, const struct tfl_subgraph *g)
{
	int64_t *n = anew(a, int64_t, (size_t)g->n_tensors);
	/*
	 * the last operator first, because readers follow the operators that write their
	 * inputs
	 */
	for (int i = g->n_ops - 1; i >= 0; i--) {
		const struct tfl_op *op = &g->op[i];
		bool keeps_values = op->n_out == 1 &&
				    (op->code == TFL_RESHAPE || op->code == TFL_SQUEEZE ||
				     op->code == TFL_EXPAND_DIMS || op->code == TFL_CAST);
		for (int k = 0; k < op->n_in; k++) {
			int t = op->in[k];
			int64_t m = k == 0 && keeps_values ? n[op->out[0]]
							   : count_choices(g, op, k);
			if (t >= 0 && m && (!n[t] || m < n[t]))
				n[t] = m;
		}
	}
	return n;
}
