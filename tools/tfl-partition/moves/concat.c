/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that write parts of their result: CONCATENATION, PACK, TILE.  A
 * producer that can write its part in place does so (bind_concat).
 */
#include "../place/channels.h"

#include "graph/facts.h"
#include "kernels/kernels.h"
#include "tflite/fields.h"

#include <math.h>

/* ---- CONCATENATION, PACK ------------------------------------------------------ */

static int64_t
length_of(const struct tfl_op *op, const struct tfl_tensor *t, int axis)
{
	return op->code == TFL_PACK ? 1 : t->dim[axis];
}

static const char *
read_axis(const struct part *p, const struct tfl_op *op, int *axis)
{
	const struct tfl_tensor *o = part_out(p, op, 0);
	bool pack = op->code == TFL_PACK;
	const char *why = check_options(p, op, pack ? &fb_PackOptions
						    : &fb_ConcatenationOptions);
	if (why)
		return why;
	*axis = move_axis(pack ? TFL_OPT(op, PackOptions, axis)
			       : TFL_OPT(op, ConcatenationOptions, axis),
			  o->rank);
	if (*axis < 0)
		return "the axis is out of range";
	if (!pack && TFL_OPT(op, ConcatenationOptions, fused_activation_function))
		return "CONCATENATION with a fused activation";
	return NULL;
}

const char *
read_concat(const struct part *p, struct lop *o)
{
	const struct tfl_op *op = o->op;
	const char *why = check_moved(p, o->ofm, "OFM") ?:
			  read_axis(p, op, &o->axis);
	if (why)
		return why;
	struct nd to = nd_shape(o->ofm);
	int64_t at = 0;
	bool constant = true;
	for (int i = 0; i < op->n_in; i++) {
		const struct tfl_tensor *t = part_in(p, op, i);
		why = t ? check_moved(p, t, "an input") : "an input is absent";
		if (why)
			return why;
		if (t->type != o->ofm->type)
			return "an input and the OFM differ in type";
		if (op->code == TFL_CONCATENATION && t->rank != o->ofm->rank)
			return "an input and the OFM differ in rank";
		if (kernel_rescales(op, t, o->ofm) &&
		    (!(t->quant.scale[0] > 0) || !(o->ofm->quant.scale[0] > 0)))
			return "an input or the OFM has no quantization";
		int64_t n = length_of(op, t, o->axis);
		if (n > o->ofm->dim[o->axis] - at)
			return "the inputs are larger than the OFM";
		/* the part of the result that the input fills */
		struct nd v = nd_shape(t), part = to;
		nd_slice(&part, o->axis, at, n, 1);
		if (nd_elements(&v) != nd_elements(&part))
			return "the shapes of inputs and OFM do not match";
		at += n;
		why = check_copies(p, &v, &part);
		if (why)
			return why;
		constant = constant && t->data.p;
	}
	if (constant)
		return "all inputs are constant";
	return at == to.dim[o->axis] ? NULL : "the inputs do not fill the OFM";
}

/*
 * Applies the reference's float32 formula as a table (nputools-lowering(7) 3.4).  A separate
 * operation looks up every element, as part_table() works on all NPUs.
 */
static struct nd
rescaled(struct part *p, const struct nd *from, const struct tfl_tensor *i,
	 const struct tfl_tensor *o)
{
	struct g_tensor *t = low_tensor(p->l, i->type, tfl_hwc(i), NULL);
	struct nd dense = nd_of(operand_whole(t), i);
	struct g_operand x;
	if (!nd_operand(from, &x)) {
		nd_copy(p->l, from, &dense);
		x = operand_whole(t);
		t = low_tensor(p->l, i->type, tfl_hwc(i), NULL);
		dense = nd_of(operand_whole(t), i);
	}
	float scale = quant_scale_f32(i) * (1.0f / quant_scale_f32(o));
	float bias = (float)-quant_zero(i) * scale;
	struct g_range r = type_range(o->type);
	float lo = (float)r.lo, hi = (float)r.hi;
	uint8_t table[256]; /* entry 0 is for the least value */
	for (int k = 0; k < 256; k++) {
		float v = roundf((lo + (float)k) * scale + bias) + (float)quant_zero(o);
		table[k] = (uint8_t)(int)(v < lo ? lo : v > hi ? hi : v);
	}
	struct g_lut *lut = low_lut8(p->l, table);
	(void)part_table(p, x, operand_whole(t), lut);
	return dense;
}

