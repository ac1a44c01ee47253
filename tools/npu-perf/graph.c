/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads an encoded NPU graph.  Generates its streams as npu-cmdgen would, and takes the
 * names of the operations and the memory system from the graph.
 */
#include "report.h"

#include "base/cli.h"
#include "emit/emit.h"
#include "graph/facts.h"
#include "graph/graph.h"
#include "stream/stream.h"
#include "target/accel.h"
#include "tflite/tflite.h"

#include <string.h>

bool
is_graph(struct bytes file)
{
	static const char magic[] = "nputools-graph ";
	size_t n = sizeof(magic) - 1;
	return file.n >= n && !memcmp(file.p, magic, n);
}

static bool
take_nodes(struct arena *a, struct graph *g, struct network *net,
	   struct err *e)
{
	struct emit_words *words = anew(a, struct emit_words, g->n_nodes + 1);
	net->op = anew(a, struct operator, g->n_nodes);
	net->cpu = anew(a, struct cpu_operator, g->n_nodes);
	struct tfl_model *m = NULL; /* NULL: the CPU's operators have neither names nor costs */
	struct err none = { 0 };
	if (!graph_model(g, &m, &none)) {
		m = NULL;
		cli_note_to(e, "warning", "%s: operators of the CPU have no names: %s%s%s",
			    net->file, none.place, *none.place ? ": " : "", none.text);
	}
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct g_node *n = g->nodes[i];
		struct emit_words *w = &words[i];
		if (n->kind == NODE_CPU) {
			/* the operator of the original model that the node stands for */
			const struct g_tfl *at = n->tfl.n == 1 ? n->tfl.v : NULL;
			const struct tfl_subgraph *sg =
			    m && at && at->subgraph >= 0 && at->subgraph < m->n_subgraphs
				? &m->subgraph[at->subgraph] : NULL;
			bool in_range = sg && at->index >= 0 && at->index < sg->n_ops;
			add_cpu(net, n->what ? n->what : "?", sg, in_range ? &sg->op[at->index] : NULL);
			continue;
		}
		if (!emit_node(a, g, n, w, e))
			return false;
		net->n_layers += n->tfl.n;
		if (!w->n_marks) /* a node of aliases alone makes no operator, as in the compiled file */
			continue;
		struct operator *op = &net->op[net->n++];
		op->name = arena_printf(a, "npu_%d", n->rec.id);
		op->stream = (struct npu_stream){ .accel = net->accel, .word = w->word,
						  .n_words = w->n, .subgraph = -1,
						  .op = -1, .name = op->name };
		net->bytes.streams +=
		    ((int64_t)emit_payload(a, net->accel, w).n + 15) / 16 * 16;
	}
	if (!net->n)
		return err_at(e, net->file, 0, "no operator of the graph runs on the "
					       "NPU");
	take_map(a, net, map_make(a, g, m, words));
	return true;
}

bool
read_graph(struct arena *a, const struct options *o, struct bytes file,
	   struct network *net, struct err *e)
{
	struct graph *g;
	if (!graph_read(a, file, net->file, STAGE_WENC, &g, e) ||
	    !graph_target(g, &net->accel, &net->memory, e))
		return false;
	if (o->chip && !target_part_has(o->chip, net->accel->name, net->file, e))
		return false;
	if (o->chip)
		net->memory.chip = o->chip;
	const char *system = net->memory.system, *mode = net->memory.mode;
	if ((o->system && (!system || strcmp(o->system, system))) ||
	    (o->mode && (!mode || strcmp(o->mode, mode))))
		return err_at(e, net->file, 0, "the graph is scheduled for %s, %s: run "
					       "npu-sched again for another memory "
					       "system",
			      system ? system : "?", mode ? mode : "?");
	const struct g_model *m = g->n_models ? g->models[0] : NULL;
	if (m && G_HAS(m, G_MODEL_actual_batch) && m->actual_batch > 0) {
		net->desired_batch = m->desired_batch;
		net->batch = m->actual_batch;
	}
	/* a model that was read from a pipe has no name */
	if (m && m->name && strcmp(m->name, "-") != 0)
		net->name = network_name(a, m->name);
	const struct g_blob *flash = graph_find_blob(g, "flash");
	net->bytes.constants = flash ? flash->bytes : 0;
	net->bytes.arena = graph_place_used(g, PLACE_ARENA);
	net->bytes.fast = graph_place_used(g, PLACE_CACHE);
	for (int place = PLACE_IO; place < PLACES; place++)
		net->bytes.separate += graph_place_used(g, place);
	net->graph = g;
	return take_nodes(a, g, net, e);
}
