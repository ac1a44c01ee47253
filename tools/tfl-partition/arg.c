/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ARG_MAX, ARG_MIN along any axis: spec/operators.md 5.2.  Value and position
 * in one 16-bit key, value above; the largest key tells the position in its
 * lower byte.  Positions count backwards, so that the first wins a tie.
 */
#include "part.h"

enum { MAX_POSITIONS = 256, MAX_EXTENT = 65536 };

struct arg {
	const struct tfl_tensor *ifm, *ofm;
	int32_t before, n, behind; /* elements before, along, behind the axis */
};

static bool
find_axis(const struct part *p, const struct tfl_op *op, struct arg *r)
{
	int64_t axis;
	int n, rank = r->ifm->rank;
	if (!part_ints(part_in(p, op, 1), &axis, 1, &n) || n != 1 ||
	    axis < -rank || axis >= rank)
		return false;
	int at = (int)(axis < 0 ? axis + rank : axis);
	int64_t before = 1, behind = 1;
	for (int i = 0; i < rank; i++)
		*(i < at ? &before : i > at ? &behind : &(int64_t){ 0 }) *=
		    r->ifm->dim[i];
	r->n = r->ifm->dim[at];
	r->before = (int32_t)(before < INT32_MAX ? before : INT32_MAX);
	r->behind = (int32_t)(behind < INT32_MAX ? behind : INT32_MAX);
	return true;
}

static const char *
read_arg(const struct part *p, const struct tfl_op *op, struct arg *r)
{
	const char *why = check_arity(p, op, 2, 2, 1);
	if (!why)
		why = check_map(p, part_in(p, op, 0), "IFM", TYPE_8);
	if (why)
		return why;
	*r = (struct arg){ .ifm = part_in(p, op, 0), .ofm = part_out(p, op, 0) };
	if (r->ofm->type != TFL_INT32 && r->ofm->type != TFL_INT64)
		return part_say(p, "OFM is %s", tfl_type_name(r->ofm->type));
	if (r->ifm->data.p)
		return "IFM is constant";
	if (!find_axis(p, op, r))
		return "the axis is not a constant in range";
	if (r->n > MAX_POSITIONS)
		return part_say(p, "%d elements to choose from: at most 256", r->n);
	if (r->before > MAX_EXTENT || r->behind > MAX_EXTENT)
		return "more than 65536 elements before or behind the axis";
	return tfl_elements(r->ofm) == (int64_t)r->before * r->behind
		   ? NULL
		   : "the OFM's shape is not what the axis gives";
}

static const char *
check_arg(const struct part *p, const struct tfl_op *op)
{
	struct arg r;
	return read_arg(p, op, &r);
}

/* 0...255 backwards along the axis, as IFM2 */
static struct g_operand
positions(struct part *p, const struct arg *r, int type)
{
	int32_t v[MAX_POSITIONS];
	bool last = r->behind == 1;
	for (int i = 0; i < r->n; i++)
		v[i] = r->n - 1 - i - (type == TFL_INT8 ? 128 : 0);
	return part_const(p, type,
			  (struct hwc){ .h = 1, .w = last ? 1 : r->n,
					.c = last ? r->n : 1 }, v);
}

/* 256 * x + position, or 256 * (-1 - x) + position for the least */
static struct g_operand
make_keys(struct part *p, const struct arg *r, struct g_operand x, bool max)
{
	struct hwc rows = { .h = r->before, .w = r->n, .c = r->behind };
	struct hwc last = { .h = 1, .w = r->before, .c = r->n };
	struct hwc s = r->behind == 1 ? last : rows;
	struct g_tensor *t = part_new_tensor(p, TFL_INT16, s, NULL);
	struct npu_scale value = { .mult = 256 }, position = { .mult = 1 };
	x = part_view(p, x, s);
	struct g_op *o = part_op(p, max ? OP_ADD : OP_SUB, x, operand_whole(t));
	int32_t least = x.type == TFL_INT8 ? 0 : 128;
	op_ifm2(o, positions(p, r, x.type), x.type == TFL_INT8 ? -128 : 0);
	op_unscaled(o);
	op_zeros(o, max ? least : least - 1, 0);
	G_PUT(o, OP, opa, max ? value : position);
	G_PUT(o, OP, opb, max ? 1 : 256);
	if (!max)
		G_PUT(o, OP, reversed, 1);
	return operand_reshape(t, rows);
}

/* n - 1 less the lower bytes of the keys, or 0, as 32-bit words */
static void
write_words(struct part *p, const struct arg *r, struct g_operand keys,
	    struct g_operand ofm, int word, enum g_op_kind kind, int32_t scalar)
{
	int words = r->ofm->type == TFL_INT64 ? 2 : 1;
	struct hwc s = { .h = r->before, .w = r->behind, .c = 1 };
	struct g_operand low = keys, out = ofm;
	low.type = TFL_UINT8;
	out.type = TFL_INT32;
	low.view = out.view = VIEW_STRIDED;
	low.shape = out.shape = s;
	low.stride[0] = 2 * (int64_t)r->behind;
	low.stride[1] = 2;
	out.stride[0] = words * (int64_t)r->behind;
	out.stride[1] = words;
	low.stride[2] = out.stride[2] = 1;
	out.offset = word;
	struct g_op *o = part_op(p, kind, low, out);
	op_scalar(o, scalar, 0);
	G_PUT(o, OP, reversed, 1);
	op_unscaled(o);
}

static bool
lower_arg(struct part *p, const struct tfl_op *op)
{
	struct arg r;
	(void)read_arg(p, op, &r);
	struct g_operand keys =
	    make_keys(p, &r, part_ifm(p, op->in[0]), op->code == TFL_ARG_MAX);
	struct hwc one = { .h = r.before, .w = 1, .c = r.behind };
	struct g_operand best =
	    operand_whole(part_new_tensor(p, TFL_INT16, one, NULL));
	struct g_op *o = part_op(p, OP_MAXPOOL, keys, best);
	op_kernel(o, (struct yx){ .y = 1, .x = r.n }, (struct yx){ .y = 1, .x = 1 },
		  (struct yx){ .y = 1, .x = 1 }, (struct g_pad){ 0 });
	struct g_operand ofm = part_ofm(p, op->out[0]), room = part_room(p, ofm);
	write_words(p, &r, best, room, 0, OP_SUB, r.n - 1);
	if (r.ofm->type == TFL_INT64)
		write_words(p, &r, best, room, 1, OP_MUL, 0);
	part_deliver(p, room, ofm);
	return true;
}

const struct family arg_families[] = {
	{ .code = TFL_ARG_MAX, .check = check_arg, .lower = lower_arg },
	{ .code = TFL_ARG_MIN, .check = check_arg, .lower = lower_arg },
	{ .code = 0 },
};
