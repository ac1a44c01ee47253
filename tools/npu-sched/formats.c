/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses NHCWB16 for every feature map that only NPU operations use, and only as a whole or in
 * bricks (ethosu-memory(7) 18.5).
 */
#include "costs/costs.h"
#include "graph/facts.h"
#include "passes.h"
#include "target/accel.h"

static void
mark_list(const struct g_tensors *l, bool *linear)
{
	for (size_t i = 0; i < l->n; i++)
		linear[l->v[i]->rec.index] = true;
}

static bool
allows_bricks(const struct g_operand *o)
{
	if (o->type != o->t->shape.type)
		return false;
	return o->view == VIEW_WHOLE ||
	       (o->view == VIEW_BOX && o->start.c % BRICK == 0);
}

static void
mark_operands(struct sched *s, const struct g_op *op, bool *linear)
{
	const struct g_operand *o[3] = { &op->ifm, &op->ifm2, &op->ofm };
	for (int i = 0; i < 3; i++)
		if (o[i]->t && !allows_bricks(o[i]))
			linear[o[i]->t->rec.index] = true;
	/* both sides of a transfer have NHWC, as one of them mostly has NHWC anyway */
	if (op_is_transfer(op->kind))
		linear[op->ifm.t->rec.index] = linear[op->ofm.t->rec.index] = true;
	if (op_is_transfer(op->kind) && op->ifm2.t)
		linear[op->ifm2.t->rec.index] = true;
	/* REDUCE_SUM then reads linear feature maps: ethosu-commands(7) 4 */
	if (op->kind == OP_REDUCE_SUM &&
	    (op->ifm.type == TFL_INT32 || s->accel->cores > 1))
		linear[op->ifm.t->rec.index] = true;
}

/* Marks tensors that no operation touches, so that they do not differ between plans. */
static void
mark_untouched(struct sched *s, bool *linear)
{
	bool *touched = anew(s->a, bool, s->g->n_tensors + 1);
	for (size_t i = 0; i < s->g->n_ops; i++) {
		const struct g_op *op = s->g->ops[i];
		const struct g_operand *o[3] = { &op->ifm, &op->ifm2, &op->ofm };
		for (int k = 0; k < 3; k++)
			if (o[k]->t)
				touched[o[k]->t->rec.index] = true;
	}
	for (size_t i = 0; i < s->g->n_tensors; i++)
		linear[i] |= !touched[i];
}

/* Marks tensors that some operation uses in their own extents, because it is not pointwise. */
static bool *
list_shaped(struct sched *s)
{
	bool *shaped = anew(s->a, bool, s->g->n_tensors + 1);
	for (size_t i = 0; i < s->g->n_ops; i++) {
		const struct g_op *op = s->g->ops[i];
		const struct g_operand *o[3] = { &op->ifm, &op->ifm2, &op->ofm };
		for (int k = 0; k < 3; k++)
			if (o[k]->t && !is_pointwise(op))
				shaped[o[k]->t->rec.index] = true;
	}
	return shaped;
}

bool
choose_formats(struct sched *s)
{
	struct graph *g = s->g;
	bool *linear = anew(s->a, bool, g->n_tensors + 1);
	for (size_t i = 0; i < g->n_nodes; i++) {
		mark_list(&g->nodes[i]->in, linear);
		mark_list(&g->nodes[i]->out, linear);
	}
	mark_untouched(s, linear);
	s->shallow = anew(s->a, bool, g->n_tensors + 1);
	bool *npu_only = anew(s->a, bool, g->n_tensors + 1);
	for (size_t i = 0; i < g->n_tensors; i++)
		npu_only[i] = !linear[i] && !g->tensors[i]->variable &&
			      !G_HAS(g->tensors[i], G_TENSOR_io);
	for (size_t i = 0; i < g->n_ops; i++)
		mark_operands(s, g->ops[i], linear);
	const bool *shaped = list_shaped(s);
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