bool
concat_has_channels(const struct part *p, const struct tfl_op *op)
{
	int axis;
	const struct tfl_tensor *o = part_out(p, op, 0);
	if (op->code != TFL_CONCATENATION || read_axis(p, op, &axis) || o->rank != 4 ||
	    axis != 3 || tfl_type_bytes(o->type) != 1)
		return false;
	for (int i = 0; i < op->n_in; i++)
		if (kernel_rescales(op, part_in(p, op, i), o))
			return false;
	return true;
}

void
lower_concat(struct part *p, const struct lop *lop)
{
	const struct tfl_op *op = lop->op;
	if (concat_is_ordered(p, op)) {
		lower_ordered_concat(p, op);
		return;
	}
	struct nd to = nd_ofm(p, op->out[0]);
	const struct tfl_tensor *o = lop->ofm;
	int64_t at = 0;
	for (int i = 0; i < op->n_in; i++) {
		const struct tfl_tensor *t = part_in(p, op, i);
		int64_t n = length_of(op, t, lop->axis);
		struct nd from = nd_ifm(p, op->in[i]), part = nd_part(&to, lop->axis, at, n);
		at += n;
		if (kernel_rescales(op, t, o))
			from = rescaled(p, &from, t, o);
		(void)nd_reshape(&part, from.dim, from.rank);
		nd_copy(p->l, &from, &part);
	}
}

/*
 * An input that has no memory yet, and whose producer can write anywhere, is
 * written directly to its part of the result.
 */
void
bind_concat(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	if (concat_is_ordered(p, op)) {
		bind_ordered_concat(p, op);
		return;
	}
	struct nd to = nd_ofm(p, op->out[0]);
	int64_t at = 0;
	for (int i = 0; i < op->n_in; i++) {
		int in = op->in[i];
		const struct tfl_tensor *t = &p->sg->tensor[in];
		int64_t n = length_of(op, t, o->axis);
		struct nd part = nd_part(&to, o->axis, at, n), shape = nd_shape(t);
		struct g_operand as;
		at += n;
		if (!kernel_rescales(op, t, o->ofm) &&
		    nd_reshape(&part, shape.dim, shape.rank) &&
		    nd_operand(&part, &as))
			bind_place(p, in, as);
	}
}

/* ---- TILE ------------------------------------------------------------------- */

const char *
read_tile(const struct part *p, struct lop *lop)
{
	const char *why = check_move(p, lop);
	if (why)
		return why;
	const struct tfl_tensor *i = lop->ifm, *o = lop->ofm;
	int64_t times[TFL_MAX_RANK];
	int n;
	if (!part_ints(part_in(p, lop->op, 1), times, TFL_MAX_RANK, &n))
		return "the multiples are not constant";
	if (n != i->rank || o->rank != i->rank)
		return "the multiples do not have the IFM's rank";
	for (int k = 0; k < n; k++) {
		if (times[k] < 1 || times[k] != o->dim[k] / i->dim[k] ||
		    o->dim[k] % i->dim[k])
			return "the OFM's shape is not IFM times multiples";
	}
	struct nd from = words_shape(i), to = words_shape(o);
	return nd_tile_copies(p->l, &from, &to) <= ND_MAX_COPIES
		   ? NULL
		   : arena_printf(p->a, "tiling takes more than %d copies", ND_MAX_COPIES);
}

void
lower_tile(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	struct nd in = words_ifm(p, op->in[0]);
	if (tfl_elements(o->ifm) == tfl_elements(o->ofm)) {
		move_result(p, op, &in);
		return;
	}
	struct nd out = words_ofm(p, op->out[0]);
	nd_tile(p->l, &in, &out);
}
