/* SPDX-License-Identifier: Apache-2.0 */
/* From the text of an encoded graph to the words of its streams. */
#include "cmdgen.h"

#include "graph/graph.h"

bool
emit_text(struct cmdgen *c, uint8_t *text, size_t n, const char *name)
{
	if (!graph_read(c->a, (struct bytes){ .p = text, .n = n }, name, STAGE_WENC, &c->g,
			c->e))
		return false;
	graph_release_text(c->g, text);
	if (!graph_target(c->g, &c->accel, &c->memory, c->e) || !graph_model(c->g, &c->m, c->e))
		return false;
	c->stream = anew(c->a, struct emit_words, c->g->n_nodes + 1);
	for (size_t i = 0; i < c->g->n_nodes; i++)
		if (c->g->nodes[i]->kind == NODE_NPU &&
		    !emit_node(c->a, c->g, c->g->nodes[i], &c->stream[i], c->e))
			return false;
	return true;
}
