/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts values between float32 and the integers of a quantized tensor.  The
 * reference kernels of QUANTIZE and DEQUANTIZE do this, as in a model with float inputs
 * and outputs.
 */
#include "kernels/kernels.h"
#include "inference/inference.h"

#include <string.h>

bool
float_and_quantized(const struct tfl_tensor *a, const struct tfl_tensor *b)
{
	bool first = a->type == TFL_FLOAT32;
	const struct tfl_tensor *f = first ? a : b, *q = first ? b : a;
	return tfl_elements(a) == tfl_elements(b) && f->type == TFL_FLOAT32 &&
	       (q->type == TFL_INT8 || q->type == TFL_UINT8 || q->type == TFL_INT16) &&
	       q->quant.n_scale == 1 && q->quant.n_zero == 1;
}

bool
same_type(const struct tfl_tensor *a, const struct tfl_tensor *b)
{
	return a->type == b->type || (a->type == TFL_BOOL && b->type == TFL_INT8) ||
	       (a->type == TFL_INT8 && b->type == TFL_BOOL);
}

struct tfl_tensor
as_float32(const struct tfl_tensor *t)
{
	struct tfl_tensor f = *t;
	f.type = TFL_FLOAT32;
	f.quant = (struct tfl_quant){ 0 };
	return f;
}

bool
convert_type(const struct tfl_tensor *from, const void *in,
	     const struct tfl_tensor *to, void *out, struct err *e)
{
	static const int first = 0, second = 1;
	struct tfl_tensor t[] = { *from, *to };
	struct tfl_op op = { .code = from->type == TFL_FLOAT32 ? TFL_QUANTIZE
							       : TFL_DEQUANTIZE,
			     .n_in = 1, .n_out = 1, .in = &first, .out = &second };
	const struct tfl_subgraph g = { .n_tensors = 2, .n_ops = 1, .tensor = t,
					.op = &op };
	void *ins[] = { (void *)(uintptr_t)in }, *outs[] = { out };
	const struct kernel_io io = { .in = ins, .out = outs };
	return kernel_eval(&g, &op, &io, e);
}

const struct tfl_tensor *
behind_quantize(const struct tfl_subgraph *g, int tensor)
{
	for (int i = 0; g->tensor[tensor].type == TFL_FLOAT32 && i < g->n_ops; i++) {
		const struct tfl_op *op = &g->op[i];
		if (op->code == TFL_QUANTIZE && op->n_in == 1 && op->n_out == 1 &&
		    op->in[0] == tensor &&
		    float_and_quantized(&g->tensor[tensor], &g->tensor[op->out[0]]))
			return &g->tensor[op->out[0]];
	}
	return NULL;
}
