/* SPDX-License-Identifier: Apache-2.0 */
/* Describes an operation of a graph in the estimator's terms. */
#ifndef PERF_WORK_H
#define PERF_WORK_H

#include "graph/facts.h"
#include "perf/perf.h"

/* The memory of a tensor, by its place. */
enum mem_area perf_area_of(const struct memory_system *m, const struct g_tensor *t);
/* On U85: true if the operation reads IFM2 as the first operand. */
bool perf_takes_ifm2_first(const struct g_op *op);
/*
 * The work of `rows` OFM rows and `depth` OFM channels of an operation without a chain, as
 * perf/stream.c describes the decoded operation.  The caller sets the block, and the bytes of
 * weights and scales.
 */
struct perf_op perf_work_of(const struct perf_machine *m, const struct g_op *op,
			    struct g_range rows, struct g_range depth);

#endif
