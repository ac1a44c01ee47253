/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the graph for one input into the graph for several.
 *
 * A stacked tensor holds the values for all inputs, one after the other in memory: the rows of an
 * input follow the rows of the input before.  A vector (1x1xC) becomes one element of a grid of
 * rows and columns, so that the inputs fill a block of the NPU.  Every other tensor is copied for
 * each input.
 */
#include "rewrite/rewrite.h"

#include "graph/facts.h"

#include <string.h>

enum { MAX_EXTENT = 65536 }; /* of an operand, as in graph_check() */

struct batch {
	const struct graph *from;
	struct graph *g; /* the new graph; its first records are a copy of `from`, for input 0 */
	struct arena *a;
	const struct batch_choice *how;
	struct hwc grid; /* of stacked vectors; h * w == how->n */
	/* for each operation: its run, executed input by input; -1: executed for all inputs */
	int *run;
	bool *stacked; /* for each tensor of `from`: true if the tensor is stacked */
	/* Records for input i, at index * n + i: of tensors that are not stacked, and of weights
	 * that runs use.  NULL: not made yet. */
	struct g_tensor **tensor;
	struct g_weights **weights;
};

/* ---- tensors ------------------------------------------------------------------- */

static bool
is_vector(struct hwc s)
{
	return s.h == 1 && s.w == 1;
}

/* Returns the shape for all inputs, as rows or as the grid. */
static struct hwc
joint_shape(const struct batch *b, struct hwc one, bool as_grid)
{
	struct hwc all = { .h = b->how->n * one.h, .w = one.w };
	all = as_grid ? b->grid : all;
	all.c = one.c;
	return all;
}

static bool
is_stacked(const struct batch *b, const struct g_tensor *t)
{
	return b->stacked[t->rec.index];
}

/* ---- operands for one input ------------------------------------------------------ */

/* Returns the distance of two inputs, in elements of the operand's type. */
static int64_t
input_step(const struct g_operand *o)
{
	return hwc_elements(o->t->hwc) * graph_type_bytes(o->t->shape.type) /
	       graph_type_bytes(o->type);
}

static bool
is_box(const struct g_operand *o)
{
	return o->type == o->t->shape.type &&
	       (o->view == VIEW_WHOLE || o->view == VIEW_BOX);
}

/* Returns the operand for input i. */
static struct g_operand
operand_of(struct batch *b, const struct g_operand *o, int32_t i)
{
	struct g_operand r = *o;
	if (!o->t)
		return r;
	struct g_tensor *t = b->g->tensors[o->t->rec.index];
	if (i && !is_stacked(b, o->t) && !tensor_is_const(o->t)) {
		struct g_tensor **at =
		    &b->tensor[(size_t)o->t->rec.index * (size_t)b->how->n + (size_t)i];
		if (!*at) {
			*at = graph_copy_g_tensor(b->g, t);
			G_CLEAR(*at, G_TENSOR_tfl);
			(*at)->tfl = (struct g_tfls){ .n = 0 };
		}
		t = *at;
	}
	struct hwc at = { .h = i * o->t->hwc.h };
	if (is_stacked(b, o->t) && is_box(o)) {
		if (is_vector(o->t->hwc))
			at = (struct hwc){ .h = i / b->grid.w, .w = i % b->grid.w };
		at.h += o->start.h;
		at.w += o->start.w;
		at.c = o->start.c;
		return operand_box(t, o->shape, at);
	}
	if (is_stacked(b, o->t)) {
		r = operand_by_strides(*o);
		r.offset += i * input_step(o);
	}
	r.t = t;
	return r;
}

/* ---- all inputs in one operation ------------------------------------------------- */

/* How the inputs are joined to one operand. */
struct joint {
	const struct batch *b;
	bool as_grid; /* as the grid of vectors; otherwise as rows */
	int32_t rows; /* number of rows in the result of one input */
};

/* Joins inputs that are `step` elements apart.  False: rows and inputs need different strides. */
static bool
join_strides(const struct joint *j, struct g_operand *o, int64_t step)
{
	*o = operand_by_strides(*o);
	if (o->shape.h > 1 && o->stride[0] * o->shape.h != step)
		return false;
	if (o->shape.h == 1)
		o->stride[0] = j->as_grid ? step * j->b->grid.w : step;
	if (j->as_grid)
		o->stride[1] = step;
	o->shape = joint_shape(j->b, o->shape, j->as_grid);
	return true;
}

