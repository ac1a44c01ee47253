/* SPDX-License-Identifier: Apache-2.0 */
/* QUANTIZE, RESHAPE and its kin, PAD: spec/operators.md 5.7, 6.3. */
#include "part.h"

/* ---- QUANTIZE ------------------------------------------------------------- */

static const char *
check_quantize(const struct part *p, const struct tfl_op *op)
{
	const char *why = check_arity(p, op, 1, 1, 1);
	if (!why)
		why = check_maps(p, op, TYPE_MAPS);
	if (why)
		return why;
	const struct tfl_tensor *i = part_in(p, op, 0), *o = part_out(p, op, 0);
	struct npu_scale s;
	if (i->data.p)
		return "IFM is constant";
	if (tfl_elements(i) != tfl_elements(o))
		return "IFM and OFM differ in shape";
	return npu_quantise(quant_scale(i) / quant_scale(o), &s)
		   ? NULL
		   : "the ratio of the scales can't be expressed";
}

static bool
lower_quantize(struct part *p, const struct tfl_op *op)
{
	const struct tfl_tensor *i = part_in(p, op, 0), *o = part_out(p, op, 0);
	struct g_operand ofm = part_ofm(p, op->out[0]);
	struct g_op *r = part_op(p, OP_AVGPOOL,
				 part_view(p, part_ifm(p, op->in[0]), ofm.shape),
				 ofm);
	struct npu_scale s;
	(void)npu_quantise(quant_scale(i) / quant_scale(o), &s);
	op_scale(r, s, ROUND_TFL);
	op_zeros(r, quant_zero(i), quant_zero(o));
	return true;
}

/* ---- RESHAPE, SQUEEZE, EXPAND_DIMS ------------------------------------------ */

static const char *
check_reshape(const struct part *p, const struct tfl_op *op)
{
	const char *why = check_arity(p, op, 1, 2, 1);
	if (!why)
		why = check_maps(p, op, TYPE_MAPS);
	if (!why)
		why = check_same_quant(p, op);
	if (why)
		return why;
	const struct tfl_tensor *i = part_in(p, op, 0), *o = part_out(p, op, 0);
	if (i->data.p)
		return "IFM is constant";
	if (op->n_in > 1 && op->in[1] >= 0 && !part_in(p, op, 1)->data.p)
		return "the new shape is not constant";
	return tfl_elements(i) == tfl_elements(o)
		   ? NULL
		   : "IFM and OFM differ in the number of elements";
}

/* no operation, unless both names already have a place of their own */
static bool
lower_reshape(struct part *p, const struct tfl_op *op)
{
	struct g_operand from = part_ifm(p, op->in[0]);
	struct g_operand *to = &p->value[op->out[0]];
	struct hwc shape = tfl_hwc(part_out(p, op, 0));
	if (!to->t) {
		*to = part_view(p, from, shape);
	} else if (to->t != from.t) {
		(void)part_copy(p, part_view(p, from, to->shape), *to);
	}
	return true;
}

/* ---- PAD -------------------------------------------------------------------- */

/* before and after of each dimension; false unless it is a 4-D constant */
static bool
read_pads(const struct part *p, const struct tfl_op *op, int64_t v[8])
{
	const struct tfl_tensor *t = part_in(p, op, 1);
	int n;
	return t && part_ints(t, v, 8, &n) && n == 8;
}

static const char *
check_pad(const struct part *p, const struct tfl_op *op)
{
	const char *why = check_arity(p, op, 2, 2, 1);
	if (!why)
		why = check_maps(p, op, TYPE_MAPS);
	if (!why)
		why = check_same_quant(p, op);
	if (why)
		return why;
	const struct tfl_tensor *i = part_in(p, op, 0), *o = part_out(p, op, 0);
	int64_t v[8];
	if (i->rank != 4 || o->rank != 4 || !read_pads(p, op, v))
		return "the padding is not a constant for 4 dimensions";
	for (int k = 0; k < 4; k++)
		if (v[2 * k] < 0 || v[2 * k + 1] < 0 ||
		    i->dim[k] + v[2 * k] + v[2 * k + 1] != o->dim[k])
			return "the OFM's shape is not IFM plus padding";
	if (v[0] || v[1] || v[6] || v[7])
		return "padding of batch or channels";
	for (int k = 1; k < 3; k++)
		if ((v[2 * k] > v[2 * k + 1] ? v[2 * k] : v[2 * k + 1]) *
			(tfl_elements(o) / o->dim[k]) > tfl_elements(i))
			return "the border is larger than the IFM";
	return i->data.p ? "IFM is constant" : NULL;
}

struct box {
	struct hwc shape, start;
};

/*
 * Writes the zero point into a part of the OFM: as many elements of the IFM,
 * whatever they are, clamped to that one value.
 */
static void
fill_border(struct part *p, struct g_operand from, struct g_operand to,
	    struct box b, int32_t zero)
{
	if (hwc_elements(b.shape) == 0)
		return;
	struct g_operand any = operand_reshape(from.t, b.shape);
	any.view = VIEW_STRIDED;
	any.stride[0] = (int64_t)b.shape.w * b.shape.c;
	any.stride[1] = b.shape.c;
	any.stride[2] = 1;
	struct g_op *r = part_copy(p, any, part_box(to, b.shape, b.start));
	op_clamp(r, (struct g_range){ .lo = zero, .hi = zero });
}

static bool
lower_pad(struct part *p, const struct tfl_op *op)
{
	if (p->op[p->op_i].folded)
		return true;
	const struct tfl_tensor *i = part_in(p, op, 0), *o = part_out(p, op, 0);
	int64_t v[8];
	(void)read_pads(p, op, v);
	struct g_operand from = part_ifm(p, op->in[0]), to = part_ofm(p, op->out[0]);
	struct hwc in = tfl_hwc(i), out = tfl_hwc(o);
	int32_t top = (int32_t)v[2], left = (int32_t)v[4], front = (int32_t)v[6];
	struct hwc start = { .h = top, .w = left, .c = front };
	(void)part_copy(p, from, part_box(to, in, start));
	const struct box border[] = {
		{ { .h = top, .w = out.w, .c = out.c }, { .h = 0 } },
		{ { .h = out.h - top - in.h, .w = out.w, .c = out.c },
		  { .h = top + in.h } },
		{ { .h = in.h, .w = left, .c = out.c }, { .h = top } },
		{ { .h = in.h, .w = out.w - left - in.w, .c = out.c },
		  { .h = top, .w = left + in.w } },
	};
	for (size_t k = 0; k < ARRAY_LEN(border); k++)
		fill_border(p, from, to, border[k], quant_zero(o));
	return true;
}

const struct family move_families[] = {
	{ .code = TFL_QUANTIZE, .check = check_quantize, .lower = lower_quantize },
	{ .code = TFL_RESHAPE, .check = check_reshape, .lower = lower_reshape,
	  .alias = true },
	{ .code = TFL_SQUEEZE, .check = check_reshape, .lower = lower_reshape,
	  .alias = true },
	{ .code = TFL_EXPAND_DIMS, .check = check_reshape, .lower = lower_reshape,
	  .alias = true },
	{ .code = TFL_PAD, .check = check_pad, .lower = lower_pad },
	{ .code = 0 },
};
