/* SPDX-License-Identifier: Apache-2.0 */
/* Constant folding with the reference kernels. */
#include "part.h"

#include "tosakernels/tosakernels.h"

struct bytes
fold_op(struct part *p, const struct tosa_op *op)
{
	const struct tosa_tensor *o = tosa_out(p->t, op);
	struct arena *a = arena_open();
	const int64_t **in = anew(a, const int64_t *, (size_t)op->n_in);
	for (int k = 0; k < op->n_in; k++) {
		const struct tosa_tensor *t = tosa_in(p->t, op, k);
		int64_t n = tosa_elements(t), *v = anew(a, int64_t, (size_t)n);
		for (int64_t i = 0; i < n; i++)
			v[i] = tosa_value(t, i);
		in[k] = v;
	}
	int64_t n = tosa_elements(o);
	struct tosa_run r = { .a = a, .g = p->t, .op = op, .in = in,
			      .out = anew(a, int64_t, (size_t)n) };
	tosa_eval(&r);
	struct bytes b = { .n = (size_t)tosa_bytes(o) };
	uint8_t *to = anew(p->a, uint8_t, b.n);
	for (int64_t i = 0; i < n; i++)
		tosa_store(o->type, to, i, r.out[i]);
	b.p = to;
	arena_close(a);
	return b;
}

/* most elements of a result that is computed at compile time; the NPU computes larger ones */
enum { MAX_FOLDED = 1 << 22 };

bool
fold_is_constant(const struct part *p, const struct tosa_op *op)
{
	if (op->loop || tosa_elements(tosa_out(p->t, op)) > MAX_FOLDED)
		return false;
	for (int k = 0; k < op->n_in; k++)
		if (!tosa_in(p->t, op, k)->data.p)
			return false;
	return op->n_in > 0;
}

void
fold_constants(struct part *p)
{
	struct tosa_graph *g = p->t;
	for (int i = 0; i < g->n_tensors; i++) {
		p->reader[i] = -1;
		p->maker[i] = g->tensor[i].producer;
	}
	for (int i = 0; i < g->n_ops; i++) {
		const struct tosa_op *op = &g->op[i];
		if (!fold_is_constant(p, op))
			continue;
		g->tensor[op->out[0]].data = fold_op(p, op);
		p->done[i] = true;
	}
	for (int i = 0; i < g->n_ops; i++)
		for (int k = 0; k < g->op[i].n_in; k++) {
			int t = g->op[i].in[k];
			p->reader[t] = g->tensor[t].uses == 1 ? i : -1;
		}
}
