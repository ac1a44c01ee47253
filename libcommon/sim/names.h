/* SPDX-License-Identifier: Apache-2.0 */
/* What the source calls the operations of a compiled model: for messages. */
#ifndef SIM_NAMES_H
#define SIM_NAMES_H

#include "stream/map.h"

/* the map of m; NULL, and no error, where it or a stream can't be read */
const struct npu_map *sim_names(struct arena *a, const struct tfl_model *m);

/* the operations of operator op_index of the first subgraph; NULL: no map */
const struct map_command *sim_names_of(const struct npu_map *m,
				       const struct tfl_subgraph *g,
				       int op_index);

#endif
