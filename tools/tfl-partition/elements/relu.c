/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RELU and similar operators that are not fused, ABS, NEG, LEAKY_RELU, PRELU:
 * nputools-lowering(7) 3.4, 5.3.
 */
#include "../moves/move.h"

#include "base/fixed.h"
#include "graph/facts.h"
#include "lower/linux.h"
#include "tflite/fields.h"

#include <math.h>

/* ---- clamps ------------------------------------------------------------------- */

/* the reference copies or clamps raw values */
static bool
is_raw(const struct lop *o)
{
	return o->op->code == TFL_RELU6 || quant_equal(o->ifm, o->ofm);
}

/* the reference computes this quotient in float32 */
static bool
ratio_f32(const struct tfl_tensor *i, const struct tfl_tensor *o,
	  struct npu_scale *s)
{
	return npu_quantise((double)(quant_scale_f32(i) / quant_scale_f32(o)), s);
}

static const char *
read_rescaled(const struct part *p, struct lop *o)
{
	struct npu_scale s;
	const char *why = check_unary(p, o);
	if (!why && !ratio_f32(o->ifm, o->ofm, &s))
		why = "the ratio of the scales can't be expressed";
	if (!why)
		take_rescale(o, s);
	return why;
}

const char *
read_relu(const struct part *p, struct lop *o)
{
	const char *why = read_rescaled(p, o);
	if (why)
		return why;
	if (o->op->code == TFL_RELU) {
		o->end.clamp = quant_clamp(o->ofm, TFL_ACT_RELU);
	} else if (o->op->code == TFL_RELU6) { /* in the IFM's quantization: it does not rescale */
		o->end.clamp = quant_clamp(o->ifm, TFL_ACT_RELU6);
	} else {
		o->end.clamp = quant_clamp(o->ofm, TFL_ACT_RELU_N1_TO_1);
		if (o->op->code == TFL_RELU_0_TO_1 && o->end.clamp.lo < quant_zero(o->ofm))
			o->end.clamp.lo = quant_zero(o->ofm);
	}
	if (!is_raw(o))
		return NULL;
	o->end.scale = scale_one();
	o->zero = o->end.zero = 0;
	return NULL;
}

void
lower_relu(struct part *p, const struct lop *o)
{
	struct g_operand ofm = part_ofm(p, o->op->out[0]);
	if (!is_raw(o) || !fuse(p, o->op->in[0], ofm, NULL, o->end.clamp))
		(void)part_unary(p, o, OP_AVGPOOL);
}

/* ---- ABS, NEG ------------------------------------------------------------------ */

const char *
read_abs(const struct part *p, struct lop *o)
{
	const struct tfl_quant *x = &o->ifm->quant, *y = &o->ofm->quant;
	if (o->ifm->type != TFL_INT32)
		return read_rescaled(p, o);
	const char *why = check_unary(p, o);
	bool scaled = x->n_scale == 1 && y->n_scale == 1;
	return why || !scaled || x->scale[0] == y->scale[0]
		   ? why : "INT32 of different scales";
}

void
lower_abs(struct part *p, const struct lop *o)
{
	if (o->ifm->type != TFL_INT32) {
		(void)part_unary(p, o, OP_ABS);
		return;
	}
	struct g_operand ofm = part_ofm(p, o->op->out[0]);
	struct g_operand x = low_view(p->l, part_ifm(p, o->op->in[0]), ofm.shape);
	struct g_operand below = word_sub(p->l, word_const(p->l, 0), x);
	(void)word_op_to(p->l, OP_MAX, x, below, ofm);
}

/* zero point minus x; scales are assumed equal, as in the reference */
const char *
read_neg(const struct part *p, struct lop *o)
{
	take_rescale(o, (struct npu_scale){ .mult = 1 });
	return check_unary(p, o);
}

void
lower_neg(struct part *p, const struct lop *o)
{
	if (o->ifm->type == TFL_INT32) {
		struct g_operand ofm = part_ofm(p, o->op->out[0]);
		struct g_operand x = low_view(p->l, part_ifm(p, o->op->in[0]), ofm.shape);
		(void)word_op_to(p->l, OP_SUB, word_const(p->l, 0), x, ofm);
		return;
	}
	struct g_op *r = part_unary(p, o, OP_SUB);
	op_scalar(r, 0, 0);
	G_PUT(r, OP, reversed, 1);
	op_unscaled(r);
}

/* ---- LEAKY_RELU ------------------------------------------------------------------ */

struct leaky {
	struct npu_scale above, below;
	bool alpha_is_negative;  /* the slope below zero is negative */
	bool max_is_exact; /* `below` takes no x farther from zero than `above` does */
	bool native;
	bool has_two_scale_lrelu; /* the accelerator has an LRELU with two scales that can do it */
};

/* compares the rounded products for every x of 16 bits */
static bool
is_less_steep(float above, float below)
{
	struct fixed_mult a = fixed_quantize((double)above);
	struct fixed_mult b = fixed_quantize((double)below);
	for (int32_t v = INT16_MIN; v <= INT16_MAX; v++) {
		int32_t x = fixed_mbqm(v, a), y = fixed_mbqm(v, b);
		if (v >= 0 ? y > x : y < x)
			return false;
	}
	return true;
}

