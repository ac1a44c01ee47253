/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts tensors to the host's alignment and byte order for a kernel, and back.
 * Outside of kernels, elements are little-endian and constants may have any address
 * (kernels.h).  Private to libcommon/kernels.
 */
#ifndef KERNELS_NATIVE_H
#define KERNELS_NATIVE_H

#include "base/arena.h"
#include "kernels/kernels.h"

/*
 * Returns the memory that a kernel uses in place of io: the same memory if it is
 * already aligned and in the host's byte order, else copies in arena a.
 */
struct kernel_io native_open(struct arena *a, const struct tfl_subgraph *g,
			     const struct tfl_op *op, const struct kernel_io *io);

/* Copies outputs and variables back to io after the kernel has run. */
void native_finish(const struct tfl_subgraph *g, const struct tfl_op *op,
		   const struct kernel_io *own, const struct kernel_io *io);

#endif
