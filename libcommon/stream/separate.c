/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs and outputs that have memory of their own: nputools-tflite(5) 6.8. */
#include "stream/stream.h"

#include "tflite/tflite.h"

/* inputs of an ethos-u operator, base pointers: ethosu-commands(7) 13.3 */
enum { IN_FLASH = 1, IN_SCRATCH, N_SPECIAL = 4, N_REGIONS = 8 };

/* the operator, if it is the whole model and the memory plan has its scratch memory */
static const struct tfl_op *
sole_operator(const struct tfl_model *m)
{
	const struct tfl_op *op = m->subgraph[0].op;
	return m->subgraph[0].n_ops == 1 && npu_is_operator(op) && op->n_in >= N_SPECIAL &&
		       op->in[IN_SCRATCH] >= 0 &&
		       tfl_planned_at(m, 0, op->in[IN_SCRATCH]) >= 0 ? op : NULL;
}

/* bytes outside of the scratch memory that are no tensor of the network */
static bool
is_io_region(const struct tfl_model *m, const struct tfl_op *op, int tensor)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	int scratch = op->in[IN_SCRATCH];
	int64_t end = tfl_planned_at(m, 0, scratch) + tfl_bytes(&g->tensor[scratch]);
	if (tensor < 0 || g->tensor[tensor].type != TFL_UINT8 || g->tensor[tensor].rank != 1 ||
	    g->tensor[tensor].data.p || g->tensor[tensor].is_variable)
		return false;
	for (int i = 0; i < g->n_in + g->n_out; i++)
		if ((i < g->n_in ? g->in[i] : g->out[i - g->n_in]) == tensor)
			return false;
	return tfl_planned_at(m, 0, tensor) >= end;
}

int
stream_io_regions(const struct tfl_model *m)
{
	const struct tfl_op *op = sole_operator(m);
	int n = 0;
	while (op && n < STREAM_IO_REGIONS && N_SPECIAL + n < op->n_in &&
	       is_io_region(m, op, op->in[N_SPECIAL + n]))
		n++;
	return n;
}

int
stream_io_region(const struct tfl_model *m, int k)
{
	return k < stream_io_regions(m) ? m->subgraph[0].op->in[N_SPECIAL + k] : -1;
}

struct stream_place
stream_separate_place(const struct tfl_model *m, int tensor)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	const struct tfl_op *op = sole_operator(m);
	if (!op || tensor < 0 || g->tensor[tensor].data.p)
		return (struct stream_place){ .region = 0 };
	int64_t at = tfl_planned_at(m, 0, tensor);
	/* planned: its place in a region that contains several tensors */
	for (int k = 0; at >= 0 && k < stream_io_regions(m); k++) {
		int region = stream_io_region(m, k);
		int64_t from = tfl_planned_at(m, 0, region);
		if (at >= from && at + tfl_bytes(&g->tensor[tensor]) <=
					  from + tfl_bytes(&g->tensor[region]))
			return (struct stream_place){ .region = N_SPECIAL - IN_FLASH + k,
						      .at = at - from };
	}
	/* Otherwise its own base pointer.  There are eight base pointers, and the first three
	 * have fixed uses. */
	for (int k = N_SPECIAL; at < 0 && k < op->n_in + op->n_out && k - IN_FLASH < N_REGIONS; k++)
		if ((k < op->n_in ? op->in[k] : op->out[k - op->n_in]) == tensor)
			return (struct stream_place){ .region = k - IN_FLASH };
	return (struct stream_place){ .region = 0 };
}
