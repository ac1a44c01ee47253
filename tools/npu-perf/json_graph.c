/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members of the layers in the report of --json that need the graph: the edges between
 * layers, and why a layer is on the CPU.
 */
#include "report.h"

#include "graph/facts.h"
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
	bool *computes = anew(x->a, bool, x->n_layers + 1);
	for (size_t i = 0; i < g->n_ops; i++) {
		int layer = layer_of(x, &g->ops[i]->tfl);
		if (layer >= 0 && g->ops[i]->kind != OP_COPY)
			computes[layer] = true;
	}
	/*
	 * A copy of a layer that computes is that of its input, for example to the arena of a
	 * CPU's operator: the result remains that of the layer before.  A layer of copies alone
	 * is CONCATENATION, for example, and writes the result.
	 */
	for (size_t i = 0; i < g->n_ops; i++) {
		const struct g_op *op = g->ops[i];
		int layer = layer_of(x, &op->tfl);
		if (op->kind != OP_COPY || layer < 0 || !computes[layer])
			note_written(x, layer, op->ofm.t);
	}
	walk_nodes(x, g, false);
	for (size_t i = 0; i < g->n_ops; i++) {
		const struct g_op *op = g->ops[i];
		bool is_copied = op->kind == OP_COPY && op->ifm.t &&
				 !x->written[op->ofm.t->rec.index].n;
		const struct list *w = is_copied ? &x->written[op->ifm.t->rec.index] : NULL;
		for (size_t k = 0; w && k < w->n; k++)
			note_written(x, w->v[k], op->ofm.t);
	}
	for (size_t i = 0; i < g->n_ops; i++) {
		int layer = layer_of(x, &g->ops[i]->tfl);
		note_read(x, layer, g->ops[i]->ifm.t);
		note_read(x, layer, g->ops[i]->ifm2.t);
	}
	walk_nodes(x, g, true);
}

/*
 * Notes the other operators of the source that an operation computes.  A chained operation
 * is in the kernel of the operation that begins its chain; first[] has that operation's
 * layer by layer, -1: the layer's operations are not chained.
 */
static void
note_parts(struct edges *x, const struct g_op *op, int *first)
{
	int layer = layer_of(x, &op->tfl);
	const struct g_operand *chained = op_chained_operand(op);
	const struct list *heads = chained ? &x->written[chained->t->rec.index] : NULL;
	for (int i = 0; layer >= 0 && i + 1 < op->tfl.n; i++) {
		const struct g_tfl *t = &op->tfl.v[i];
		if (t->subgraph == 0 && t->index >= 0 && (size_t)t->index < x->n_layers &&
		    t->index != layer)
			add(x->a, &x->parts[layer], t->index);
	}
	for (size_t i = 0; layer >= 0 && heads && i < heads->n; i++) {
		int head = heads->v[i];
		first[layer] = first[head] < 0 ? head : first[head];
		if (first[layer] != layer)
			add(x->a, &x->parts[first[layer]], layer);
	}
}

static void
put_indices(const struct json_out *j, const char *key, const struct list *l)
{
	json_open(j, key, '[');
	for (size_t i = 0; i < l->n; i++)
		json_put_i64(j, NULL, l->v[i]);
	json_close(j, ']');
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
json_cpu(const struct json_out *j, const struct network *net)
{
	struct arena *a = arena_open();
	bool *taken = net->map ? anew(a, bool, net->map->n_layers + 1) : NULL;
	json_line(j, 0);
	json_open(j, "on_cpu", '[');
	for (int i = 0; i < net->n_cpu; i++) {
		const struct cpu_operator *op = &net->cpu[i];
		int layer = taken ? layer_of_cpu(net, i, taken) : -1;
		json_line(j, 0);
		json_open(j, NULL, '{');
		json_put_string(j, "kind", op->label);
		json_put_string(j, "name", op->name);
		json_layer(j, layer + 1);
		if (op->cost.cycles > 0) {
			json_cycles(j, "cycles", op->cost.cycles);
			json_put_f64(j, "error", op->cost.error);
		} else {
			json_put_null(j, "cycles");
			json_put_null(j, "error");
		}
		json_put_rounded(j, "seconds", cpu_seconds(net, op), PARTS_OF_SECOND);
		json_cycles(j, "npu_cycle", op->before < net->n ? net->op[op->before].start
								: network_cycles(net));
		json_close(j, '}');
	}
	text_puts(j->t, net->n_cpu ? "\n]" : "]");
	arena_close(a);
}

void
json_layers(const struct json_out *j, struct arena *a, const struct network *net)
{
	struct edges x = { .a = a, .n_layers = net->map->n_layers };
	const struct graph *g = net->graph;
	const char **labels = map_labels(a, net->map);
	x.parts = anew(a, struct list, x.n_layers + 1);
	int *first = anew(a, int, x.n_layers + 1);
	for (size_t i = 0; i < x.n_layers; i++)
		first[i] = -1;
	if (g)
		find_edges(&x, g);
	for (size_t i = 0; g && i < g->n_ops; i++)
		note_parts(&x, g->ops[i], first);
	const char *graph = net->map->n_sources ? net->map->sources[0].name : NULL;
	if (graph && *graph) {
		json_line(j, 0);
		json_put_string(j, "source_graph", graph);
	}
	json_line(j, 0);
	json_open(j, "layers", '[');
	for (size_t i = 0; i < x.n_layers; i++) {
		const struct map_layer *l = &net->map->layers[i];
		struct text label = { 0 };
		map_put_label(&label, net->map, labels, (int)i, x.parts[i].v, x.parts[i].n);
		json_line(j, 0);
		json_open(j, NULL, '{');
		json_put_string(j, "name", l->name);
		json_put_string(j, "label", text_str(&label));
		if (x.parts[i].n)
			put_indices(j, "parts", &x.parts[i]);
		json_put_string(j, "kind", l->kind);
		json_put_bool(j, "npu", l->npu);
		if (g)
			put_indices(j, "reads", &x.reads[i]);
		if (g && x.why[i])
			json_put_string(j, "reason", x.why[i]);
		json_close(j, '}');
		text_free(&label);
	}
	json_close_line(j, 0, ']');
	if (!g || !g->n_rewrites)
		return;
	/* what the exact rewrites of the front end changed: nputools-rewrites(7) */
	json_line(j, 0);
	json_open(j, "rewrites", '[');
	for (size_t i = 0; i < g->n_rewrites; i++) {
		const struct g_rewrite *r = g->rewrites[i];
		json_line(j, 0);
		json_open(j, NULL, '{');
		json_put_string(j, "rule", r->rule ? r->rule : "");
		json_put_string(j, "name", r->name ? r->name : "");
		json_put_string(j, "text", r->text ? r->text : "");
		json_put_i64(j, "bytes", r->bytes);
		json_put_i64(j, "cycles", r->cycles);
		json_close(j, '}');
	}
	json_close_line(j, 0, ']');
}
