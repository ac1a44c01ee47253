/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that join operators, and the operators that each operation computes. */
#include "../part.h"

#include "graph/build.h"

static join_rule *const rules[] = { join_table, join_words, join_ratio };

bool
may_join(const struct part *p, int i)
{
	const struct placement *x = &p->op[i];
	return !x->asked && !x->border && x->as != AS_CONSTANT && !x->left_out;
}

void
join_all(struct part *p)
{
	find_functions(p);
	for (int i = p->sg->n_ops; i-- > 0;)
		for (size_t k = 0; k < ARRAY_LEN(rules); k++) {
			struct join j = { .n = 0 };
			if (p->op[i].as != AS_ALONE || !rules[k](p, i, &j))
				continue;
			p->op[i].npu = true;
			p->op[i].as = j.as;
			for (int m = 0; m < j.n; m++) {
				struct placement *x = &p->op[j.op[m]];
				x->npu = true;
				x->as = AS_PART;
				x->within = i;
			}
		}
}

void
name_parts(struct part *p)
{
	for (size_t k = 0; k < p->g->n_ops; k++) {
		struct g_op *op = p->g->ops[k];
		int last = op->tfl.n ? op->tfl.v[op->tfl.n - 1].index : -1;
		for (int i = 0; last >= 0 && p->op[last].as == AS_TABLE && i < p->sg->n_ops; i++) {
			bool named = p->op[i].as != AS_PART || p->op[i].within != last;
			for (int m = 0; m < op->tfl.n; m++)
				named |= op->tfl.v[m].index == i;
			if (!named) /* the last operator keeps its place */
				tfls_insert(p->g, &op->tfl, op->tfl.n - 1,
					    (struct g_tfl){ .index = i });
		}
	}
}
