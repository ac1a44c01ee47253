/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RELU and similar operators that are not fused, ABS, NEG, LEAKY_RELU, PRELU:
 * nputools-lowering(7) 3.4, 5.3.
 */
#include "../part.h"

#include <math.h>

/* ---- clamps ------------------------------------------------------------------- */

/* the reference copies or clamps raw values */
static bool
is_raw(const struct lop *o)
{
	return o->op->code == TFL_RELU6 || quant_equal(o->ifm, o->ofm);
}

static struct g_range
relu_range(const struct lop *o)
{
	switch (o->op->code) {
	case TFL_RELU:
		return quant_clamp(o->ofm, TFL_ACT_RELU);
	case TFL_RELU6: /* in the IFM's quantization: RELU6 does not rescale */
		return quant_clamp(o->ifm, TFL_ACT_RELU6);
	default:;
		struct g_range r = quant_clamp(o->ofm, TFL_ACT_RELU_N1_TO_1);
		if (o->op->code == TFL_RELU_0_TO_1 && r.lo < quant_zero(o->ofm))
			r.lo = quant_zero(o->ofm);
		return r;
	}
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
	const char *why = check_unary(p, o->op);
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
	o->end.clamp = relu_range(o);
	if (!is_raw(o))
		return NULL;
	o->end.scale = scale_one();
	o->zero = o->end.zero = 0;
	return NULL;
}

const char *
lower_relu(struct part *p, const struct lop *o)
{
	struct g_operand ofm = part_ofm(p, o->op->out[0]);
	if (!is_raw(o) || !fuse(p, o->op->in[0], ofm, NULL, o->end.clamp))
		(void)part_unary(p, o, OP_AVGPOOL);
	return NULL;
}

/* ---- ABS, NEG ------------------------------------------------------------------ */

const char *
read_abs(const struct part *p, struct lop *o)
{
	const struct tfl_quant *x = &o->ifm->quant, *y = &o->ofm->quant;
	if (o->ifm->type != TFL_INT32)
		return read_rescaled(p, o);
	const char *why = check_unary(p, o->op);
	bool scaled = x->n_scale == 1 && y->n_scale == 1;
	return why || !scaled || x->scale[0] == y->scale[0]
		   ? why : "INT32 of different scales";
}

const char *
lower_abs(struct part *p, const struct lop *o)
{
	if (o->ifm->type != TFL_INT32) {
		(void)part_unary(p, o, OP_ABS);
		return NULL;
	}
	struct g_operand ofm = part_ofm(p, o->op->out[0]);
	struct g_operand x = low_view(p->l, part_ifm(p, o->op->in[0]), ofm.shape);
	struct g_operand below = word_sub(p->l, word_const(p->l, 0), x);
	(void)word_op_to(p->l, OP_MAX, x, below, ofm);
	return NULL;
}

/* zero point minus x; scales are assumed equal, as in the reference */
const char *
read_neg(const struct part *p, struct lop *o)
{
	take_rescale(o, (struct npu_scale){ .mult = 1 });
	return check_unary(p, o->op);
}

