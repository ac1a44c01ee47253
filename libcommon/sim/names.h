/* SPDX-License-Identifier: Apache-2.0 */
/* Names of a compiled model's operations as in its source model, for messages. */
#ifndef SIM_NAMES_H
#define SIM_NAMES_H

#include "map/map.h"

struct tfl_subgraph;

/*
 * The source map of m; NULL, without an error, if the source map or a stream can't be
 * read.
 */
const struct npu_map *sim_names(struct arena *a, const struct tfl_model *m);

/* The operations of operator op_index of the first subgraph; NULL: no source map. */
const struct map_command *sim_names_of(const struct npu_map *m,
				       const struct tfl_subgraph *g,
				       int op_index);

#endif
