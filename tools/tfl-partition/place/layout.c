/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs and outputs in the application's layout: NHCWB16, as another NPU network
 * reads or writes them; rows and pixels with strides, as parts of a larger picture;
 * or channels first.  The NPU accesses the first two in place, or copies them in
 * one kernel if an operation takes the elements in another shape.  It copies planes
 * with one kernel each.
 */
#include "../part.h"

#include "base/cli.h"
#include "graph/build.h"
#include "graph/facts.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_PLANES = 256 }; /* planes of an image that the NPU splits or assembles */

const char *const io_layout_names[] = { [LAYOUT_NHWC] = "nhwc", [LAYOUT_NHCWB16] = "nhcwb16",
				     [LAYOUT_PLANES] = "nchw", NULL };

/* an input or output of the model for which another layout is requested */
struct border {
	struct part *p;
	const struct io_layout *want;
	struct g_tensor *t;
	struct g_node *node; /* the only node that reads or makes it */
	/* the model's tensor, of which t may be a reshaped view */
	const struct tfl_tensor *own;
	/* shape of `own` in memory, with leading dimensions counted as rows */
	struct hwc rows;
	const char *copied;  /* why the NPU has to copy it; NULL: no copy is needed */
};

static struct g_tensor *
find_border_tensor(const struct part *p, int tensor)
{
	for (size_t i = 0; i < p->g->n_tensors; i++) {
		struct g_tensor *t = p->g->tensors[i];
		for (int k = 0; k < t->tfl.n; k++)
			if (t->tfl.v[k].index == tensor && G_HAS(t, G_TENSOR_io))
				return t;
	}
	return NULL;
}

/* names an operation that does not see the tensor as its rows, columns and channels */
static const char *
linear_reader(const struct border *b)
{
	const struct graph *g = b->p->g;
	for (size_t i = 0; i < g->n_ops; i++) {
		const struct g_op *op = g->ops[i];
		const struct g_operand *o[] = { &op->ifm, &op->ifm2, &op->ofm };
		for (int k = 0; k < 3; k++) {
			bool whole = o[k]->view == VIEW_WHOLE || o[k]->view == VIEW_BOX;
			bool bricks = b->want->layout == LAYOUT_NHCWB16;
			const char *why = NULL;
			if (o[k]->t != b->t)
				continue;
			if (!whole || o[k]->type != b->t->shape.type)
				why = "uses it in another shape";
			else if (op_is_transfer(op->kind))
				why = "needs contiguous elements";
			else if (bricks && (o[k]->start.c % BRICK || op->kind == OP_REDUCE_SUM))
				why = "uses channels that are not whole bricks";
			if (why)
				return arena_printf(b->p->a, "%s %s",
						    op->name ? op->name : "an operation", why);
		}
	}
	return NULL;
}

