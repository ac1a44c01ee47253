/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the source map of a graph's streams: one record for each of the graph's records. */
#include "map/map.h"

#include "base/text.h"
#include "emit/emit.h"
#include "graph/facts.h"
#include "graph/records.h"
#include "tflite/tflite.h"

#include <string.h>

struct maker {
	struct arena *a;
	const struct graph *g;
	struct npu_map *m;
	size_t cap_streams, cap_commands, cap_spans, cap_constants;
	/*
	 * By index of weights, table or tensor in the graph: number of the layer + 1; 0:
	 * none.  For a constant tensor it is the layer that reads the tensor.
	 */
	int64_t *of_weights, *of_lut, *of_tensor;
	const struct g_op **writer; /* by index of the tensor: the operation that writes it
				     * first; NULL: none */
};

/* The layer of an operation: the last operator that it came from makes its output. */
static int64_t
layer_of(const struct maker *k, const struct g_op *op)
{
	const struct g_tfl *t = op->tfl.n ? &op->tfl.v[op->tfl.n - 1] : NULL;
	bool is_layer = t && t->subgraph == 0 && t->index >= 0 &&
		     (size_t)t->index < k->m->n_layers;
	return is_layer ? t->index + 1 : 0;
}

void
map_take_layers(struct arena *a, const struct graph *g, const struct tfl_model *source,
		struct npu_map *m)
{
	const struct tfl_subgraph *sg = source && !g->n_layers ? &source->subgraph[0] : NULL;
	m->n_layers = sg ? (size_t)sg->n_ops : g->n_layers;
	m->layers = anew(a, struct map_layer, m->n_layers);
	for (size_t i = 0; !sg && i < m->n_layers; i++) {
		const struct g_layer *l = g->layers[i];
		m->layers[i] = (struct map_layer){ .kind = l->kind ? l->kind : "?",
						   .name = l->name ? l->name : "" };
	}
	for (size_t i = 0; sg && i < m->n_layers; i++) {
		const struct tfl_op *op = &sg->op[i];
		int out = op->n_out ? op->out[0] : -1;
		m->layers[i] = (struct map_layer){
			.kind = tfl_op_label(op),
			.name = out >= 0 ? sg->tensor[out].name : "" };
	}
}

static const char *
name_or_id(const struct maker *k, const char *name, char letter, int id)
{
	return name && *name ? name : arena_printf(k->a, "%c%d", letter, id);
}

/* A record without a name in the source model is named after its layer. */
static const char *
name_of_layer(const struct maker *k, const char *name, char letter, int id, int64_t layer)
{
	const char *of = layer ? k->m->layers[layer - 1].name : "";
	if ((name && *name) || !*of)
		return name_or_id(k, name, letter, id);
	return arena_printf(k->a, "%s (%c%d)", of, letter, id);
}

static struct map_command
command_of(const struct maker *k, const struct emit_mark *mark)
{
	const struct g_step *s = mark->step;
	struct map_command c = { .at = (int64_t)mark->at, .what = MAP_UPLOAD };
	if (s && s->op) {
		c.what = op_is_transfer(s->op->kind) ? MAP_COPY : MAP_KERNEL;
		c.layer = layer_of(k, s->op);
		c.name = name_or_id(k, s->op->name, 'o', s->op->rec.id);
	} else if (s && s->weights) {
		c.what = MAP_FETCH;
		c.layer = k->of_weights[s->weights->rec.index];
		c.name = name_of_layer(k, s->weights->name, 'w',
				       s->weights->rec.id, c.layer);
		c.slice = s->slice;
	} else if (s && s->lut) {
		c.layer = k->of_lut[s->lut->rec.index];
		c.name = name_of_layer(k, NULL, 'l', s->lut->rec.id, c.layer);
	}
	return c;
}

