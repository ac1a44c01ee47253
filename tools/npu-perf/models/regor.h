/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of Regor 5.1's estimate that all generations share: ethosu-timing(7) 4, 22
 * and 23. parts: the number of units that share a block, cores or U85's weight streams.
 */
#ifndef PERF_REGOR_H
#define PERF_REGOR_H

#include "estimate.h"
#include "perf/cost.h"

/* bytes per cycle, rounded to a 32-bit float like Regor's bandwidths */
double regor_rate(const struct perf_machine *m, enum mem_area area);

/*
 * ethosu-timing(7) 4.1, and the table of ethosu-timing(7) 22: the bytes of a transfer
 * (or its elements, for ethosu-timing(7) 4.5 and 25) of a feature map, increased if its
 * bursts are not filled.  The stride that is compared is that of a pixel.
 */
double regor_transfer(const struct perf_machine *m, const struct perf_fm *f, bool write,
		      struct hwc block, double bytes, int parts);

/* cycles of one block's memory accesses, with latency */
struct block_memory regor_block_memory(const struct perf_machine *m,
				       const struct perf_op *op, int parts);

/* cycles of an elementwise operation with `each` output cycles per element */
double regor_elementwise(const struct perf_machine *m, const struct perf_op *op,
			 double each, int parts);

/*
 * ethosu-timing(7) 4.3, 23: cycles of n blocks of mac cycles and `each` output cycles
 * per element, with fill and drain
 */
double regor_blocks(const struct perf_machine *m, const struct perf_op *op,
		    const struct perf_tiling *t, double mac, double each, double n,
		    int parts);

#endif
