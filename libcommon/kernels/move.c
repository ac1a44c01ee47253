/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that only rename or move elements: RESHAPE, PACK, SPLIT, ... */
#include "kernels/call.h"

#include <string.h>

/* any type of fixed size: bytes are moved, never looked at */
static bool
movable(struct call *c, const struct tfl_tensor *in, const struct tfl_tensor *out)
{
	return call_type(c, in, "input", T_ANY) && call_same_type(c, in, out);
}

/*
 * RESHAPE, SQUEEZE, EXPAND_DIMS: the output's shape in the file is the truth,
 * as it is for TFLite Micro, which can't allocate by computed shapes.
 */
bool
kernel_reshape(struct call *c)
{
	if (!call_arity(c, 1, 2, 1))
		return false;
	const struct tfl_tensor *in = call_in(c, 0), *out = call_out(c, 0);
	if (!movable(c, in, out) || !call_same_count(c, in, out))
		return false;
	memmove(c->io->out[0], c->io->in[0], (size_t)tfl_bytes(out));
	return true;
}
