/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQUARED_DIFFERENCE: nputools-lowering(7) 3.4.  The reference rescales both inputs
 * to twice the larger scale, with rounding, and then rescales the square of their
 * difference.
 */
#include "../moves/move.h"

struct square {
	struct npu_scale scale[2], out;
	int left; /* bits by which the inputs are shifted up before they are scaled */
	bool same;
};

const char *
read_square(const struct part *p, struct lop *o)
{
	struct square *s = o->own = anew(p->a, struct square, 1);
	const char *why = check_binary(p, o);
	if (why || o->ofm->type == TFL_INT32)
		return why;
	double a = quant_scale(o->ifm), b = quant_scale(o->ifm2);
	double twice = 2 * (a > b ? a : b);
	s->left = o->ofm->type == TFL_INT16 ? 0 : 7;
	s->same = a == b;
	double out = twice * twice / ((double)(1 << 2 * s->left) * quant_scale(o->ofm));
	if (!npu_quantise(a / twice, &s->scale[0]) || !npu_quantise(b / twice, &s->scale[1]) ||
	    !npu_quantise(out, &s->out))
		return "the ratio of the scales can't be expressed";
	const struct tfl_tensor *other = is_scalar(o->ifm) ? o->ifm2 : o->ifm;
	bool table = (is_scalar(o->ifm) || is_scalar(o->ifm2)) && tfl_type_bytes(o->ofm->type) == 1 &&
		     tfl_elements(other) == tfl_elements(o->ofm);
	return table ? read_bytes(p, o) : NULL;
}

void
lower_square(struct part *p, const struct lop *o)
{
	const struct square *s = o->own;
	struct g_operand ofm = part_ofm(p, o->op->out[0]);
	bool words = o->ofm->type == TFL_INT32;
	/* equal scales of 8 bits: 64 times the difference, without rounding */
	bool plain = words || (s->same && s->left);
	struct low_end end = low_plain;
	struct nd in[2];
	for (int k = 0; k < 2; k++) {
		if (plain) {
			in[k] = nd_side(p, o->op->in[k], o->ofm);
			continue;
		}
		/* an input as 16 bits: times 2^left, then times its scale */
		const struct tfl_tensor *t = k ? o->ifm2 : o->ifm;
		struct g_operand x = part_ifm(p, o->op->in[k]);
		struct g_operand y = low_new(p->l, TFL_INT16, x.shape);
		bool pool = s->left == 0;
		struct g_op *r = low_op(p->l, pool ? OP_AVGPOOL : OP_MUL, x, y);
		if (!pool && x.type == TFL_INT8) /* 128 is no int8, but 127 with zero point -1 is */
			op_scalar(r, (1 << s->left) - 1, -1);
		else if (!pool)
			op_scalar(r, 1 << s->left, 0);
		op_scale(r, s->scale[k], ROUND_TFL);
		op_zeros(r, quant_zero(t), 0);
		in[k] = nd_aligned(y, t, o->ofm);
	}
	end.scale.mult = plain && !words ? 64 : 1;
	/* the difference of 16-bit inputs may need 17 bits */
	struct g_operand d = low_new(p->l, s->left ? TFL_INT16 : TFL_INT32, tfl_hwc(o->ofm));
	struct nd difference = nd_of(d, o->ofm);
	part_binary(p, OP_SUB, &in[0], plain ? quant_zero(o->ifm) : 0, &in[1],
		    plain ? quant_zero(o->ifm2) : 0, &difference, &end);
	d = low_view(p->l, d, ofm.shape);
	struct g_op *last;
	if (s->left) {
		last = low_pair(p->l, OP_MUL, d, d, ofm);
		op_scale(last, s->out, ROUND_TFL);
	} else if (words) {
		(void)word_op_to(p->l, OP_MUL, d, d, ofm);
		return;
	} else {
		struct g_operand square = word_mul(p->l, d, d);
		last = word_op_to(p->l, OP_MUL, square,
				  word_const(p->l, (int32_t)s->out.mult), ofm);
		op_scale(last, (struct npu_scale){ .mult = 1, .shift = s->out.shift }, ROUND_TFL);
	}
	op_zeros(last, 0, quant_zero(o->ofm));
}