const char *
read_leaky(const struct part *p, struct lop *o)
{
	const char *why = check_unary(p, o);
	if (why)
		return why;
	if (o->ifm->type != TFL_INT16)
		return read_bytes(p, o);
	struct leaky *l = o->own = anew(p->a, struct leaky, 1);
	float alpha = (float)TFL_OPT_FLOAT(o->op, LeakyReluOptions, alpha);
	float ratio = quant_scale_f32(o->ifm) / quant_scale_f32(o->ofm);
	float m = quant_scale_f32(o->ifm) * alpha / quant_scale_f32(o->ofm);
	bool symmetric = quant_zero(o->ifm) == 0;
	l->alpha_is_negative = m < 0;
	l->native = quant_equal(o->ifm, o->ofm) && symmetric && m > 0;
	l->has_two_scale_lrelu = low_has(p->l, LACK_SLOPES) && m >= 0 && symmetric;
	if (!ratio_f32(o->ifm, o->ofm, &l->above) || !npu_quantise((double)fabsf(m), &l->below))
		return "the ratio of the scales can't be expressed";
	l->max_is_exact = !l->native && m >= 0 && symmetric && quant_zero(o->ofm) == 0 &&
			  is_less_steep(ratio, m);
	take_rescale(o, l->below);
	/*
	 * join_sides() subtracts the lower side from the zero point, so that it
	 * can't reach 32767
	 */
	return l->alpha_is_negative && !l->has_two_scale_lrelu && quant_zero(o->ofm) < 0
		   ? "alpha is negative, and so is the OFM's zero point of 16 bits"
		   : NULL;
}

enum side { BOTH, ABOVE, BELOW };

/*
 * x rescaled to o's quantization; on one side of zero alone, zero on the other side.  One
 * of the two sides is always zero, therefore their sum leaves o's type only where
 * the result does, too.
 */
static struct g_operand
rescaled(struct part *p, struct g_operand x, int32_t zero, struct npu_scale s,
	 const struct tfl_tensor *o, enum side side)
{
	struct g_operand y = low_new(p->l, o->type, x.shape);
	struct g_op *r = low_op(p->l, OP_AVGPOOL, x, y);
	struct g_range range = type_range(o->type);
	if (side != BOTH)
		*(side == ABOVE ? &range.lo : &range.hi) = quant_zero(o);
	op_zeros(r, zero, quant_zero(o));
	op_scale(r, s, ROUND_TFL);
	op_clamp(r, range);
	return y;
}

static void
join_sides(struct part *p, struct g_operand above, struct g_operand below,
	   bool alpha_is_negative, struct g_operand ofm, int32_t zero)
{
	struct g_op *r = low_pair(p->l, alpha_is_negative ? OP_SUB : OP_ADD, above, below, ofm);
	r->ifm2_zero = zero;
	op_zeros(r, zero, zero);
}

void
lower_leaky(struct part *p, const struct lop *o)
{
	const struct tfl_tensor *y = o->ofm;
	const struct leaky *l = o->own;
	if (l->native || l->has_two_scale_lrelu) {
		struct g_op *r = part_unary(p, o, OP_LRELU);
		if (!l->native)
			G_PUT(r, OP, opa, l->above);
		return;
	}
	struct g_operand ofm = part_ofm(p, o->op->out[0]);
	struct g_operand ifm = low_view(p->l, part_ifm(p, o->op->in[0]), ofm.shape);
	bool max = l->max_is_exact;
	struct g_operand above = rescaled(p, ifm, quant_zero(o->ifm), l->above, y,
					  max ? BOTH : ABOVE);
	struct g_operand below = rescaled(p, ifm, quant_zero(o->ifm), l->below, y,
					  max ? BOTH : BELOW);
	if (max)
		op_ifm2(low_op(p->l, OP_MAX, above, ofm), below, 0);
	else
		join_sides(p, above, below, l->alpha_is_negative, ofm, quant_zero(y));
}

/* ---- PRELU ----------------------------------------------------------------------- */

struct prelu {
	struct npu_scale same, below;
	bool no_negative_alpha;  /* no alpha is negative */
	/* no product with alpha, rescaled, is farther from zero than the rescaled x */
	bool max_is_exact;
};

/*
 * Is x * alpha at most x for all x above zero, and at least x for all x below zero,
 * with both rounded?  16 bits are too many values to try; they are accepted only if
 * alpha alone scales x, and alpha is at most 1.
 */
