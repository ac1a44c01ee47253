/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory as the host reads numbers: aligned, in its byte order.  Everywhere else
 * elements are little-endian, and constants lie anywhere (kernels.h).  Private to
 * libcommon/kernels.
 */
#ifndef KERNELS_NATIVE_H
#define KERNELS_NATIVE_H

#include "base/arena.h"
#include "kernels/kernels.h"

/*
 * What the kernel gets in place of io: the same memory where it is so already,
 * copies of a's for what is not.
 */
struct kernel_io native_open(struct arena *a, const struct tfl_subgraph *g,
			     const struct tfl_op *op, const struct kernel_io *io);

/* after the kernel: from the copies of outputs and variables back to io */
void native_finish(const struct tfl_subgraph *g, const struct tfl_op *op,
		   const struct kernel_io *own, const struct kernel_io *io);

#endif
