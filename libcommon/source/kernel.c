/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the registers of one kernel with the operation of its step. */
#include "source/parts.h"

#include "graph/facts.h"
#include "stream/op.h"
#include "target/accel.h"

static void
same_second(struct source *x, const struct npu_op *k, const struct source_part *p)
{
	const struct g_op *op = p->op;
	struct hwc o = op->ofm.shape, i = op->ifm2.shape;
	source_same(x, op, "the operands' order", k->ifm2_first, op->reversed != 0);
	source_same(x, op, "scalar IFM2", k->ifm2_scalar, !op->ifm2.t);
	if (!op->ifm2.t) {
		source_same16(x, op, "scalar", k->scalar, op->scalar);
		source_same_type(x, op, "IFM2", &k->ifm2, op->ifm.type, op->ifm2_zero);
		return;
	}
	source_same(x, op, "IFM2 broadcast over rows", k->ifm2_broadcast.h, i.h < o.h);
	source_same(x, op, "IFM2 broadcast over columns", k->ifm2_broadcast.w, i.w < o.w);
	source_same(x, op, "IFM2 broadcast over channels", k->ifm2_broadcast.c, i.c < o.c);
	struct hwc shape = { .h = i.h == 1 ? 1 : (int32_t)p->rows, .w = i.w, .c = i.c };
	source_same_fm(x, op, "IFM2", &k->ifm2, &op->ifm2, shape, i.h == 1 ? 0 : p->row, 0,
		 op->ifm2_zero);
}

static void
source_kernel55(struct source *x, const struct npu_op *k, const struct g_step *s)
{
	static const int activations[] = { [G_ACT_CLAMP] = NPU_ACT_NONE,
					   [G_ACT_TANH] = NPU_ACT_TANH,
					   [G_ACT_SIGMOID] = NPU_ACT_SIGMOID };
	struct source_part p = source_part_of(s);
	const struct g_op *op = s->op;
	if (k->kind != source_kind(op->kind) || k->mode != source_mode(op->kind)) {
		source_error(x, "step p%d runs o%d (%s), not this operation", s->rec.id, op->rec.id,
		      op_names[op->kind]);
		return;
	}
	struct hwc ofm = { .h = (int32_t)p.rows, .w = op->ofm.shape.w, .c = p.depth };
	bool cut = op->kind == OP_DEPTHWISE;
	struct hwc ifm = { .h = k->ifm.shape.h, .w = k->ifm.shape.w,
			   .c = cut ? p.depth : op->ifm.shape.c };
	/* the IFM's height and width follow from the window */
	if (k->kind == NPU_ELEMENTWISE)
		ifm = ofm;
	else
		source_same_window(x, k, &p);
	source_same_fm(x, op, "IFM", &k->ifm, &op->ifm, ifm, p.ifm_row,
			cut ? p.channel : 0, op->ifm_zero);
	source_same_fm(x, op, "OFM", &k->ofm, &op->ofm, ofm, p.row, p.channel, op->ofm_zero);
	source_same(x, op, "upscaling", (int)k->upscale, op->upscale);
	if (op_is_binary(op->kind))
		same_second(x, k, &p);

	bool global = !op_has_weights(op->kind) && G_HAS(op, G_OP_scale);
	source_same(x, op, "global scale", k->global_scale, global);
	if (global) {
		source_same(x, op, "multiplier", k->ofm_mult, op->scale.mult);
		source_same(x, op, "shift", k->ofm_shift, op->scale.shift & 0x3f);
	}
	source_same(x, op, "rounding", k->rounding, op->round);
	source_same(x, op, "IFM rounding", k->ifm_rounding, op->ifm_round);
	if ((op->kind == OP_ADD || op->kind == OP_SUB) && G_HAS(op, G_OP_opa)) {
		source_same(x, op, "operand A's multiplier", k->opa_mult, op->opa.mult);
		source_same(x, op, "operand A's shift", k->opa_shift, op->opa.shift & 0x3f);
		source_same(x, op, "operand B's multiplier", k->opb_mult, (uint32_t)op->opb);
		source_same(x, op, "the scaled operand", k->operand_scale, op->scaled);
	}

	if (op->act == G_ACT_LUT)
		source_same_table(x, op, k->activation - NPU_ACT_TABLE0, (int)k->table.n);
	else
		source_same(x, op, "activation", k->activation, activations[op->act]);
	/* a table with 32-bit results takes an index of 8 bits: ethosu-commands(7) 3.3 */
	source_same(x, op, "clip range", k->clip_range,
		    op->act == G_ACT_LUT && op->lut->bits == 32 ? 3 : 0);
	source_same16(x, op, "minimum", k->min, op->clamp.lo);
	source_same16(x, op, "maximum", k->max, op->clamp.hi);
	if (op_has_weights(op->kind))
		source_same_weights(x, k, s);
	source_same(x, op, "accumulators of 40 bits", k->acc_format, op->acc40 != 0);
}

void
source_kernel(struct source *x, const struct npu_op *k, const struct g_step *s)
{
	const struct g_op *op = s->op;
	static void (*const kernels[GENERATIONS])(struct source *, const struct npu_op *,
						  const struct g_step *) = {
		[GEN_U55] = source_kernel55, [GEN_U65] = source_kernel55,
		[GEN_U85] = source_kernel85,
	};
	kernels[x->accel->generation](x, k, s);
	if (!hwc_equal(k->block, op->block))
		source_error(x, "o%d: block %dx%dx%d, the graph has %dx%dx%d", op->rec.id,
		      k->block.h, k->block.w, k->block.c, op->block.h, op->block.w,
		      op->block.c);
}