static bool
is_max_exact(const struct lop *o, int32_t alpha)
{
	double x = quant_scale(o->ifm), y = quant_scale(o->ofm);
	struct fixed_mult same = fixed_quantize(x / y);
	struct fixed_mult below = fixed_quantize(x * quant_scale(o->ifm2) / y);
	struct g_range r = type_range(o->ifm->type);
	int32_t zero = quant_zero(o->ifm);
	if (o->ifm->type == TFL_INT16)
		return quant_equal(o->ifm, o->ofm) && alpha * quant_scale(o->ifm2) <= 1;
	for (int32_t v = (int32_t)r.lo - zero; v <= r.hi - zero; v++) {
		int32_t a = fixed_mbqm(v, same), b = fixed_mbqm(v * alpha, below);
		if (v >= 0 ? b > a : b < a)
			return false;
	}
	return true;
}

const char *
read_prelu(const struct part *p, struct lop *o)
{
	const struct tfl_tensor *x = o->ifm, *alpha = o->ifm2, *y = o->ofm;
	struct prelu *r = o->own = anew(p->a, struct prelu, 1);
	const char *why = check_ifm_ofm(p, o) ?:
			  check_fm(p, alpha, "alpha", family_types(o->op));
	if (why)
		return why;
	bool narrow = x->type == TFL_INT16 && alpha->type == TFL_INT8 && alpha->data.p;
	if ((x->type != alpha->type && !narrow) || x->type != y->type)
		return "IFM, alpha and OFM differ in type";
	if (x->data.p)
		return "IFM is constant";
	if (tfl_elements(x) != tfl_elements(y))
		return "alpha is larger than the IFM";
	if (!npu_quantise(quant_scale(x) / quant_scale(y), &r->same) ||
	    !npu_quantise(quant_scale(x) * quant_scale(alpha) / quant_scale(y), &r->below))
		return "the ratio of the scales can't be expressed";
	int32_t zero = quant_zero(alpha), last = 0;
	r->no_negative_alpha = r->max_is_exact = alpha->data.p != NULL;
	for (int64_t i = 0; r->max_is_exact && i < tfl_elements(alpha); i++) {
		int32_t a = tensor_int(alpha, i) - zero;
		r->max_is_exact = (i > 0 && a == last) || is_max_exact(o, a);
		last = a;
	}
	for (int64_t i = 0; r->no_negative_alpha && i < tfl_elements(alpha); i++)
		r->no_negative_alpha = tensor_int(alpha, i) >= zero;
	why = check_broadcast(p, x, alpha, y);
	bool table = !why && is_scalar(alpha) && x->type != TFL_INT16;
	return table ? read_bytes(p, o) : why;
}

/* MAX(x, x * alpha), or the sum of x above and x * alpha below zero; all are rescaled */
void
lower_prelu(struct part *p, const struct lop *o)
{
	const struct prelu *r = o->own;
	struct g_operand ofm = part_ofm(p, o->op->out[0]), y;
	struct g_operand x = part_ifm(p, o->op->in[0]), first;
	int32_t zero = quant_zero(o->ifm), ofm_zero = quant_zero(o->ofm);
	const struct tfl_tensor *slope = o->ifm2;
	int32_t alpha_zero = quant_zero(slope);
	/*
	 * alpha in the type of x: INT8 becomes a constant of INT16; so does a scalar with a
	 * zero point, which not every NPU can subtract
	 */
	struct nd alpha = nd_side(p, o->op->in[1], o->ofm);
	if (slope->type != o->ifm->type && (!is_scalar(slope) || alpha_zero)) {
		int64_t n = tfl_elements(slope);
		int32_t *v = anew(p->a, int32_t, (size_t)n);
		for (int64_t i = 0; i < n; i++)
			v[i] = tensor_int(slope, i) - alpha_zero;
		alpha_zero = 0;
		alpha = nd_aligned(low_const(p->l, o->ifm->type, tfl_hwc(slope), v), slope, o->ofm);
	}
	bool max = r->max_is_exact;
	first = x = low_view(p->l, x, ofm.shape);
	if (!max) {
		first = rescaled(p, x, zero, r->same, o->ofm, ABOVE);
	} else if (!quant_equal(o->ifm, o->ofm)) {
		first = low_new(p->l, ofm.type, ofm.shape);
		struct g_op *c = low_copy(p->l, x, first);
		op_scale(c, r->same, ROUND_TFL);
		op_zeros(c, zero, ofm_zero);
	}
	struct g_operand second = low_new(p->l, ofm.type, ofm.shape);
	/* if an alpha may be negative, clamp x first: the product has not the sign of x */
	if (!max && !r->no_negative_alpha) {
		y = low_new(p->l, ofm.type, ofm.shape);
		op_scalar(low_op(p->l, OP_MIN, x, y), zero, 0);
		x = y;
	}
	struct low_end end = { .scaled = true, .scale = r->below, .zero = ofm_zero,
			       .clamped = true, .clamp = type_range(ofm.type) };
	if (!max && r->no_negative_alpha)
		end.clamp.hi = ofm_zero;
	struct nd v = nd_aligned(x, o->ifm, o->ofm), product = nd_of(second, o->ofm);
	part_binary(p, OP_MUL, &v, zero, &alpha, alpha_zero, &product, &end);
	if (max)
		op_ifm2(low_op(p->l, OP_MAX, first, ofm), second, 0);
	else
		join_sides(p, first, second, false, ofm, ofm_zero);
}
