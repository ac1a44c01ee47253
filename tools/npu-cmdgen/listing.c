/* SPDX-License-Identifier: Apache-2.0 */
#include "cmdgen.h"
#include "stream/stream.h"

bool
print_listing(struct cmdgen *c, struct text *t)
{
	for (size_t i = 0; i < c->g->n_nodes; i++) {
		if (!c->stream[i].n_marks)
			continue;
		struct npu_stream s = { .accel = c->accel, .word = c->stream[i].word,
					.n_words = c->stream[i].n };
		if (!stream_print(t, &s, false, c->e))
			return false;
	}
	return true;
}
