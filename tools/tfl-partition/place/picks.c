/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds GATHER, SLICE, STRIDED_SLICE, SPLIT, RESHAPE and TRANSPOSE that do not move
 * pixels: their results are channels of one feature map, in some order.  Several
 * such operators in a chain are one pick, for example RESHAPE, TRANSPOSE, RESHAPE,
 * SPLIT of a channel shuffle.
 */
#include "channels.h"

enum { PIXEL_AXES = 3 /* N, H, W */, MAX_TAIL = 1 << 16 };

bool
is_pickable_fm(const struct part *p, int tensor)
{
	const struct tfl_tensor *t = &p->sg->tensor[tensor];
	return t->rank == PIXEL_AXES + 1 && !t->data.p && !check_fm(p, t, "", TYPE_8) &&
	       t->dim[PIXEL_AXES] <= MAX_TAIL;
}

struct pick
pick_all(struct part *p, int tensor)
{
	const struct tfl_tensor *t = &p->sg->tensor[tensor];
	if (!is_pickable_fm(p, tensor))
		return (struct pick){ .root = 0 };
	struct pick r = { .root = tensor + 1, .n = t->dim[PIXEL_AXES] };
	int32_t *at = anew(p->a, int32_t, (size_t)r.n);
	for (int32_t k = 0; k < r.n; k++)
		at[k] = k;
	r.at = at;
	return r;
}

/* elements per pixel; 0: the leading axes are not those of the root's pixels */
static int64_t
tail_of(const struct tfl_tensor *t, const struct tfl_tensor *root)
{
	int64_t n = 1;
	for (int i = 0; i < t->rank; i++)
		if (i >= PIXEL_AXES)
			n *= t->dim[i];
		else if (t->dim[i] != root->dim[i])
			return 0;
	return t->rank >= PIXEL_AXES ? n : 0;
}

/* GATHER along an axis behind those of pixels */
static bool
list_gather(const struct lop *o, int32_t *at, int32_t n)
{
	const struct tfl_tensor *in = o->ifm;
	const int64_t *index;
	int axis, m;
	if (!gather_axis(o, &axis, &index, &m) || axis < PIXEL_AXES)
		return false;
	int64_t inner = 1, each = in->dim[axis];
	for (int i = axis + 1; i < in->rank; i++)
		inner *= in->dim[i];
	for (int32_t k = 0; k < n; k++)
		at[k] = (int32_t)((k / inner / m * each + index[k / inner % m]) * inner +
				  k % inner);
	return true;
}

static int
data_operand(const struct tfl_op *op)
{
	switch (op->code) {
	case TFL_SPLIT:
		return 1;
	case TFL_GATHER:
	case TFL_SLICE:
	case TFL_STRIDED_SLICE:
	case TFL_SPLIT_V:
	case TFL_TRANSPOSE:
	case TFL_RESHAPE:
	case TFL_SQUEEZE:
	case TFL_EXPAND_DIMS:
		return 0;
	default:
		return -1;
	}
}

bool
is_picking_op(const struct tfl_op *op)
{
	return data_operand(op) >= 0;
}

struct pick
pick_of(struct part *p, const struct tfl_op *op, int k, const struct pick *picks)
{
	const struct pick none = { .root = 0 };
	int data = data_operand(op);
	if (data < 0 || data >= op->n_in || op->in[data] < 0)
		return none;
	const struct pick *from = &picks[op->in[data]];
	if (!from->root)
		return none;
	const struct tfl_tensor *root = &p->sg->tensor[from->root - 1];
	const struct tfl_tensor *out = part_out(p, op, k);
	int64_t n = tail_of(out, root);
	if (n < 1 || n > MAX_TAIL || !tail_of(part_in(p, op, data), root) ||
	    out->type != root->type)
		return none;
	struct pick r = { .root = from->root, .n = (int32_t)n };
	int32_t *at = anew(p->a, int32_t, (size_t)n);
	/* the elements of a pixel that the result shows, numbered in that pixel of the input */
	const struct lop *o = &p->op[op - p->sg->op].lop;
	struct nd whole = nd_shape(part_in(p, op, data)), v = whole;
	if (op->code == TFL_GATHER) {
		if (!list_gather(o, at, r.n))
			return none;
	} else {
		if (op->code == TFL_SPLIT || op->code == TFL_SPLIT_V)
			split_view(p, o, k, &v);
		else
			(void)o->view(p, op, &v);
		for (int i = 0; i < PIXEL_AXES; i++)
			if (v.dim[i] != whole.dim[i] || v.stride[i] != whole.stride[i])
				return none;
		nd_distances(&v, PIXEL_AXES, at, r.n);
		for (int32_t i = 0; i < r.n; i++)
			at[i] += (int32_t)v.offset;
	}
	for (int32_t i = 0; i < r.n; i++)
		at[i] = from->at[at[i]];
	r.at = at;
	return r;
}
