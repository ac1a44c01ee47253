/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a line for each operator of the graph. */
#include "part.h"

#include "base/text.h"

void
print_report(const struct part *p, struct text *t)
{
	int n = 0;
	for (int i = 0; i < p->t->n_ops; i++) {
		const struct tosa_op *op = &p->t->op[i];
		const struct tosa_tensor *o = tosa_out(p->t, op);
		text_printf(t, "%d %s %s %s %s%s%s\n", op->number,
			    p->why[i] ? "none" : "NPU", op->name, o->name,
			    tosa_text(p->a, o), p->why[i] ? ": " : "",
			    p->why[i] ? p->why[i] : "");
		n += !p->why[i];
	}
	rewrite_print(p->g, t);
	text_printf(t, "%d of %d operators on the NPU, %zu operations\n", n, p->t->n_ops,
		    p->g->n_ops);
}
