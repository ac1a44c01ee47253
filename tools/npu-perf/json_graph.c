/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members of the layers in the report of --json that need the graph: the edges between
 * layers, and why a layer is on the CPU.
 */
#include "report.h"

#include "graph/records.h"

#include <string.h>

/*
 * The layers by number, with an edge from each layer that writes a tensor to each that
 * reads it.
 */
struct edges {
	struct arena *a;
	size_t n_layers;
	struct list {
		int *v;
		size_t n, cap;
	/*
	 * reads: by layer, the layers it reads from; written: by tensor, the layers
	 * that write it
	 */
	} *reads, *written, *parts; /* parts: by layer, others that its kernels compute */
	const char **why;
};

static void
add(struct arena *a, struct list *l, int layer)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i] == layer)
			return;
	agrow(a, l->v, l->n, &l->cap);
	l->v[l->n++] = layer;
}

/* the last source operator of an operation or node, as in the source map; -1: none */
static int
layer_of(const struct edges *x, const struct g_tfls *tfl)
{
	const struct g_tfl *t = tfl->n ? &tfl->v[tfl->n - 1] : NULL;
	bool in_range = t && t->subgraph == 0 && t->index >= 0 &&
		     (size_t)t->index < x->n_layers;
	return in_range ? t->index : -1;
}

static void
note_written(struct edges *x, int layer, const struct g_tensor *t)
{
	if (layer >= 0)
		add(x->a, &x->written[t->rec.index], layer);
}

static void
note_read(struct edges *x, int layer, const struct g_tensor *t)
{
	const struct list *w = t && layer >= 0 ? &x->written[t->rec.index] : NULL;
	for (size_t i = 0; w && i < w->n; i++)
		if (w->v[i] != layer)
			add(x->a, &x->reads[layer], w->v[i]);
}

static void
walk_nodes(struct edges *x, const struct graph *g, bool reads)
{
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct g_node *n = g->nodes[i];
		int layer = layer_of(x, &n->tfl);
		if (n->kind != NODE_CPU || layer < 0)
			continue;
		x->why[layer] = n->why;
		for (size_t k = 0; !reads && k < n->out.n; k++)
			note_written(x, layer, n->out.v[k]);
		for (size_t k = 0; reads && k < n->in.n; k++)
			note_read(x, layer, n->in.v[k]);
	}
}

/*
 * Notes all writers before the readers: a state is read before the operation that
 * writes it.
 */
static void
find_edges(struct edges *x, const struct graph *g)
{
	x->reads = anew(x->a, struct list, x->n_layers);
	x->why = anew(x->a, const char *, x->n_layers);
	x->written = anew(x->a, struct list, g->n_tensors);
	for (size_t i = 0; i < g->n_ops; i++)
		note_written(x, layer_of(x, &g->ops[i]->tfl), g->ops[i]->ofm.t);
	walk_nodes(x, g, false);
	for (size_t i = 0; i < g->n_ops; i++) {
		int layer = layer_of(x, &g->ops[i]->tfl);
		note_read(x, layer, g->ops[i]->ifm.t);
		note_read(x, layer, g->ops[i]->ifm2.t);
	}
	walk_nodes(x, g, true);
}

/* Notes the other operators of the source that an operation computes. */
static void
note_parts(struct edges *x, const struct g_op *op)
{
	int layer = layer_of(x, &op->tfl);
	for (int i = 0; layer >= 0 && i + 1 < op->tfl.n; i++) {
		const struct g_tfl *t = &op->tfl.v[i];
		if (t->subgraph == 0 && t->index >= 0 && (size_t)t->index < x->n_layers &&
		    t->index != layer)
			add(x->a, &x->parts[layer], t->index);
	}
}

static void
put_layer(struct text *t, const struct map_layer *l, const char *label, const struct list *reads,
	  const char *why, const struct list *parts)
{
	text_puts(t, "{ \"name\": ");
	text_quoted(t, l->name, strlen(l->name));
	text_puts(t, ", \"label\": ");
	text_quoted(t, label, strlen(label));
	for (size_t i = 0; parts && i < parts->n; i++)
		text_printf(t, "%s%d%s", i ? ", " : ", \"parts\": [", parts->v[i],
			    i + 1 == parts->n ? "]" : "");
	text_puts(t, ", \"kind\": ");
	text_quoted(t, l->kind, strlen(l->kind));
	text_printf(t, ", \"npu\": %s", l->npu ? "true" : "false");
	for (size_t i = 0; reads && i < reads->n; i++)
		text_printf(t, "%s%d", i ? ", " : ", \"reads\": [", reads->v[i]);
	if (reads)
		text_puts(t, reads->n ? "]" : ", \"reads\": []");
	if (why) {
		text_puts(t, ", \"reason\": ");
		text_quoted(t, why, strlen(why));
	}
	text_puts(t, " }");
}

