/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names, in each operation, all operators of the model that it computes: also those that the
 * table of another operator contains.  Reports call the operation after all of them.
 */
#include "../part.h"

static bool
has_tfl(const struct g_op *op, int index)
{
	for (int i = 0; i < op->tfl.n; i++)
		if (op->tfl.v[i].index == index)
			return true;
	return false;
}

/* Inserts operator `index` before the last one, which keeps its place. */
static void
insert(struct part *p, struct g_op *op, int index)
{
	int n = op->tfl.n;
	struct g_tfl *v = anew(p->a, struct g_tfl, (size_t)n + 1);
	memcpy(v, op->tfl.v, (size_t)(n - 1) * sizeof(*v));
	v[n] = op->tfl.v[n - 1];
	v[n - 1] = (struct g_tfl){ .index = index };
	op->tfl.v = v;
	op->tfl.n++;
}

void
name_parts(struct part *p)
{
	for (size_t k = 0; k < p->g->n_ops; k++) {
		struct g_op *op = p->g->ops[k];
		int last = op->tfl.n ? op->tfl.v[op->tfl.n - 1].index : -1;
		for (int i = 0; last >= 0 && p->op[last].as == AS_TABLE && i < p->sg->n_ops; i++)
			if (p->op[i].as == AS_PART && p->op[i].within == last && !has_tfl(op, i))
				insert(p, op, i);
	}
}
