/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/native.h"

#include "tflite/tflite.h"

#include <string.h>

enum { IS_BIG_ENDIAN = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };

static bool
is_native(const struct tfl_tensor *t, const void *p)
{
	size_t size = (size_t)tfl_type_bytes(t->type);
	return size < 2 || (!IS_BIG_ENDIAN && (uintptr_t)p % size == 0);
}

/*
 * Converts elements of t between the file's byte order and the host's, in either
 * direction.
 */
static void
convert_order(const struct tfl_tensor *t, void *to, const void *from)
{
	size_t n = (size_t)tfl_bytes(t);
	if (!IS_BIG_ENDIAN) {
		memcpy(to, from, n);
		return;
	}
	size_t size = (size_t)tfl_type_bytes(t->type);
	const uint8_t *in = from;
	uint8_t *out = to;
	for (size_t i = 0; i < n; i += size)
		for (size_t k = 0; k < size; k++)
			out[i + k] = in[i + size - 1 - k];
}

/* Returns p if the kernel can use it, else new memory for tensor t. */
static void *
memory_for(struct arena *a, const struct tfl_tensor *t, void *p)
{
	return !p || is_native(t, p)
		   ? p
		   : anew(a, uint64_t, (size_t)tfl_bytes(t) / 8 + 1);
}

/*
 * Returns the kernel's memory for input k, whose own memory is p.  Inputs that are the
 * same tensor share their memory.
 */
static void *
open_input(struct arena *a, const struct tfl_subgraph *g, const struct tfl_op *op,
	   int k, void *p, void *const *before)
{
	const struct tfl_tensor *t = &g->tensor[op->in[k]];
	for (int i = 0; i < k; i++)
		if (op->in[i] == op->in[k])
			return before[i];
	void *own = memory_for(a, t, p);
	if (own != p)
		convert_order(t, own, p);
	return own;
}

struct kernel_io
native_open(struct arena *a, const struct tfl_subgraph *g,
	    const struct tfl_op *op, const struct kernel_io *io)
{
	void **in = anew(a, void *, (size_t)op->n_in + 1);
	void **out = anew(a, void *, (size_t)op->n_out + 1);
	for (int k = 0; k < op->n_in; k++)
		if (op->in[k] >= 0)
			in[k] = open_input(a, g, op, k, io->in[k], in);
	for (int k = 0; k < op->n_out; k++)
		out[k] = memory_for(a, &g->tensor[op->out[k]], io->out[k]);
	return (struct kernel_io){ .in = in, .out = out };
}

void
native_finish(const struct tfl_subgraph *g, const struct tfl_op *op,
	      const struct kernel_io *own, const struct kernel_io *io)
{
	for (int k = 0; k < op->n_in; k++)
		if (own->in[k] != io->in[k] && g->tensor[op->in[k]].is_variable)
			convert_order(&g->tensor[op->in[k]], io->in[k], own->in[k]);
	for (int k = 0; k < op->n_out; k++)
		if (own->out[k] != io->out[k])
			convert_order(&g->tensor[op->out[k]], io->out[k], own->out[k]);
}
