/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparisons, EQUAL, LESS and others, SELECT (lower/choose.h), and logic.  BOOL is a byte,
 * 0 or 1.
 */
#include "../moves/move.h"

#include "base/fixed.h"
#include "lower/choose.h"

enum { BYTES = 256, COMPARE_SHIFT = 8 }; /* the reference's headroom for rounding, in bits */

static bool
is_quantized(const struct tfl_tensor *t)
{
	return t->type == TFL_INT8 || t->type == TFL_UINT8;
}

/* all values of a type in the units in which the reference compares them */
static void
in_units(const struct tfl_tensor *t, int32_t v[BYTES])
{
	struct fixed_mult m = fixed_quantize(quant_scale(t));
	int32_t least = (int32_t)type_range(t->type).lo;
	for (int i = 0; i < BYTES; i++)
		v[i] = fixed_mbqm((least + i - quant_zero(t)) * (1 << COMPARE_SHIFT),
				  m);
}

/*
 * can raw values be compared: have both the same units, in which all values differ?
 * read_compare() takes INT16 of one quantization alone.
 */
static bool
compare_plainly(const struct tfl_tensor *a, const struct tfl_tensor *b)
{
	int32_t v[BYTES];
	if (!is_quantized(a))
		return true;
	if (!quant_equal(a, b))
		return false;
	in_units(a, v);
	for (int i = 1; i < BYTES; i++)
		if (v[i] <= v[i - 1])
			return false;
	return true;
}

const char *
read_logic(const struct part *p, struct lop *o)
{
	const struct tfl_op *op = o->op;
	const char *why = check_fm(p, o->ifm, "IFM", family_types(op)) ?:
			  check_fm(p, part_in(p, op, 1), "IFM2", family_types(op)) ?:
			  check_fm(p, o->ofm, "OFM", TYPE_BOOL);
	if (why)
		return why;
	const struct tfl_tensor *a = o->ifm, *b = part_in(p, op, 1);
	if (a->type != b->type)
		return "IFM and IFM2 differ in type";
	if (a->data.p && b->data.p)
		return "both inputs are constant";
	return check_broadcast(p, a, b, o->ofm);
}

const char *
read_compare(const struct part *p, struct lop *o)
{
	const struct tfl_op *op = o->op;
	const char *why = read_logic(p, o);
	if (!why && o->ifm->type == TFL_INT16 &&
	    !quant_equal(o->ifm, part_in(p, op, 1)))
		why = "INT16 of different quantizations, whose comparison no reference defines";
	for (int k = 0; k < 2 && !why; k++)
		if (is_quantized(part_in(p, op, k)) &&
		    fixed_quantize(quant_scale(part_in(p, op, k))).exp > 0)
			why = "a scale of 1 or more";
	return why;
}

/* an operand as words in the reference's units */
static struct side
words_in_units(struct part *p, int tensor)
{
	int32_t v[BYTES];
	struct side s = side_of(p, tensor);
	in_units(s.shape, v);
	if (!s.value.t) {
		int32_t least = (int32_t)type_range(s.shape->type).lo;
		s.value = word_const(p->l, v[tensor_int(s.shape, 0) - least]);
		return s;
	}
	struct g_operand y = word_new(p->l, s.value.shape);
	part_table32(p, s.value, y, v);
	s.value = y;
	return s;
}

/*
 * The scale from a tensor's values to the units in which the reference compares.
 * The reference shifts values up first.  U85's comparisons scale their operands as
 * if these were shifted, too (ethosu-commands(7) 26.9).
 */
static bool
scale_to_units(const struct tfl_tensor *t, struct npu_scale *s)
{
	enum { LEAST_EXP = -31 }; /* the reference's longest shift */
	struct fixed_mult m = fixed_quantize(quant_scale(t));
	*s = (struct npu_scale){ .mult = (uint32_t)m.mult,
				 .shift = 31 - m.exp - COMPARE_SHIFT };
	return m.mult > 0 && m.exp <= 0 && m.exp >= LEAST_EXP;
}

static enum low_order
order_of(int code)
{
	switch (code) {
	case TFL_EQUAL:
		return LOW_EQUAL;
	case TFL_NOT_EQUAL:
		return LOW_UNEQUAL;
	case TFL_GREATER:
	case TFL_LESS:
		return LOW_GREATER;
	default:
		return LOW_NOT_LESS;
	}
}

