/* SPDX-License-Identifier: Apache-2.0 */
/* What one kernel's registers of U85 say, against what its step's operation says. */
#include "stream/emit_regs.h"
#include "stream/op_view.h"
#include "stream/source_parts.h"

#include <stdio.h>

static bool
is_it(const struct npu_op *k, const struct g_op *op)
{
	int mode = 0;
	switch (emit85_opcode(op, &mode)) {
	case NPU_OP_CONV:
		return k->kind == NPU_CONV && k->weights_ifm2 == (op->kind == OP_MATMUL);
	case NPU_OP_DEPTHWISE:
		return k->kind == NPU_DEPTHWISE;
	case NPU_OP_POOL:
		return k->kind == NPU_POOL && k->mode == mode;
	case NPU_OP_ELEMENTWISE:
		return k->kind == NPU_ELEMENTWISE && k->mode == mode;
	case NPU_OP_RESIZE:
		return k->kind == NPU_RESIZE && k->mode == mode;
	default:
		return false;
	}
}

static void
same_operand(struct source *x, const struct npu_fm *f, bool scalar, const char *role,
	     const struct source_part *p, const struct g_operand *o, int32_t zero)
{
	const struct g_op *op = p->op;
	source_same(x, op, "a scalar operand", scalar, !o->t);
	if (!o->t) {
		source_same_type(x, op, role, f, op->ifm.type, zero);
		return;
	}
	bool one = o->shape.h == 1;
	struct hwc shape = { .h = one ? 1 : (int32_t)p->rows, .w = o->shape.w,
			     .c = o->shape.c };
	source_same_map(x, op, role, f, o, shape, one ? 0 : p->row, 0, zero);
}

/* operands are in the order in which the operation takes them */
static void
same_operands(struct source *x, const struct npu_op *k, const struct source_part *p)
{
	const struct g_op *op = p->op;
	const struct g_operand *o[2] = { &op->ifm, &op->ifm2 };
	int32_t zero[2] = { op->ifm_zero, op->ifm2_zero };
	bool binary = op_is_binary(op->kind);
	int first = binary && op->reversed;
	same_operand(x, &k->ifm, k->ifm_scalar, "IFM", p, o[first], zero[first]);
	if (!binary)
		return;
	same_operand(x, &k->ifm2, k->ifm2_scalar, "IFM2", p, o[!first], zero[!first]);
	if (!op->ifm2.t)
		source_same16(x, op, "scalar", k->scalar, op->scalar);
}

static void
same_axis(struct source *x, const struct g_op *op, const char *axis,
	  const struct npu_resize_axis *a, int32_t up, int32_t down, int64_t first)
{
	char what[40];
	(void)snprintf(what, sizeof(what), "%s samples of an element", axis);
	source_same(x, op, what, a->n, up);
	(void)snprintf(what, sizeof(what), "%s step", axis);
	source_same(x, op, what, a->d, down);
	(void)snprintf(what, sizeof(what), "%s first sample", axis);
	source_same(x, op, what, a->offset, first);
}

/* the IFM of what is not elementwise, and the filters of a product of two maps */
static void
same_input(struct source *x, const struct npu_op *k, const struct source_part *p)
{
	const struct g_op *op = p->op;
	bool cut = op->kind == OP_DEPTHWISE, resize = op->kind == OP_RESIZE;
	struct hwc shape = { .h = k->ifm.shape.h, .w = k->ifm.shape.w,
			     .c = cut ? p->depth : op->ifm.shape.c };
	if (resize) {
		struct yx read = op_sampled(op);
		shape.h = read.y;
		shape.w = read.x;
		same_axis(x, op, "vertical", &k->resize_y, op->up.y, op->down.y,
			  op->first.lo);
		same_axis(x, op, "horizontal", &k->resize_x, op->up.x, op->down.x,
			  op->first.hi);
	} else {
		/* height and width follow from it */
		source_same_window(x, k, p);
	}
	source_same_map(x, op, "IFM", &k->ifm, &op->ifm, shape, resize ? 0 : p->ifm_row,
			cut ? p->channel : 0, op->ifm_zero);
	if (op->kind != OP_MATMUL)
		return;
	struct hwc filters = { .h = 1, .w = op->ofm.shape.c, .c = op->ifm.shape.c };
	source_same_map(x, op, "IFM2", &k->ifm2, &op->ifm2, filters, 0, 0, op->ifm2_zero);
}