static void
make_stream(struct maker *k, const struct emit_words *w, int64_t *moment)
{
	struct npu_map *m = k->m;
	agrow(k->a, m->streams, m->n_streams, &k->cap_streams);
	m->streams[m->n_streams++].commands = (int64_t)w->n_marks;
	size_t first = m->n_commands;
	for (size_t i = 0; i < w->n_marks; i++) {
		struct map_command next = command_of(k, &w->mark[i]);
		const struct g_step *s = w->mark[i].step;
		bool runs = next.what == MAP_KERNEL || next.what == MAP_COPY;
		/* a chained kernel has the moment of the kernel before */
		if (s && s->op && s->op->chain)
			*moment -= 2;
		next.moment = runs ? *moment : *moment - 1;
		*moment += runs ? 2 : 0;
		agrow(k->a, m->commands, m->n_commands, &k->cap_commands);
		m->commands[m->n_commands++] = next;
	}
	/* Name tables that no step uploads: they are for the kernel that follows. */
	struct map_command *c = m->commands + first;
	for (size_t i = w->n_marks; i-- > 0;) {
		const struct g_lut *l = NULL;
		if (i + 1 < w->n_marks && w->mark[i + 1].step &&
		    w->mark[i + 1].step->op)
			l = w->mark[i + 1].step->op->lut;
		if (w->mark[i].step)
			continue;
		c[i].layer = l ? c[i + 1].layer : 0;
		c[i].name = l ? name_of_layer(k, NULL, 'l', l->rec.id, c[i].layer)
			      : "";
	}
}

/* ---- memory --------------------------------------------------------------------- */

static void
add_span(struct maker *k, struct map_span s)
{
	struct npu_map *m = k->m;
	int64_t last = m->sources[0].moments - 1;
	if (s.place != PLACE_ARENA && s.place != PLACE_CACHE)
		return;
	/* in an edited graph spans may end after the last moment */
	s.hi = s.hi < last ? s.hi : last;
	s.lo = s.lo < s.hi ? s.lo : s.hi;
	agrow(k->a, m->spans, m->n_spans, &k->cap_spans);
	m->spans[m->n_spans++] = s;
}

/* The name of the first operation whose weights go through a buffer. */
static const char *
buffer_name(const struct maker *k, const struct g_buffer *b)
{
	for (size_t i = 0; i < k->g->n_steps; i++) {
		const struct g_step *s = k->g->steps[i];
		if ((s->buffer == b || s->scale_buffer == b) && s->op)
			return name_or_id(k, s->op->name, 'o', s->op->rec.id);
	}
	return name_or_id(k, NULL, 'b', b->rec.id);
}

static void
make_spans(struct maker *k)
{
	const struct graph *g = k->g;
	for (size_t i = 0; i < g->n_tensors; i++) {
		const struct g_tensor *t = g->tensors[i];
		const struct g_op *op = k->writer[t->rec.index];
		struct text shape = { 0 };
		if (!G_HAS(t, G_TENSOR_at) || !G_HAS(t, G_TENSOR_live) || tensor_is_const(t))
			continue;
		text_printf(&shape, "%s[", graph_type_text(t->shape.type));
		for (int d = 0; d < t->shape.rank; d++)
			text_printf(&shape, "%s%d", d ? "," : "", t->shape.dim[d]);
		text_putc(&shape, ']');
		bool has_name = t->name && *t->name;
		/* a tensor without a name is named after the operation that writes it first */
		add_span(k, (struct map_span){
			.what = t->variable	     ? MAP_VARIABLE
				: tensor_is_input(t)  ? MAP_INPUT
				: tensor_is_output(t) ? MAP_OUTPUT
						      : MAP_TENSOR,
			.name = has_name || !op || !op->name || !*op->name
					? name_or_id(k, t->name, 't', t->rec.id)
					: arena_printf(k->a, "%s (t%d)", op->name, t->rec.id),
			.shape = arena_strndup(k->a, shape.p, shape.n),
			.place = t->area, .at = t->at,
			.bytes = tensor_bytes(t), .lo = t->live.lo, .hi = t->live.hi });
		text_free(&shape);
	}
	for (size_t i = 0; i < g->n_buffers; i++) {
		const struct g_buffer *b = g->buffers[i];
		if (G_HAS(b, G_BUFFER_at) && G_HAS(b, G_BUFFER_live))
			add_span(k, (struct map_span){
				.what = MAP_BUFFER, .name = buffer_name(k, b),
				.shape = "", .place = b->area, .at = b->at,
				.bytes = b->bytes, .lo = b->live.lo,
				.hi = b->live.hi });
	}
}

/* ---- constants ------------------------------------------------------------------- */

static void
add_constant(struct maker *k, struct map_constant c)
{
	agrow(k->a, k->m->constants, k->m->n_constants, &k->cap_constants);
	k->m->constants[k->m->n_constants++] = c;
}

