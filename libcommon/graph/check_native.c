/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks operations that only some NPUs have: matmul, resize, reorder, argmax, gather,
 * scatter, and the fast weight decoder.
 */
#include "graph/check.h"

#include "graph/facts.h"
#include "target/accel.h"
#include "target/generation.h"

#include <inttypes.h>

/* True if op has no window: each result depends on one position of the IFM. */
static bool
is_point(const struct g_op *op)
{
	const struct g_pad *p = &op->pad, *e = &op->edge;
	return op->kernel.y == 1 && op->kernel.x == 1 && op->stride.y == 1 &&
	       op->stride.x == 1 && op->upscale == UPSCALE_NONE && !p->top &&
	       !p->left && !p->bottom && !p->right && !e->top && !e->left &&
	       !e->bottom && !e->right;
}

/*
 * Multiplies the rows of one matrix by the rows of the other.  These rows are the
 * columns (w) of the feature maps, as on the NPU.
 */
static bool
check_matmul(struct check *c, const struct g_op *op)
{
	struct hwc a = op->ifm.shape, b = op->ifm2.shape, o = op->ofm.shape;
	if (!op->ifm2.t || op->weights || !is_point(op))
		return BAD(c, op, "o%d: a matmul takes ifm2=, no weights and no window",
			   op->rec.id);
	if (a.h != 1 || b.h != 1 || o.h != 1 || a.w != o.w || b.w != o.c || a.c != b.c)
		return BAD(c, op, "o%d: IFM %dx%dx%d by IFM2 %dx%dx%d is not OFM %dx%dx%d",
			   op->rec.id, a.h, a.w, a.c, b.h, b.w, b.c, o.h, o.w, o.c);
	return (op->ifm.type == op->ifm2.type && graph_type_bytes(op->ifm.type) <= 2) ||
	       BAD(c, op, "o%d: a matmul's operands are of one type of 8 or 16 bits",
		   op->rec.id);
}

/* limits of the registers: 11 bits for up, 4 for whole steps, 12 for the first position */
static bool
is_grid(int32_t up, int32_t down, int64_t first, bool bilinear)
{
	enum { MOST = 2048, STEPS = 16 };
	return up >= 1 && up <= MOST && down >= 1 && down < STEPS * up &&
	       first >= -up && first < up && (!bilinear || !(up & (up - 1)));
}

static bool
check_resize(struct check *c, const struct g_op *op)
{
	struct hwc i = op->ifm.shape, o = op->ofm.shape;
	bool bilinear = op->sample == SAMPLE_BILINEAR;
	int bytes = graph_type_bytes(op->ifm.type);
	/* without the division by the weights' sum, the result has 32 bits */
	bool divided = !bilinear || op->ofm.type != TFL_INT32 || bytes > 1;
	if (op->ifm2.t || op->weights || !is_point(op) || op->ifm_zero || op->ofm_zero ||
	    i.c != o.c || (divided && op->ifm.type != op->ofm.type) || bytes > 2)
		return BAD(c, op, "o%d: a resize takes one operand of 8 or 16 bits, keeps its "
			   "channels and type, and has no window or zero points",
			   op->rec.id);
	return (is_grid(op->up.y, op->down.y, op->first.lo, bilinear && divided) &&
		is_grid(op->up.x, op->down.x, op->first.hi, bilinear && divided)) ||
	       BAD(c, op, "o%d: up=%dx%d down=%dx%d first=%" PRId64 ":%" PRId64 ": up is a "
		   "power of two (nearest: any) up to 2048, down less than 16 times that, "
		   "first from -up to up - 1", op->rec.id, op->up.y, op->up.x, op->down.y,
		   op->down.x, op->first.lo, op->first.hi);
}

static bool
check_reorder(struct check *c, const struct g_op *op)
{
	struct hwc i = op->ifm.shape, o = op->ofm.shape;
	struct hwc to = op->order == ORDER_HCW
			    ? (struct hwc){ .h = i.h, .w = i.c, .c = i.w } : i;
	if (op->ifm2.t || op->weights || !is_point(op) || op->order == ORDER_HWC)
		return BAD(c, op, "o%d: a reorder takes order=, one operand and no window",
			   op->rec.id);
	if (graph_type_bytes(op->ifm.type) > 2)
		return BAD(c, op, "o%d: a reorder's IFM has 8 or 16 bits", op->rec.id);
	return hwc_equal(to, o) ||
	       BAD(c, op, "o%d: an IFM of %dx%dx%d is stored as %dx%dx%d, the OFM is "
		   "%dx%dx%d", op->rec.id, i.h, i.w, i.c, to.h, to.w, to.c, o.h, o.w, o.c);
}

