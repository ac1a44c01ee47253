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
	for (size_t i = 0; i < w->n_coded; i++) /* the memory of all pieces */
		for (int k = 0; k < w->coded[i].slices * w->coded[i].cores; k++) {
			arena_close(w->coded[i].piece[k].a);
			w->coded[i].piece[k] = (struct piece){ 0 };
		}
	if (ok)
		w->g->stage = STAGE_WENC;
	return ok;
}
