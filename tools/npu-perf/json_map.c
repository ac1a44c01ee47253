/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members of the report of --json that need the source map of the file
 * (nputools-map(5)): memory over time, and weights.
 */
#include "report.h"

#include "graph/records.h"

#include <stdlib.h>
#include <string.h>

void
json_layer(const struct json_out *j, int64_t layer)
{
	if (layer)
		json_put_i64(j, "layer", layer - 1);
	else
		json_put_null(j, "layer");
}

static const char *const span_kinds[] = {
	[MAP_TENSOR] = "tensor", [MAP_BUFFER] = "buffer", [MAP_INPUT] = "input",
	[MAP_OUTPUT] = "output", [MAP_VARIABLE] = "variable",
};

static const char *
place_name(int64_t place)
{
	return place == PLACE_CACHE ? "cache" : "arena";
}

/*
 * A buffer has the name of the operator whose weights it holds, with a suffix, as this
 * operator's result has the same name.
 */
static void
put_span_name(const struct json_out *j, const char *key, const struct map_span *s)
{
	struct text name = { 0 };
	text_printf(&name, "%s%s", s->name, s->what == MAP_BUFFER ? " (weights)" : "");
	json_put_string(j, key, text_str(&name));
	text_free(&name);
}

/* the moment with the most bytes, and the tensors in memory at that moment */
static void
put_peak(const struct json_out *j, struct arena *a, const struct network *net, int place,
	 const struct span_time *when)
{
	const struct npu_map *map = net->map;
	const struct memory_use *use = memory_use(a, net, place);
	size_t peak = memory_peak(net, use);
	double start = 0, end = network_cycles(net);
	for (size_t i = 0; i < map->n_spans; i++) {
		const struct map_span *s = &map->spans[i];
		if (s->place != place || s->lo > (int64_t)peak || s->hi < (int64_t)peak)
			continue;
		start = when[i].start > start ? when[i].start : start;
		end = when[i].end < end ? when[i].end : end;
	}
	json_open(j, NULL, '{');
	json_put_string(j, "place", place_name(place));
	json_put_i64(j, "bytes", use[peak].bytes);
	json_put_i64(j, "top", use[peak].top);
	json_cycles(j, "start_cycle", start < end ? start : end);
	json_cycles(j, "end_cycle", end);
	json_open(j, "tensors", '[');
	for (size_t i = 0; i < map->n_spans; i++) {
		const struct map_span *s = &map->spans[i];
		if (s->place != place || s->lo > (int64_t)peak || s->hi < (int64_t)peak)
			continue;
		put_span_name(j, NULL, s);
	}
	json_close(j, ']');
	json_close(j, '}');
}

static void
put_memory(const struct json_out *j, struct arena *a, const struct network *net)
{
	const struct npu_map *map = net->map;
	const struct span_time *when = span_times(a, net);
	json_line(j, 0);
	json_open(j, "tensors", '[');
	for (size_t i = 0; i < map->n_spans; i++) {
		const struct map_span *s = &map->spans[i];
		json_line(j, 0);
		json_open(j, NULL, '{');
		put_span_name(j, "name", s);
		json_put_string(j, "shape", s->shape);
		json_put_string(j, "kind", span_kinds[s->what]);
		json_put_string(j, "place", place_name(s->place));
		json_put_i64(j, "address", s->at);
		json_put_i64(j, "bytes", s->bytes);
		json_cycles(j, "start_cycle", when[i].start);
		json_cycles(j, "end_cycle", when[i].end);
		json_close(j, '}');
	}
	json_close_line(j, 0, ']');
	json_line(j, 0);
	json_open(j, "peaks", '[');
	for (int place = PLACE_ARENA; place <= PLACE_CACHE; place++) {
		bool any = false;
		for (size_t i = 0; i < map->n_spans; i++)
			any |= map->spans[i].place == place;
		if (!any)
			continue;
		json_line(j, 0);
		put_peak(j, a, net, place, when);
	}
	json_close_line(j, 0, ']');
}

/* Prints consecutive pieces of the same weights or table as one constant. */
static void
put_constants(const struct json_out *j, const struct npu_map *map)
{
	static const char *const kinds[] = { "weights", "table", "values" };
	json_line(j, 0);
	json_open(j, "constants", '[');
	for (size_t i = 0; i < map->n_constants;) {
		const struct map_constant *c = &map->constants[i];
		int64_t bytes = 0, scales = 0, original = 0;
		for (; i < map->n_constants && map->constants[i].what == c->what &&
		       !strcmp(map->constants[i].name, c->name); i++) {
			bytes += map->constants[i].bytes;
			scales += map->constants[i].scales;
			original += map->constants[i].original;
		}
		json_line(j, 0);
		json_open(j, NULL, '{');
		json_put_string(j, "name", c->name);
		json_put_string(j, "kind", kinds[c->what]);
		json_layer(j, c->layer);
		json_put_i64(j, "address", c->at);
		json_put_i64(j, "bytes", bytes);
		if (c->what == MAP_WEIGHTS) {
			json_put_i64(j, "scale_bytes", scales);
			json_put_i64(j, "original_bytes", original);
		}
		json_close(j, '}');
	}
	json_close_line(j, 0, ']');
}

void
json_map(const struct json_out *j, const struct network *net)
{
	if (!net->map)
		return;
	struct arena *a = arena_open();
	json_layers(j, a, net);
	put_memory(j, a, net);
	put_constants(j, net->map);
	arena_close(a);
}
