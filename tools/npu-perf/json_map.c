/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members of the report of --json that need the source map of the file
 * (nputools-map(5)): memory over time, and weights.
 */
#include "report.h"

#include "graph/records.h"

#include <stdlib.h>
#include <string.h>

static void
put_name(struct text *t, const char *key, const char *name)
{
	text_printf(t, "\"%s\": ", key);
	text_quoted(t, name, strlen(name));
}

static void
put_number(struct text *t, const char *key, double v)
{
	text_printf(t, ", \"%s\": ", key);
	number_text(t, v);
}

static void
put_cycle(struct text *t, const char *key, double v)
{
	put_number(t, key, rounded(v, PARTS_OF_CYCLE));
}

/* layer number of a command or constant; null if 0 (no layer) */
void
json_layer(struct text *t, int64_t layer)
{
	text_puts(t, ", \"layer\": ");
	if (layer)
		text_i64(t, layer - 1);
	else
		text_puts(t, "null");
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
put_span_name(struct text *t, const struct map_span *s)
{
	struct text name = { 0 };
	text_printf(&name, "%s%s", s->name, s->what == MAP_BUFFER ? " (weights)" : "");
	text_quoted(t, name.p, name.n);
	text_free(&name);
}

static void
put_span(struct text *t, const struct map_span *s, const struct span_time *when)
{
	text_puts(t, "{ \"name\": ");
	put_span_name(t, s);
	text_puts(t, ", ");
	put_name(t, "shape", s->shape);
	text_printf(t, ", \"kind\": \"%s\", \"place\": \"%s\"", span_kinds[s->what],
		    place_name(s->place));
	put_number(t, "address", (double)s->at);
	put_number(t, "bytes", (double)s->bytes);
	put_cycle(t, "start_cycle", when->start);
	put_cycle(t, "end_cycle", when->end);
	text_puts(t, " }");
}

/* the moment with the most bytes, and the tensors in memory at that moment */
static void
put_peak(struct text *t, struct arena *a, const struct network *net, int place,
	 const struct span_time *when)
{
	const struct npu_map *map = net->map;
	const struct memory_use *use = memory_use(a, net, place);
	size_t peak = memory_peak(net, use);
	double start = 0, end = network_cycles(net);
	bool any = false;
	for (size_t i = 0; i < map->n_spans; i++) {
		const struct map_span *s = &map->spans[i];
		if (s->place != place || s->lo > (int64_t)peak || s->hi < (int64_t)peak)
			continue;
		start = when[i].start > start ? when[i].start : start;
		end = when[i].end < end ? when[i].end : end;
	}
	text_printf(t, "{ \"place\": \"%s\"", place_name(place));
	put_number(t, "bytes", (double)use[peak].bytes);
	put_number(t, "top", (double)use[peak].top);
	put_cycle(t, "start_cycle", start < end ? start : end);
	put_cycle(t, "end_cycle", end);
	text_puts(t, ", \"tensors\": [");
	for (size_t i = 0; i < map->n_spans; i++) {
		const struct map_span *s = &map->spans[i];
		if (s->place != place || s->lo > (int64_t)peak || s->hi < (int64_t)peak)
			continue;
		text_puts(t, any ? ", " : "");
		any = true;
		put_span_name(t, s);
	}
	text_puts(t, "] }");
}

static bool
has_place(const struct npu_map *map, int place)
{
	for (size_t i = 0; i < map->n_spans; i++)
		if (map->spans[i].place == place)
			return true;
	return false;
}

static void
put_memory(struct text *t, struct arena *a, const struct network *net)
{
	const struct npu_map *map = net->map;
	const struct span_time *when = span_times(a, net);
	bool any = false;
	text_puts(t, ",\n\"tensors\": [");
	for (size_t i = 0; i < map->n_spans; i++) {
		text_puts(t, i ? ",\n" : "\n");
		put_span(t, &map->spans[i], &when[i]);
	}
	text_puts(t, "\n],\n\"peaks\": [");
	for (int place = PLACE_ARENA; place <= PLACE_CACHE; place++) {
		if (!has_place(map, place))
			continue;
		text_puts(t, any ? ",\n" : "\n");
		any = true;
		put_peak(t, a, net, place, when);
	}
	text_puts(t, "\n]");
}

/* Prints consecutive pieces of the same weights or table as one constant. */
static void
put_constants(struct text *t, const struct npu_map *map)
{
	static const char *const kinds[] = { "weights", "table", "values" };
	bool any = false;
	text_puts(t, ",\n\"constants\": [");
	for (size_t i = 0; i < map->n_constants;) {
		const struct map_constant *c = &map->constants[i];
		int64_t bytes = 0, scales = 0, original = 0;
		for (; i < map->n_constants && map->constants[i].what == c->what &&
		       !strcmp(map->constants[i].name, c->name); i++) {
			bytes += map->constants[i].bytes;
			scales += map->constants[i].scales;
			original += map->constants[i].original;
		}
		text_puts(t, any ? ",\n{ " : "\n{ ");
		any = true;
		put_name(t, "name", c->name);
		text_printf(t, ", \"kind\": \"%s\"", kinds[c->what]);
		json_layer(t, c->layer);
		put_number(t, "address", (double)c->at);
		put_number(t, "bytes", (double)bytes);
		if (c->what == MAP_WEIGHTS) {
			put_number(t, "scale_bytes", (double)scales);
			put_number(t, "original_bytes", (double)original);
		}
		text_puts(t, " }");
	}
	text_puts(t, "\n]");
}

void
json_map(struct text *t, const struct network *net)
{
	if (!net->map)
		return;
	struct arena *a = arena_open();
	json_layers(t, a, net);
	put_memory(t, a, net);
	put_constants(t, net->map);
	arena_close(a);
}
