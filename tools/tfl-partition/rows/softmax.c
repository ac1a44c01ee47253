/* SPDX-License-Identifier: Apache-2.0 */
/* SOFTMAX: nputools-lowering(7) 3.6, 3.7, 5.5. */
#include "../part.h"

#include "graph/facts.h"
#include "kernels/functions.h"
#include "kernels/tables.h"
#include "tflite/fields.h"

#include <math.h>

enum { MAX_ROWS = 65536, MAX_DEPTH = 65536 };

const char *
check_rows(const struct part *p, const struct lop *o)
{
	const char *why = check_ifm_ofm(p, o);
	if (why)
		return why;
	struct hwc s = tfl_hwc(o->ifm);
	if (o->ifm->rank < 1 || !hwc_equal(s, tfl_hwc(o->ofm)))
		return "IFM and OFM differ in shape";
	if ((int64_t)s.h * s.w > MAX_ROWS || s.c > MAX_DEPTH)
		return arena_printf(p->a, "%lld rows of %d elements: at most 65536 of "
				"65536", (long long)s.h * s.w, s.c);
	return o->ifm->data.p ? "IFM is constant" : NULL;
}

const char *
read_softmax(const struct part *p, struct lop *o)
{
	const struct tfl_op *op = o->op;
	const char *why = check_rows(p, o);
	if (why)
		return why;
	int in = o->ifm->type, out = o->ofm->type;
	double beta = TFL_OPT_FLOAT(op, SoftmaxOptions, beta);
	if (in != out && !(in == TFL_INT8 && out == TFL_INT16))
		return arena_printf(p->a, "IFM is %s, OFM is %s", tfl_type_name(in),
				tfl_type_name(out));
	if (!isfinite(beta) || beta < 0)
		return arena_printf(p->a, "beta is %g, which is negative or not finite", beta);
	double r = quant_scale(o->ifm) * beta / (10.0 / 65535.0);
	bool ok;
	if (in == TFL_INT16) /* differences have 17 bits, the reference's multiples of them 32 */
		ok = r < 1 << 14 && npu_quantise(r, &o->end.scale);
	else
		ok = softmax_exp_prepare(o->own = anew(p->a, struct softmax_exp, 1),
					 quant_scale(o->ifm), beta);
	return ok ? NULL : "the IFM's scale times beta can't be expressed";
}

/* the largest element of every row */
struct g_operand
row_maximum(struct part *p, struct g_operand x)
{
	struct hwc s = x.shape, one = { .h = s.h, .w = s.w, .c = 1 };
	struct g_operand m = low_new(p->l, x.type, one);
	struct hwc rows = { .h = s.h * s.w, .w = s.c, .c = 1 };
	struct hwc firsts = { .h = s.h * s.w, .w = 1, .c = 1 };
	struct g_operand from = low_view(p->l, x, rows);
	(void)low_pool_window(p->l, OP_MAXPOOL, from, operand_reshape(m.t, firsts),
			      (struct yx){ .y = 1, .x = s.c });
	return m;
}

void
subtract_for_table(struct lower *l, struct g_operand a, struct g_operand b, struct g_operand ofm,
		   struct g_lut *table)
{
	struct g_op *r = low_pair(l, OP_SUB, a, b, ofm);
	op_zeros(r, 0, 127);
	op_clamp(r, (struct g_range){ .lo = -128, .hi = 127 });
	op_table(r, table);
}

/* looks up x minus the maximum of its row; entry 255 is for 0 */
struct g_operand
row_lookup(struct part *p, struct g_operand x, struct g_operand max,
	   const int32_t table[256])
{
	struct g_operand y = word_new(p->l, x.shape);
	subtract_for_table(p->l, x, max, y, low_lut32(p->l, table));
	return y;
}

struct g_operand
row_sum(struct part *p, struct g_operand x)
{
	struct hwc one = { .h = x.shape.h, .w = x.shape.w, .c = 1 };
	struct g_operand y = word_new(p->l, one);
	struct g_op *r = low_op(p->l, OP_REDUCE_SUM, x, y);
	op_scale(r, (struct npu_scale){ .mult = 1 }, ROUND_TFL);
	return y;
}

/*
 * 8 bits: exponentials from a table, their sum S in Q12, 1/S by Newton's iteration,
 * and one product per element.  S << (leading zeros - 1) is (1 + x) / 2 for the x
 * of which the reference computes 1 / (1 + x).
 */
