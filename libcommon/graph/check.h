/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files that check a graph.  Private to libcommon/graph. */
#ifndef GRAPH_CHECK_H
#define GRAPH_CHECK_H

#include "graph/graph.h"

struct check {
	struct arena *a; /* scratch */
	const struct graph *g;
	struct err *e;
};

#define BAD(c, r, ...) graph_err((c)->g, r, (c)->e, __VA_ARGS__)

/* check_native.c: a matmul, a reorder, an argmax, a resize */
bool check_native(struct check *c, const struct g_op *op);
/* and the decoder that an operation's weights are for */
bool check_decoder(struct check *c, const struct g_op *op);
/* check_model.c: one tensor for each of the original */
bool check_stand_ins(struct check *c);
/* check_sources.c: what is read has been written */
bool check_sources(struct check *c);
/* check_layouts.c: layouts where others than the NPU look */
bool check_layouts(struct check *c);
/* check_steps.c: each step by itself */
bool check_steps(struct check *c);
/* check_loops.c: nodes of a loop, and what lives as long as it */
bool check_loops(struct check *c);
/* check_chains.c: a step of a chain, and those before it */
bool check_chain_of(struct check *c, const struct g_step *s);
/* check_schedule.c: every operation runs, once, behind what it needs */
bool check_schedule(struct check *c);
/* check_overlap.c: what is live at one time has bytes of its own */
bool check_overlap(struct check *c);
/* check_separate.c: memory of its own that an input or output has */
bool check_separate(struct check *c);
/* check_areas.c: what is placed lies within its area */
bool check_areas(struct check *c);

#endif
