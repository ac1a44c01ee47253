/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DIV of 8 bits.  The reference shifts the dividend up as far as possible,
 * multiplies it by the reciprocal of the divisor, scales the quotient and shifts it
 * back.  Values that depend on only one operand come from a table of words; the
 * rest is arithmetic.
 */
#include "../moves/move.h"

#include "graph/facts.h"
#include "kernels/functions.h"
#include "tflite/fields.h"

struct divide {
	struct fixed_mult m;
	int longest, shortest; /* right shifts of quotients, in bits */
	/*
	 * Of each dividend: `high` is the value shifted up, with its sign; `headroom`
	 * is that shift in bits.  `power` is 1 for -2^n, -1 for 2^n, else 0: a negative
	 * power of two shifts by one bit more.  A negative divisor changes the sign of
	 * `power`.
	 */
	int32_t high[256], headroom[256], power[256];
	/*
	 * Of each divisor: reciprocal of its magnitude, index of its highest bit
	 * minus m.exp, and sign.
	 */
	int32_t inverse[256], bits[256], sign[256];
};

/* fills the tables in the order of int8 indices: from the type's least raw value on */
static void
fill_tables(struct divide *d, const struct lop *o)
{
	int32_t lo = (int32_t)type_range(o->ofm->type).lo;
	d->longest = INT32_MIN;
	d->shortest = INT32_MAX;
	for (int i = 0; i < 256; i++) {
		int32_t v = i + lo - quant_zero(o->ifm), a = v < 0 ? -v : v;
		int headroom = a ? __builtin_clrsb(a) : 30;
		d->headroom[i] = headroom;
		d->high[i] = (v < 0 ? -1 : 1) * (int32_t)((uint32_t)a << headroom);
		d->power[i] = a && !(a & (a - 1)) ? (v < 0 ? 1 : -1) : 0;
	}
	for (int i = 0; i < 256; i++) {
		int32_t w = i + lo - quant_zero(o->ifm2), a = w < 0 ? -w : w;
		int lead = a ? __builtin_clz((uint32_t)a) : 0;
		d->sign[i] = w < 0 ? -1 : 1;
		d->bits[i] = 31 - lead - d->m.exp;
		d->inverse[i] =
		    fixed_recip((int32_t)(((uint32_t)a << lead) - 0x80000000u));
		if (a)
			continue;
		/* division by 0: the shift is so small that every dividend but 0 saturates */
		enum { LEAST_HEADROOM = 23 };
		d->bits[i] = 1 - LEAST_HEADROOM;
		d->inverse[i] = INT32_MAX;
	}
	for (int i = 0; i < 256; i++)
		for (int k = 0; k < 256; k++) {
			int e = d->headroom[i] + d->bits[k];
			d->shortest = e < d->shortest ? e : d->shortest;
			/* a power of two can be shifted by one bit more */
			d->longest = e + 1 > d->longest ? e + 1 : d->longest;
		}
}

const char *
read_divide(const struct part *p, struct lop *o)
{
	const struct tfl_tensor *a = o->ifm, *b = o->ifm2, *y = o->ofm;
	if (a->type == TFL_INT32)
		return read_quotient(p, o);
	if (a->type == TFL_INT16)
		return "INT16: the reciprocals of 65536 divisors do not fit a table of 256";
	const char *why = check_within(p, o, TYPE_8) ?: check_fm(p, b, "IFM2", TYPE_8) ?:
			  check_activation(p, o->op, (int)TFL_OPT(o->op, DivOptions,
							      fused_activation_function));
	if (why)
		return why;
	struct divide *d = o->own = anew(p->a, struct divide, 1);
	if (a->type != b->type || a->type != y->type)
		return "IFM, IFM2 and OFM differ in type";
	if (a->data.p && b->data.p)
		return "both inputs are constant";
	d->m = fixed_quantize(quant_scale(a) / (quant_scale(b) * quant_scale(y)));
	if (!d->m.mult)
		return "the ratio of the scales is so small that all quotients are 0";
	fill_tables(d, o);
	bool table = (is_scalar(a) || is_scalar(b)) &&
		     tfl_elements(is_scalar(a) ? b : a) == tfl_elements(y);
	why = check_broadcast(p, a, b, y);
	return !why && table ? read_bytes(p, o) : why;
}

