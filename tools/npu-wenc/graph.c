/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes all weights of a scheduled graph, and places them. */
#include "wenc.h"

#include "base/text.h"

#include <stdio.h>

/* to standard error, beside the output */
static void
report(const struct wenc *w, const struct options *o)
{
	struct text t = { 0 };
	if (o->stats)
		print_stats(w, &t);
	if (o->allocation)
		print_allocation(w, &t);
	text_show(&t, stderr);
}

bool
encode_graph(struct wenc *w, const struct options *o)
{
	bool ok = encode_all(w, o) && lay_out(w, o);
	if (ok)
		report(w, o);
	forget_pieces(w);
	if (ok)
		w->g->stage = STAGE_WENC;
	return ok;
}
