/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DIV of 8 bits.  The reference shifts the dividend up as far as possible,
 * multiplies it by the reciprocal of the divisor, scales the quotient and shifts it
 * back.  Values that depend on only one operand come from a table of words; the
 * rest is arithmetic.
 */
#include "../part.h"

#include "kernels/functions.h"

struct divide {
	const struct tfl_tensor *in[2], *ofm;
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

static void
fill_dividend(struct divide *d, int i, int32_t v)
{
	int32_t a = v < 0 ? -v : v;
	int headroom = a ? __builtin_clrsb(a) : 30;
	d->headroom[i] = headroom;
	d->high[i] = (v < 0 ? -1 : 1) * (int32_t)((uint32_t)a << headroom);
	d->power[i] = a && !(a & (a - 1)) ? (v < 0 ? 1 : -1) : 0;
}

static void
fill_divisor(struct divide *d, int i, int32_t w)
{
	int32_t a = w < 0 ? -w : w;
	int lead = a ? __builtin_clz((uint32_t)a) : 0;
	d->sign[i] = w < 0 ? -1 : 1;
	d->bits[i] = 31 - lead - d->m.exp;
	d->inverse[i] =
	    fixed_recip((int32_t)(((uint32_t)a << lead) - 0x80000000u));
	if (a)
		return;
	/* division by 0: the shift is so small that every dividend but 0 saturates */
	enum { LEAST_HEADROOM = 23 };
	d->bits[i] = 1 - LEAST_HEADROOM;
	d->inverse[i] = INT32_MAX;
}

/* fills the tables in the order of int8 indices: from the type's least raw value on */
static void
fill_tables(struct divide *d)
{
	int32_t lo = (int32_t)type_range(d->ofm->type).lo;
	d->longest = INT32_MIN;
	d->shortest = INT32_MAX;
	for (int i = 0; i < 256; i++) {
		fill_dividend(d, i, i + lo - quant_zero(d->in[0]));
		fill_divisor(d, i, i + lo - quant_zero(d->in[1]));
	}
	for (int i = 0; i < 256; i++)
		for (int k = 0; k < 256; k++) {
			int e = d->headroom[i] + d->bits[k];
			d->shortest = e < d->shortest ? e : d->shortest;
			/* a power of two can be shifted by one bit more */
			d->longest = e + 1 > d->longest ? e + 1 : d->longest;
		}
}

static bool
is_table(const struct divide *d)
{
	bool first = is_scalar(d->in[0]);
	return (first || is_scalar(d->in[1])) &&
	       tfl_elements(d->in[first]) == tfl_elements(d->ofm);
}

const char *
read_divide(const struct part *p, struct lop *o)
{
	const struct tfl_op *op = o->op;
	if (o->ifm->type == TFL_INT32)
		return read_quotient(p, o);
	if (o->ifm->type == TFL_INT16)
		return "INT16: the reciprocals of 65536 divisors do not fit a table of 256";
	const char *why = check_within(p, op, TYPE_8) ?:
			  check_fm(p, part_in(p, op, 1), "IFM2", TYPE_8) ?:
			  check_activation(p, op, (int)TFL_OPT(op, DivOptions,
							       fused_activation_function));
	if (why)
		return why;
	struct divide *d = o->own = anew(p->a, struct divide, 1);
	*d = (struct divide){ .in = { o->ifm, part_in(p, op, 1) },
			      .ofm = o->ofm };
	if (d->in[0]->type != d->in[1]->type || d->in[0]->type != d->ofm->type)
		return "IFM, IFM2 and OFM differ in type";
	if (d->in[0]->data.p && d->in[1]->data.p)
		return "both inputs are constant";
	d->m = fixed_quantize(quant_scale(d->in[0]) /
			      (quant_scale(d->in[1]) * quant_scale(d->ofm)));
	if (!d->m.mult)
		return "the ratio of the scales is so small that all quotients are 0";
	fill_tables(d);
	why = check_broadcast(p, d->in[0], d->in[1], d->ofm);
	return !why && is_table(d) ? read_bytes(p, o) : why;
}

/* repeats operand k to the OFM's shape, by adding 0 times the other operand */
static struct g_operand
spread(struct part *p, const struct divide *d, const struct side in[2], int k,
       struct hwc shape)
{
	struct g_operand y =
	    operand_whole(low_tensor(p->l, d->ofm->type, shape, NULL));
	if (tfl_elements(d->in[k]) == tfl_elements(d->ofm))
		return low_view(p->l, in[k].value, shape);
	struct low_end end = low_plain;
	end.factors = true;
	end.opa.mult = !k;
	end.opb = k;
	part_binary(p, OP_ADD, &in[0], &in[1], d->ofm, y, &end);
	return y;
}

static struct g_operand
look_up_words(struct part *p, struct g_operand x, const int32_t table[256])
{
	struct g_operand y = word_new(p->l, x.shape);
	part_table32(p, x, y, table);
	return y;
}

/*
 * A shift by 32 or more gives 0, but the NPU shifts by 31 at most.  Another shift,
 * done before, makes such quotients small enough.
 */
static struct g_operand
shorten(struct part *p, struct g_operand quotient, struct g_operand *shift)
{
	struct g_operand most = word_const(p->l, 31), zero = word_const(p->l, 0);
	struct g_operand more = word_max(p->l, word_sub(p->l, *shift, most), zero);
	more = word_min(p->l, word_mul(p->l, more, word_const(p->l, 4)), most);
	*shift = word_min(p->l, *shift, most);
	return word_shr(p->l, quotient, more);
}

static void
divide(struct part *p, const struct tfl_op *op, const struct divide *d,
       struct g_operand v, struct g_operand w, struct g_operand ofm)
{
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
	if (d->longest > 31)
		quotient = shorten(p, quotient, &shift);
	/* halves below 0 round down: subtract 1 first, then round halves up */
	struct g_operand below = word_min(p->l, quotient, zero);
	below = word_max(p->l, below, word_const(p->l, -1));
	quotient = word_add(p->l, quotient, below);
	struct g_op *r = word_op_to(p->l, OP_SHR, quotient, shift, ofm);
	r->round = ROUND_NATURAL;
	r->ofm_zero = quant_zero(d->ofm);
	op_clamp(r, quant_clamp(d->ofm, (int)TFL_OPT(op, DivOptions,
						     fused_activation_function)));
}

const char *
lower_divide(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	if (o->ifm->type == TFL_INT32)
		return lower_quotient(p, o);
	const struct divide *d = o->own;
	struct g_operand ofm = part_ofm(p, op->out[0]);
	struct side in[2];
	for (int k = 0; k < 2; k++)
		in[k] = (struct side){ .shape = d->in[k],
				       .value = part_ifm(p, op->in[k]) };
	struct g_operand v = spread(p, d, in, 0, ofm.shape);
	struct g_operand w = spread(p, d, in, 1, ofm.shape);
	divide(p, op, d, v, w, ofm);
	return NULL;
}