/* LESS is GREATER with swapped operands; scale: one for each operand, NULL: unscaled */
static void
lower_order(struct part *p, const struct tfl_op *op, const struct side *a,
	    const struct side *b, const struct npu_scale *scale)
{
	bool less = op->code == TFL_LESS || op->code == TFL_LESS_EQUAL;
	const struct tfl_tensor *o = part_out(p, op, 0);
	const struct side *first = less ? b : a, *second = less ? a : b;
	const struct npu_scale turned[2] = { scale ? scale[less] : scale_one(),
					     scale ? scale[!less] : scale_one() };
	struct low_compare c = { .order = order_of(op->code),
				 .scale = scale ? turned : NULL };
	c.a = side_operand(p, first, o);
	c.b = side_operand(p, second, o);
	struct nd out = nd_ofm(p, op->out[0]);
	if (scale) {
		c.zero[0] = first->zero;
		c.zero[1] = second->zero;
	}
	low_compare(p->l, &c, &out);
}

/* compares operands of different units, each with its own scale */
static bool
lower_scaled(struct part *p, const struct tfl_op *op)
{
	struct npu_scale scales[2];
	struct side side[2];
	if (!part_has(p, LACK_BITS))
		return false;
	for (int k = 0; k < 2; k++)
		if (!scale_to_units(part_in(p, op, k), &scales[k]))
			return false;
	for (int k = 0; k < 2; k++) {
		side[k] = side_of(p, op->in[k]);
		side[k].zero = quant_zero(side[k].shape);
	}
	lower_order(p, op, &side[0], &side[1], scales);
	return true;
}

const char *
lower_compare(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	bool plain = compare_plainly(o->ifm, part_in(p, op, 1));
	if (!plain && lower_scaled(p, op))
		return NULL;
	struct side a = plain ? side_of(p, op->in[0]) : words_in_units(p, op->in[0]);
	struct side b = plain ? side_of(p, op->in[1]) : words_in_units(p, op->in[1]);
	lower_order(p, op, &a, &b, NULL);
	return NULL;
}

/* ---- logic ---------------------------------------------------------------- */

const char *
lower_logic(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	struct side a = side_of(p, op->in[0]), b = side_of(p, op->in[1]);
	a.zero = b.zero = 0;
	part_binary(p, op->code == TFL_LOGICAL_AND ? OP_MIN : OP_MAX, &a, &b,
		    o->ofm, part_ofm(p, op->out[0]), &low_plain);
	return NULL;
}

const char *
read_not(const struct part *p, struct lop *lop)
{
	const char *why = check_ifm_ofm(p, lop->op);
	if (why)
		return why;
	const struct tfl_tensor *i = lop->ifm, *o = lop->ofm;
	if (i->data.p)
		return "IFM is constant";
	return tfl_elements(i) == tfl_elements(o) ? NULL
						  : "IFM and OFM differ in shape";
}

const char *
lower_not(struct part *p, const struct lop *o)
{
	struct g_operand y = part_ofm(p, o->op->out[0]);
	struct g_operand x = low_view(p->l, part_ifm(p, o->op->in[0]), y.shape);
	struct g_op *r = low_op(p->l, OP_SUB, x, y);
	op_scalar(r, 1, 0);
	G_PUT(r, OP, reversed, 1);
	op_unscaled(r);
	return NULL;
}

/* ---- SELECT ---------------------------------------------------------------- */

const char *
read_select(const struct part *p, struct lop *lop)
{
	const struct tfl_op *op = lop->op;
	const struct tfl_tensor *o = lop->ofm;
	const char *why = check_fm(p, lop->ifm, "the condition", TYPE_BOOL) ?:
			  check_fm(p, o, "OFM", family_types(op));
	for (int k = 1; k < 3 && !why; k++) {
		why = check_fm(p, part_in(p, op, k), "IFM", family_types(op));
		if (!why && part_in(p, op, k)->type != o->type)
			why = "IFM and OFM differ in type";
		if (!why)
			why = check_broadcast(p, part_in(p, op, k), lop->ifm, o);
	}
	if (why)
		return why;
	const struct tfl_tensor *which = lop->ifm;
	if (which->data.p)
		return "the condition is constant";
	bool rows = op->code == TFL_SELECT && which->rank == 1 && o->rank > 1 &&
		    which->dim[0] > 1;
	return rows ? "a condition that selects whole rows" : NULL;
}

const char *
lower_select(struct part *p, const struct lop *lop)
{
	const struct tfl_tensor *o = lop->ofm;
	struct side side[3];
	struct nd v[3], out = nd_ofm(p, lop->op->out[0]);
	for (int k = 0; k < 3; k++) {
		side[k] = side_of(p, lop->op->in[k]);
		v[k] = side_operand(p, &side[k], o);
	}
	low_select(p->l, &v[0], &v[1], &v[2], &out);
	return NULL;
}
