/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses NHCWB16 for every feature map that only NPU operations use, and only as a whole or in
 * bricks (ethosu-memory(7) 18.5).
 */
#include "costs/costs.h"
#include "graph/facts.h"
#include "passes.h"
#include "target/accel.h"

bool
choose_formats(struct sched *s)
{
	struct graph *g = s->g;
	bool *linear = anew(s->a, bool, g->n_tensors + 1);
	bool *npu_only = anew(s->a, bool, g->n_tensors + 1);
	bool *touched = anew(s->a, bool, g->n_tensors + 1); /* by some operation */
	bool *shaped = anew(s->a, bool, g->n_tensors + 1); /* in its own extents: not pointwise */
	bool *no_bricks = anew(s->a, bool, g->n_tensors + 1); /* for an operation that touches it */
	s->shallow = anew(s->a, bool, g->n_tensors + 1);
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct g_node *n = g->nodes[i];
		for (size_t k = 0; k < n->in.n; k++)
			linear[n->in.v[k]->rec.index] = true;
		for (size_t k = 0; k < n->out.n; k++)
			linear[n->out.v[k]->rec.index] = true;
	}
	for (size_t i = 0; i < g->n_ops; i++) {
		const struct g_op *op = g->ops[i];
		const struct g_operand *operand[] = { &op->ifm, &op->ifm2, &op->ofm };
		for (size_t k = 0; k < ARRAY_LEN(operand); k++) {
			const struct g_operand *o = operand[k];
			if (!o->t)
				continue;
			const bool bricks = o->type == o->t->shape.type &&
					    (o->view == VIEW_WHOLE ||
					     (o->view == VIEW_BOX && o->start.c % BRICK == 0));
			touched[o->t->rec.index] = true;
			shaped[o->t->rec.index] |= !is_pointwise(op);
			/* both sides of a transfer have NHWC, as one of them mostly has NHWC anyway */
			no_bricks[o->t->rec.index] |= !bricks || op_is_transfer(op->kind);
		}
		/* REDUCE_SUM then reads linear feature maps: ethosu-commands(7) 4 */
		if (op->kind == OP_REDUCE_SUM &&
		    (op->ifm.type == TFL_INT32 || s->accel->cores > 1))
			no_bricks[op->ifm.t->rec.index] = true;
	}
	for (size_t i = 0; i < g->n_tensors; i++) {
		/* one that no operation touches does not differ between plans */
		linear[i] |= !touched[i];
		npu_only[i] = !linear[i] && !g->tensors[i]->variable &&
			      !G_HAS(g->tensors[i], G_TENSOR_io);
		linear[i] |= no_bricks[i];
	}
	for (size_t i = 0; i < g->n_tensors; i++) {
		struct g_tensor *t = g->tensors[i];
		bool seen = linear[i] || tensor_is_const(t) || t->variable ||
			    G_HAS(t, G_TENSOR_io);
		if (!G_HAS(t, G_TENSOR_layout)) {
			G_PUT(t, TENSOR, layout, seen ? LAYOUT_NHWC : LAYOUT_NHCWB16);
			/* bricks of shallow feature maps are mostly padding; a feature map in
			 * NHWC may be seen in other extents */
			s->shallow[i] = !seen && (t->hwc.c % BRICK || !shaped[i]);
			s->n_shallow += s->shallow[i];
		}
		/* the NPU's own SRAM, if there is one, holds what only the NPU uses */
		int area = tensor_is_const(t)		     ? PLACE_FLASH
			   : s->memory.spilling && npu_only[i] ? PLACE_CACHE
							     : PLACE_ARENA;
		if (!G_HAS(t, G_TENSOR_area))
			G_PUT(t, TENSOR, area, area);
	}
	return true;
}
