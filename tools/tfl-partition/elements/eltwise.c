/* SPDX-License-Identifier: Apache-2.0 */
/* ADD, SUB, MUL, MAXIMUM, MINIMUM: nputools-lowering(7) 3.4, 4.3, 4.4, 5.3. */
#include "../part.h"

#include <math.h>

/*
 * Sets the scales of an ADD or SUB, of its operands and of its result; false: they can't be
 * expressed.  nputools-lowering(7) 4.3.  The reference computes ADD's quotients in double and
 * SUB's in float32 (nputools-lowering(7) 3.4); the same values are quantised here.
 */
static bool
sum_scales(const struct tfl_tensor *a, const struct tfl_tensor *b,
	   const struct tfl_tensor *o, bool single, struct low_end *r)
{
	float s1 = quant_scale_f32(a), s2 = quant_scale_f32(b);
	float so = quant_scale_f32(o);
	bool wide = a->type == TFL_INT16;
	int left = wide ? 15 : 20;
	double small = (double)(s1 < s2 ? s1 : s2), large = (double)(s1 < s2 ? s2 : s1);
	double twice = 2 * large;
	double ratio = single ? (double)((float)small / (float)twice) : small / twice;
	double out = single ? (double)((float)twice / ((float)(1 << left) * so))
			    : twice / ((double)(1 << left) * (double)so);
	r->factors = true;

	/* equal scales: do not scale the operands if the result rounds the same */
	struct npu_scale q;
	if (s1 == s2 && wide) {
		bool ok = npu_quantise(out * (1 << left) / 65536.0, &q) && q.shift >= 1;
		q.shift--;
		r->opa.mult = 1 << 14;
		r->opb = 1 << 14;
		r->scale = q;
		return ok;
	}
	if (s1 == s2 && npu_quantise(out * (1 << left) / 65536.0, &q) &&
	    (q.mult & 0xfff) == 0) {
		r->opa.mult = 1 << 15;
		r->opb = 1 << 15;
		r->scale = q;
		return true;
	}
	r->side = s1 <= s2 ? SCALED_A : SCALED_B;
	return npu_quantise(ratio * (1 << left), &r->opa) && npu_quantise(out, &r->scale);
}

static bool
mul_scale(const struct tfl_tensor *a, const struct tfl_tensor *b,
	  const struct tfl_tensor *o, struct npu_scale *out)
{
	double m = quant_scale(a) * quant_scale(b) / quant_scale(o);
	/* with 8 bits every product but 0 saturates at a factor of 2^14 already */
	return npu_quantise(o->type != TFL_INT16 && m > 1 << 14 ? 1 << 14 : m, out);
}

const char *
check_binary(const struct part *p, const struct tfl_op *op)
{
	const char *why = check_ifm_ofm(p, op) ?:
			  check_fm(p, part_in(p, op, 1), "IFM2", family_types(op));
	if (why)
		return why;
	const struct tfl_tensor *a = part_in(p, op, 0), *b = part_in(p, op, 1);
	const struct tfl_tensor *o = part_out(p, op, 0);
	if (a->type != b->type || a->type != o->type)
		return "IFM, IFM2 and OFM differ in type";
	if (a->data.p && b->data.p)
		return "both inputs are constant";
	return check_broadcast(p, a, b, o);
}

const char *
read_arith(const struct part *p, struct lop *o)
{
	const struct tfl_op *op = o->op;
	const struct tfl_tensor *a = o->ifm, *b = part_in(p, op, 1), *y = o->ofm;
	const char *why = check_binary(p, op) ?:
			  check_activation(p, op, tfl_binary_activation(op));
	if (why)
		return why;
	o->end = low_plain;
	if (y->type == TFL_INT32)
		return tfl_binary_activation(op) == TFL_ACT_NONE
			   ? NULL
			   : "32-bit results can't be clamped";
	o->end.zero = quant_zero(y);
	o->end.clamped = true;
	o->end.clamp = quant_clamp(y, tfl_binary_activation(op));
	bool ok = op->code == TFL_MUL ? mul_scale(a, b, y, &o->end.scale)
				      : sum_scales(a, b, y, op->code == TFL_SUB, &o->end);
	return ok ? NULL : "the ratio of the scales can't be expressed";
}

const char *
lower_arith(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	struct side a = side_of(p, op->in[0]), b = side_of(p, op->in[1]);
	enum g_op_kind kind = op->code == TFL_ADD   ? OP_ADD
			      : op->code == TFL_SUB ? OP_SUB
						    : OP_MUL;
	part_binary(p, kind, &a, &b, o->ofm, part_ofm(p, op->out[0]), &o->end);
	return NULL;
}

/* ---- MAXIMUM, MINIMUM ------------------------------------------------------ */

const char *
read_min_max(const struct part *p, struct lop *o)
{
	const char *why = check_binary(p, o->op);
	if (why || o->ofm->type == TFL_INT32)
		return why;
	const struct tfl_tensor *y = o->ofm;
	return quant_equal(o->ifm, y) && quant_equal(part_in(p, o->op, 1), y)
		   ? NULL
		   : "IFM, IFM2 and OFM differ in quantization";
}

/* compares raw values, therefore all zero points are 0 */
const char *
lower_min_max(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	struct side a = side_of(p, op->in[0]), b = side_of(p, op->in[1]);
	a.zero = b.zero = 0;
	part_binary(p, op->code == TFL_MAXIMUM ? OP_MAX : OP_MIN, &a, &b,
		    o->ofm, part_ofm(p, op->out[0]), &low_plain);
	return NULL;
}
