/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the source map in a compiled model, and compares the source map with the
 * model's streams.
 */
#include "map/map.h"

#include "base/text.h"
#include "stream/op.h"
#include "stream/stream.h"
#include "tflite/tflite.h"

#include <string.h>

const struct map_command *
map_commands(const struct npu_map *m, int k)
{
	const struct map_command *c = m->commands;
	for (int i = 0; i < k; i++)
		c += m->streams[i].commands;
	return c;
}

const struct map_command *
map_command_at(const struct npu_map *m, int k, size_t word)
{
	const struct map_command *c = map_commands(m, k);
	for (int64_t i = 0; i < m->streams[k].commands; i++)
		if ((size_t)c[i].at >= word)
			return &c[i];
	return NULL;
}

const char *
map_label(struct arena *a, const struct map_command *c)
{
	const char *name = c->name;
	if (c->what == MAP_COPY)
		return arena_printf(a, "copy %s", name);
	if (c->what == MAP_FETCH)
		return arena_printf(a, "fetch %s.%lld", name, (long long)c->slice);
	return c->what == MAP_UPLOAD ? arena_printf(a, "table %s", name) : name;
}

int
map_npu_layers(const struct npu_map *m)
{
	int n = 0;
	for (size_t i = 0; i < m->n_layers; i++)
		n += m->layers[i].npu != 0;
	return n;
}

/* True if the stream has these commands, at these words. */
static bool
is_of_stream(const struct npu_stream *s, const struct map_command *c, int64_t n)
{
	struct npu_walk w;
	struct npu_op op;
	struct err e = { 0 };
	int64_t i = 0;
	walk_init(&w, s);
	while (walk_next(&w, &op, &e)) {
		if (!npu_is_kernel(&op) && op.kind != NPU_DMA)
			continue;
		if (i == n || c[i].at != (int64_t)op.at ||
		    (c[i].what == MAP_KERNEL) != npu_is_kernel(&op))
			return false;
		i++;
	}
	return i == n && !e.status;
}

/* Compares the streams; those of bodies that come last may have no commands in the map. */
static bool
is_of_model(struct arena *a, struct npu_map *m, const struct npu_stream *s, int n)
{
	struct map_stream *all = anew(a, struct map_stream, (size_t)n);
	while (m->n_streams < (size_t)n && s[n - 1].subgraph > 0)
		n--;
	if (m->n_streams != (size_t)n)
		return false;
	memcpy(all, m->streams, (size_t)n * sizeof(*all));
	m->streams = all;
	for (int k = 0; k < n; k++)
		if (!is_of_stream(&s[k], map_commands(m, k), m->streams[k].commands))
			return false;
	return true;
}

bool
map_read(struct arena *a, const struct tfl_model *m, struct npu_map **out,
	 struct err *e)
{
	struct bytes b = tfl_metadata(m, MAP_METADATA);
	struct err inner = { 0 };
	*out = b.p ? anew(a, struct npu_map, 1) : NULL;
	return !b.p || map_decode(a, b, *out, &inner) ||
	       err_at(e, m->name, 0, "%s", inner.text);
}

bool
map_find(struct arena *a, const struct tfl_model *m, const struct npu_stream *s,
	 int n, const struct npu_map **out, bool *stale, struct err *e)
{
	struct npu_map *map;
	*out = NULL;
	*stale = false;
	if (!map_read(a, m, &map, e))
		return false;
	*stale = map && !is_of_model(a, map, s, n);
	if (map && !*stale)
		map->n_streams = (size_t)n;
	*out = *stale ? NULL : map;
	return true;
}
