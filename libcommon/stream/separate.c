/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs and outputs that have memory of their own: nputools-tflite(5). */
#include "stream/stream.h"

/* inputs of an ethos-u operator, base pointers: ethosu-commands(7) 13.3 */
enum { IN_FLASH = 1, IN_SCRATCH, N_SPECIAL = 4, N_REGIONS = 8 };

/*
 * The base pointer of a tensor of the operator; 0: none.  There are eight base pointers,
 * and the first three have fixed uses.
 */
static int
region_of(const struct tfl_op *op, int tensor)
{
	for (int k = N_SPECIAL; k < op->n_in + op->n_out && k - IN_FLASH < N_REGIONS; k++)
		if ((k < op->n_in ? op->in[k] : op->out[k - op->n_in]) == tensor)
			return k - IN_FLASH;
	return 0;
}

int
stream_separate_region(const struct tfl_model *m, int tensor)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	const struct tfl_op *op = g->op;
	if (g->n_ops != 1 || !npu_is_operator(op) || op->n_in < N_SPECIAL ||
	    op->in[IN_SCRATCH] < 0 || tensor < 0 || g->tensor[tensor].data.p)
		return 0;
	int region = region_of(op, tensor);
	return region && tfl_planned_at(m, op->in[IN_SCRATCH]) >= 0 &&
		       tfl_planned_at(m, tensor) < 0 ? region : 0;
}
