/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of stacked tensors, for one input and for all inputs. */
#include "batch.h"

enum { MAX_EXTENT = 65536 }; /* of an operand, as in graph_check() */

/* The grid of n vectors: columns as wide as the NPU's micro-block, where n is a multiple. */
static struct hwc
grid_of(int32_t n, const struct accel *accel)
{
	int32_t w = accel->ublock.w;
	return n % w ? (struct hwc){ .h = n, .w = 1, .c = 1 }
		     : (struct hwc){ .h = n / w, .w = w, .c = 1 };
}

struct stack
stack_open(struct arena *a, const struct graph *g, int32_t n, const struct accel *accel)
{
	struct stack k = { .n = n, .grid = grid_of(n, accel) };
	/* in bricks, columns of one row are adjacent, so that inputs would not be contiguous */
	for (size_t i = 0; i < g->n_tensors; i++)
		if (G_HAS(g->tensors[i], G_TENSOR_io) && g->tensors[i]->layout != LAYOUT_NHWC)
			k.grid = (struct hwc){ .h = n, .w = 1, .c = 1 };
	k.one = anew(a, struct hwc, g->n_tensors + 1);
	k.stacked = anew(a, bool, g->n_tensors + 1);
	for (size_t i = 0; i < g->n_tensors; i++)
		k.one[i] = g->tensors[i]->hwc;
	return k;
}

static bool
is_vector(struct hwc s)
{
	return s.h == 1 && s.w == 1;
}

struct hwc
stack_hwc(const struct stack *k, struct hwc one)
{
	if (is_vector(one))
		return (struct hwc){ .h = k->grid.h, .w = k->grid.w, .c = one.c };
	return (struct hwc){ .h = k->n * one.h, .w = one.w, .c = one.c };
}

static bool
is_stacked(const struct stack *k, const struct g_operand *o)
{
	return o->t && k->stacked[o->t->rec.index];
}

static struct hwc
one_of(const struct stack *k, const struct g_operand *o)
{
	return k->one[o->t->rec.index];
}

/* Elements of the operand's type from one input to the next. */
static int64_t
input_step(const struct stack *k, const struct g_operand *o)
{
	return hwc_elements(one_of(k, o)) * graph_type_bytes(o->t->shape.type) /
	       graph_type_bytes(o->type);
}

static bool
is_box(const struct g_operand *o)
{
	return o->type == o->t->shape.type &&
	       (o->view == VIEW_WHOLE || o->view == VIEW_BOX);
}

/* The same elements of a tensor of shape `all`, by their strides in linear memory. */
static struct g_operand
by_strides(const struct g_operand *o, struct hwc all)
{
	struct g_operand r = *o;
	if (o->view == VIEW_STRIDED)
		return r;
	r.view = VIEW_STRIDED;
	r.start = (struct hwc){ .h = 0 };
	struct hwc in = is_box(o) ? all : o->shape;
	r.stride[0] = (int64_t)in.w * in.c;
	r.stride[1] = in.c;
	r.stride[2] = 1;
	r.offset = o->view == VIEW_BOX ? o->start.h * r.stride[0] +
					 o->start.w * r.stride[1] + o->start.c : 0;
	return r;
}

struct g_operand
stack_nth(const struct stack *k, const struct g_operand *o, int32_t i)
{
	if (!is_stacked(k, o))
		return *o;
	struct hwc one = one_of(k, o), at = { .h = i * one.h };
	if (!is_box(o)) {
		struct g_operand r = by_strides(o, one);
		r.offset += i * input_step(k, o);
		return r;
	}
	if (is_vector(one))
		at = (struct hwc){ .h = i / k->grid.w, .w = i % k->grid.w };
	at.c = o->start.c;
	at.h += o->start.h;
	at.w += o->start.w;
	return operand_box(o->t, o->shape, at);
}

/* ---- all inputs in one operation ------------------------------------------------- */

/* How inputs are joined: as rows, or vectors as the grid. */
struct joint {
	const struct stack *k;
	bool vectors;
	int32_t rows; /* of the result of one input */
};

static struct hwc
joint_shape(const struct joint *j, struct hwc one)
{
	return j->vectors ? (struct hwc){ .h = j->k->grid.h, .w = j->k->grid.w, .c = one.c }
			  : (struct hwc){ .h = j->k->n * one.h, .w = one.w, .c = one.c };
}