/* NULL, or why the layout is impossible; sets b->node and b->copied */
static const char *
layout_obstacle(struct border *b)
{
	const struct g_tensor *t = b->t;
	const struct graph *g = b->p->g;
	if (!t)
		return "the NPU does not use it";
	if (t->io == IO_INOUT)
		return "it is both an input and an output";
	if (!b->own->rank)
		return "it has no dimensions";
	if (t->shape.type == TFL_INT64 || t->shape.type == TFL_BOOL)
		return arena_printf(b->p->a, "the NPU does not support %s",
				    tfl_type_name(t->shape.type));
	for (size_t i = 0; i < g->n_nodes; i++) {
		struct g_node *n = g->nodes[i];
		if (!tensors_have(&n->in, t) && !tensors_have(&n->out, t))
			continue;
		if (n->kind == NODE_CPU)
			return arena_printf(b->p->a, "operator %d, %s, runs on the "
						     "CPU, which supports only nhwc",
						     n->tfl.n ? n->tfl.v[0].index : -1,
					    n->what ? n->what : "?");
		if (b->node)
			return "two regions of the NPU use it";
		b->node = n;
	}
	if (!b->node)
		return "no operator of the NPU uses it";
	if (b->want->layout == LAYOUT_PLANES) {
		if (b->own->rank != 4)
			return arena_printf(b->p->a, "it has %d dimensions, not 4",
					    b->own->rank);
		int64_t planes = (int64_t)b->own->dim[0] * b->rows.c;
		return planes <= MAX_PLANES
			   ? NULL : arena_printf(b->p->a, "%" PRId64 " planes are copied faster "
						 "by the CPU", planes);
	}
	b->copied = hwc_equal(t->hwc, b->rows) ? linear_reader(b)
					       : "the network uses it in another shape";
	if (b->want->layout != LAYOUT_NHWC)
		return NULL;
	struct g_tensor x = *t;
	x.hwc = b->rows;
	int64_t e = graph_type_bytes(x.shape.type), pixel = e * x.hwc.c;
	x.row_stride = b->want->row_stride;
	x.pixel_stride = b->want->pixel_stride;
	struct g_stride s = tensor_strides(&x);
	int64_t row = (x.hwc.w - 1) * s.x + pixel;
	if (s.x < pixel || s.y < row)
		return arena_printf(b->p->a, "a pixel has %" PRId64 " bytes and a row %"
					     PRId64 ", but the strides are %" PRId64 " "
					     "and %" PRId64, pixel, row,
				    s.x, s.y);
	if (s.x % e || s.y % e)
		return arena_printf(b->p->a, "strides must be multiples of its element "
					     "size, %" PRId64 " bytes", e);
	return NULL;
}

/* ---- copies ------------------------------------------------------------------- */

/* copies between the application's tensor (there) and the network's (here) */
static void
copy(const struct border *b, bool in, struct g_operand app_view, struct g_operand net_view)
{
	struct g_op *op = low_copy(b->p->l, in ? app_view : net_view, in ? net_view : app_view);
	G_CLEAR(op, G_OP_tfl);
	op->tfl = (struct g_tfls){ .n = 0 };
}

/* copies each channel of each image between the network's tensor and x, a plane each */
static void
copy_planes(const struct border *b, bool in, struct g_tensor *x)
{
	const int32_t *d = b->own->dim; /* N, H, W, C */
	struct hwc one = { .h = d[1], .w = d[2], .c = 1 };
	bool same = hwc_equal(b->t->hwc, b->rows);
	G_PUT(x, TENSOR, shape, (struct g_shape){ .type = x->shape.type, .rank = 4,
						  .dim = { d[0], d[3], d[1], d[2] } });
	x->hwc = graph_hwc(&x->shape);
	G_CLEAR(x, G_TENSOR_hwc);
	G_PUT(x, TENSOR, planes, 1);
	struct g_operand plane = { .t = x, .view = VIEW_STRIDED, .type = x->shape.type,
				   .shape = one, .stride = { one.w, 1, 1 } };
	struct g_operand channel = { .t = b->t, .view = VIEW_STRIDED,
				     .type = b->t->shape.type, .shape = one,
				     .stride = { one.w * (int64_t)d[3], d[3], 1 } };
	for (int32_t n = 0; n < d[0]; n++)
		for (int32_t c = 0; c < d[3]; c++) {
			struct hwc at = { .h = n * d[1], .c = c };
			plane.offset = ((int64_t)n * d[3] + c) * one.h * one.w;
			channel.offset = (int64_t)at.h * one.w * d[3] + c;
			copy(b, in, plane, same ? operand_box(b->t, one, at) : channel);
		}
}

static void
set_layout(const struct border *b, struct g_tensor *t)
{
	if (b->want->layout == LAYOUT_NHCWB16)
		G_PUT(t, TENSOR, layout, LAYOUT_NHCWB16);
	if (b->want->row_stride)
		G_PUT(t, TENSOR, row_stride, b->want->row_stride);
	if (b->want->pixel_stride)
		G_PUT(t, TENSOR, pixel_stride, b->want->pixel_stride);
}

