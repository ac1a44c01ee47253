/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations as the estimators of compilers see them: weights that were cut
 * into slices of the OFM's depth, one kernel each, are one operation again.
 */
#ifndef PERF_LAYER_H
#define PERF_LAYER_H

#include "perf/cost.h"
#include "estimate.h"

struct perf_layer {
	struct perf_op op;	      /* of all slices */
	const struct perf_row *first, *last; /* slice */
	double last_npu;	      /* NPU cycles of the last slice, 2.5 */
	size_t next;		      /* row behind the last slice */
	int slices;
	bool buffered;
	enum mem_area source; /* of buffered weights */
	int64_t moved_bytes, first_bytes; /* by transfers for it alone */
};

/* the layer that begins with the kernel in row i */
struct perf_layer perf_layer_at(const struct perf_run *run, size_t i);

/* dma: bytes of the transfers before it, by source; first: no kernel before */
void perf_vela21_layer(const struct perf_machine *m, const struct perf_layer *l,
		       const double dma[MEM_AREAS], bool first,
		       struct perf_estimate *e);

#endif
