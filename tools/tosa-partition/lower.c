/* SPDX-License-Identifier: Apache-2.0 */
/* Lowers, in order, every operator that is not part of another one. */
#include "part.h"

#define lower_none NULL
static lower_fn *const lowerings[TOSA_OP_LIMIT] = {
#define TOSA_OP(code, name, attributes, min_in, max_in, constants, lowering) \
	[code] = lower_##lowering,
#include "tosa_ops.def"
};

void
lower_all(struct part *p)
{
	for (int i = 0; i < p->t->n_ops; i++) {
		const struct tosa_op *op = &p->t->op[i];
		if (p->done[i])
			continue;
		p->l->op_i = op->number;
		p->l->name = tosa_out(p->t, op)->name;
		const char *why = lowerings[op->code](p, op) ?: p->l->refused;
		p->l->refused = NULL;
		if (why)
			p->why[i] = why;
	}
	for (int i = 0; i < p->t->n_ops; i++)
		p->refused += p->why[i] != NULL;
	/* outputs that are constants */
	for (int i = 0; i < p->t->n_out; i++) {
		const struct tosa_tensor *t = &p->t->tensor[p->t->out[i]];
		bool again = false;
		for (int k = 0; k < i; k++)
			again |= p->t->out[k] == p->t->out[i];
		if (!t->data.p || again)
			continue;
		struct nd to = result_view(p, p->t->out[i]), from = const_tensor(p, t);
		nd_copy(p->l, &from, &to);
	}
}