const char *
lower_neg(struct part *p, const struct lop *o)
{
	if (o->ifm->type == TFL_INT32) {
		struct g_operand ofm = part_ofm(p, o->op->out[0]);
		struct g_operand x = low_view(p->l, part_ifm(p, o->op->in[0]), ofm.shape);
		(void)word_op_to(p->l, OP_SUB, word_const(p->l, 0), x, ofm);
		return NULL;
	}
	struct g_op *r = part_unary(p, o, OP_SUB);
	op_scalar(r, 0, 0);
	G_PUT(r, OP, reversed, 1);
	op_unscaled(r);
	return NULL;
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

static bool
find_slopes(const struct part *p, const struct tfl_op *op, struct leaky *l)
{
	const struct tfl_tensor *i = part_in(p, op, 0), *o = part_out(p, op, 0);
	float alpha = (float)TFL_OPT_FLOAT(op, LeakyReluOptions, alpha);
	float m = quant_scale_f32(i) * alpha / quant_scale_f32(o);
	l->alpha_is_negative = m < 0;
	l->native = quant_equal(i, o) && quant_zero(i) == 0 && m > 0;
	l->has_two_scale_lrelu = part_has(p, LACK_SLOPES) && m >= 0 && quant_zero(i) == 0;
	if (!ratio_f32(i, o, &l->above) || !npu_quantise((double)fabsf(m), &l->below))
		return false;
	l->max_is_exact = !l->native && m >= 0 && quant_zero(i) == 0 && quant_zero(o) == 0 &&
		    is_less_steep(quant_scale_f32(i) / quant_scale_f32(o), m);
	return true;
}

const char *
read_leaky(const struct part *p, struct lop *o)
{
	const char *why = check_unary(p, o->op);
	if (why)
		return why;
	if (o->ifm->type != TFL_INT16)
		return read_bytes(p, o);
	struct leaky *l = o->own = anew(p->a, struct leaky, 1);
	if (!find_slopes(p, o->op, l))
		return "the ratio of the scales can't be expressed";
	take_rescale(o, l->below);
	/*
	 * join_sides() subtracts the lower side from the zero point, so that it
	 * can't reach 32767
	 */
	return l->alpha_is_negative && !l->has_two_scale_lrelu && quant_zero(o->ofm) < 0
		   ? "alpha is negative, and so is the OFM's zero point of 16 bits"
		   : NULL;
}

/*
 * x on one side of zero, rescaled to o's quantization; zero on the other side.  One
 * of the two sides is always zero, therefore their sum leaves o's type only where
 * the result does, too.
 */
static struct g_operand
one_side(struct part *p, struct g_operand x, int32_t zero, struct npu_scale s,
	 const struct tfl_tensor *o, bool above)
{
	struct g_operand y =
	    operand_whole(low_tensor(p->l, o->type, x.shape, NULL));
	struct g_op *r = low_op(p->l, OP_AVGPOOL, x, y);
	struct g_range range = type_range(o->type);
	*(above ? &range.lo : &range.hi) = quant_zero(o);
	op_zeros(r, zero, quant_zero(o));
	op_scale(r, s, ROUND_TFL);
	op_clamp(r, range);
	return y;
}

/* x times a factor, rounded and clamped like o; zero points are 0 */
static struct g_operand
rescaled(struct part *p, struct g_operand x, struct npu_scale s,
	 const struct tfl_tensor *o)
{
	struct g_operand y =
	    operand_whole(low_tensor(p->l, o->type, x.shape, NULL));
	struct g_op *r = low_op(p->l, OP_AVGPOOL, x, y);
	op_scale(r, s, ROUND_TFL);
	op_clamp(r, type_range(o->type));
	return y;
}

static void
join_sides(struct part *p, struct g_operand above, struct g_operand below,
	   bool alpha_is_negative, struct g_operand ofm, int32_t zero)
{
	struct g_op *r = low_op(p->l, alpha_is_negative ? OP_SUB : OP_ADD, above, ofm);
	op_ifm2(r, below, zero);
	op_unscaled(r);
	op_zeros(r, zero, zero);
}

const char *
lower_leaky(struct part *p, const struct lop *o)
{
	const struct tfl_tensor *x = o->ifm, *y = o->ofm;
	const struct leaky *l = o->own;
	if (l->native || l->has_two_scale_lrelu) {
		struct g_op *r = part_unary(p, o, OP_LRELU);
		if (!l->native)
			G_PUT(r, OP, opa, l->above);
		return NULL;
	}
	struct g_operand ofm = part_ofm(p, o->op->out[0]);
	struct g_operand ifm = low_view(p->l, part_ifm(p, o->op->in[0]), ofm.shape);
	if (l->max_is_exact) {
		struct g_operand same = rescaled(p, ifm, l->above, y);
		struct g_operand less = rescaled(p, ifm, l->below, y);
		op_ifm2(low_op(p->l, OP_MAX, same, ofm), less, 0);
		return NULL;
	}
	struct g_operand above = one_side(p, ifm, quant_zero(x), l->above, y, true);
	struct g_operand below = one_side(p, ifm, quant_zero(x), l->below, y, false);
	join_sides(p, above, below, l->alpha_is_negative, ofm, quant_zero(y));
	return NULL;
}

/* ---- PRELU ----------------------------------------------------------------------- */

struct prelu {
	const struct tfl_tensor *ifm, *alpha, *ofm;
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
is_max_exact(const struct prelu *r, int32_t alpha)
{
	struct fixed_mult same = fixed_quantize(quant_scale(r->ifm) /
						quant_scale(r->ofm));
	struct fixed_mult below = fixed_quantize(quant_scale(r->ifm) *
						 quant_scale(r->alpha) /
						 quant_scale(r->ofm));
	struct g_range x = type_range(r->ifm->type);
	int32_t zero = quant_zero(r->ifm);
	if (r->ifm->type == TFL_INT16)
		return quant_equal(r->ifm, r->ofm) &&
		       alpha * quant_scale(r->alpha) <= 1;
	for (int32_t v = (int32_t)x.lo - zero; v <= x.hi - zero; v++) {
		int32_t a = fixed_mbqm(v, same), b = fixed_mbqm(v * alpha, below);
		if (v >= 0 ? b > a : b < a)
			return false;
	}
	return true;
}

static void
study_alpha(struct prelu *r)
{
	int32_t zero = quant_zero(r->alpha), last = 0;
	r->no_negative_alpha = r->max_is_exact = r->alpha->data.p != NULL;
	for (int64_t i = 0; r->max_is_exact && i < tfl_elements(r->alpha); i++) {
		int32_t a = tensor_int(r->alpha, i) - zero;
		r->max_is_exact = (i > 0 && a == last) || is_max_exact(r, a);
		last = a;
	}
	for (int64_t i = 0; r->no_negative_alpha && i < tfl_elements(r->alpha); i++)
		r->no_negative_alpha = tensor_int(r->alpha, i) >= zero;
}

const char *
read_prelu(const struct part *p, struct lop *o)
{
	const struct tfl_op *op = o->op;
	struct prelu *r = o->own = anew(p->a, struct prelu, 1);
	const char *why = check_ifm_ofm(p, op) ?:
			  check_fm(p, part_in(p, op, 1), "alpha", family_types(op));
	if (why)
		return why;
	r->ifm = o->ifm;
	r->alpha = part_in(p, op, 1);
	r->ofm = o->ofm;
	bool narrow = r->ifm->type == TFL_INT16 && r->alpha->type == TFL_INT8 &&
		      r->alpha->data.p;
	if ((r->ifm->type != r->alpha->type && !narrow) ||
	    r->ifm->type != r->ofm->type)
		return "IFM, alpha and OFM differ in type";
	if (r->ifm->data.p)
		return "IFM is constant";
	if (tfl_elements(r->ifm) != tfl_elements(r->ofm))
		return "alpha is larger than the IFM";
	double ratio = quant_scale(r->ifm) / quant_scale(r->ofm);
	if (!npu_quantise(ratio, &r->same) ||
	    !npu_quantise(quant_scale(r->ifm) * quant_scale(r->alpha) /
			      quant_scale(r->ofm), &r->below))
		return "the ratio of the scales can't be expressed";
	study_alpha(r);
	why = check_broadcast(p, r->ifm, r->alpha, r->ofm);
	bool table = !why && is_scalar(r->alpha) && r->ifm->type != TFL_INT16;
	return table ? read_bytes(p, o) : why;
}

/* x times alpha; below: clamped to zero at most */
static void
times_alpha(struct part *p, const struct prelu *r, const struct side *x,
	    const struct side *alpha, struct g_operand ofm, int32_t zero,
	    bool below)
{
	struct low_end end = { .scaled = true, .scale = r->below, .zero = zero,
			       .clamped = true, .clamp = type_range(ofm.type) };
	if (below)
		end.clamp.hi = zero;
	part_binary(p, OP_MUL, x, alpha, r->ofm, ofm, &end);
}

/* MAX(x, x * alpha), both rescaled */
static void
lower_by_max(struct part *p, const struct prelu *r, const struct side *x,
	     const struct side *alpha, struct g_operand ofm)
{
	struct g_operand plain = low_view(p->l, x->value, ofm.shape), y;
	if (!quant_equal(r->ifm, r->ofm)) {
		y = operand_whole(low_tensor(p->l, ofm.type, ofm.shape, NULL));
		struct g_op *c = low_copy(p->l, plain, y);
		op_scale(c, r->same, ROUND_TFL);
		op_zeros(c, x->zero, quant_zero(r->ofm));
		plain = y;
	}
	y = operand_whole(low_tensor(p->l, ofm.type, ofm.shape, NULL));
	times_alpha(p, r, x, alpha, y, quant_zero(r->ofm), false);
	op_ifm2(low_op(p->l, OP_MAX, plain, ofm), y, 0);
}

/*
 * alpha in the type of x.  INT8 becomes a constant of INT16; so does a scalar with
 * a zero point, which not every NPU can subtract.
 */
static struct side
side_of_alpha(struct part *p, const struct prelu *r, int tensor)
{
	struct side s = side_of(p, tensor);
	if (r->alpha->type == r->ifm->type || (is_scalar(r->alpha) && !s.zero))
		return s;
	int64_t n = tfl_elements(r->alpha);
	int32_t *v = anew(p->a, int32_t, (size_t)n);
	for (int64_t i = 0; i < n; i++)
		v[i] = tensor_int(r->alpha, i) - s.zero;
	s.value = low_const(p->l, r->ifm->type, tfl_hwc(r->alpha), v);
	s.zero = 0;
	return s;
}

const char *
lower_prelu(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	const struct prelu *r = o->own;
	struct g_operand ofm = part_ofm(p, op->out[0]);
	struct side x = side_of(p, op->in[0]);
	struct side alpha = side_of_alpha(p, r, op->in[1]);
	x.value = low_view(p->l, x.value, ofm.shape);
	if (r->max_is_exact) {
		lower_by_max(p, r, &x, &alpha, ofm);
		return NULL;
	}
	struct g_operand above = one_side(p, x.value, x.zero, r->same, r->ofm, true);
	struct g_operand below =
	    operand_whole(low_tensor(p->l, ofm.type, ofm.shape, NULL));
	/* if an alpha may be negative, clamp x first: the product has not the sign of x */
	if (!r->no_negative_alpha) {
		struct g_operand y =
		    operand_whole(low_tensor(p->l, ofm.type, ofm.shape, NULL));
		struct g_op *m = low_op(p->l, OP_MIN, x.value, y);
		op_scalar(m, x.zero, 0);
		x.value = y;
	}
	times_alpha(p, r, &x, &alpha, below, quant_zero(r->ofm), r->no_negative_alpha);
	join_sides(p, above, below, false, ofm, quant_zero(r->ofm));
	return NULL;
}
