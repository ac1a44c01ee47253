/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds to the graph what an accelerator's output stage lacks: zero points beyond a byte,
 * negative strides, and tables of functions that other accelerators have built in
 * (ethosu-commands(7) 23.5, ethosu-memory(7) 25.2).
 */
#include "graph/build.h"
#include "graph/facts.h"
#include "network/insert.h"
#include "passes.h"

#include "emit/emit.h"
#include "lower/lower.h"
#include "target/accel.h"

#include <stdlib.h>

/* ---- zero points ---------------------------------------------------------- */

/* Makes op write 32-bit words, and adds an operation behind it with the zero point, clamp and
 * table. */
static void
add_zero_behind(struct graph *g, size_t at)
{
	struct g_op *op = g->ops[at];
	struct g_operand between =
		operand_whole(graph_add_feature_map(g, TFL_INT32, op->ofm.shape));
	struct g_op *c = insert_op(g, at + 1, OP_ADD, op, between, op->ofm);
	G_PUT(c, OP, scalar, op->ofm_zero);
	G_PUT(c, OP, ifm2_zero, 0);
	G_PUT(c, OP, opa, (struct npu_scale){ .mult = 1 });
	G_PUT(c, OP, opb, 1);
	G_PUT(c, OP, scale, (struct npu_scale){ .mult = 1 });
	c->clamp = op->clamp;
	if (G_HAS(op, G_OP_act))
		G_PUT(c, OP, act, op->act);
	if (op->lut)
		G_PUT(c, OP, lut, op->lut);
	op->ofm = between;
	op->ofm_zero = 0;
	op->clamp = (struct g_range){ .lo = INT16_MIN, .hi = INT16_MAX };
	op->act = G_ACT_CLAMP;
	op->lut = NULL;
	G_CLEAR(op, G_OP_act);
	G_CLEAR(op, G_OP_lut);
}

/* ---- feature maps that are written backwards ------------------------------ */

/* The axis that is written backwards; ORDER_HWC: none. */
static enum out_order
find_backwards(const struct g_operand *o)
{
	if (o->view != VIEW_STRIDED)
		return ORDER_HWC;
	return o->shape.h > 1 && o->stride[0] < 0   ? ORDER_REVERSE_H
	       : o->shape.w > 1 && o->stride[1] < 0 ? ORDER_REVERSE_W
						    : ORDER_HWC;
}

/*
 * Strides cannot be negative, so a pool reverses one axis as it stores its results.
 * For a second axis, or if the operation is no pool, a pool is added behind the
 * operation; the caller visits this pool next.
 */
static void
write_forwards(struct graph *g, size_t at)
{
	struct g_op *op = g->ops[at];
	enum out_order order = find_backwards(&op->ofm);
	struct g_operand *o = &op->ofm;
	if (o->view == VIEW_STRIDED && o->shape.h == 1) /* the stride is unused then */
		o->stride[0] = llabs(o->stride[0]);
	if (o->view == VIEW_STRIDED && o->shape.w == 1)
		o->stride[1] = llabs(o->stride[1]);
	if (!order || graph_type_bytes(op->ofm.type) > 2)
		return;
	struct g_operand rest = op->ofm;
	bool plain = emit_is_plain_pool(op);
	const int axis = order == ORDER_REVERSE_W; /* the same elements with that axis forwards */
	rest.offset += ((axis ? rest.shape.w : rest.shape.h) - 1) * rest.stride[axis];
	rest.stride[axis] = -rest.stride[axis];
	if (plain && !find_backwards(&rest)) {
		op->ofm = rest;
	} else {
		struct g_operand between =
			operand_whole(graph_add_feature_map(g, op->ofm.type, op->ofm.shape));
		struct g_op *c = insert_op(g, at + 1, OP_AVGPOOL, op, between,
					   plain ? rest : op->ofm);
		G_PUT(c, OP, scale, (struct npu_scale){ .mult = 1u << 30, .shift = 30 });
		op->ofm = between;
	}
	if (!plain) /* the added pool will reverse it */
		return;
	op->kind = OP_REORDER;
	G_PUT(op, OP, order, (int)order);
}