/* gives x the shape that is in memory, and copies between x and the network's tensor */
static void
copy_rows(const struct border *b, bool in, struct g_tensor *x)
{
	struct g_shape s = { .type = x->shape.type, .rank = b->own->rank };
	memcpy(s.dim, b->own->dim, sizeof(s.dim));
	G_PUT(x, TENSOR, shape, s);
	x->hwc = b->rows;
	if (hwc_equal(graph_hwc(&x->shape), b->rows))
		G_CLEAR(x, G_TENSOR_hwc);
	else
		G_PUT(x, TENSOR, hwc, b->rows);
	set_layout(b, x);
	/*
	 * the network's tensor, seen with the rows of the application's; the elements
	 * are contiguous
	 */
	struct g_operand o = operand_whole(b->t);
	if (!hwc_equal(b->t->hwc, b->rows)) {
		o.view = VIEW_RESHAPE;
		o.shape = b->rows;
	}
	copy(b, in, operand_whole(x), o);
}

static void
take_copy(struct border *b)
{
	struct part *p = b->p;
	bool in = b->t->io == IO_IN;
	/* adds the application's tensor, with t's name and address; t becomes internal */
	struct g_tensor *t = b->t, *x = graph_add_g_tensor(p->g);
	struct g_rec rec = x->rec;
	*x = *t;
	rec.has = t->rec.has;
	x->rec = rec;
	G_CLEAR(t, G_TENSOR_io);
	G_CLEAR(t, G_TENSOR_tfl);
	t->io = IO_NONE;
	t->tfl = (struct g_tfls){ .n = 0 };

	size_t first = p->g->n_ops;
	p->l->node = b->node;
	p->l->name = arena_printf(p->a, "%s/%s", x->name ? x->name : "",
				  in ? "nhwc" : io_layout_names[b->want->layout]);
	if (b->want->layout == LAYOUT_PLANES)
		copy_planes(b, in, x);
	else
		copy_rows(b, in, x);
	struct g_tensors *l = in ? &b->node->in : &b->node->out;
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i] == t)
			l->v[i] = x;
	if (!in)
		return;
	/* the copies of an input come before all other operations */
	size_t n = p->g->n_ops;
	struct g_op **op = anew(p->a, struct g_op *, n + 1);
	for (size_t i = 0; i < n; i++)
		op[i] = p->g->ops[(first + i) % n];
	for (size_t i = 0; i < n; i++) {
		p->g->ops[i] = op[i];
		op[i]->rec.index = (int)i;
	}
}

/* ---- all border tensors --------------------------------------------------------- */

static bool
take_layouts_of(struct part *p, const struct io_layouts *l, const char *what, const int *v, int n)
{
	if (!io_layouts_check(l, n, what, p->m->name, p->e))
		return false;
	for (int k = 0; k < n; k++) {
		const struct io_layout *x = io_layout_find(l, k);
		if (!x || (x->layout == LAYOUT_NHWC && !x->row_stride && !x->pixel_stride))
			continue;
		struct border b = { .p = p, .want = x, .t = find_border_tensor(p, v[k]),
				    .own = &p->sg->tensor[v[k]] };
		b.rows = tfl_hwc(b.own);
		if (b.own->rank == 2) /* inputs of one pixel each: nputools-ends(5) */
			b.rows = (struct hwc){ .h = b.own->dim[0], .w = 1, .c = b.own->dim[1] };
		const char *why = layout_obstacle(&b);
		if (why)
			return err_at(p->e, p->m->name, 0, "%s %d (%s) can't have layout %s%s: "
				      "%s", what, k, text_plain(p->a, p->sg->tensor[v[k]].name),
				      io_layout_names[x->layout],
				      x->row_stride || x->pixel_stride ? " with strides" : "",
				      why);
		if (b.copied)
			cli_note_to(p->e, "note",
				    "%s: %s %d (%s) is copied by the NPU, %" PRId64 " bytes: %s",
				    p->m->name, what, k, text_plain(p->a, b.t->name),
				    tensor_bytes(b.t), b.copied);
		if (b.copied || x->layout == LAYOUT_PLANES)
			take_copy(&b);
		else
			set_layout(&b, b.t);
	}
	return true;
}

bool
take_layouts(struct part *p, const struct options *o)
{
	return take_layouts_of(p, &o->in, "input", p->sg->in, p->sg->n_in) &&
	       take_layouts_of(p, &o->out, "output", p->sg->out, p->sg->n_out);
}
