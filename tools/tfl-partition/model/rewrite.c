/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes the model in memory.  The file in the graph's blob "model" is unchanged,
 * and npu-cmdgen copies operators of the CPU from that file.  Therefore only
 * operators that the NPU runs or that are left out may be changed.
 */
#include "../part.h"

#include "tflite/write.h"

#include <stdio.h>
#include <string.h>

void
part_leave_out(struct part *p, int op, const char *why)
{
	struct tfl_op *o = &p->m->subgraph[0].op[op];
	p->op[op].left_out = why;
	p->op[op].was = part_name(p, o);
	o->n_in = o->n_out = 0;
}

static const int *
copy_indices(struct part *p, const int *v, int n)
{
	return memcpy(anew(p->a, int, (size_t)n), v, (size_t)n * sizeof(*v));
}

void
part_set_inputs(struct part *p, int op, const int *v, int n)
{
	p->m->subgraph[0].op[op].in = copy_indices(p, v, n);
	p->m->subgraph[0].op[op].n_in = n;
	p->op[op].rewritten = true;
}

void
part_set_outputs(struct part *p, int op, const int *v, int n)
{
	p->m->subgraph[0].op[op].out = copy_indices(p, v, n);
	p->m->subgraph[0].op[op].n_out = n;
	p->op[op].rewritten = true;
}

void
part_set_input(struct part *p, int op, int k, int tensor)
{
	const struct tfl_op *o = &p->m->subgraph[0].op[op];
	int *in = memcpy(anew(p->a, int, (size_t)o->n_in), o->in, (size_t)o->n_in * sizeof(*in));
	in[k] = tensor;
	part_set_inputs(p, op, in, o->n_in);
}

bool
check_rewritten(const struct part *p)
{
	for (int i = 0; i < p->sg->n_ops; i++)
		if (p->op[i].rewritten && !p->op[i].npu)
			return err_at(p->e, p->m->name, 0,
				      "operator %d (%s) would run on the CPU with an "
				      "input that it does not have in the model: %s",
				      i, tfl_op_label(&p->sg->op[i]), p->op[i].why);
	return true;
}

bool
check_copyable(const struct part *p)
{
	for (int s = 0; s < p->m->n_subgraphs; s++)
		for (int i = 0; i < p->m->subgraph[s].n_ops; i++) {
			const struct tfl_op *o = &p->m->subgraph[s].op[i];
			const char *what = tfl_op_opaque(o->ref);
			if (what && (s || (!p->op[i].npu && !p->op[i].left_out)))
				return err_at(p->e, p->m->name, 0, "%soperator %d (%s) runs on the "
					      "CPU, but its %s can't be copied into a compiled model",
					      s ? arena_printf(p->a, "subgraph %d, ", s) : "", i,
					      tfl_op_label(o), what);
		}
	return true;
}
