/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowers every NPU operator to graph operations, node by node, and asks the rules of later
 * stages which of the operations an accelerator of the graph can't run.  The operators of
 * these stay on the CPU.
 */
#include "moves/move.h"

#include "emit/emit.h"
#include "lower/linux.h"
#include "target/accel.h"

#include <assert.h>

void
bind_place(struct part *p, int tensor, struct g_operand place)
{
	int producer = p->sg->tensor[tensor].producer;
	struct hwc line = { .h = 1, .w = 1, .c = (int32_t)hwc_elements(place.shape) };
	struct g_operand any;
	/* a constant has no operation that could write to `place` */
	if (p->value[tensor].t || producer < 0 || !p->op[producer].npu ||
	    p->op[producer].as == AS_CONSTANT)
		return;
	if (family_of(p->sg->op[producer].code)->place >= PLACE_any ||
	    operand_view(place, line, &any))
		p->value[tensor] = place;
}

/* appends the operations of an operator of the current node */
static void
lower_one(struct part *p, int i)
{
	const struct tfl_op *op = &p->sg->op[i];
	const struct lop *o = &p->op[i].lop;
	p->l->op_i = i;
	p->l->name = op->n_out ? p->sg->tensor[op->out[0]].name : NULL;
	switch (p->op[i].as) {
	case AS_PADDING:
	case AS_PART:
		break;
	case AS_ALONE:
	case AS_TABLE:
		if (o->table)
			lower_bytes(p, o);
		else
			family_of(op->code)->lower(p, o);
		break;
	case AS_WORDS:
		lower_words(p, o);
		break;
	case AS_PICK:
		lower_picked(p, op);
		break;
	case AS_CONSTANT:
		lower_constant(p, op);
		break;
	case AS_RATIO:
		lower_ratio(p, i);
		break;
	}
}

bool
lower_all(struct part *p)
{
	bool all = true;
	/*
	 * Decides where tensors are stored before any operation is made, from the last
	 * operator to the first.  A tensor that is a part of a result is written directly
	 * into that result.  The result of an alias that the CPU sees already has memory;
	 * if nobody else sees the input of the alias, the input becomes another name of the
	 * same memory.
	 */
	for (int i = p->sg->n_ops; i-- > 0;) {
		const struct tfl_op *op = &p->sg->op[i];
		const struct family *f = family_of(op->code);
		if (p->op[i].as == AS_CONSTANT || !p->op[i].npu)
			continue;
		if (f->place == PLACE_parts)
			bind_concat(p, &p->op[i].lop);
		if (f->place == PLACE_middle && p->op[i].as == AS_ALONE)
			bind_pad(p, &p->op[i].lop);
		if (f->place != PLACE_alias)
			continue;
		const struct g_operand *to = &p->value[op->out[0]];
		struct g_operand view;
		if (to->t && operand_view(*to, tfl_hwc(&p->sg->tensor[op->in[0]]),
					  &view))
			bind_place(p, op->in[0], view);
	}
	for (size_t n = 0; n < p->g->n_nodes; n++) {
		const struct g_node *node = p->l->node = p->g->nodes[n];
		for (int k = 0; node->kind == NODE_NPU && k < node->tfl.n; k++) {
			int i = node->tfl.v[k].index;
			lower_one(p, i);
			if (!p->l->refused)
				continue;
			assert(!p->limit[i]); /* an operator with a limit is not lowered */
			p->limit[i] = p->l->refused;
			p->l->refused = NULL;
			all = false;
		}
	}
	for (size_t i = 0; i < p->g->n_ops; i++) {
		const struct g_op *op = p->g->ops[i];
		const char *why = low_linux_limit(p->l, op);
		for (size_t k = 0; !why && k < ACCEL_COUNT; k++)
			if (!p->l->accel || p->l->accel == &accels[k])
				why = emit_limit(p->a, &accels[k], op);
		for (int k = 0; why && k < op->tfl.n; k++) {
			const char **limit = &p->limit[op->tfl.v[k].index];
			all = all && *limit;
			*limit = why;
		}
	}
	if (all)
		name_parts(p);
	return all;
}
