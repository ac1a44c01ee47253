/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Node data for Google's Model Explorer, which colours the source model by them.  The
 * file has an object per graph with "results" per node; a node's id is the operator's
 * index.  A file has one value per node.  The format is that of Model Explorer's
 * NodeDataProviderGraphData.
 */
#include "report.h"

const char *const explorer_names[] = { "cycles", "bytes", "bound", "place", NULL };

void
print_explorer(struct text *t, const struct report *r, enum explorer what)
{
	const struct json_out out = { .t = t, .style = JSON_PADDED }, *j = &out;
	bool is_sum = what == EXPLORE_CYCLES || what == EXPLORE_BYTES;
	json_root(j, '{');
	json_put_string(j, NULL, json_string(r->root, "source_graph", "main"));
	text_puts(t, ": ");
	json_root(j, '{');
	json_put_format(j, "name", "%s of %s on %s", explorer_names[what], r->network,
			json_string(r->root, "accelerator", "?"));
	json_line(j, 0);
	text_puts(t, "\"results\": {");
	for (size_t i = 0; i < r->n_nodes; i++) {
		const struct node *x = &r->node[i];
		const struct layer *l = x->layer < 0 ? NULL : &r->layer[x->layer];
		/* the cycles and bytes of a kernel belong to the operator that begins it */
		if ((!l && what != EXPLORE_PROCESSOR) || (is_sum && x->within >= 0))
			continue;
		json_line(j, 0);
		text_printf(t, "\"%zu\": ", x->index);
		json_root(j, '{');
		if (what == EXPLORE_PROCESSOR) {
			json_put_string(j, "value", l ? "NPU" : "CPU");
		} else if (what == EXPLORE_BOUND) {
			json_put_string(j, "value", limit_text(r, layer_limit(l)));
		} else {
			json_key(j, "value");
			text_printf(t, "%.0f", what == EXPLORE_CYCLES ? l->total : l->bytes);
		}
		json_close(j, '}');
	}
	json_close_line(j, 0, '}');
	/* numbers from white to a colour; for texts, Model Explorer chooses the colours */
	if (is_sum)
		text_puts(t, ",\n\"gradient\": [ { \"stop\": 0, \"bgColor\": \"#ffffff\" }, "
			     "{ \"stop\": 1, \"bgColor\": \"#d9822b\" } ]");
	json_close(j, '}');
	json_close(j, '}');
	text_putc(t, '\n');
}
