/* SPDX-License-Identifier: Apache-2.0 */
/* Every NPU operator becomes graph operations, node by node. */
#include "part.h"

/*
 * The result of an alias that the CPU sees has its memory already; its input,
 * when nobody else sees that, is then another name of the same memory.
 */
static void
bind_aliases(struct part *p)
{
	for (int i = p->sg->n_ops; i-- > 0;) {
		const struct tfl_op *op = &p->sg->op[i];
		const struct family *f = family_find(op->code);
		if (!p->op[i].npu || !f || !f->alias)
			continue;
		struct g_operand *to = &p->value[op->out[0]];
		struct g_operand *from = &p->value[op->in[0]];
		int producer = p->sg->tensor[op->in[0]].producer;
		if (!to->t || from->t || producer < 0 || !p->op[producer].npu)
			continue;
		*from = operand_reshape(to->t, tfl_hwc(&p->sg->tensor[op->in[0]]));
	}
}

bool
lower_all(struct part *p)
{
	bind_aliases(p);
	for (size_t n = 0; n < p->g->n_nodes; n++) {
		p->node = p->g->nodes[n];
		for (int i = 0; p->node->kind == NODE_NPU && i < p->node->tfl.n; i++) {
			p->op_i = p->node->tfl.v[i].index;
			const struct tfl_op *op = &p->sg->op[p->op_i];
			if (!family_find(op->code)->lower(p, op))
				return false;
		}
	}
	return true;
}