/* the accumulator has 15 bits for the position */
static bool
check_argmax(struct check *c, const struct g_op *op)
{
	enum { MOST = 1 << 15 };
	struct hwc i = op->ifm.shape, o = op->ofm.shape;
	struct g_op rest = *op;
	rest.kernel.x = 1;
	if (op->ifm2.t || op->weights || !is_point(&rest) ||
	    op->kernel.x != i.w || i.w > MOST || o.w != 1 || o.h != i.h || o.c != i.c)
		return BAD(c, op, "o%d: an argmax takes one operand and a kernel of its "
			   "columns, at most 32768", op->rec.id);
	return (op->ofm.type == TFL_INT32 && graph_type_bytes(op->ifm.type) <= 2) ||
	       BAD(c, op, "o%d: an argmax is i32, of 8 or 16 bits", op->rec.id);
}

/* True if each column is contiguous and no two columns overlap. */
static bool
has_columns(const struct g_operand *o)
{
	if (o->view == VIEW_STRIDED)
		return (o->stride[2] == 1 || o->shape.c == 1) &&
		       o->stride[1] >= o->shape.c && o->stride[0] >= 0;
	return o->t->layout == LAYOUT_NHWC && !G_HAS(o->t, G_TENSOR_rows);
}

/*
 * For each column of one side, IFM2 has the index of a column in the same row of the
 * other side: of the IFM for a gather, of the OFM for a scatter.
 */
static bool
check_indexed(struct check *c, const struct g_op *op)
{
	enum { MOST = UINT16_MAX }; /* limit of DMA0_SIZE0 and DMA0_SIZE1 */
	struct hwc i = op->ifm.shape, o = op->ofm.shape, at = op->ifm2.shape;
	int32_t w = op->kind == OP_GATHER ? o.w : i.w;
	if (!op->ifm2.t || op->weights || G_HAS(op, G_OP_scalar) || op->ifm2.type != TFL_INT32 || op->ifm.type != op->ofm.type)
		return BAD(c, op, "o%d: a gather or scatter takes an operand of the OFM's type, "
			   "and ifm2= of i32", op->rec.id);
	if (i.h != o.h || i.c != o.c || at.h != o.h || at.w != w || at.c != 1 ||
	    w > MOST || o.h > MOST)
		return BAD(c, op, "o%d: IFM %dx%dx%d with %dx%dx%d indices is not OFM %dx%dx%d",
			   op->rec.id, i.h, i.w, i.c, at.h, at.w, at.c, o.h, o.w, o.c);
	return (has_columns(&op->ifm) && has_columns(&op->ofm) && has_columns(&op->ifm2) &&
		operand_is_contiguous(&op->ifm2) && op->ifm.t != op->ofm.t) ||
	       BAD(c, op, "o%d: a gather or scatter needs contiguous channels and "
			  "indices, and two different tensors", op->rec.id);
}

bool
check_native(struct check *c, const struct g_op *op)
{
	if (op->kind == OP_MATMUL)
		return check_matmul(c, op);
	if (op->kind == OP_ARGMAX)
		return check_argmax(c, op);
	if (op_is_transfer(op->kind))
		return check_indexed(c, op);
	return op->kind == OP_REORDER ? check_reorder(c, op) : check_resize(c, op);
}

bool
check_decoder(struct check *c, const struct g_op *op)
{
	const struct accel *a = c->g->n_targets
				      ? accel_find(c->g->targets[0]->rec.word) : NULL;
	if (!op->fast)
		return true;
	if (a && accel_lacks(a, LACK_FAST_WEIGHTS))
		return BAD(c, op, "o%d: fast=1, but %s has one decoder of weights",
			   op->rec.id, a->name);
	return op->kind == OP_CONV || op->kind == OP_FC ||
	       BAD(c, op, "o%d: fast=1 is for weights of conv and fc", op->rec.id);
}
