/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NPU_SCHED_INSERT_H
#define NPU_SCHED_INSERT_H

#include "../sched.h"

/* an intermediate tensor */
struct g_operand insert_map(struct graph *g, int type, struct hwc shape);

/*
 * A new g->ops[at], which stands for the same operator of the model as another
 * one.  It moves elements as they are; the caller sets the scale.
 */
struct g_op *insert_op(struct graph *g, size_t at, enum g_op_kind kind,
		       const struct g_op *beside, struct g_operand ifm,
		       struct g_operand ofm);

/* the same of a copy by the DMA engine */
struct g_op *insert_copy(struct graph *g, size_t at, const struct g_op *beside,
			 struct g_operand from, struct g_operand to);

#endif
