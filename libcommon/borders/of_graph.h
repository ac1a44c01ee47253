/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs and outputs of the finished model, taken from a graph and its original model. */
#ifndef BORDERS_OF_GRAPH_H
#define BORDERS_OF_GRAPH_H

#include "borders/borders.h"
#include "graph/records.h"

/* Inputs in one run. */
int32_t graph_batch(const struct graph *g);
/* The graph's tensor that stands for a tensor of the original model, or NULL. */
struct g_tensor *graph_tensor_of_tfl(const struct graph *g, int index);
/*
 * Describes border tensor t.  index is its tensor in the original model m; -1: t stands
 * for none.
 */
struct border_tensor border_of_graph(const struct graph *g, const struct tfl_model *m,
			const struct g_tensor *t, int index);

#endif