/* ---- operations ----------------------------------------------------------- */

/* Rejects operations that the accelerator lacks: tfl-partition lowers for one accelerator only
 * if it is told which. */
static bool
check_native(struct sched *s, const struct g_op *op)
{
	static const struct {
		const char *what; /* NULL: all accelerators have it */
		enum accel_lack lack;
	} needs[OP_KINDS] = {
		[OP_DIV] = { "division", LACK_DIVISION },
		[OP_LRELU] = { "leaky ReLU of two scales", LACK_SLOPES },
		[OP_MATMUL] = { "product of two feature maps", LACK_MATMUL },
		[OP_EQUAL] = { "comparison", LACK_BITS },
		[OP_UNEQUAL] = { "comparison", LACK_BITS },
		[OP_GREATER] = { "comparison", LACK_BITS },
		[OP_NOT_LESS] = { "comparison", LACK_BITS },
		[OP_AND] = { "bitwise operation", LACK_BITS },
		[OP_OR] = { "bitwise operation", LACK_BITS },
		[OP_AND_NOT] = { "bitwise operation", LACK_BITS },
		[OP_XOR] = { "bitwise operation", LACK_BITS },
		[OP_LSR] = { "bitwise operation", LACK_BITS },
		[OP_ARGMAX] = { "ARGMAX", LACK_ARGMAX },
		[OP_RESIZE] = { "resize unit", LACK_RESIZE },
		[OP_GATHER] = { "indexed transfer", LACK_GATHER },
		[OP_SCATTER] = { "indexed transfer", LACK_GATHER },
		[OP_REORDER] = { "transposed or reversed output", LACK_ORDERS },
	};
	const char *what = needs[op->kind].what;
	enum accel_lack lack = needs[op->kind].lack;
	bool plain = !what || (op->kind == OP_LRELU && !G_HAS(op, G_OP_opa));
	if (plain && op->act == G_ACT_LUT && op->lut->bits == 16 &&
	    op->ofm.type == TFL_INT32) {
		what = "table from 16 to 32 bits";
		lack = LACK_WORD_CURVES;
		plain = false;
	}
	if (!plain && accel_lacks(s->accel, lack))
		return graph_err(s->g, op, s->e, "o%d: %s has no %s: lower the model "
						 "for this accelerator", op->rec.id,
				 s->accel->name, what);
	const char *limit = emit_limit(s->a, s->accel, op);
	return !limit || graph_err(s->g, op, s->e, "o%d: %s", op->rec.id, limit);
}

bool
complete_stages(struct sched *s)
{
	struct graph *g = s->g;
	struct g_lut *function[2] = { NULL, NULL }; /* SIGMOID, TANH */
	for (size_t i = 0; i < g->n_ops; i++)
		if (!check_native(s, g->ops[i]))
			return false;
	for (size_t i = 0; i < g->n_ops && !g->n_steps; i++) {
		struct g_op *op = g->ops[i];
		if (accel_lacks(s->accel, LACK_WIDE_ZEROS)) {
			if (!op_is_transfer(op->kind) && graph_type_bytes(op->ofm.type) == 2 &&
			    (op->ofm_zero < INT8_MIN || op->ofm_zero > INT8_MAX))
				add_zero_behind(g, i);
			emit_move_zero(op);
		}
		if (!accel_lacks(s->accel, LACK_ORDERS))
			write_forwards(g, i);
		bool tanh = op->act == G_ACT_TANH;
		if (!accel_lacks(s->accel, LACK_FUNCTIONS) || op->lut ||
		    (!tanh && op->act != G_ACT_SIGMOID))
			continue;
		if (!function[tanh])
			function[tanh] = low_function(g, tanh);
		G_PUT(op, OP, lut, function[tanh]);
	}
	return true;
}
