/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/names.h"

#include "stream/stream.h"
#include "tflite/tflite.h"

const struct npu_map *
sim_names(struct arena *a, const struct tfl_model *m)
{
	const struct npu_map *map = NULL;
	struct npu_stream *streams;
	struct err none = { 0 };
	bool stale;
	int n;
	if (!tfl_metadata(m, MAP_METADATA).p || !stream_find(a, m, &streams, &n, &none))
		return NULL;
	return map_find(a, m, streams, n, &map, &stale, &none) ? map : NULL;
}

const struct map_command *
sim_names_of(const struct npu_map *m, const struct tfl_subgraph *g, int op_index)
{
	int k = 0;
	for (int i = 0; i < op_index; i++)
		k += npu_is_operator(&g->op[i]) && !npu_is_guard(g, &g->op[i]);
	return m ? map_commands(m, k) : NULL;
}
