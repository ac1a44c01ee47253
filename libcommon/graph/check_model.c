/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that each tensor of the original model has at most one tensor in the graph. */
#include "graph/check.h"

#include <stdlib.h>

struct stand_in {
	struct g_tfl tfl;
	const struct g_tensor *t;
};

static int
compare(const void *x, const void *y)
{
	const struct stand_in *a = x, *b = y;
	if (a->tfl.subgraph != b->tfl.subgraph)
		return a->tfl.subgraph < b->tfl.subgraph ? -1 : 1;
	if (a->tfl.index != b->tfl.index)
		return a->tfl.index < b->tfl.index ? -1 : 1;
	return (a->t->rec.index > b->t->rec.index) - (a->t->rec.index < b->t->rec.index);
}

bool
check_stand_ins(struct check *c)
{
	const struct graph *g = c->g;
	size_t n = 0, k = 0;
	for (size_t i = 0; i < g->n_tensors; i++)
		n += (size_t)g->tensors[i]->tfl.n;
	struct stand_in *v = anew(c->a, struct stand_in, n + 1);
	for (size_t i = 0; i < g->n_tensors; i++)
		for (int j = 0; j < g->tensors[i]->tfl.n; j++)
			v[k++] = (struct stand_in){ .tfl = g->tensors[i]->tfl.v[j],
						    .t = g->tensors[i] };
	qsort(v, n, sizeof(*v), compare);
	for (size_t i = 1; i < n; i++)
		if (v[i].t != v[i - 1].t && v[i].tfl.subgraph == v[i - 1].tfl.subgraph &&
		    v[i].tfl.index == v[i - 1].tfl.index)
			return BAD(c, v[i].t, "t%d stands for tensor %d.%d of the model, as t%d does",
				   v[i].t->rec.id, v[i].tfl.subgraph, v[i].tfl.index,
				   v[i - 1].t->rec.id);
	return true;
}
