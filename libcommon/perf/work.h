/* SPDX-License-Identifier: Apache-2.0 */
/* Describes an operation of a graph in the estimator's terms. */
#ifndef PERF_WORK_H
#define PERF_WORK_H

#include "graph/records.h"
#include "perf/perf.h"

/*
 * The work of `rows` OFM rows and `depth` OFM channels of an operation, and of the `links`
 * operations behind it in its chain.  The caller sets the block, and the bytes of weights and
 * scales.
 */
struct perf_op perf_work_of(const struct perf_machine *m, const struct g_op *op, int links,
			    struct g_range rows, struct g_range depth);

#endif