static void
lower_8(struct part *p, const struct softmax_exp *s, struct g_operand x,
	struct g_operand ofm)
{
	enum { SUM_BITS = 12, SAFE = 511 /* shorter rows shift by at most 31 */ };
	int bits = ofm.type == TFL_INT16 ? 16 : 8;
	int32_t table[256];
	/*
	 * Does a result depend on whether a product with 1 is the exponential or one less?
	 * The product is shifted right by at least 31 - bits, after half of a unit is
	 * added.
	 */
	bool one_less = false;
	for (int i = 0; i < 256; i++) {
		int32_t v = softmax_exp(s, i - 255);
		table[i] = v < 0 ? 0 : v;
		one_less |= v > 1 << 30 && v % (1 << (30 - bits)) == 0;
	}
	struct g_operand e = row_lookup(p, x, row_maximum(p, x), table);
	struct g_operand sum =
	    row_sum(p, word_shr(p->l, e, word_const(p->l, SUM_BITS)));
	struct g_operand lead = word_clz(p->l, sum);
	struct g_operand right =
	    word_sub(p->l, word_const(p->l, SUM_BITS + 31 - bits), lead);
	/* last, so that the shift to the left follows and may be in a chain */
	struct g_operand left = word_add(p->l, word_const(p->l, -1), lead);
	struct g_operand half = word_half_recip(p->l, word_shl(p->l, sum, left));
	/*
	 * The NPU shifts by at most 31.  A product that is to be shifted further rounds to 0: a
	 * small reciprocal makes it small enough for 31.
	 */
	if (bits == 8 && x.shape.c > SAFE) {
		struct g_operand most = word_min(p->l, right, word_const(p->l, 31));
		struct g_operand more = word_sub(p->l, right, most);
		half = word_shr(p->l, half, word_add(p->l, more, more));
		right = most;
	}
	struct g_operand y = one_less
		? word_mul_high(p->l, e, word_doubled(p->l, half))
		: word_mul_halved(p->l, e, half);
	struct g_op *r = word_op_to(p->l, OP_SHR, y, right, ofm);
	r->round = ROUND_NATURAL;
	r->ofm_zero = (int32_t)type_range(ofm.type).lo;
}

static float
inverse_of_one_plus(float x)
{
	return 1.0f / (1.0f + x);
}

/* 16 bits: the exponential and the reciprocal are both tables of segments */
static void
lower_16(struct part *p, struct npu_scale s, struct g_operand x, struct g_operand ofm)
{
	int16_t exps[TABLE16];
	table16_fill(exps, (struct affine){ .scale = 10.0f / 65535.0f, .zero = INT16_MAX },
		     (struct affine){ .scale = 2.0f / 65535.0f }, expf);
	struct g_operand e = low_new(p->l, TFL_INT16, x.shape);
	struct g_operand max = row_maximum(p, x);
	struct g_op *r = low_pair(p->l, OP_SUB, x, max, e);
	op_scale(r, s, ROUND_TFL);
	op_zeros(r, 0, INT16_MAX);
	op_table(r, low_lut16(p->l, exps));

	struct g_operand sum = row_sum(p, e), lead = word_clz(p->l, sum);
	/* brings the sum to 2^30...2^31, subtracts 6 * 2^28 and looks up the upper half */
	int16_t inverses[TABLE16];
	table16_fill(inverses, (struct affine){ .scale = 1.0f / 65535.0f, .zero = INT16_MIN },
		     (struct affine){ .scale = 2.0f / 65535.0f }, inverse_of_one_plus);
	struct g_operand left = word_add(p->l, word_const(p->l, -1), lead);
	struct g_operand high = word_shl(p->l, sum, left);
	struct g_operand inverse = low_new(p->l, TFL_INT16, sum.shape);
	r = word_op_to(p->l, OP_SUB, high, word_const(p->l, 98304 << 14), inverse);
	op_scale(r, (struct npu_scale){ .mult = 1, .shift = 14 }, ROUND_TFL);
	op_table(r, low_lut16(p->l, inverses));

	struct g_operand right = word_sub(p->l, word_const(p->l, 31), lead);
	struct g_operand y = word_new(p->l, x.shape);
	(void)low_pair(p->l, OP_MUL, e, inverse, y);
	r = word_op_to(p->l, OP_SHR, y, right, ofm);
	r->round = ROUND_NATURAL;
	op_clamp(r, (struct g_range){ .lo = 0, .hi = INT16_MAX });
}

void
lower_softmax(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	struct g_operand ofm = part_ofm(p, op->out[0]);
	struct g_operand x = low_view(p->l, part_ifm(p, op->in[0]), ofm.shape);
	if (x.type == TFL_INT16)
		lower_16(p, o->end.scale, x, ofm);
	else if (!lower_softmax_pairs(p, op, x, ofm))
		lower_8(p, o->own, x, ofm);
}
