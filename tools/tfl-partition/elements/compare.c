/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparisons, EQUAL, LESS and others, SELECT (lower/choose.h), and LOGICAL_NOT.  BOOL is a
 * byte, 0 or 1.
 */
#include "../moves/move.h"

#include "base/fixed.h"
#include "graph/facts.h"
#include "lower/choose.h"
#include "lower/linux.h"

enum { BYTES = 256, COMPARE_SHIFT = 8 }; /* the reference's headroom for rounding, in bits */

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
	if (!has_type(a, TYPE_8))
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
check_truth(const struct part *p, const struct lop *o)
{
	const char *why = check_fm(p, o->ifm, "IFM", family_types(o->op)) ?:
			  check_fm(p, o->ifm2, "IFM2", family_types(o->op)) ?:
			  check_fm(p, o->ofm, "OFM", TYPE_BOOL);
	if (why)
		return why;
	if (o->ifm->type != o->ifm2->type)
		return "IFM and IFM2 differ in type";
	if (o->ifm->data.p && o->ifm2->data.p)
		return "both inputs are constant";
	return check_broadcast(p, o->ifm, o->ifm2, o->ofm);
}

const char *
read_compare(const struct part *p, struct lop *o)
{
	const char *why = check_truth(p, o);
	if (!why && o->ifm->type == TFL_INT16 && !quant_equal(o->ifm, o->ifm2))
		why = "INT16 of different quantizations, whose comparison no reference defines";
	for (int k = 0; k < 2 && !why; k++) {
		const struct tfl_tensor *t = k ? o->ifm2 : o->ifm;
		if (has_type(t, TYPE_8) && fixed_quantize(quant_scale(t)).exp > 0)
			why = "a scale of 1 or more";
	}
	return why;
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

/* Operands of different units have each its own scale, or become words of one unit. */
void
lower_compare(struct part *p, const struct lop *o)
{
	static const enum low_order orders[TFL_BUILTIN_LIMIT] = {
		[TFL_EQUAL] = LOW_EQUAL, [TFL_NOT_EQUAL] = LOW_UNEQUAL,
		[TFL_GREATER] = LOW_GREATER, [TFL_LESS] = LOW_GREATER,
		[TFL_GREATER_EQUAL] = LOW_NOT_LESS, [TFL_LESS_EQUAL] = LOW_NOT_LESS,
	};
	const struct tfl_tensor *t[2] = { o->ifm, o->ifm2 };
	int code = o->op->code;
	/* LESS is GREATER with swapped operands */
	bool less = code == TFL_LESS || code == TFL_LESS_EQUAL;
	bool plain = compare_plainly(o->ifm, o->ifm2);
	struct npu_scale scales[2];
	struct nd v[2], out;
	struct low_compare c = { .order = orders[code] };
	if (!plain && low_has(p->l, LACK_BITS) && scale_to_units(t[less], &scales[0]) &&
	    scale_to_units(t[!less], &scales[1]))
		c.scale = scales;
	for (int k = 0; k < 2; k++) {
		if (plain || c.scale) {
			v[k] = nd_side(p, o->op->in[k], o->ofm);
			continue;
		}
		/* the operand as words in the reference's units */
		int32_t units[BYTES], least = (int32_t)type_range(t[k]->type).lo;
		struct g_operand y;
		in_units(t[k], units);
		if (is_scalar(t[k])) {
			y = word_const(p->l, units[tensor_int(t[k], 0) - least]);
		} else {
			struct g_operand x = part_ifm(p, o->op->in[k]);
			y = word_new(p->l, x.shape);
			part_table32(p, x, y, units);
		}
		v[k] = nd_aligned(y, t[k], o->ofm);
	}
	c.a = v[less];
	c.b = v[!less];
	for (int k = 0; c.scale && k < 2; k++)
		c.zero[k] = quant_zero(t[k ? !less : less]);
	out = nd_ofm(p, o->op->out[0]);
	low_compare(p->l, &c, &out);
}

/* ---- LOGICAL_NOT ----------------------------------------------------------- */

const char *
read_not(const struct part *p, struct lop *o)
{
	return check_unary(p, o);
}

void
lower_not(struct part *p, const struct lop *o)
{
	struct g_operand y = part_ofm(p, o->op->out[0]);
	(void)low_subtract_from(p->l, 1, low_view(p->l, part_ifm(p, o->op->in[0]), y.shape), y);
}

/* ---- SELECT ---------------------------------------------------------------- */

const char *
read_select(const struct part *p, struct lop *lop)
{
	const struct tfl_op *op = lop->op;
	const struct tfl_tensor *o = lop->ofm, *which = lop->ifm;
	const char *why = check_fm(p, which, "the condition", TYPE_BOOL) ?:
			  check_fm(p, o, "OFM", family_types(op));
	for (int k = 1; k < 3 && !why; k++) {
		why = check_fm(p, part_in(p, op, k), "IFM", family_types(op));
		if (!why && part_in(p, op, k)->type != o->type)
			why = "IFM and OFM differ in type";
		if (!why)
			why = check_broadcast(p, part_in(p, op, k), which, o);
	}
	if (why)
		return why;
	if (which->data.p)
		return "the condition is constant";
	bool rows = op->code == TFL_SELECT && which->rank == 1 && o->rank > 1 &&
		    which->dim[0] > 1;
	return rows ? "a condition that selects whole rows" : NULL;
}

void
lower_select(struct part *p, const struct lop *o)
{
	struct nd v[3], out = nd_ofm(p, o->op->out[0]);
	for (int k = 0; k < 3; k++)
		v[k] = nd_side(p, o->op->in[k], o->ofm);
	low_select(p->l, &v[0], &v[1], &v[2], &out);
}
