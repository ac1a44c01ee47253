/* SPDX-License-Identifier: Apache-2.0 */
/* QUANTIZE, RESHAPE and similar operators: nputools-lowering(7) 5.7. */
#include "move.h"

#include "base/fixed.h"

/* ---- QUANTIZE ------------------------------------------------------------- */

enum { MAX_SHIFT_UP = 14 }; /* 17 bits shifted up by this fit 32 bits */

/* to or from INT32, for which the reference applies even a zero point */
static const char *
check_words(const struct part *p, const struct tfl_tensor *i,
	    const struct tfl_tensor *o, struct npu_scale s)
{
	const struct tfl_tensor *both[2] = { i, o };
	for (int k = 0; k < 2; k++)
		if (both[k]->type == TFL_INT32 && both[k]->quant.n_zero &&
		    both[k]->quant.zero[0])
			return "32 bits with a zero point";
	return tfl_type_bytes(i->type) == 1 ||
			       (s.shift >= 31 - MAX_SHIFT_UP && s.shift <= 62)
		   ? NULL
		   : part_say(p, "the ratio of the scales is %g",
			      quant_scale(i) / quant_scale(o));
}

static const char *
read_quantize(const struct part *p, struct lop *lop)
{
	const struct tfl_op *op = lop->op;
	const char *why = check_ifm_ofm(p, op);
	if (why)
		return why;
	const struct tfl_tensor *i = part_in(p, op, 0), *o = part_out(p, op, 0);
	if (i->data.p)
		return "IFM is constant";
	if (tfl_elements(i) != tfl_elements(o))
		return "IFM and OFM differ in shape";
	if (i->quant.n_scale != 1 || o->quant.n_scale != 1 ||
	    !npu_quantise(quant_scale(i) / quant_scale(o), &lop->scale))
		return "the ratio of the scales can't be expressed";
	return i->type == TFL_INT32 || o->type == TFL_INT32
		   ? check_words(p, i, o, lop->scale)
		   : NULL;
}

static void
bytes_to_words(struct part *p, const struct tfl_tensor *i,
	       const struct tfl_tensor *o, struct g_operand ifm,
	       struct g_operand ofm)
{
	struct fixed_mult m = fixed_quantize(quant_scale(i) / quant_scale(o));
	int32_t table[256], least = i->type == TFL_INT8 ? -128 : 0;
	for (int k = 0; k < 256; k++)
		table[k] = fixed_mbqm(k + least - quant_zero(i), m);
	part_table32(p, ifm, ofm, table);
}

static void
quantize_words(struct part *p, const struct tfl_tensor *i,
	       const struct tfl_tensor *o, struct g_operand ifm,
	       struct g_operand ofm, struct npu_scale s)
{
	struct g_operand v = ifm;
	if (i->type != TFL_INT32) {
		v = word_new(p->l, ofm.shape);
		struct g_op *wide = low_op(p->l, OP_ADD, ifm, v);
		op_scalar(wide, 0, 0);
		op_unscaled(wide);
		op_zeros(wide, quant_zero(i), 0);
	}
	word_scale_to(p->l, v, s, quant_zero(o), ofm);
}

static const char *
lower_quantize(struct part *p, const struct lop *lop)
{
	const struct tfl_op *op = lop->op;
	const struct tfl_tensor *i = part_in(p, op, 0), *o = part_out(p, op, 0);
	struct g_operand ofm = part_ofm(p, op->out[0]);
	struct g_operand ifm = low_view(p->l, part_ifm(p, op->in[0]), ofm.shape);
	if (o->type == TFL_INT32 && tfl_type_bytes(i->type) == 1) {
		bytes_to_words(p, i, o, ifm, ofm);
		return NULL;
	}
	if (i->type == TFL_INT32 || o->type == TFL_INT32) {
		quantize_words(p, i, o, ifm, ofm, lop->scale);
		return NULL;
	}
	struct g_op *r = low_op(p->l, OP_AVGPOOL, ifm, ofm);
	op_scale(r, lop->scale, ROUND_TFL);
	op_zeros(r, quant_zero(i), quant_zero(o));
	return NULL;
}

/* ---- RESHAPE, SQUEEZE, EXPAND_DIMS ------------------------------------------ */

/* all elements */
static const char *
view_reshape(const struct part *p, const struct tfl_op *op, struct nd *v)
{
	(void)v;
	return op->n_in > 1 && op->in[1] >= 0 && !part_in(p, op, 1)->data.p
		   ? "the new shape is not constant"
		   : NULL;
}

static const char *
read_reshape(const struct part *p, struct lop *o)
{
	return read_view(p, o, view_reshape, "IFM and OFM differ in the number of elements");
}

/* appends no operation, unless both tensors already have memory of their own */
static const char *
lower_reshape(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	struct nd v = nd_ifm(p, op->in[0]);
	struct g_operand to = p->value[op->out[0]], as;
	struct hwc shape = tfl_hwc(part_in(p, op, 0));
	/* both tensors were bound to the same memory: the result exists already */
	if (to.t && to.t == v.t && operand_view(to, shape, &as)) {
		struct nd w = nd_of(as, part_in(p, op, 0));
		if (w.offset == v.offset && nd_is_dense(&v) && nd_is_dense(&w))
			return NULL;
	}
	nd_result(p, op->out[0], &v);
	return NULL;
}

const struct family family_quantize = {
	.read = read_quantize, .lower = lower_quantize, .direct = true,
};
const struct family family_reshape = {
	.read = read_reshape, .lower = lower_reshape, .alias = true, .direct = true,
};
