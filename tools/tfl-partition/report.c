/* SPDX-License-Identifier: Apache-2.0 */
#include "part.h"

static const char *
tensor_name(const struct part *p, const struct tfl_op *op)
{
	return op->n_out ? p->sg->tensor[op->out[0]].name : "";
}

void
print_report(const struct part *p, struct text *t)
{
	int npu = 0, regions = 0;
	for (int i = 0; i < p->sg->n_ops; i++)
		npu += p->op[i].npu;
	for (size_t i = 0; i < p->g->n_nodes; i++)
		regions += p->g->nodes[i]->kind == NODE_NPU;
	for (int i = 0; i < p->sg->n_ops; i++) {
		const struct tfl_op *op = &p->sg->op[i];
		const struct placement *x = &p->op[i];
		text_printf(t, "%4d  %-4s %-24s %s", i, x->npu ? "NPU" : "CPU",
			    tfl_op_label(op), tensor_name(p, op));
		if (x->folded)
			text_puts(t, "  (padding of the operator behind it)");
		if (x->part_of)
			text_printf(t, "  (in the table of operator %d)",
				    x->part_of - 1);
		if (!x->npu)
			text_printf(t, "  because: %s", x->why);
		text_putc(t, '\n');
	}
	text_printf(t, "%d of %d operators on the NPU in %d region%s, %d on the "
		       "CPU\n",
		    npu, p->sg->n_ops, regions, regions == 1 ? "" : "s",
		    p->sg->n_ops - npu);
}
