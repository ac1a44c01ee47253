/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a graph, whose text may have been edited, before stages trust it.  Each check
 * is one row: a name and a function over the whole graph.
 */
#include "graph/check.h"

#include "graph/facts.h"
#include "target/accel.h"
#include "target/blocks.h"
#include "target/memory.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MAX_EXTENT = 65536, ALIGN = 16 };

/* fails if a record does not have a key that it needs */
#define NEED(c, r, prefix, RECORD, field, text)                              \
	(G_HAS(r, G_##RECORD##_##field) ||                                   \
	 BAD(c, r, prefix "%d has no " text "=", (r)->rec.id))

/* time steps of a tensor or a buffer: numbers of operations */
static bool
check_live(struct check *c, const struct g_rec *r, char kind, struct g_range live)
{
	if (live.lo < 0 || live.hi < live.lo)
		return err_at(c->e, c->g->file, r->line, "%c%d: live=%" PRId64 ":%" PRId64 " ends before it begins",
			       kind, r->id, live.lo, live.hi);
	return live.hi <= INT32_MAX ||
	       err_at(c->e, c->g->file, r->line, "%c%d: live=%" PRId64 ":%" PRId64 " ends after step %d", kind, r->id,
		       live.lo, live.hi, INT32_MAX);
}

static bool
check_buffers(struct check *c)
{
	for (size_t i = 0; i < c->g->n_buffers; i++) {
		const struct g_buffer *b = c->g->buffers[i];
		if (G_HAS(b, G_BUFFER_live) && !check_live(c, &b->rec, 'b', b->live))
			return false;
	}
	return true;
}

static bool
check_tensors(struct check *c)
{
	for (size_t i = 0; i < c->g->n_tensors; i++) {
		const struct g_tensor *t = c->g->tensors[i];
		if (!NEED(c, t, "t", TENSOR, shape, "shape"))
			return false;
		uint64_t elements = 1;
		for (int k = 0; k < t->shape.rank; k++)
			if (__builtin_mul_overflow(elements, (uint64_t)t->shape.dim[k], &elements) ||
			    elements > (uint64_t)1 << 36)
				return BAD(c, t, "t%d has more than 2^36 elements", t->rec.id);
		if (t->hwc.h < 0 || t->hwc.w < 0 || t->hwc.c < 0 ||
		    (uint64_t)hwc_elements(t->hwc) != elements)
			return BAD(c, t, "t%d: hwc=%dx%dx%d is not the shape's %" PRIu64
				   " elements", t->rec.id, t->hwc.h, t->hwc.w, t->hwc.c,
				   elements);
		if (G_HAS(t, G_TENSOR_rows) && (t->rows < 1 || t->rows > t->hwc.h))
			return BAD(c, t, "t%d: rows=%d does not match a tensor of %d rows",
					 t->rec.id,
				   t->rows, t->hwc.h);
		/* without them, no stage would give the tensor an address */
		if (G_HAS(t, G_TENSOR_rows) && (t->io != IO_NONE || !c->g->n_steps))
			return BAD(c, t, "t%d: rows= is for a feature map that steps write and read in "
					 "stripes", t->rec.id);
		if (G_HAS(t, G_TENSOR_live) && !check_live(c, &t->rec, 't', t->live))
			return false;
		if (G_HAS(t, G_TENSOR_at) && (t->at < 0 || t->at % ALIGN))
			return BAD(c, t, "t%d: at=0x%" PRIx64 " is not a multiple of 16",
				   t->rec.id, (uint64_t)t->at);
	}
	return true;
}

/* True if the first and last element of a strided view are inside the tensor. */
static bool
strided_inside(const struct g_operand *o, int64_t elements)
{
	int64_t lo = o->offset, hi = o->offset;
	const int64_t n[3] = { o->shape.h - 1, o->shape.w - 1, o->shape.c - 1 };
	for (int i = 0; i < 3; i++) {
		int64_t reach;
		if (__builtin_mul_overflow(n[i], o->stride[i], &reach) ||
		    __builtin_add_overflow(reach < 0 ? lo : hi, reach,
					   reach < 0 ? &lo : &hi))
			return false;
	}
	return lo >= 0 && hi < elements;
}

/*
 * True if elements of a strided view, which is inside the tensor, share a place.  One of rows
 * and columns must leave room for the other.
 */
static bool
strided_overlaps(const struct g_operand *o)
{
	const struct hwc n = o->shape;
	const int64_t y = llabs(o->stride[0]), x = llabs(o->stride[1]);
	const bool rows = n.h > 1, columns = n.w > 1;
	if ((rows && y < n.c) || (columns && x < n.c))
		return true;
	return rows && columns && y < (n.w - 1) * x + n.c && x < (n.h - 1) * y + n.c;
}

static bool
inside(int32_t start, int32_t n, int32_t limit)
{
	return start >= 0 && start <= limit && n <= limit - start;
}

static bool
check_operand(struct check *c, const struct g_op *op, const struct g_operand *o,
	      const char *what)
{
	const struct g_tensor *t = o->t;
	struct hwc s = o->shape;
	if (o->type != TFL_INT8 && o->type != TFL_UINT8 && o->type != TFL_INT16 &&
	    o->type != TFL_UINT16 && o->type != TFL_INT32)
		return BAD(c, op, "o%d: the NPU has no %s for %s", op->rec.id,
			   graph_type_text(o->type), what);
	if (s.h < 1 || s.w < 1 || s.c < 1 || s.h > MAX_EXTENT ||
	    s.w > MAX_EXTENT || s.c > MAX_EXTENT)
		return BAD(c, op, "o%d: %s of %dx%dx%d: the NPU takes 1 to 65536 in "
			   "each dimension", op->rec.id, what, s.h, s.w, s.c);
	int64_t elements = hwc_elements(t->hwc) * graph_type_bytes(t->shape.type) /
			   graph_type_bytes(o->type);
	if (o->view == VIEW_RESHAPE && hwc_elements(s) != elements)
		return BAD(c, op, "o%d: %s views t%d's %" PRId64 " elements as "
			   "%dx%dx%d", op->rec.id, what, t->rec.id, elements,
			   s.h, s.w, s.c);
	if (o->view == VIEW_BOX && !(inside(o->start.h, s.h, t->hwc.h) &&
				     inside(o->start.w, s.w, t->hwc.w) &&
				     inside(o->start.c, s.c, t->hwc.c)))
		return BAD(c, op, "o%d: %s reaches outside of t%d", op->rec.id,
			   what, t->rec.id);
	if (o->view == VIEW_STRIDED && !strided_inside(o, elements))
		return BAD(c, op, "o%d: %s reaches outside of t%d", op->rec.id,
			   what, t->rec.id);
	if (o->view == VIEW_STRIDED && o == &op->ofm && strided_overlaps(o))
		return BAD(c, op, "o%d: %s writes elements of t%d more than once", op->rec.id,
			   what, t->rec.id);
	if (o->view == VIEW_STRIDED && s.c > 1 && o->stride[2] != 1)
		return BAD(c, op, "o%d: %s has channels of t%d that are %" PRId64 " "
				  "elements apart, but the NPU needs adjacent ones",
				  op->rec.id,
			   what, t->rec.id, o->stride[2]);
	bool linear = o->view == VIEW_RESHAPE || o->view == VIEW_STRIDED;
	if (linear && t->layout == LAYOUT_NHCWB16)
		return BAD(c, op, "o%d: %s views t%d linearly, whose layout is "
			   "nhcwb16", op->rec.id, what, t->rec.id);
	if (o->view == VIEW_BOX && t->layout == LAYOUT_NHCWB16 &&
	    o->start.c % BRICK)
		return BAD(c, op, "o%d: %s begins at channel %d of t%d, not at a "
			   "multiple of 16", op->rec.id, what, o->start.c,
			   t->rec.id);
	return true;
}

static bool
check_geometry(struct check *c, const struct g_op *op)
{
	bool ok = op->kernel.y >= 1 && op->kernel.x >= 1 &&
		  op->kernel.y <= MAX_EXTENT && op->kernel.x <= MAX_EXTENT &&
		  op->stride.y >= 1 && op->stride.y <= 3 && op->stride.x >= 1 &&
		  op->stride.x <= 3 && op->dilation.y >= 1 &&
		  op->dilation.y <= 2 && op->dilation.x >= 1 &&
		  op->dilation.x <= 2;
	if (!ok)
		return BAD(c, op, "o%d: kernel %dx%d, stride %dx%d, dilation %dx%d: "
			   "the NPU takes strides 1 to 3, dilations 1 to 2",
			   op->rec.id, op->kernel.y, op->kernel.x, op->stride.y,
			   op->stride.x, op->dilation.y, op->dilation.x);
	struct yx k = op_dilated(op);
	bool weights = op_has_weights(op->kind);
	if (weights && (k.y > 64 || (int64_t)k.y * k.x > 4096))
		return BAD(c, op, "o%d: dilated kernel %dx%d is larger than 64 rows "
			   "or 4096 elements", op->rec.id, k.y, k.x);
	if (!weights && (k.y > 256 || (int64_t)k.y * k.x > 65536))
		return BAD(c, op, "o%d: pool %dx%d is larger than 256 rows or 65536 "
			   "elements", op->rec.id, k.y, k.x);
	if (op->pad.top < 0 || op->pad.left < 0 || op->pad.bottom < 0 ||
	    op->pad.right < 0 || op->pad.top > 127 || op->pad.left > 127 ||
	    op->pad.bottom > 128 || op->pad.right > 128)
		return BAD(c, op, "o%d: padding %d,%d,%d,%d: at most 127,127,128,128",
			   op->rec.id, op->pad.top, op->pad.left,
			   op->pad.bottom, op->pad.right);
	int up = op->upscale == UPSCALE_NONE ? 1 : 2;
	int64_t ih = (int64_t)(op->ofm.shape.h - 1) * op->stride.y + k.y -
		     op->pad.top - op->pad.bottom;
	int64_t iw = (int64_t)(op->ofm.shape.w - 1) * op->stride.x + k.x -
		     op->pad.left - op->pad.right;
	if (ih < 1 || iw < 1 || ih > (int64_t)up * (op->ifm.shape.h + op->edge.top + op->edge.bottom) ||
	    iw > (int64_t)up * (op->ifm.shape.w + op->edge.left + op->edge.right))
		return BAD(c, op, "o%d: an OFM of %dx%d reads %" PRId64 "x%" PRId64
			   " of an IFM of %dx%d", op->rec.id, op->ofm.shape.h,
			   op->ofm.shape.w, ih, iw, op->ifm.shape.h,
			   op->ifm.shape.w);
	/*
	 * the hardware does not know the IFM's height and width: the padding defines
	 * its end
	 */
	if ((op->pad.bottom && ih < (int64_t)up * op->ifm.shape.h) ||
	    (op->pad.right && iw < (int64_t)up * op->ifm.shape.w))
		return BAD(c, op, "o%d: an OFM of %dx%d does not read all of the "
				  "padding",
				  op->rec.id, op->ofm.shape.h, op->ofm.shape.w);
	return true;
}

static bool
list_is(const struct g_list *l, int64_t n)
{
	return l->n == (size_t)n;
}

static bool
check_weights_of(struct check *c, const struct g_op *op)
{
	if (!op->weights || !op->scales)
		return BAD(c, op, "o%d needs weights= and scales=", op->rec.id);
	const struct g_shape *s = &op->weights->shape;
	int64_t depth = op->kind == OP_DEPTHWISE ? 1 : op->ifm.shape.c;
	if (s->rank != 4 || s->dim[0] != op->ofm.shape.c ||
	    s->dim[1] != op->kernel.y || s->dim[2] != op->kernel.x ||
	    s->dim[3] != depth)
		return BAD(c, op, "o%d: w%d does not fit: %d,%d,%d,%" PRId64
			   " is needed", op->rec.id, op->weights->rec.id,
			   op->ofm.shape.c, op->kernel.y, op->kernel.x, depth);
	int64_t n = op->ofm.shape.c;
	if (!list_is(&op->scales->bias, n) || !list_is(&op->scales->mult, n) ||
	    !list_is(&op->scales->shift, n))
		return BAD(c, op, "o%d: s%d does not have %" PRId64 " channels",
			   op->rec.id, op->scales->rec.id, n);
	int bits = op_ifm_bits(op);
	return bits <= 16 || BAD(c, op, "o%d: the IFM of a convolution must have 8 or "
					"16 bits",
				 op->rec.id);
}

static bool
check_elementwise(struct check *c, const struct g_op *op)
{
	struct hwc i = op->ifm.shape, o = op->ofm.shape;
	if (!hwc_equal(i, o))
		return BAD(c, op, "o%d: IFM %dx%dx%d and OFM %dx%dx%d differ",
			   op->rec.id, i.h, i.w, i.c, o.h, o.w, o.c);
	if (op_compares(op->kind) && !G_HAS(op, G_OP_opa) != !G_HAS(op, G_OP_scale))
		return BAD(c, op, "o%d: a comparison takes opa= and scale=, its operands' "
			   "scales, or neither", op->rec.id);
	if (!op_is_binary(op->kind))
		return !op->ifm2.t && !G_HAS(op, G_OP_scalar)
			   ? true
			   : BAD(c, op, "o%d takes one operand", op->rec.id);
	if (!op->ifm2.t == !G_HAS(op, G_OP_scalar))
		return BAD(c, op, "o%d takes ifm2= or scalar=", op->rec.id);
	if (!op->ifm2.t)
		return true;
	struct hwc s = op->ifm2.shape;
	if ((s.h != o.h && s.h != 1) || (s.w != o.w && s.w != 1) ||
	    (s.c != o.c && s.c != 1))
		return BAD(c, op, "o%d: IFM2 %dx%dx%d can't be broadcast to "
			   "%dx%dx%d", op->rec.id, s.h, s.w, s.c, o.h, o.w, o.c);
	return op->ifm2.type == op->ifm.type ||
	       BAD(c, op, "o%d: IFM and IFM2 differ in type", op->rec.id);
}

/* Both operands must be contiguous, so that each row is one run of bytes. */
static bool
check_copy(struct check *c, const struct g_op *op)
{
	const struct g_operand *i = &op->ifm, *o = &op->ofm;
	if (op->ifm2.t || op->weights || G_HAS(op, G_OP_scalar))
		return BAD(c, op, "o%d: a copy takes one operand", op->rec.id);
	return (operand_is_contiguous(i) && operand_is_contiguous(o) && i->type == o->type &&
		i->t != o->t && hwc_equal(i->shape, o->shape) &&
		i->t->layout == o->t->layout) ||
	       BAD(c, op, "o%d: a copy needs contiguous elements, and another tensor "
			  "of the same type, layout and shape", op->rec.id);
}

/* The registers of these values have 16 bits, signed or unsigned. */
static bool
check_word(struct check *c, const struct g_op *op, const char *key, int64_t v)
{
	return (v >= INT16_MIN && v <= UINT16_MAX) ||
	       BAD(c, op, "o%d: %s=%" PRId64 " does not fit 16 bits", op->rec.id, key,
		   v);
}

static bool
check_op(struct check *c, const struct g_op *op)
{
	if (!NEED(c, op, "o", OP, kind, "do") || !NEED(c, op, "o", OP, node, "node") ||
	    !NEED(c, op, "o", OP, ifm, "ifm") || !NEED(c, op, "o", OP, ofm, "ofm"))
		return false;
	if (op->node->kind != NODE_NPU)
		return BAD(c, op, "o%d: n%d is not on the NPU", op->rec.id,
			   op->node->rec.id);
	if (!check_operand(c, op, &op->ifm, "ifm") ||
	    !check_operand(c, op, &op->ofm, "ofm") ||
	    (op->ifm2.t && !check_operand(c, op, &op->ifm2, "ifm2")))
		return false;
	/* Ethos-U85 has scalars of 32 bits for operands of 32 bits */
	const struct accel *a = c->g->n_targets ? accel_find(c->g->targets[0]->rec.word) : NULL;
	bool wide = op->ifm.type == TFL_INT32 && (!a || a->generation == GEN_U85);
	if (!check_word(c, op, "ifm-zero", op->ifm_zero) ||
	    !check_word(c, op, "ifm2-zero", op->ifm2_zero) ||
	    !check_word(c, op, "ofm-zero", op->ofm_zero) ||
	    (!wide && !check_word(c, op, "scalar", op->scalar)) ||
	    !check_word(c, op, "clamp", op->clamp.lo) ||
	    !check_word(c, op, "clamp", op->clamp.hi) ||
	    !check_word(c, op, "ib", op->ib) || !check_word(c, op, "ab", op->ab) ||
	    !check_word(c, op, "ib2", op->ib2) ||
	    !check_word(c, op, "blockdep", op->blockdep))
		return false;
	if (op->order && op->kind != OP_REORDER)
		return BAD(c, op, "o%d: order= works only with do=reorder", op->rec.id);
	if (op->chain && c->g->stage < STAGE_SCHED)
		return BAD(c, op, "o%d: chain= is not allowed before npu-sched has run",
				  op->rec.id);
	if (op->act == G_ACT_LUT && !op->lut)
		return BAD(c, op, "o%d: act=lut without lut=", op->rec.id);
	/* an operation without a stage for the clamp or the table would ignore them */
	struct g_range all = type_range(op->ofm.type);
	bool clamps = G_HAS(op, G_OP_clamp) &&
		      (op->clamp.lo > all.lo || op->clamp.hi < all.hi);
	if (clamps && !op_can_clamp(op->kind))
		return BAD(c, op, "o%d: do=%s can't clamp its result, and clamp=%" PRId64
			   ":%" PRId64, op->rec.id, op_names[op->kind], op->clamp.lo,
			   op->clamp.hi);
	if ((op->lut || op->act != G_ACT_CLAMP) && !op_can_look_up(op->kind))
		return BAD(c, op, "o%d: do=%s can't look up its result in a table",
			   op->rec.id, op_names[op->kind]);
	if (op_is_elementwise(op->kind))
		return check_elementwise(c, op);
	if (op->kind == OP_COPY)
		return check_copy(c, op);
	if (op->kind == OP_MATMUL || op->kind == OP_REORDER || op->kind == OP_RESIZE ||
	    op->kind == OP_ARGMAX || op_is_transfer(op->kind))
		return check_native(c, op);
	if (!check_geometry(c, op))
		return false;
	bool equal = op->kind == OP_DEPTHWISE || op->kind == OP_MAXPOOL ||
		     op->kind == OP_AVGPOOL;
	if (equal && op->ifm.shape.c != op->ofm.shape.c)
		return BAD(c, op, "o%d: IFM depth %d, OFM depth %d: must be equal",
			   op->rec.id, op->ifm.shape.c, op->ofm.shape.c);
	if (op->kind == OP_REDUCE_SUM && op->ofm.shape.c != 1)
		return BAD(c, op, "o%d: the OFM depth of a reducesum must be 1",
				  op->rec.id);
	if (!check_decoder(c, op))
		return false;
	return !op_has_weights(op->kind) || check_weights_of(c, op);
}

static bool
check_ops(struct check *c)
{
	for (size_t i = 0; i < c->g->n_ops; i++)
		if (!check_op(c, c->g->ops[i]))
			return false;
	return true;
}

static bool
check_luts(struct check *c)
{
	for (size_t i = 0; i < c->g->n_luts; i++) {
		const struct g_lut *l = c->g->luts[i];
		bool ok = (l->bits == 8 || l->bits == 16 || l->bits == 32) &&
			  l->values.n == (l->bits == 16 ? 512u : 256u);
		for (size_t k = 0; ok && k < l->values.n; k++)
			ok = l->values.v[k] >= 0 &&
			     l->values.v[k] <= (l->bits == 8 ? 255 : UINT32_MAX);
		if (!ok)
			return BAD(c, l, "l%d: a table must have 256 values of 8 or 32 "
					 "bits, or 512 of 16 (with their slopes)",
					 l->rec.id);
	}
	return true;
}

static bool
check_weights(struct check *c)
{
	for (size_t i = 0; i < c->g->n_weights; i++) {
		const struct g_weights *w = c->g->weights[i];
		if (!NEED(c, w, "w", WEIGHTS, shape, "shape") ||
		    !NEED(c, w, "w", WEIGHTS, source, "from"))
			return false;
		if (w->shape.rank != 4 ||
		    (w->shape.type != TFL_INT8 && w->shape.type != TFL_UINT8))
			return BAD(c, w, "w%d: weights are i8 or u8 of O,H,W,I",
				   w->rec.id);
		if (w->zero.n > 1 && !list_is(&w->zero, w->shape.dim[0]))
			return BAD(c, w, "w%d: %zu zero points for %d channels",
				   w->rec.id, w->zero.n, w->shape.dim[0]);
		if (w->strides.n != 0 && w->strides.n != 4)
			return BAD(c, w, "w%d: strides= needs four numbers",
				   w->rec.id);
		int64_t last = 0;
		for (size_t k = 0; k < w->slices.n; k++) {
			if (w->slices.v[k] < last + (k > 0) ||
			    w->slices.v[k] > w->shape.dim[0] ||
			    (k == 0 && w->slices.v[k] != 0))
				return BAD(c, w, "w%d: slices= must rise from 0 to "
					   "the number of channels", w->rec.id);
			last = w->slices.v[k];
		}
		if (w->slices.n && (w->slices.n < 2 || last != w->shape.dim[0]))
			return BAD(c, w, "w%d: slices= must end at %d", w->rec.id,
				   w->shape.dim[0]);
		if (G_HAS(w, G_WEIGHTS_at) && (w->at < 0 || w->at % ALIGN))
			return BAD(c, w, "w%d: at= is not a multiple of 16",
				   w->rec.id);
	}
	return true;
}

static bool
check_block(struct check *c, const struct accel *a, const struct g_op *op,
	    int32_t rows)
{
	struct block_query q = op_block_query(op, rows);
	const char *limit = block_limit(a, &q, op->block);
	struct shram_layout l;
	int banks;
	if (limit)
		return BAD(c, op, "block %dx%dx%d of op o%d %s", op->block.h,
			   op->block.w, op->block.c, op->rec.id, limit);
	return block_layout(a, &q, op->block, &l, &banks) ||
	       BAD(c, op, "block %dx%dx%d of op o%d needs %d SHRAM banks, %s has %d",
		   op->block.h, op->block.w, op->block.c, op->rec.id, banks,
		   a->name, a->banks);
}

/* An operation without ab= runs in stripes; each stripe has to fit, not the whole OFM. */
static bool
check_blocks(struct check *c)
{
	const struct accel *a;
	struct memory_system m;
	if (c->g->stage < STAGE_SCHED && !c->g->n_targets)
		return true;
	if (!graph_target(c->g, &a, &m, c->e))
		return false;
	for (size_t i = 0; i < c->g->n_ops; i++) {
		const struct g_op *op = c->g->ops[i];
		/* the layout of a chain is that of its first kernel */
		if (G_HAS(op, G_OP_block) && (G_HAS(op, G_OP_ab) || !c->g->n_steps) && !op->chain &&
		    !check_block(c, a, op, op->ofm.shape.h))
			return false;
	}
	for (size_t i = 0; i < c->g->n_steps; i++) {
		const struct g_step *s = c->g->steps[i];
		const struct g_op *op = s->op;
		if (!op || !G_HAS(op, G_OP_block) || G_HAS(op, G_OP_ab) || op->chain)
			continue;
		int64_t rows = G_HAS(s, G_STEP_rows) ? s->rows.hi - s->rows.lo
						     : op->ofm.shape.h;
		if (rows < 1 || rows > op->ofm.shape.h)
			continue; /* check_steps() reports this */
		if (!check_block(c, a, op, (int32_t)rows))
			return false;
	}
	return true;
}

bool
graph_check(const struct graph *g, struct err *e)
{
	static const struct {
		const char *name;
		bool (*run)(struct check *);
	} checks[] = {
		{ .name = "tensors", .run = check_tensors },
		{ .name = "buffers", .run = check_buffers },
		{ .name = "stand-ins", .run = check_stand_ins },
		{ .name = "weights", .run = check_weights },
		{ .name = "tables", .run = check_luts },
		{ .name = "ops", .run = check_ops },
		{ .name = "layouts", .run = check_layouts },
		{ .name = "blocks", .run = check_blocks },
		{ .name = "steps", .run = check_steps },
		{ .name = "schedule", .run = check_schedule },
		{ .name = "loops", .run = check_loops },
		{ .name = "overlap", .run = check_overlap },
		{ .name = "separate", .run = check_separate },
		{ .name = "areas", .run = check_areas },
	};
	struct check c = { .a = arena_open(), .g = g, .e = e };
	bool ok = true;
	for (size_t i = 0; ok && i < ARRAY_LEN(checks); i++)
		ok = checks[i].run(&c);
	arena_close(c.a);
	return ok;
}

bool
graph_check_sources(const struct graph *g, struct err *e)
{
	struct check c = { .a = arena_open(), .g = g, .e = e };
	bool ok = check_sources(&c);
	arena_close(c.a);
	return ok;
}
