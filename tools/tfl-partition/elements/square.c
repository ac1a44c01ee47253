/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQUARED_DIFFERENCE: nputools-lowering(7) 3.4.  The reference rescales both inputs
 * to twice the larger scale, with rounding, and then rescales the square of their
 * difference.
 */
#include "../part.h"

struct square {
	const struct tfl_tensor *in[2], *ofm;
	struct npu_scale scale[2], out;
	int left; /* bits by which the inputs are shifted up before they are scaled */
	bool same;
};

static bool
is_table(const struct square *s)
{
	return (is_scalar(s->in[0]) || is_scalar(s->in[1])) &&
	       tfl_type_bytes(s->ofm->type) == 1 &&
	       tfl_elements(s->in[0]) <= tfl_elements(s->ofm) &&
	       (tfl_elements(s->in[is_scalar(s->in[0])]) ==
		tfl_elements(s->ofm));
}

const char *
read_square(const struct part *p, struct lop *o)
{
	struct square *s = o->own = anew(p->a, struct square, 1);
	const char *why = check_binary(p, o->op);
	if (why)
		return why;
	*s = (struct square){ .in = { o->ifm, part_in(p, o->op, 1) },
			      .ofm = o->ofm };
	if (s->ofm->type == TFL_INT32)
		return NULL;
	double a = quant_scale(s->in[0]), b = quant_scale(s->in[1]);
	double twice = 2 * (a > b ? a : b);
	s->left = s->ofm->type == TFL_INT16 ? 0 : 7;
	s->same = a == b;
	double out = twice * twice / ((double)(1 << 2 * s->left) * quant_scale(s->ofm));
	if (!npu_quantise(a / twice, &s->scale[0]) || !npu_quantise(b / twice, &s->scale[1]) ||
	    !npu_quantise(out, &s->out))
		return "the ratio of the scales can't be expressed";
	return is_table(s) ? read_bytes(p, o) : NULL;
}

/* an input as 16 bits: times 2^left, then times its scale */
static struct side
scaled_input(struct part *p, const struct tfl_op *op, const struct square *s,
	     int k)
{
	struct side r = { .shape = s->in[k] };
	struct g_operand x = part_ifm(p, op->in[k]);
	r.value = operand_whole(low_tensor(p->l, TFL_INT16, x.shape, NULL));
	bool pool = s->left == 0;
	struct g_op *o = low_op(p->l, pool ? OP_AVGPOOL : OP_MUL, x, r.value);
	if (!pool && x.type == TFL_INT8) /* 128 is no int8, but 127 with zero point -1 is */
		op_scalar(o, (1 << s->left) - 1, -1);
	else if (!pool)
		op_scalar(o, 1 << s->left, 0);
	op_scale(o, s->scale[k], ROUND_TFL);
	op_zeros(o, quant_zero(s->in[k]), 0);
	return r;
}

static struct g_operand
difference(struct part *p, const struct square *s, const struct side in[2],
	   int type, uint32_t factor)
{
	struct low_end end = low_plain;
	end.scale.mult = factor;
	struct g_operand y = operand_whole(
	    low_tensor(p->l, type, tfl_hwc(s->ofm), NULL));
	part_binary(p, OP_SUB, &in[0], &in[1], s->ofm, y, &end);
	return y;
}

const char *
lower_square(struct part *p, const struct lop *lop)
{
	const struct tfl_op *op = lop->op;
	const struct square *s = lop->own;
	struct g_operand ofm = part_ofm(p, op->out[0]);
	bool words = s->ofm->type == TFL_INT32;
	/* equal scales of 8 bits: 64 times the difference, without rounding */
	bool plain = words || (s->same && s->left);
	struct side in[2];
	for (int k = 0; k < 2; k++)
		in[k] = plain ? side_of(p, op->in[k])
			      : scaled_input(p, op, s, k);
	/* the difference of 16-bit inputs may need 17 bits */
	int type = s->left ? TFL_INT16 : TFL_INT32;
	struct g_operand d = difference(p, s, in, type, plain && !words ? 64 : 1);
	d = low_view(p->l, d, ofm.shape);
	if (s->left) {
		struct g_op *o = low_op(p->l, OP_MUL, d, ofm);
		op_ifm2(o, d, 0);
		op_scale(o, s->out, ROUND_TFL);
		op_zeros(o, 0, quant_zero(s->ofm));
		return NULL;
	}
	if (words) {
		(void)word_op_to(p->l, OP_MUL, d, d, ofm);
		return NULL;
	}
	struct g_operand square = word_mul(p->l, d, d);
	struct g_op *o = word_op_to(p->l, OP_MUL, square,
				    word_const(p->l, (int32_t)s->out.mult), ofm);
	op_scale(o, (struct npu_scale){ .mult = 1, .shift = s->out.shift },
		 ROUND_TFL);
	op_zeros(o, 0, quant_zero(s->ofm));
	return NULL;
}
