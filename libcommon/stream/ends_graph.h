/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs and outputs of the finished model, as a graph and its original have them. */
#ifndef STREAM_ENDS_GRAPH_H
#define STREAM_ENDS_GRAPH_H

#include "graph/graph.h"
#include "stream/ends.h"

/* inputs in one run */
int32_t graph_batch(const struct graph *g);
/* the graph's tensor that stands for one of the original's, or NULL */
const struct g_tensor *graph_stand_in(const struct graph *g, int index);
/* index: of the tensors of the original, m; -1: t is none of them */
struct end end_of_graph(const struct graph *g, const struct tfl_model *m,
			const struct g_tensor *t, int index);

#endif