/*
 * The layer of the k-th operator on the CPU: a layer that is not on the NPU, of the same
 * type, whose output has the same name; -1: none.  Layers with equal names are taken in
 * order, for which taken[] is set.
 */
static int
layer_of_cpu(const struct network *net, int k, bool *taken)
{
	const struct cpu_operator *op = &net->cpu[k];
	for (size_t i = 0; i < net->map->n_layers; i++) {
		const struct map_layer *l = &net->map->layers[i];
		if (l->npu || taken[i] || strcmp(l->name, op->name) != 0 ||
		    strcmp(l->kind, op->label) != 0)
			continue;
		taken[i] = true;
		return (int)i;
	}
	return -1;
}

void
json_cpu(struct text *t, const struct network *net)
{
	struct arena *a = arena_open();
	bool *taken = net->map ? anew(a, bool, net->map->n_layers + 1) : NULL;
	text_puts(t, ",\n\"on_cpu\": [");
	for (int i = 0; i < net->n_cpu; i++) {
		const struct cpu_operator *op = &net->cpu[i];
		int layer = taken ? layer_of_cpu(net, i, taken) : -1;
		text_puts(t, i ? ",\n{ \"kind\": " : "\n{ \"kind\": ");
		text_quoted(t, op->label, strlen(op->label));
		text_puts(t, ", \"name\": ");
		text_quoted(t, op->name, strlen(op->name));
		json_layer(t, layer + 1);
		text_puts(t, ", \"cycles\": ");
		if (op->cycles > 0)
			number_text(t, rounded(op->cycles, PARTS_OF_CYCLE));
		else
			text_puts(t, "null");
		text_puts(t, ", \"seconds\": ");
		number_text(t, rounded(cpu_seconds(net, op), PARTS_OF_SECOND));
		text_puts(t, ", \"npu_cycle\": ");
		number_text(t, rounded(op->before < net->n ? net->op[op->before].start
							   : network_cycles(net),
				       PARTS_OF_CYCLE));
		text_puts(t, " }");
	}
	text_puts(t, net->n_cpu ? "\n]" : "]");
	arena_close(a);
}

/* A key that the record does not have is an empty string. */
static void
put_string(struct text *t, const char *s)
{
	text_quoted(t, s ? s : "", s ? strlen(s) : 0);
}

/* What the exact rewrites of the front end changed: nputools-rewrites(7). */
static void
put_rewrites(struct text *t, const struct graph *g)
{
	text_puts(t, ",\n\"rewrites\": [");
	for (size_t i = 0; i < g->n_rewrites; i++) {
		const struct g_rewrite *r = g->rewrites[i];
		text_puts(t, i ? ",\n{ \"rule\": " : "\n{ \"rule\": ");
		put_string(t, r->rule);
		text_puts(t, ", \"name\": ");
		put_string(t, r->name);
		text_puts(t, ", \"text\": ");
		put_string(t, r->text);
		text_puts(t, ", \"bytes\": ");
		text_i64(t, r->bytes);
		text_puts(t, ", \"cycles\": ");
		text_i64(t, r->cycles);
		text_puts(t, " }");
	}
	text_puts(t, "\n]");
}

void
json_layers(struct text *t, struct arena *a, const struct network *net)
{
	struct edges x = { .a = a, .n_layers = net->map->n_layers };
	const struct graph *g = net->graph;
	const char *path = layers_path(a, net->map);
	x.parts = anew(a, struct list, x.n_layers + 1);
	if (g)
		find_edges(&x, g);
	for (size_t i = 0; g && i < g->n_ops; i++)
		note_parts(&x, g->ops[i]);
	const char *graph = net->map->n_sources ? net->map->sources[0].name : NULL;
	if (graph && *graph) {
		text_puts(t, ",\n\"source_graph\": ");
		text_quoted(t, graph, strlen(graph));
	}
	text_puts(t, ",\n\"layers\": [");
	for (size_t i = 0; i < x.n_layers; i++) {
		text_puts(t, i ? ",\n" : "\n");
		struct text label = { 0 };
		layer_label(&label, net->map, path, (int)i, x.parts[i].v, x.parts[i].n);
		put_layer(t, &net->map->layers[i], text_str(&label), g ? &x.reads[i] : NULL,
			  g ? x.why[i] : NULL, &x.parts[i]);
		text_free(&label);
	}
	text_puts(t, "\n]");
	if (g && g->n_rewrites)
		put_rewrites(t, g);
}