/* Joins inputs that are `step` elements apart.  False: rows and inputs would need different
 * steps. */
static bool
join_strides(const struct joint *j, const struct g_operand *o, int64_t step,
	     struct g_operand *out)
{
	*out = by_strides(o, one_of(j->k, o));
	if (o->shape.h > 1 && out->stride[0] * o->shape.h != step)
		return false;
	if (o->shape.h == 1)
		out->stride[0] = j->vectors ? step * j->k->grid.w : step;
	if (j->vectors)
		out->stride[1] = step;
	out->shape = joint_shape(j, o->shape);
	return true;
}

/* Does a box take all rows of an input? */
static bool
is_full_height(const struct joint *j, const struct g_operand *o)
{
	struct hwc one = one_of(j->k, o);
	return is_box(o) && o->shape.h == one.h && is_vector(one) == j->vectors;
}

static bool
join_stacked(const struct joint *j, const struct g_operand *o, struct g_operand *out)
{
	if (o->shape.h != j->rows)
		return false; /* a row that is broadcast to the rows of its input */
	struct hwc all = joint_shape(j, o->shape);
	if (is_full_height(j, o)) {
		*out = operand_box(o->t, all, o->start);
		return true;
	}
	bool linear = o->view == VIEW_RESHAPE ||
		      (o->view == VIEW_WHOLE && o->type == o->t->shape.type);
	if (linear) {
		*out = operand_reshape(o->t, all);
		return true;
	}
	return join_strides(j, o, input_step(j->k, o), out);
}

/* Broadcasts a constant to all inputs: the NPU does so with the second operand; the first one
 * gets steps of 0. */
static bool
join_constant(const struct joint *j, const struct g_operand *o, bool second,
	      struct g_operand *out)
{
	*out = *o;
	if (o->shape.h > 1 || (j->vectors && o->shape.w > 1))
		return false;
	return second || join_strides(j, o, 0, out);
}

static bool
join_operand(const struct joint *j, const struct g_operand *o, bool second,
	     struct g_operand *out)
{
	*out = *o;
	if (!o->t)
		return true;
	if (tensor_is_const(o->t))
		return join_constant(j, o, second, out);
	return is_stacked(j->k, o) && join_stacked(j, o, out);
}

static bool
is_point(struct yx v)
{
	return v.y == 1 && v.x == 1;
}

/* Is row y of the result made of row y of the operands, and of no other row? */
static bool
keeps_rows(const struct g_op *op)
{
	return op_is_elementwise(op->kind) || op->kind == OP_COPY ||
	       (op_dilated(op).y == 1 && op->stride.y == 1 && !op->pad.top &&
		!op->pad.bottom && !op->edge.top && !op->edge.bottom &&
		op->upscale == UPSCALE_NONE && op->ifm.shape.h == op->ofm.shape.h);
}

static bool
keeps_columns(const struct g_op *op)
{
	return op_is_elementwise(op->kind) || op->kind == OP_COPY ||
	       (is_point(op_dilated(op)) && is_point(op->stride) && !op->pad.left &&
		!op->pad.right && !op->edge.left && !op->edge.right);
}

bool
stack_join(const struct stack *k, const struct g_op *op, struct g_op *out)
{
	struct joint j = { .k = k, .rows = op->ofm.shape.h };
	*out = *op;
	bool alone = op->kind == OP_MATMUL || op->kind == OP_REORDER ||
		     op->kind == OP_RESIZE || op->kind == OP_GATHER ||
		     op->kind == OP_SCATTER;
	if (!keeps_rows(op) || alone || (int64_t)k->n * op->ofm.shape.h > MAX_EXTENT)
		return false;
	j.vectors = is_vector(op->ofm.shape) && is_vector(op->ifm.shape) &&
		    keeps_columns(op);
	if (!join_operand(&j, &op->ifm, false, &out->ifm) ||
	    !join_operand(&j, &op->ifm2, true, &out->ifm2) ||
	    !join_operand(&j, &op->ofm, false, &out->ofm))
		return false;
	/* a fully connected operation with more than one input is a convolution */
	if (op->kind == OP_FC)
		out->kind = OP_CONV;
	return op->kind != OP_COPY ||
	       (operand_is_contiguous(&out->ifm) && operand_is_contiguous(&out->ofm));
}
