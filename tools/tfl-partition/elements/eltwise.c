/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ADD, SUB, MUL, MAXIMUM, MINIMUM, LOGICAL_AND, LOGICAL_OR: one operation on two tensors,
 * nputools-lowering(7) 3.4, 4.3, 4.4, 5.3.
 */
#include "../moves/move.h"

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

const char *
check_binary(const struct part *p, const struct lop *o)
{
	const char *why = check_ifm_ofm(p, o) ?:
			  check_fm(p, o->ifm2, "IFM2", family_types(o->op));
	if (why)
		return why;
	if (o->ifm->type != o->ifm2->type || o->ifm->type != o->ofm->type)
		return "IFM, IFM2 and OFM differ in type";
	if (o->ifm->data.p && o->ifm2->data.p)
		return "both inputs are constant";
	return check_broadcast(p, o->ifm, o->ifm2, o->ofm);
}

const char *
read_binary(const struct part *p, struct lop *o)
{
	static const enum g_op_kind kinds[TFL_BUILTIN_LIMIT] = {
		[TFL_ADD] = OP_ADD, [TFL_SUB] = OP_SUB, [TFL_MUL] = OP_MUL,
		[TFL_MAXIMUM] = OP_MAX, [TFL_LOGICAL_OR] = OP_MAX,
		[TFL_MINIMUM] = OP_MIN, [TFL_LOGICAL_AND] = OP_MIN,
	};
	o->kind = kinds[o->op->code];
	o->end = low_plain;
	if (o->kind == OP_MAX || o->kind == OP_MIN) {
		if (family_types(o->op) == TYPE_BOOL)
			return check_truth(p, o);
		const char *why = check_binary(p, o);
		return why || o->ofm->type == TFL_INT32 ||
				       (quant_equal(o->ifm, o->ofm) && quant_equal(o->ifm2, o->ofm))
			   ? why
			   : "IFM, IFM2 and OFM differ in quantization";
	}
	int activation = tfl_binary_activation(o->op);
	const char *why = check_binary(p, o) ?: check_activation(p, o->op, activation);
	if (why)
		return why;
	if (o->ofm->type == TFL_INT32)
		return activation == TFL_ACT_NONE ? NULL : "32-bit results can't be clamped";
	o->end.zero = quant_zero(o->ofm);
	o->end.clamped = true;
	o->end.clamp = quant_clamp(o->ofm, activation);
	double m = quant_scale(o->ifm) * quant_scale(o->ifm2) / quant_scale(o->ofm);
	/* with 8 bits every product but 0 saturates at a factor of 2^14 already */
	if (o->ofm->type != TFL_INT16 && m > 1 << 14)
		m = 1 << 14;
	bool ok = o->kind == OP_MUL ? npu_quantise(m, &o->end.scale)
				    : sum_scales(o->ifm, o->ifm2, o->ofm, o->kind == OP_SUB,
						 &o->end);
	return ok ? NULL : "the ratio of the scales can't be expressed";
}

/* MAX and MIN compare raw values */
void
lower_binary(struct part *p, const struct lop *o)
{
	bool raw = o->kind == OP_MAX || o->kind == OP_MIN;
	struct nd a = nd_side(p, o->op->in[0], o->ofm), b = nd_side(p, o->op->in[1], o->ofm);
	struct nd out = nd_ofm(p, o->op->out[0]);
	part_binary(p, o->kind, &a, raw ? 0 : quant_zero(o->ifm), &b,
		    raw ? 0 : quant_zero(o->ifm2), &out, &o->end);
}