static void
same_ofm(struct source *x, const struct npu_op *k, const struct source_part *p)
{
	static const struct {
		enum npu_transpose transpose;
		enum npu_reverse reverse;
	} orders[] = {
		[ORDER_HCW] = { .transpose = NPU_HCW },
		[ORDER_REVERSE_H] = { .reverse = NPU_REVERSE_H },
		[ORDER_REVERSE_W] = { .reverse = NPU_REVERSE_W },
		[ORDER_REVERSE_C] = { .reverse = NPU_REVERSE_C },
	};
	const struct g_op *op = p->op;
	struct hwc ofm = { .h = (int32_t)p->rows, .w = op->ofm.shape.w, .c = p->depth };
	source_same(x, op, "transposition", k->transpose, orders[op->order].transpose);
	source_same(x, op, "reversal", k->reverse, orders[op->order].reverse);
	source_same_map(x, op, "OFM", &k->ofm, &op->ofm, ofm, p->row, p->channel,
			emit85_ofm_zero(op));
}

static void
same_scale(struct source *x, const struct g_op *op, const char *whose, struct scale85 have,
	   enum npu_rounding rounding, struct scale85 want)
{
	char what[40];
	(void)snprintf(what, sizeof(what), "%s multiplier", whose);
	source_same(x, op, what, have.mult, want.mult);
	(void)snprintf(what, sizeof(what), "%s shift", whose);
	source_same(x, op, what, have.shift, want.shift & 0x3f);
	(void)snprintf(what, sizeof(what), "%s doubling", whose);
	source_same(x, op, what, have.twice, want.twice);
	(void)snprintf(what, sizeof(what), "%s rounding", whose);
	source_same(x, op, what, rounding, decode85_rounding(want.round));
}

static void
same_scales(struct source *x, const struct npu_op *k, const struct g_op *op)
{
	struct scales85 s = emit85_scales(op);
	source_same(x, op, "global scale", k->global_scale, !op_has_weights(op->kind));
	same_scale(x, op, "OFM's", (struct scale85){ k->ofm_mult, k->ofm_shift,
		   k->ofm_double, 0 }, k->rounding, s.ofm);
	if (!s.operands)
		return;
	same_scale(x, op, "IFM's", (struct scale85){ k->opa_mult, k->opa_shift,
		   k->opa_double, 0 }, k->ifm_rounding, s.a);
	if (k->has_ifm2 || k->mode == NPU_ELT_LRELU)
		same_scale(x, op, "IFM2's", (struct scale85){ k->opb_mult, k->opb_shift,
			   k->opb_double, 0 }, k->ifm2_rounding, s.b);
}

static void
same_activation(struct source *x, const struct npu_op *k, const struct g_op *op)
{
	bool table = op_has_table(op);
	source_same(x, op, "activation", k->activation, emit85_function(op));
	if (table)
		source_same_table(x, op, k->table.n ? (int)k->table.at / 256 : -1,
				  (int)k->table.n);
	source_same(x, op, "clip range", k->clip_range,
		    graph_type_bytes(op->ofm.type) == 4 && !table);
	source_same16(x, op, "minimum", k->min, op->clamp.lo);
	source_same16(x, op, "maximum", k->max, op->clamp.hi);
}

void
source_kernel85(struct source *x, const struct npu_op *k, const struct g_step *s)
{
	struct source_part p = source_part_of(s);
	const struct g_op *op = s->op;
	if (!is_it(k, op)) {
		source_found(x, "p%d runs o%d, %s: not this", s->rec.id, op->rec.id,
			     op_names[op->kind]);
		return;
	}
	if (k->kind == NPU_ELEMENTWISE)
		same_operands(x, k, &p);
	else
		same_input(x, k, &p);
	source_same(x, op, "upscaling", (int)k->upscale, op->upscale);
	same_ofm(x, k, &p);
	same_scales(x, k, op);
	same_activation(x, k, op);
	if (op_has_weights(op->kind))
		source_same_weights(x, k, s);
}
