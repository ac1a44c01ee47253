/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Node data for Google's Model Explorer, which colours the source model by them.  The
 * file has an object per graph with "results" per node; a node's id is the operator's
 * index.  A file has one value per node.  The format is that of Model Explorer's
 * NodeDataProviderGraphData.
 */
#include "report.h"

#include <string.h>

const char *const explorer_names[] = { "cycles", "bytes", "bound", "place", NULL };

static void
put_string(struct text *t, const char *s)
{
	text_quoted(t, s, strlen(s));
}

/* Returns false if this node has no such value. */
static bool
put_value(struct text *t, const struct report *r, const struct node *x,
	  enum explorer what)
{
	const struct layer *l = x->layer < 0 ? NULL : &r->layer[x->layer];
	if (what == EXPLORE_PROCESSOR)
		put_string(t, l ? "NPU" : "CPU");
	else if (!l)
		return false;
	else if (what == EXPLORE_CYCLES)
		text_printf(t, "%.0f", l->total);
	else if (what == EXPLORE_BYTES)
		text_printf(t, "%.0f", l->bytes);
	else
		put_string(t, limit_text(r, layer_limit(l)));
	return true;
}

/* numbers from white to a colour; for texts, Model Explorer chooses the colours */
static void
put_gradient(struct text *t, enum explorer what)
{
	if (what == EXPLORE_CYCLES || what == EXPLORE_BYTES)
		text_puts(t, ",\n\"gradient\": [ { \"stop\": 0, \"bgColor\": \"#ffffff\" }, "
			     "{ \"stop\": 1, \"bgColor\": \"#d9822b\" } ]");
}

void
print_explorer(struct text *t, const struct report *r, enum explorer what)
{
	const char *between = "\n";
	text_puts(t, "{ ");
	put_string(t, json_string(r->root, "source_graph", "main"));
	text_puts(t, ": { \"name\": ");
	put_string(t, arena_printf(r->a, "%s of %s on %s", explorer_names[what], r->network,
				   json_string(r->root, "accelerator", "?")));
	text_puts(t, ",\n\"results\": {");
	for (size_t i = 0; i < r->n_nodes; i++) {
		struct text value = { 0 };
		if (put_value(&value, r, &r->node[i], what)) {
			text_printf(t, "%s\"%zu\": { \"value\": %s }", between,
				    r->node[i].index, text_str(&value));
			between = ",\n";
		}
		text_free(&value);
	}
	text_puts(t, "\n}");
	put_gradient(t, what);
	text_puts(t, " } }\n");
}
