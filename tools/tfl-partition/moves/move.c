/* SPDX-License-Identifier: Apache-2.0 */
/* QUANTIZE, RESHAPE and similar operators: nputools-lowering(7) 5.7. */
#include "move.h"

#include "base/fixed.h"

/* ---- QUANTIZE ------------------------------------------------------------- */

enum { MAX_SHIFT_UP = 14 }; /* 17 bits shifted up by this fit 32 bits */

const char *
read_quantize(const struct part *p, struct lop *lop)
{
	const struct tfl_tensor *i = lop->ifm, *o = lop->ofm;
	const char *why = check_ifm_ofm(p, lop);
	struct npu_scale s;
	if (why)
		return why;
	if (i->data.p)
		return "IFM is constant";
	if (tfl_elements(i) != tfl_elements(o))
		return "IFM and OFM differ in shape";
	if (i->quant.n_scale != 1 || o->quant.n_scale != 1 ||
	    !npu_quantise(quant_scale(i) / quant_scale(o), &s))
		return "the ratio of the scales can't be expressed";
	take_rescale(lop, s);
	if (i->type != TFL_INT32 && o->type != TFL_INT32)
		return NULL;
	/* the reference applies even a zero point of INT32 */
	for (int k = 0; k < 2; k++) {
		const struct tfl_tensor *t = k ? o : i;
		if (t->type == TFL_INT32 && t->quant.n_zero && t->quant.zero[0])
			return "32 bits with a zero point";
	}
	return tfl_type_bytes(i->type) == 1 ||
			       (s.shift >= 31 - MAX_SHIFT_UP && s.shift <= 62)
		   ? NULL
		   : arena_printf(p->a, "the ratio of the scales is %g",
			      quant_scale(i) / quant_scale(o));
}

void
lower_quantize(struct part *p, const struct lop *o)
{
	if (o->ifm->type != TFL_INT32 && o->ofm->type != TFL_INT32) {
		(void)part_unary(p, o, OP_AVGPOOL);
		return;
	}
	struct g_operand ofm = part_ofm(p, o->op->out[0]);
	struct g_operand ifm = low_view(p->l, part_ifm(p, o->op->in[0]), ofm.shape);
	if (tfl_type_bytes(o->ifm->type) == 1) {
		struct fixed_mult m = fixed_quantize(quant_scale(o->ifm) / quant_scale(o->ofm));
		int32_t table[256], least = o->ifm->type == TFL_INT8 ? -128 : 0;
		for (int k = 0; k < 256; k++)
			table[k] = fixed_mbqm(k + least - o->zero, m);
		part_table32(p, ifm, ofm, table);
		return;
	}
	if (o->ifm->type != TFL_INT32)
		ifm = word_widened(p->l, ifm, o->zero);
	word_scale_to(p->l, ifm, o->end.scale, o->end.zero, ofm);
}

/* ---- RESHAPE, SQUEEZE, EXPAND_DIMS ------------------------------------------ */

/* all elements */
const char *
view_reshape(const struct part *p, const struct tfl_op *op, struct nd *v)
{
	(void)v;
	return op->n_in > 1 && op->in[1] >= 0 && !part_in(p, op, 1)->data.p
		   ? "the new shape is not constant"
		   : NULL;
}
