/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Regor 5.1 computes alike for the units of the NPU and for U85's: ethosu-timing(7)
 * 4, 22 and 23.  parts: what a block is divided among, cores or U85's weight streams.
 */
#ifndef PERF_REGOR_H
#define PERF_REGOR_H

#include "estimate.h"
#include "perf/cost.h"

/* bytes a cycle; bandwidths are 32-bit floats there */
double regor_rate(const struct perf_machine *m, enum mem_area area);

/*
 * 4.1, the table of 22: what transfers of so many bytes (or elements: 4.5, 25) of a
 * map cost more by bursts that are not filled; the stride compared is the pixel's
 */
double regor_transfer(const struct perf_machine *m, const struct perf_map *f, bool write,
		      struct hwc block, double bytes, int parts);

/* cycles that one block needs of its memories, latency included */
struct block_memory regor_block_memory(const struct perf_machine *m,
				       const struct perf_op *op, int parts);

/* an elementwise operation whose element takes `each` cycles of output */
double regor_elementwise(const struct perf_machine *m, const struct perf_op *op,
			 double each, int parts);

/*
 * 4.3, 23: n blocks of mac cycles, of which each element takes `each` cycles of
 * output, filled and drained
 */
double regor_blocks(const struct perf_machine *m, const struct perf_op *op,
		    const struct perf_tiling *t, double mac, double each, double n,
		    int parts);

#endif
