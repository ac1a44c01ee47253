/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An encoded NPU graph as input: its streams are generated as npu-cmdgen
 * would, its operations have names, and it records its memory system.
 */
#include "report.h"

#include "graph/graph.h"
#include "graph/table.h"
#include "stream/emit.h"

#include <string.h>

bool
is_graph(struct bytes file)
{
	static const char magic[] = "nputools-graph ";
	size_t n = sizeof(magic) - 1;
	return file.n >= n && !memcmp(file.p, magic, n);
}

static const char *
op_label(struct arena *a, const struct g_op *op)
{
	const char *name = op->name && *op->name ? op->name : NULL;
	return table_name(a, name, 'o', op->rec.id);
}

/* what a kernel or transfer is for */
static const char *
step_label(struct arena *a, const struct g_step *s)
{
	if (!s)
		return "table";
	if (s->op)
		return op_label(a, s->op);
	if (s->lut)
		return arena_printf(a, "table l%d", s->lut->rec.id);
	const struct g_weights *w = s->weights;
	const char *name = w && w->name && *w->name ? w->name : "weights";
	return arena_printf(a, "fetch %s.%d", text_plain(a, name), s->slice);
}

static bool
take_node(struct arena *a, const struct graph *g, const struct g_node *n,
	  struct network *net, struct err *e)
{
	struct operator *op = &net->op[net->n++];
	struct emit_words w;
	if (!emit_node(a, g, n, &w, e))
		return false;
	op->name = arena_printf(a, "npu_%d", n->rec.id);
	op->stream = (struct npu_stream){ .accel = net->accel, .word = w.word,
					  .n_words = w.n, .subgraph = -1,
					  .op = -1, .name = op->name };
	const char **label = anew(a, const char *, w.n_marks);
	for (size_t i = 0; i < w.n_marks; i++)
		label[i] = step_label(a, w.mark[i].step);
	op->label = label;
	op->n_labels = (int)w.n_marks;
	net->n_layers += n->tfl.n;
	net->bytes.streams +=
	    ((int64_t)emit_payload(a, net->accel, &w).n + 15) / 16 * 16;
	return true;
}

/* the operator of the original model that a node of the CPU stands for */
static void
take_cpu(const struct tfl_model *m, const struct g_node *n, struct network *net)
{
	const char *label = n->what ? n->what : "?";
	const struct g_tfl *at = n->tfl.n == 1 ? n->tfl.v : NULL;
	const struct tfl_subgraph *sg =
	    m && at && at->subgraph >= 0 && at->subgraph < m->n_subgraphs
		? &m->subgraph[at->subgraph] : NULL;
	bool known = sg && at->index >= 0 && at->index < sg->n_ops;
	add_cpu(net, label, sg, known ? &sg->op[at->index] : NULL);
}

static bool
take_nodes(struct arena *a, struct graph *g, struct network *net,
	   struct err *e)
{
	net->op = anew(a, struct operator, g->n_nodes);
	net->cpu = anew(a, const char *, g->n_nodes);
	struct tfl_model *m = NULL; /* without it, nothing is costed */
	struct err none = { 0 };
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct g_node *n = g->nodes[i];
		if (n->kind != NODE_CPU) {
			if (!take_node(a, g, n, net, e))
				return false;
			continue;
		}
		if (!m && !none.status && !graph_model(g, &m, &none))
			m = NULL;
		take_cpu(m, n, net);
	}
	return net->n > 0 || err_at(e, net->file, 0, "no operator of the graph "
				    "is for the NPU");
}

static int64_t
place_used(const struct graph *g, enum g_place place)
{
	for (size_t i = 0; i < g->n_areas; i++)
		if (!strcmp(g->areas[i]->rec.word, place_names[place]))
			return g->areas[i]->used;
	return 0;
}

bool
read_graph(struct arena *a, const struct options *o, struct bytes file,
	   struct network *net, struct err *e)
{
	struct graph *g;
	if (!graph_read(a, file, net->file, STAGE_WENC, &g, e) ||
	    !graph_target(g, &net->accel, &net->memory, e))
		return false;
	const char *system = net->memory.system, *mode = net->memory.mode;
	if ((o->system && (!system || strcmp(o->system, system))) ||
	    (o->mode && (!mode || strcmp(o->mode, mode))))
		return err_at(e, net->file, 0, "the graph is scheduled for %s, "
			      "%s: schedule it for another memory system",
			      system ? system : "?", mode ? mode : "?");
	if (g->n_models && g->models[0]->name)
		net->name = network_name(a, g->models[0]->name);
	const struct g_blob *flash = graph_find_blob(g, "flash");
	net->bytes.constants = flash ? flash->bytes : 0;
	net->bytes.arena = place_used(g, PLACE_ARENA);
	net->bytes.fast = place_used(g, PLACE_CACHE);
	return take_nodes(a, g, net, e);
}
