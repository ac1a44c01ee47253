/* SPDX-License-Identifier: Apache-2.0 */
/* ADD, SUB, MUL: spec/operators.md 3.4, 4.3, 4.4, 5.3. */
#include "part.h"

#include <math.h>

/* how the NPU scales the operands and the result of an ADD or SUB */
struct addition {
	struct npu_scale opa, ofm;
	int opb;
	enum g_scaled scaled;
	bool expressible;
};

static int
activation_of(const struct tfl_op *op)
{
	switch (op->code) {
	case TFL_ADD:
		return (int)TFL_OPT(op, AddOptions, fused_activation_function);
	case TFL_SUB:
		return (int)TFL_OPT(op, SubOptions, fused_activation_function);
	case TFL_MUL:
		return (int)TFL_OPT(op, MulOptions, fused_activation_function);
	default:
		return TFL_ACT_NONE;
	}
}

/*
 * spec/operators.md 4.3.  The reference forms ADD's quotients in double and
 * SUB's in float32 (3.4); what it forms is what we quantise.
 */
static struct addition
addition_of(const struct tfl_tensor *a, const struct tfl_tensor *b,
	    const struct tfl_tensor *o, bool single)
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
	struct addition r = { .expressible = true };

	/* equal scales: plain integers in, where that rounds the same */
	struct npu_scale q;
	if (s1 == s2 && wide) {
		r.expressible = npu_quantise(out * (1 << left) / 65536.0, &q) &&
				q.shift >= 1;
		q.shift--;
		r.opa.mult = 1 << 14;
		r.opb = 1 << 14;
		r.ofm = q;
		return r;
	}
	if (s1 == s2 && npu_quantise(out * (1 << left) / 65536.0, &q) &&
	    (q.mult & 0xfff) == 0) {
		r.opa.mult = 1 << 15;
		r.opb = 1 << 15;
		r.ofm = q;
		return r;
	}
	r.scaled = s1 <= s2 ? SCALED_A : SCALED_B;
	r.expressible = npu_quantise(ratio * (1 << left), &r.opa) &&
			npu_quantise(out, &r.ofm);
	return r;
}

static bool
mul_scale(const struct tfl_tensor *a, const struct tfl_tensor *b,
	  const struct tfl_tensor *o, struct npu_scale *out)
{
	return npu_quantise(quant_scale(a) * quant_scale(b) / quant_scale(o), out);
}

/* dimensions aligned at the right; 1 where a tensor has none */
static int32_t
dim_from_right(const struct tfl_tensor *t, int i)
{
	return i < t->rank ? t->dim[t->rank - 1 - i] : 1;
}

static bool
same_shape(const struct tfl_tensor *a, const struct tfl_tensor *b)
{
	for (int i = 0; i < TFL_MAX_RANK; i++)
		if (dim_from_right(a, i) != dim_from_right(b, i))
			return false;
	return true;
}

/* t can be IFM2 of an operation over o: each of H, W, C equal or 1 */
static bool
broadcasts(const struct tfl_tensor *t, const struct tfl_tensor *o)
{
	struct hwc s = tfl_hwc(t), r = tfl_hwc(o);
	if ((s.c != r.c && s.c != 1) || (s.w != r.w && s.w != 1))
		return false;
	if (s.h == 1)
		return true;
	/* rows are several dimensions: all of them must match */
	for (int i = 2; i < TFL_MAX_RANK; i++)
		if (dim_from_right(t, i) != dim_from_right(o, i))
			return false;
	return s.h == r.h;
}

static const char *
check_arith(const struct part *p, const struct tfl_op *op)
{
	const char *why = check_arity(p, op, 2, 2, 1);
	if (!why)
		why = check_maps(p, op, TYPE_MAPS);
	if (!why)
		why = check_map(p, part_in(p, op, 1), "IFM2", TYPE_MAPS);
	if (!why)
		why = check_activation(p, op, activation_of(op));
	if (why)
		return why;
	const struct tfl_tensor *a = part_in(p, op, 0), *b = part_in(p, op, 1);
	const struct tfl_tensor *o = part_out(p, op, 0);
	if (a->type != b->type || a->type != o->type)
		return "IFM, IFM2 and OFM differ in type";
	if (a->data.p && b->data.p)
		return "both inputs are constant";
	if (!(same_shape(a, o) && broadcasts(b, o)) &&
	    !(same_shape(b, o) && broadcasts(a, o)))
		return "the broadcast is not one of IFM2 over rows, columns or "
		       "channels";
	struct npu_scale s;
	bool ok = op->code == TFL_MUL
		      ? mul_scale(a, b, o, &s)
		      : addition_of(a, b, o, op->code == TFL_SUB).expressible;
	return ok ? NULL : "the ratio of the scales can't be expressed";
}

static bool
lower_arith(struct part *p, const struct tfl_op *op)
{
	const struct tfl_tensor *a = part_in(p, op, 0), *b = part_in(p, op, 1);
	const struct tfl_tensor *o = part_out(p, op, 0);
	/* only the second operand can be broadcast or constant */
	bool swap = !(same_shape(a, o) && broadcasts(b, o)) ||
		    (a->data.p && same_shape(b, o));
	const struct tfl_tensor *second = swap ? a : b;
	enum g_op_kind kind = op->code == TFL_ADD   ? OP_ADD
			      : op->code == TFL_SUB ? OP_SUB
						    : OP_MUL;
	struct g_op *r = part_op(p, kind, part_ifm(p, op->in[swap]),
				 part_ofm(p, op->out[0]));
	r->ifm = part_view(p, r->ifm, r->ofm.shape);
	op_ifm2(r, part_ifm(p, op->in[!swap]), quant_zero(second));
	if (swap)
		G_PUT(r, OP, reversed, 1);
	op_zeros(r, quant_zero(swap ? b : a), quant_zero(o));
	op_clamp(r, quant_clamp(o, activation_of(op)));
	if (kind == OP_MUL) {
		struct npu_scale s;
		(void)mul_scale(a, b, o, &s);
		op_scale(r, s, ROUND_TFL);
		return true;
	}
	struct addition d = addition_of(a, b, o, op->code == TFL_SUB);
	G_PUT(r, OP, opa, d.opa);
	G_PUT(r, OP, opb, d.opb);
	if (d.scaled != SCALED_BOTH)
		G_PUT(r, OP, scaled, (int)d.scaled);
	op_scale(r, d.ofm, ROUND_TFL);
	return true;
}

const struct family eltwise_families[] = {
	{ .code = TFL_ADD, .check = check_arith, .lower = lower_arith },
	{ .code = TFL_SUB, .check = check_arith, .lower = lower_arith },
	{ .code = TFL_MUL, .check = check_arith, .lower = lower_arith },
	{ .code = 0 },
};
