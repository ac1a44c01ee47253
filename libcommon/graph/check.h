/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that check a graph.  Private to libcommon/graph. */
#ifndef GRAPH_CHECK_H
#define GRAPH_CHECK_H

#include "graph/graph.h"

struct check {
	struct arena *a; /* scratch memory */
	const struct graph *g;
	struct err *e;
};

#define BAD(c, r, ...) graph_err((c)->g, r, (c)->e, __VA_ARGS__)

/* check_native.c: matmul, reorder, argmax, resize, gather, scatter */
bool check_native(struct check *c, const struct g_op *op);
/* check_native.c: the weight decoder that an operation uses */
bool check_decoder(struct check *c, const struct g_op *op);
/* check_model.c: each original tensor has at most one tensor here */
bool check_stand_ins(struct check *c);
/* check_sources.c: everything that is read was written before */
bool check_sources(struct check *c);
/* check_layouts.c: layouts of tensors that not only the NPU accesses */
bool check_layouts(struct check *c);
/* check_steps.c: each step on its own */
bool check_steps(struct check *c);
/* check_loops.c: nodes of a loop, and live ranges across its turns */
bool check_loops(struct check *c);
/* check_chains.c: a step that continues a chain, and the steps before it */
bool check_chain_of(struct check *c, const struct g_step *s);
/* check_schedule.c: every operation runs once, after those that it needs */
bool check_schedule(struct check *c);
/* check_overlap.c: tensors and buffers that are live together do not overlap */
bool check_overlap(struct check *c);
/* check_separate.c: border tensors with memory of their own */
bool check_separate(struct check *c);
/* check_areas.c: everything with an address is inside its area */
bool check_areas(struct check *c);

#endif