/* Joins an operand of the original graph.  A constant is broadcast to all inputs: the NPU
 * broadcasts IFM2 by itself; the IFM gets strides of 0. */
static bool
join_operand(const struct joint *j, struct g_operand *o, bool second)
{
	if (!o->t)
		return true;
	struct g_tensor *t = j->b->g->tensors[o->t->rec.index];
	if (tensor_is_const(o->t)) {
		bool ok = o->shape.h == 1 && (!j->as_grid || o->shape.w == 1) &&
			  (second || join_strides(j, o, 0));
		o->t = t;
		return ok;
	}
	struct hwc all = joint_shape(j->b, o->shape, j->as_grid), one = o->t->hwc;
	if (!is_stacked(j->b, o->t))
		return false;
	if (o->shape.h != j->rows)
		return false; /* one row is broadcast to all rows of its input */
	if (is_box(o) && o->shape.h == one.h && is_vector(one) == j->as_grid) {
		*o = operand_box(t, all, o->start); /* all rows of each input */
		return true;
	}
	if (o->view == VIEW_RESHAPE || operand_is_whole(o)) {
		*o = operand_reshape(t, all);
		return true;
	}
	bool ok = join_strides(j, o, input_step(o));
	o->t = t;
	return ok;
}

/* Joins all inputs in one operation, if its kernel does not mix them: `to`, a copy of op, gets
 * the operands for all inputs. */
static bool
join_op(const struct batch *b, const struct g_op *op, struct g_op *to)
{
	struct joint j = { .b = b, .rows = op->ofm.shape.h };
	struct g_operand ifm = op->ifm, ifm2 = op->ifm2, ofm = op->ofm;
	/* true if row or column i of the result depends on row or column i of the operands only */
	const struct yx taps = op_dilated(op);
	const bool rows = op_is_row_by_row(op->kind) ||
			  (taps.y == 1 && op->stride.y == 1 && !op->pad.top && !op->pad.bottom &&
			   !op->edge.top && !op->edge.bottom && op->upscale == UPSCALE_NONE &&
			   ifm.shape.h == ofm.shape.h);
	const bool columns = op_is_row_by_row(op->kind) ||
			     (taps.y == 1 && taps.x == 1 && op->stride.y == 1 &&
			      op->stride.x == 1 && !op->pad.left && !op->pad.right &&
			      !op->edge.left && !op->edge.right);
	j.as_grid = is_vector(ofm.shape) && is_vector(ifm.shape) && columns;
	if (op->kind == OP_MATMUL || op->kind == OP_REORDER || op->kind == OP_RESIZE ||
	    op->kind == OP_GATHER || op->kind == OP_SCATTER || !rows ||
	    (int64_t)b->how->n * ofm.shape.h > MAX_EXTENT)
		return false;
	if (!join_operand(&j, &ifm, false) || !join_operand(&j, &ifm2, true) ||
	    !join_operand(&j, &ofm, false))
		return false;
	if (op->kind == OP_COPY &&
	    !(operand_is_contiguous(&ifm) && operand_is_contiguous(&ofm)))
		return false;
	to->ifm = ifm;
	to->ifm2 = ifm2;
	to->ofm = ofm;
	/* a fully connected operation with more than one input is a convolution */
	if (op->kind == OP_FC)
		to->kind = OP_CONV;
	return true;
}

/* ---- operations ------------------------------------------------------------------ */

/* Makes operation `at` for input i.  Weights of a run are fetched for each input alone; the
 * constants hold equal weights once. */
static struct g_op *
repeat_op(struct batch *b, size_t at, int32_t i)
{
	const struct g_op *from = b->from->ops[at];
	struct g_op *op = i ? graph_copy_g_op(b->g, b->g->ops[at]) : b->g->ops[at];
	op->ifm = operand_of(b, &from->ifm, i);
	op->ifm2 = operand_of(b, &from->ifm2, i);
	op->ofm = operand_of(b, &from->ofm, i);
	if (i && b->run[at] >= 0 && from->weights) {
		size_t k = (size_t)from->weights->rec.index;
		struct g_weights **w = &b->weights[k * (size_t)b->how->n + (size_t)i];
		if (!*w)
			*w = graph_copy_g_weights(b->g, b->g->weights[k]);
		op->weights = *w;
	}
	return op;
}

