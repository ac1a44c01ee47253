/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations as the estimators of compilers see them: weights that were cut
 * into slices of the OFM's depth, one kernel each, are one operation again.
 */
#ifndef PERF_LAYER_H
#define PERF_LAYER_H

#include "perf/cost.h"
#include "estimate.h"
#include "known.h"

struct perf_layer {
	struct perf_op op;	      /* of all slices */
	const struct perf_row *first, *last; /* slice */
	double last_npu;	      /* NPU cycles of the last slice, 2.5 */
	size_t next;		      /* row behind the last slice */
	int slices;
	bool buffered;
	enum mem_area source; /* of buffered weights */
	int64_t moved_bytes, first_bytes; /* by transfers for it alone */
	int64_t staged_bytes, first_staged; /* whoever had them fetched */
};

/* the layer that begins with the kernel in row i */
struct perf_layer perf_layer_at(const struct perf_known *known,
				const struct perf_run *run, size_t i);

/*
 * phases.c: a transposed convolution, as Vela 5.1 compiles it for U85: a convolution for
 * every row and column of its stride, each of which writes the pixels of one phase.
 */
struct perf_phases {
	size_t end;	      /* row behind the last of them; 0: there are none */
	int32_t h, w;	      /* of the whole OFM */
	int64_t base;	      /* of its first pixel */
	int64_t row, pixel;   /* bytes from one to the next */
};

/* those that begin with the layer in row i */
struct perf_phases perf_phases_at(const struct perf_known *known,
				  const struct perf_run *run, size_t i);

/*
 * regor85_see.c: the operation of a row, or of slices that begin with it, as Regor saw
 * it.  phases: that the row may be one of
 */
void perf_regor85_see(const struct perf_machine *m, const struct perf_known *known,
		      const struct perf_run *run, const struct perf_phases *phases,
		      const struct perf_row *r, struct perf_op *op);

/*
 * regor85.c: GATHER or SCATTER, the row's transfer by an index.  Neither has cycles
 * there, but the accesses that Regor counts of them.
 */
void perf_regor85_rows(const struct perf_machine *m, const struct perf_known *known,
		       const struct perf_run *run, const struct perf_row *r,
		       struct perf_estimate *out);

/* vela21_stream.c: dma: bytes of the transfers before it, by source; first: no kernel
 * before */
void perf_vela21_layer(const struct perf_machine *m, const struct perf_layer *l,
		       const double dma[MEM_AREAS], bool first,
		       struct perf_estimate *e);

#endif
