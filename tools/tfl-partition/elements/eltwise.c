/* SPDX-License-Identifier: Apache-2.0 */
/* ADD, SUB, MUL, MAXIMUM, MINIMUM: nputools-lowering(7) 3.4, 4.3, 4.4, 5.3. */
#include "../part.h"

#include <math.h>

/* the scales of an ADD or SUB: of its operands and of its result */
struct addition {
	struct npu_scale opa, ofm;
	int opb;
	enum g_scaled scaled;
	bool expressible;
};

/*
 * nputools-lowering(7) 4.3.  The reference computes ADD's quotients in double and
 * SUB's in float32 (nputools-lowering(7) 3.4); the same values are quantised here.
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

	/* equal scales: do not scale the operands if the result rounds the same */
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

/* ADD, SUB or MUL, besides its end */
struct arith {
	enum g_op_kind kind;
	bool plain; /* 32 bits: no scales */
	struct addition sum;
	struct low_end end;
};

static const char *
read_arith(const struct part *p, struct lop *o)
{
	const struct tfl_op *op = o->op;
	const char *why = check_binary(p, op) ?:
			  check_activation(p, op, tfl_binary_activation(op));
	if (why)
		return why;
	const struct tfl_tensor *a = o->ifm, *b = part_in(p, op, 1);
	const struct tfl_tensor *y = o->ofm;
	struct arith *x = o->own = anew(p->a, struct arith, 1);
	x->kind = op->code == TFL_ADD ? OP_ADD : op->code == TFL_SUB ? OP_SUB : OP_MUL;
	x->plain = y->type == TFL_INT32;
	if (x->plain)
		return tfl_binary_activation(op) == TFL_ACT_NONE
			   ? NULL
			   : "32-bit results can't be clamped";
	x->end = (struct low_end){ .scaled = true, .round = ROUND_TFL, .zero = quant_zero(y),
				   .clamp = quant_clamp(y, tfl_binary_activation(op)) };
	bool ok;
	if (x->kind == OP_MUL) {
		ok = mul_scale(a, b, y, &x->end.scale);
	} else {
		x->sum = addition_of(a, b, y, x->kind == OP_SUB);
		x->end.scale = x->sum.ofm;
		ok = x->sum.expressible;
	}
	return ok ? NULL : "the ratio of the scales can't be expressed";
}

static void
finish_arith(void *ctx, struct g_op *r)
{
	struct arith *x = ctx;
	if (x->plain) {
		op_zeros(r, 0, 0);
		r->ifm2_zero = 0;
		op_unscaled(r);
		return;
	}
	if (x->kind != OP_MUL) {
		G_PUT(r, OP, opa, x->sum.opa);
		G_PUT(r, OP, opb, x->sum.opb);
		if (x->sum.scaled != SCALED_BOTH)
			G_PUT(r, OP, scaled, (int)x->sum.scaled);
	}
	low_finish(&x->end, r);
}

static const char *
lower_arith(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	struct arith *x = o->own;
	struct side a = side_of(p, op->in[0]), b = side_of(p, op->in[1]);
	part_binary(p, x->kind, &a, &b, o->ofm, part_ofm(p, op->out[0]),
		    finish_arith, x);
	return NULL;
}

/* ---- MAXIMUM, MINIMUM ------------------------------------------------------ */

static const char *
read_extreme(const struct part *p, struct lop *o)
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
static const char *
lower_extreme(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	struct side a = side_of(p, op->in[0]), b = side_of(p, op->in[1]);
	a.zero = b.zero = 0;
	part_binary(p, op->code == TFL_MAXIMUM ? OP_MAX : OP_MIN, &a, &b,
		    o->ofm, part_ofm(p, op->out[0]), binary_plain, NULL);
	return NULL;
}

const struct family family_arith = {
	.read = read_arith, .lower = lower_arith, .direct = true, .subtracts_zeros = true,
};
const struct family family_min_max = {
	.read = read_extreme, .lower = lower_extreme, .direct = true,
};
