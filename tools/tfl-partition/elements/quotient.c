/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides integers of 32 bits by constants: FLOOR_DIV, and DIV, which truncates.
 * Only DIV may have a divisor that is not constant: Ethos-U85 divides natively, the
 * others as in lower/divide.c.
 *
 * Let a = x, or -1 - x if x is negative, and let c > 1 be the magnitude of the
 * divisor.  Then
 *
 *	q = a * M / 2^(31 + s),  M = 2^(31 + s) / c rounded,  2^s < c <= 2^(s + 1)
 *
 * is floor(a / c) or one more, as both roundings and M's error sum up to less than
 * 1.  The quotient q - 1 leaves a remainder of 0 to 2c - 1, which tells how much to
 * add to q - 1; no intermediate value exceeds 32 bits.  Finally floor(x / c) is q,
 * or -1 - q for a negative x.
 */
#include "../moves/move.h"

#include "tflite/fields.h"

#include <assert.h>
#include <string.h>

struct quotient {
	struct hwc shape, by_shape;
};

static bool
same_dims(const struct tfl_tensor *a, const struct tfl_tensor *b)
{
	return a->rank == b->rank &&
	       !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof(a->dim[0]));
}

/* by constants: one divisor, one for each position of the last dimension, or one per element */
static const char *
read_constant(const struct part *p, struct lop *o)
{
	const struct tfl_tensor *x = o->ifm, *by = o->ifm2;
	if (x->type != TFL_INT32 || by->type != TFL_INT32 || o->ofm->type != TFL_INT32)
		return arena_printf(p->a, "IFM is %s", tfl_type_name(x->type));
	const char *why = check_within(p, o, TYPE_I32);
	if (why)
		return why;
	if (x->data.p || !by->data.p)
		return "the divisor is not constant";
	if (o->op->code == TFL_DIV &&
	    TFL_OPT(o->op, DivOptions, fused_activation_function) != TFL_ACT_NONE)
		return "DIV of INT32 with a fused activation";
	int64_t n = tfl_elements(by), last = x->rank ? x->dim[x->rank - 1] : 1;
	for (int64_t i = 0; i < n; i++)
		if (tensor_int(by, i) >= -1 && tensor_int(by, i) <= 1)
			return arena_printf(p->a, "a divisor is %d", tensor_int(by, i));
		else if (tensor_int(by, i) == INT32_MIN)
			return "a divisor is too large";
	if (!same_dims(x, o->ofm))
		return "IFM and OFM differ in shape";
	struct quotient *q = o->own = anew(p->a, struct quotient, 1);
	q->shape = tfl_hwc(x);
	if (n == 1)
		q->by_shape = (struct hwc){ .h = 1, .w = 1, .c = 1 };
	else if (same_dims(x, by))
		q->by_shape = q->shape;
	else if (n == last && by->dim[by->rank - 1] == last)
		q->by_shape = (struct hwc){ .h = 1, .w = 1, .c = (int32_t)last };
	else
		return "the divisor has neither one element, nor one for each of the "
		       "last dimension, nor the dividend's shape";
	return NULL;
}

/* DIV by a divisor that is not constant */
static bool
is_computed(const struct lop *o)
{
	return o->op->code == TFL_DIV && o->ifm2 && !o->ifm2->data.p;
}

const char *
read_quotient(const struct part *p, struct lop *o)
{
	if (!is_computed(o))
		return read_constant(p, o);
	const char *why = check_within(p, o, TYPE_I32) ?:
			  check_fm(p, o->ifm2, "the divisor", TYPE_I32) ?:
			  check_options(p, o->op, &fb_DivOptions);
	if (why)
		return why;
	if (TFL_OPT(o->op, DivOptions, fused_activation_function) != TFL_ACT_NONE)
		return "DIV of INT32 with a fused activation";
	struct nd out = nd_shape(o->ofm);
	return check_broadcast(p, o->ifm, o->ifm2, o->ofm) ?: nd_divide_check(p->l, &out);
}

/* the constants that depend on each divisor */
struct constants {
	struct g_operand by, mult, shift, by_m1, by_m2, sign;
	bool negative; /* at least one divisor is negative */
};

