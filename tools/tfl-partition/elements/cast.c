/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CAST between integers and BOOL.  BOOL is a byte, 0 or 1; the result of BOOL is a
 * comparison with 0.  A wider result is a sum with 0.  A narrower result has
 * the low bytes of the input, as in the reference; from words it is made by shifts
 * up and down.  INT64 is two words, of which the upper one is the sign's.
 */
#include "../moves/move.h"

#include "lower/choose.h"

enum { MAX_LINE = 65536 }; /* elements of a line, and lines of an operation */

const char *
read_cast(const struct part *p, struct lop *lop)
{
	const struct tfl_tensor *i = lop->ifm, *o = lop->ofm;
	const char *why = check_fixed(p, i, "IFM") ?: check_fixed(p, o, "OFM");
	if (why)
		return why;
	if (!has_type(i, family_types(lop->op)) || !has_type(o, family_types(lop->op)))
		return arena_printf(p->a, "IFM is %s, OFM is %s", tfl_type_name(i->type),
				tfl_type_name(o->type));
	if (i->data.p)
		return "IFM is constant";
	if (i->type == TFL_INT64 && o->type == TFL_BOOL)
		return "INT64 to BOOL";
	if (tfl_elements(i) < 1 || tfl_elements(i) / MAX_LINE > MAX_LINE)
		return "no elements, or more than 2^32";
	return tfl_elements(i) == tfl_elements(o) ? NULL
						  : "IFM and OFM differ in shape";
}

/* the elements of one operation: h lines of w, from element `start` on */
struct lines {
	int64_t start;
	int32_t h, w;
};

/* words or smaller pieces of the elements, from byte `first` of each element on */
static struct g_operand
pieces(struct g_operand o, const struct lines *l, int type, int element, int first)
{
	int size = tfl_type_bytes(type);
	o.type = type;
	o.view = VIEW_STRIDED;
	o.shape = (struct hwc){ .h = l->h, .w = l->w, .c = 1 };
	o.offset = (l->start * element + first) / size;
	o.stride[0] = (int64_t)l->w * element / size;
	o.stride[1] = element / size;
	o.stride[2] = 1;
	return o;
}

static void
cast_lines(struct part *p, const struct lines *l, struct g_operand x, int from_type,
	   struct g_operand dest, int to_type)
{
	int from = tfl_type_bytes(from_type), to = tfl_type_bytes(to_type);
	int read = from == 8 ? TFL_INT32 : from_type;
	int written = to == 8 ? TFL_INT32 : to_type;
	/* do not read bytes that are cut off */
	if (tfl_type_bytes(read) > tfl_type_bytes(written))
		read = written;
	struct g_operand low = pieces(x, l, read, from, 0);
	struct g_operand out = pieces(dest, l, written, to, 0);
	if (tfl_type_bytes(read) == tfl_type_bytes(written)) {
		low.type = written; /* the same bytes, whatever their sign */
		(void)low_copy(p->l, low, out);
	} else {
		(void)low_convert(p->l, low, 0, out);
	}
	if (to == 8 && from == 8)
		(void)low_copy(p->l, pieces(x, l, TFL_INT32, 8, 4),
				pieces(dest, l, TFL_INT32, 8, 4));
	if (to != 8 || from == 8)
		return;
	/* the upper word is -1 where the lower one is negative, else 0 */
	struct g_operand zero = word_const(p->l, 0), least = word_const(p->l, -1);
	struct g_operand y = word_max(p->l, out, least);
	(void)word_op_to(p->l, OP_MIN, y, zero, pieces(dest, l, TFL_INT32, 8, 4));
}

/* casts whole lines of MAX_LINE elements in one operation, the remainder in another */
void
lower_cast(struct part *p, const struct lop *lop)
{
	const struct tfl_op *op = lop->op;
	const struct tfl_tensor *i = lop->ifm, *o = lop->ofm;
	/* the types of the bytes in memory */
	int from = i->type == TFL_BOOL ? TFL_UINT8 : i->type;
	int to = o->type == TFL_BOOL ? TFL_UINT8 : o->type;
	struct nd v = nd_ifm(p, op->in[0]), out = nd_ofm(p, op->out[0]);
	if (o->type == TFL_BOOL && i->type != TFL_BOOL) { /* 1 where an element is not 0 */
		v = nd_readable_as(p->l, v, out.dim, out.rank);
		if (v.type == TFL_INT16)
			v = nd_widen(p->l, &v, 0, TFL_INT32);
		struct low_compare c = { .order = LOW_UNEQUAL, .a = v };
		c.b = nd_const_one(p->l, v.type, v.rank, 0);
		low_compare(p->l, &c, &out);
		return;
	}
	/* words to fewer bits; the sign comes from the bits that remain */
	if (i->type == TFL_INT32 && tfl_type_bytes(to) < 4 &&
	    nd_reshape(&v, out.dim, out.rank)) {
		if (out.type == TFL_UINT8)
			out.type = TFL_INT8; /* the same bytes */
		nd_narrow(p->l, &v, &out);
		return;
	}
	int64_t n = tfl_elements(i), whole = n / MAX_LINE * MAX_LINE;
	struct g_operand x = low_linear(p->l, part_ifm(p, op->in[0]));
	struct g_operand ofm = part_ofm(p, op->out[0]), dest = low_destination(p->l, ofm);
	struct lines all = { .h = (int32_t)(n / MAX_LINE), .w = MAX_LINE };
	struct lines rest = { .start = whole, .h = 1, .w = (int32_t)(n - whole) };
	if (all.h)
		cast_lines(p, &all, x, from, dest, to);
	if (rest.w)
		cast_lines(p, &rest, x, from, dest, to);
	low_deliver(p->l, dest, ofm);
}
