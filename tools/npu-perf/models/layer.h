/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joins operations as the estimators of compilers see them: slices of the OFM's depth,
 * which have one kernel each, become one operation again.
 */
#ifndef PERF_LAYER_H
#define PERF_LAYER_H

#include "perf/cost.h"
#include "estimate.h"
#include "operand_info.h"

struct perf_layer {
	struct perf_op op;	      /* of all slices together */
	const struct perf_row *first, *last; /* slices */
	double last_npu;	      /* NPU cycles of the last slice */
	size_t next;		      /* the row after the last slice */
	int slices;
	bool buffered;
	enum mem_area source; /* memory that buffered weights come from */
	/*
	 * bytes that transfers for this layer alone fetch: for all slices; for the
	 * first slice
	 */
	int64_t moved_bytes, first_bytes;
	/*
	 * bytes of constants in buffers, also of those fetched for another layer: of
	 * all slices; of the first slice
	 */
	int64_t staged_bytes, first_staged;
};

/* Returns the layer whose first kernel is in row i. */
struct perf_layer perf_layer_at(const struct perf_operand_info *operand_info,
				const struct perf_run *run, size_t i);

/*
 * phases.c: a transposed convolution as Vela 5.1 compiles it for U85.  It has one
 * convolution for every row and column of its stride; each of them writes the pixels of
 * one phase.
 */
struct perf_phases {
	/* the row after the last convolution; 0: not a transposed convolution */
	size_t end;
	int32_t h, w;	      /* of the whole OFM */
	int64_t base;	      /* address of the OFM's first pixel */
	int64_t row, pixel;   /* bytes from one row, one pixel to the next */
};

/* Returns the transposed convolution whose first layer begins in row i. */
struct perf_phases perf_phases_at(const struct perf_operand_info *operand_info,
				  const struct perf_run *run, size_t i);

/*
 * regor85_see.c: changes op, the operation of row r or of slices that begin in r, to
 * the shapes that Regor estimated. phases is the transposed convolution that r may
 * belong to.
 */
void perf_regor85_see(const struct perf_machine *m, const struct perf_operand_info *operand_info,
		      const struct perf_run *run, const struct perf_phases *phases,
		      const struct perf_row *r, struct perf_op *op);

/*
 * regor85.c: GATHER or SCATTER, a transfer of the row by an index.  Regor gives them no
 * cycles, but counts their accesses.
 */
void perf_regor85_rows(const struct perf_machine *m, const struct perf_operand_info *operand_info,
		       const struct perf_run *run, const struct perf_row *r,
		       struct perf_estimate *out);

/*
 * vela21_stream.c: dma has the bytes of the transfers before the layer, by source.
 * first: no kernel runs before the layer.
 */
void perf_vela21_layer(const struct perf_machine *m, const struct perf_layer *l,
		       const double dma[MEM_AREAS], bool first,
		       struct perf_estimate *e);

#endif