struct graph *
rewrite_batch(struct arena *a, const struct graph *g, const struct batch_choice *how)
{
	struct batch b = { .from = g, .g = graph_copy(a, g), .a = a, .how = how };
	int32_t n = how->n, columns = n % how->columns ? 1 : how->columns;
	b.tensor = anew(a, struct g_tensor *, g->n_tensors * (size_t)n + 1);
	b.weights = anew(a, struct g_weights *, g->n_weights * (size_t)n + 1);
	/* runs: adjacent operations of one node that are done input by input */
	b.run = anew(a, int, g->n_ops + 1);
	for (size_t i = 0, run = 0; i < g->n_ops; i++) {
		bool goes_on = i && b.run[i - 1] >= 0 && g->ops[i - 1]->node == g->ops[i]->node;
		run += !goes_on;
		b.run[i] = how->together[i] ? -1 : (int)run;
	}
	/* Stack the tensors of CPU operators and of the model, and those that several runs use or
	 * that an operation for all inputs uses. */
	int *user = anew(a, int, g->n_tensors + 1); /* a run; 0: none */
	b.stacked = anew(a, bool, g->n_tensors + 1);
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct g_tensors *l[] = { &g->nodes[i]->in, &g->nodes[i]->out };
		for (int k = 0; k < 2; k++)
			for (size_t at = 0; at < l[k]->n; at++)
				b.stacked[l[k]->v[at]->rec.index] = true;
	}
	for (size_t i = 0; i < g->n_ops; i++) {
		const struct g_op *op = g->ops[i];
		const struct g_tensor *t[] = { op->ifm.t, op->ifm2.t, op->ofm.t };
		for (int k = 0; k < 3; k++) {
			if (!t[k])
				continue;
			int *last = &user[t[k]->rec.index];
			b.stacked[t[k]->rec.index] |= b.run[i] < 0 || (*last && *last != b.run[i]);
			*last = b.run[i];
		}
	}
	for (size_t i = 0; i < g->n_tensors; i++) {
		const struct g_tensor *t = g->tensors[i];
		b.stacked[i] |= t->variable || G_HAS(t, G_TENSOR_io);
		b.stacked[i] &= !tensor_is_const(t);
	}
	/* The grid has the requested columns if n is a multiple.  In bricks, columns of one row
	 * are adjacent, so that inputs would not be contiguous. */
	for (size_t i = 0; i < g->n_tensors; i++)
		if (G_HAS(g->tensors[i], G_TENSOR_io) && g->tensors[i]->layout != LAYOUT_NHWC)
			columns = 1;
	b.grid = (struct hwc){ .h = n / columns, .w = columns };
	for (size_t i = 0; i < g->n_tensors; i++) {
		const struct g_tensor *from = g->tensors[i];
		struct g_tensor *t = b.g->tensors[i];
		if (!b.stacked[i])
			continue;
		/* n times the leading dimension, or a new dimension n */
		struct g_shape s = from->shape;
		if ((!s.rank || s.dim[0] != 1) && s.rank < TFL_MAX_RANK) {
			memmove(&s.dim[1], &s.dim[0], (size_t)s.rank * sizeof(s.dim[0]));
			s.dim[0] = n;
			s.rank++;
		} else {
			s.dim[0] *= n;
		}
		G_PUT(t, TENSOR, shape, s);
		G_PUT(t, TENSOR, hwc, joint_shape(&b, from->hwc, is_vector(from->hwc)));
	}
	struct g_op **op = anew(a, struct g_op *, g->n_ops * (size_t)n + 1);
	size_t n_ops = 0; /* operations in the new order */
	for (size_t i = 0, end; i < g->n_ops; i = end) {
		for (end = i + 1; b.run[i] >= 0 && end < g->n_ops && b.run[end] == b.run[i];)
			end++;
		if (b.run[i] < 0 && join_op(&b, g->ops[i], b.g->ops[i])) {
			op[n_ops++] = b.g->ops[i];
			continue;
		}
		for (int32_t k = 0; k < n; k++)
			for (size_t at = i; at < end; at++)
				op[n_ops++] = repeat_op(&b, at, k);
	}
	graph_set_ops(b.g, op, n_ops);
	return b.g;
}