/* repeats operand k to the OFM's shape, by adding 0 times the other operand */
static struct g_operand
spread(struct part *p, const struct lop *o, const struct g_operand in[2], int k, struct hwc shape)
{
	struct g_operand y = low_new(p->l, o->ofm->type, shape);
	if (tfl_elements(k ? o->ifm2 : o->ifm) == tfl_elements(o->ofm))
		return low_view(p->l, in[k], shape);
	struct low_end end = low_plain;
	end.factors = true;
	end.opa.mult = !k;
	end.opb = k;
	struct nd a = nd_aligned(in[0], o->ifm, o->ofm), b = nd_aligned(in[1], o->ifm2, o->ofm);
	struct nd out = nd_of(y, o->ofm);
	part_binary(p, OP_ADD, &a, 0, &b, 0, &out, &end);
	return y;
}

static struct g_operand
look_up_words(struct part *p, struct g_operand x, const int32_t table[256])
{
	struct g_operand y = word_new(p->l, x.shape);
	part_table32(p, x, y, table);
	return y;
}

void
lower_divide(struct part *p, const struct lop *o)
{
	if (o->ifm->type == TFL_INT32) {
		lower_quotient(p, o);
		return;
	}
	const struct divide *d = o->own;
	struct g_operand ofm = part_ofm(p, o->op->out[0]), in[2];
	for (int k = 0; k < 2; k++)
		in[k] = part_ifm(p, o->op->in[k]);
	struct g_operand v = spread(p, o, in, 0, ofm.shape);
	struct g_operand w = spread(p, o, in, 1, ofm.shape);
	struct g_operand sign = look_up_words(p, w, d->sign);
	struct g_operand high = word_mul(p->l, look_up_words(p, v, d->high), sign);
	struct g_operand extra = word_mul(p->l, look_up_words(p, v, d->power), sign);
	struct g_operand zero = word_const(p->l, 0);
	extra = word_max(p->l, extra, zero);
	high = word_shl(p->l, high, extra);
	struct g_operand quotient =
	    word_mul_high(p->l, high, look_up_words(p, w, d->inverse));
	quotient = word_mul_high(p->l, quotient, word_const(p->l, d->m.mult));
	struct g_operand bits = look_up_words(p, w, d->bits);
	struct g_operand shift = word_add(p->l, look_up_words(p, v, d->headroom), bits);
	shift = word_add(p->l, shift, extra);
	/*
	 * The reference saturates instead of shifting up.  A shift by 1 saturates, too: the
	 * magnitude of a quotient that is not 0 is at least 2^28.
	 */
	if (d->shortest < 1)
		shift = word_max(p->l, shift, word_const(p->l, 1));
	/*
	 * A shift by 32 or more gives 0, but the NPU shifts by 31 at most.  Another shift,
	 * done before, makes such quotients small enough.
	 */
	if (d->longest > 31) {
		struct g_operand most = word_const(p->l, 31), none = word_const(p->l, 0);
		struct g_operand more = word_max(p->l, word_sub(p->l, shift, most), none);
		more = word_min(p->l, word_mul(p->l, more, word_const(p->l, 4)), most);
		shift = word_min(p->l, shift, most);
		quotient = word_shr(p->l, quotient, more);
	}
	/* halves below 0 round down: subtract 1 first, then round halves up */
	struct g_operand below = word_min(p->l, quotient, zero);
	below = word_max(p->l, below, word_const(p->l, -1));
	quotient = word_add(p->l, quotient, below);
	struct g_op *r = word_op_to(p->l, OP_SHR, quotient, shift, ofm);
	r->round = ROUND_NATURAL;
	r->ofm_zero = quant_zero(o->ofm);
	op_clamp(r, quant_clamp(o->ofm, (int)TFL_OPT(o->op, DivOptions,
						     fused_activation_function)));
}