static struct constants
constants_of(struct part *p, const struct tfl_tensor *by, struct hwc shape)
{
	int64_t n = tfl_elements(by);
	int32_t *v = anew(p->a, int32_t, 6 * (size_t)n);
	struct constants c = { .negative = false };
	for (int64_t i = 0; i < n; i++) {
		int32_t d = tensor_int(by, i);
		uint32_t a = d < 0 ? -(uint32_t)d : (uint32_t)d;
		assert(a > 1); /* read_constant() has checked it */
		int s = 31 - __builtin_clz(a - 1);
		uint64_t one = (uint64_t)1 << (31 + s);
		v[i] = (int32_t)a;
		v[n + i] = (int32_t)((one + a / 2) / a);
		v[2 * n + i] = s;
		v[3 * n + i] = (int32_t)(a - 1);
		v[4 * n + i] = (int32_t)a - 2;
		v[5 * n + i] = d < 0 ? -1 : 1;
		c.negative |= d < 0;
	}
	c.by = low_const(p->l, TFL_INT32, shape, v);
	c.mult = low_const(p->l, TFL_INT32, shape, v + n);
	c.shift = low_const(p->l, TFL_INT32, shape, v + 2 * n);
	c.by_m1 = low_const(p->l, TFL_INT32, shape, v + 3 * n);
	c.by_m2 = low_const(p->l, TFL_INT32, shape, v + 4 * n);
	c.sign = low_const(p->l, TFL_INT32, shape, v + 5 * n);
	return c;
}

/* floor(a / c) for a >= 0; *rest: the remainder */
static struct g_operand
quotient_of(struct part *p, const struct constants *c, struct g_operand a,
	    struct g_operand *rest)
{
	struct g_operand one = word_const(p->l, 1), zero = word_const(p->l, 0);
	struct g_operand q = word_mul_high(p->l, a, c->mult);
	q = word_shr(p->l, q, c->shift);
	q = word_sub(p->l, q, one);
	q = word_max(p->l, q, zero);
	struct g_operand product = word_mul(p->l, q, c->by);
	struct g_operand r = word_sub(p->l, a, product);
	struct g_operand more = word_is_above(p->l, word_sub(p->l, r, c->by_m1));
	q = word_add(p->l, q, more);
	product = word_mul(p->l, q, c->by);
	*rest = word_sub(p->l, a, product);
	return q;
}

void
lower_quotient(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	const struct quotient *q = o->own;
	if (is_computed(o)) {
		struct nd out = nd_ofm(p, op->out[0]), v[2];
		for (int k = 0; k < 2; k++)
			v[k] = nd_side(p, op->in[k], o->ofm);
		nd_divide(p->l, &v[0], &v[1], &out);
		return;
	}
	struct constants c = constants_of(p, o->ifm2, q->by_shape);
	struct g_operand one = word_const(p->l, 1), zero = word_const(p->l, 0);
	struct g_operand minus = word_const(p->l, -1), rest;
	struct g_operand x = low_view(p->l, part_ifm(p, op->in[0]), q->shape);
	struct g_operand ofm = part_ofm(p, op->out[0]), dest = low_destination(p->l, ofm);
	dest = low_view(p->l, dest, q->shape);

	struct g_operand turned = word_sub(p->l, minus, x);
	struct g_operand a = word_max(p->l, x, turned);
	struct g_operand below = word_max(p->l, x, minus);
	below = word_min(p->l, below, zero); /* -1 where x is negative */
	struct g_operand y = quotient_of(p, &c, a, &rest);
	/* for a negative x subtract one more: always, or (DIV) if -x is a multiple of c */
	struct g_operand last = op->code == TFL_DIV ? word_sub(p->l, rest, c.by_m2)
						    : one;
	if (op->code == TFL_DIV)
		last = word_is_above(p->l, last);
	struct g_operand twice = word_add(p->l, y, y);
	twice = word_add(p->l, twice, last);
	twice = word_mul(p->l, twice, below);
	if (!c.negative) {
		(void)word_op_to(p->l, OP_ADD, y, twice, dest);
		low_deliver(p->l, dest, ofm);
		return;
	}
	y = word_add(p->l, y, twice);
	if (op->code == TFL_FLOOR_DIV) {
		/*
		 * floor(x / -c) = -floor(x / c), minus 1 if there is a remainder.
		 * The remainder of x / c is `rest`, or c - 1 - rest for a negative
		 * x.
		 */
		struct g_operand other = word_sub(p->l, c.by_m1, rest);
		struct g_operand left = word_sub(p->l, other, rest);
		left = word_mul(p->l, left, below);
		left = word_sub(p->l, rest, left);
		left = word_min(p->l, left, one);
		struct g_operand turn = word_min(p->l, c.sign, zero);
		left = word_mul(p->l, left, turn);
		y = word_sub(p->l, y, left);
	}
	(void)word_op_to(p->l, OP_MUL, y, c.sign, dest);
	low_deliver(p->l, dest, ofm);
}
