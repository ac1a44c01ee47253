/* SPDX-License-Identifier: Apache-2.0 */
/* QUANTIZE, RESHAPE and its kin: spec/operators.md 5.7. */
#include "nd.h"

/* ---- QUANTIZE ------------------------------------------------------------- */

static const char *
check_quantize(const struct part *p, const struct tfl_op *op)
{
	const char *why = check_arity(p, op, 1, 1, 1);
	if (!why)
		why = check_maps(p, op, TYPE_MAPS);
	if (why)
		return why;
	const struct tfl_tensor *i = part_in(p, op, 0), *o = part_out(p, op, 0);
	struct npu_scale s;
	if (i->data.p)
		return "IFM is constant";
	if (tfl_elements(i) != tfl_elements(o))
		return "IFM and OFM differ in shape";
	return npu_quantise(quant_scale(i) / quant_scale(o), &s)
		   ? NULL
		   : "the ratio of the scales can't be expressed";
}

static bool
lower_quantize(struct part *p, const struct tfl_op *op)
{
	const struct tfl_tensor *i = part_in(p, op, 0), *o = part_out(p, op, 0);
	struct g_operand ofm = part_ofm(p, op->out[0]);
	struct g_op *r = part_op(p, OP_AVGPOOL,
				 part_view(p, part_ifm(p, op->in[0]), ofm.shape),
				 ofm);
	struct npu_scale s;
	(void)npu_quantise(quant_scale(i) / quant_scale(o), &s);
	op_scale(r, s, ROUND_TFL);
	op_zeros(r, quant_zero(i), quant_zero(o));
	return true;
}

/* ---- RESHAPE, SQUEEZE, EXPAND_DIMS ------------------------------------------ */

static const char *
check_reshape(const struct part *p, const struct tfl_op *op)
{
	const char *why = check_move(p, op, 1, 2);
	if (why)
		return why;
	if (op->n_in > 1 && op->in[1] >= 0 && !part_in(p, op, 1)->data.p)
		return "the new shape is not constant";
	struct nd from = nd_shape(part_in(p, op, 0)), to = nd_shape(part_out(p, op, 0));
	if (nd_elements(&from) != nd_elements(&to))
		return "IFM and OFM differ in the number of elements";
	return check_copies(p, &from, &to);
}

/* no operation, unless both names already have a place of their own */
static bool
lower_reshape(struct part *p, const struct tfl_op *op)
{
	struct nd v = nd_ifm(p, op->in[0]);
	struct g_operand to = p->value[op->out[0]], as;
	struct hwc shape = tfl_hwc(part_in(p, op, 0));
	/* bound to each other before: the result is there */
	if (to.t && to.t == v.t && operand_view(to, shape, &as)) {
		struct nd w = nd_of(as, part_in(p, op, 0));
		if (w.offset == v.offset && nd_is_dense(&v) && nd_is_dense(&w))
			return true;
	}
	nd_result(p, op->out[0], &v);
	return true;
}

const struct family move_families[] = {
	{ .code = TFL_QUANTIZE, .check = check_quantize, .lower = lower_quantize,
	  .direct = true },
	{ .code = TFL_RESHAPE, .check = check_reshape, .lower = lower_reshape,
	  .alias = true, .direct = true },
	{ .code = TFL_SQUEEZE, .check = check_reshape, .lower = lower_reshape,
	  .alias = true, .direct = true },
	{ .code = TFL_EXPAND_DIMS, .check = check_reshape, .lower = lower_reshape,
	  .alias = true, .direct = true },
	{ .code = 0 },
};
