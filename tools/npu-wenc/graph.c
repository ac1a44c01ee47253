/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes all weights of a scheduled graph, and places them. */
#include "wenc.h"

#include "base/text.h"

#include <stdio.h>

bool
encode_graph(struct wenc *w, const struct options *o)
{
	bool ok = encode_all(w, o) && lay_out(w, o);
	struct text t = { 0 }; /* to standard error, beside the output */
	if (ok && o->stats)
		print_stats(w, &t);
	if (ok && o->allocation)
		print_allocation(w, &t);
	text_show(&t, stderr);
	forget_pieces(w);
	if (ok)
		w->g->stage = STAGE_WENC;
	return ok;
}