static void
make_constants(struct maker *k)
{
	const struct graph *g = k->g;
	for (size_t i = 0; i < g->n_codes; i++) {
		const struct g_code *c = g->codes[i];
		const struct g_weights *w = c->weights;
		int64_t layer = k->of_weights[w->rec.index];
		/* Elements before encoding.  The cores share them: the first core counts all. */
		struct g_range o = { .lo = 0, .hi = w->shape.dim[0] };
		int64_t each = 1;
		if ((size_t)c->slice + 1 < w->slices.n)
			o = (struct g_range){ .lo = w->slices.v[c->slice],
					      .hi = w->slices.v[c->slice + 1] };
		for (int d = 1; d < w->shape.rank; d++)
			each *= w->shape.dim[d];
		add_constant(k, (struct map_constant){
			.what = MAP_WEIGHTS, .layer = layer,
			.name = name_of_layer(k, w->name, 'w', w->rec.id, layer),
			.at = c->scale_bytes.at,
			.bytes = c->weight_bytes.at + c->weight_bytes.bytes -
				 c->scale_bytes.at,
			.scales = c->scale_bytes.bytes,
			.original = c->core ? 0 : (o.hi - o.lo) * each });
	}
	for (size_t i = 0; i < g->n_luts; i++)
		if (G_HAS(g->luts[i], G_LUT_at))
			add_constant(k, (struct map_constant){
				.what = MAP_TABLE, .layer = k->of_lut[i],
				.name = name_of_layer(k, NULL, 'l', g->luts[i]->rec.id,
						      k->of_lut[i]),
				.at = g->luts[i]->at,
				.bytes = lut_bytes(g->luts[i]) });
	for (size_t i = 0; i < g->n_tensors; i++) {
		const struct g_tensor *t = g->tensors[i];
		if (G_HAS(t, G_TENSOR_at) && t->area == PLACE_FLASH)
			add_constant(k, (struct map_constant){
				.what = MAP_VALUES, .layer = k->of_tensor[i],
				.name = name_of_layer(k, t->name, 't', t->rec.id,
						      k->of_tensor[i]),
				.at = t->at, .bytes = tensor_bytes(t) });
	}
}

struct npu_map *
map_make(struct arena *a, const struct graph *g, const struct tfl_model *source,
	 const struct emit_words *words)
{
	struct npu_map *m = anew(a, struct npu_map, 1);
	struct maker k = { .a = a, .g = g, .m = m };
	int64_t moment = 1;
	m->sources = anew(a, struct map_source, 1);
	m->n_sources = 1;
	if (source)
		m->sources[0].name = source->subgraph[0].name;
	map_take_layers(a, g, source, m);
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct g_node *n = g->nodes[i];
		for (int j = 0; n->kind == NODE_NPU && j < n->tfl.n; j++)
			if (n->tfl.v[j].subgraph == 0 && n->tfl.v[j].index >= 0 &&
			    (size_t)n->tfl.v[j].index < m->n_layers)
				m->layers[n->tfl.v[j].index].npu = 1;
	}

	/* the layers of weights, tables and operands: of several operations, the first */
	k.of_weights = anew(a, int64_t, g->n_weights);
	k.of_lut = anew(a, int64_t, g->n_luts);
	k.of_tensor = anew(a, int64_t, g->n_tensors);
	k.writer = anew(a, const struct g_op *, g->n_tensors);
	for (size_t i = g->n_ops; i-- > 0;) {
		const struct g_op *op = g->ops[i];
		k.writer[op->ofm.t->rec.index] = op;
		if (op->weights)
			k.of_weights[op->weights->rec.index] = layer_of(&k, op);
		if (op->lut)
			k.of_lut[op->lut->rec.index] = layer_of(&k, op);
		k.of_tensor[op->ifm.t->rec.index] = layer_of(&k, op);
		if (op->ifm2.t)
			k.of_tensor[op->ifm2.t->rec.index] = layer_of(&k, op);
	}

	for (size_t i = 0; i < g->n_nodes; i++) {
		if (g->nodes[i]->kind == NODE_CPU)
			moment += 2;
		else if (words[i].n_marks)
			make_stream(&k, &words[i], &moment);
	}
	m->sources[0].moments = moment;
	make_spans(&k);
	make_constants(&k);
	return m;
}
