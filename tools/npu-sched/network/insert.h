/* SPDX-License-Identifier: Apache-2.0 */
/* insert.c: operations that npu-sched adds to the graph. */
#ifndef NPU_SCHED_INSERT_H
#define NPU_SCHED_INSERT_H

#include "../sched.h"

/*
 * Inserts an operation as g->ops[at], for the same operator of the model as `beside`.  It does
 * not change values; the caller sets the scale.
 */
struct g_op *insert_op(struct graph *g, size_t at, enum g_op_kind kind,
		       const struct g_op *beside, struct g_operand ifm,
		       struct g_operand ofm);

/* Inserts a copy by the DMA engine. */
struct g_op *insert_copy(struct graph *g, size_t at, const struct g_op *beside,
			 struct g_operand from, struct g_operand to);

#endif
