/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs and outputs as the application has them: in bricks, as another NPU network
 * reads or writes them, in a larger picture, or with channels first.  The first two
 * the NPU reads and writes where they lie; planes it copies, one kernel each.
 */
#include "../part.h"

#include <inttypes.h>

enum { MAX_PLANES = 256 }; /* of an image that the NPU takes apart or puts together */

const char *const end_names[] = { [LAYOUT_NHWC] = "nhwc", [LAYOUT_NHCWB16] = "nhcwb16",
				     [LAYOUT_PLANES] = "nchw", NULL };

/* one of the model's inputs or outputs that is to have another layout */
struct border {
	struct part *p;
	const char *what; /* "input" */
	int k;
	const struct end_layout *want;
	struct g_tensor *t;
	struct g_node *node; /* the one that reads or makes it */
};

static struct g_tensor *
find_end(const struct part *p, int tensor)
{
	for (size_t i = 0; i < p->g->n_tensors; i++) {
		struct g_tensor *t = p->g->tensors[i];
		for (int k = 0; k < t->tfl.n; k++)
			if (t->tfl.v[k].index == tensor && G_HAS(t, G_TENSOR_io))
				return t;
	}
	return NULL;
}

static bool
lists(const struct g_tensors *l, const struct g_tensor *t)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i] == t)
			return true;
	return false;
}

/* the only node that knows it; or why it is not the NPU's alone */
static const char *
find_node(struct border *b)
{
	const struct graph *g = b->p->g;
	for (size_t i = 0; i < g->n_nodes; i++) {
		struct g_node *n = g->nodes[i];
		if (!lists(&n->in, b->t) && !lists(&n->out, b->t))
			continue;
		if (n->kind == NODE_CPU)
			return arena_printf(b->p->a, "operator %d, %s, is on the CPU, which "
					    "knows only nhwc", n->tfl.n ? n->tfl.v[0].index : -1,
					    n->what ? n->what : "?");
		if (b->node)
			return "two regions of the NPU use it";
		b->node = n;
	}
	return b->node ? NULL : "no operator of the NPU uses it";
}

/* the operation that sees it as something else than its rows, columns and channels */
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
			if (o[k]->t != b->t)
				continue;
			if (!whole || o[k]->type != b->t->shape.type)
				return arena_printf(b->p->a, "%s takes its elements in another "
						    "shape", op->name ? op->name : "an operation");
			if (bricks && (o[k]->start.c % BRICK || op->kind == OP_REDUCE_SUM))
				return arena_printf(b->p->a, "%s takes channels that are no "
						    "whole bricks", op->name ? op->name
									     : "an operation");
		}
	}
	return NULL;
}

static const char *
strides_obstacle(const struct border *b)
{
	struct g_tensor x = *b->t;
	int64_t e = graph_type_bytes(x.shape.type), pixel = e * x.hwc.c;
	x.row_stride = b->want->row_stride;
	x.pixel_stride = b->want->pixel_stride;
	struct g_stride s = tensor_strides(&x);
	int64_t row = (x.hwc.w - 1) * s.x + pixel;
	if (s.x < pixel || s.y < row)
		return arena_printf(b->p->a, "a pixel has %" PRId64 " bytes and a row %" PRId64
				    ", the strides are %" PRId64 " and %" PRId64, pixel, row,
				    s.x, s.y);
	if (s.x % e || s.y % e)
		return arena_printf(b->p->a, "its elements have %" PRId64 " bytes each", e);
	return NULL;
}

/* why it can't be had, or NULL */
static const char *
obstacle(struct border *b)
{
	const struct g_tensor *t = b->t;
	if (!t)
		return "the NPU has no use for it";
	if (t->io == IO_INOUT)
		return "it is an input and an output";
	if (t->shape.rank < 2 || t->shape.dim[0] != 1)
		return "it has no leading dimension of 1";
	const char *why = find_node(b);
	if (!why && b->want->layout == LAYOUT_PLANES) {
		if (t->shape.rank != 4)
			return arena_printf(b->p->a, "it has %d dimensions, not 4",
					    t->shape.rank);
		return t->hwc.c <= MAX_PLANES
			   ? NULL : arena_printf(b->p->a, "%d planes are copied faster by the "
						 "CPU", t->hwc.c);
	}
	why = why ? why : linear_reader(b);
	return why || b->want->layout != LAYOUT_NHWC ? why : strides_obstacle(b);
}

/* ---- planes ------------------------------------------------------------------- */

/* the application's tensor: planes one behind the other, with t's name and place */
static struct g_tensor *
add_planes(struct border *b)
{
	struct g_tensor *t = b->t, *x = graph_add_g_tensor(b->p->g);
	struct g_rec rec = x->rec;
	*x = *t;
	rec.has = t->rec.has;
	x->rec = rec;
	G_PUT(x, TENSOR, shape,
	      (struct g_shape){ .type = t->shape.type, .rank = 4,
				.dim = { 1, t->hwc.c, t->hwc.h, t->hwc.w } });
	x->hwc = graph_hwc(&x->shape);
	G_CLEAR(x, G_TENSOR_hwc);
	G_PUT(x, TENSOR, planes, 1);
	G_CLEAR(t, G_TENSOR_io);
	G_CLEAR(t, G_TENSOR_tfl);
	t->io = IO_NONE;
	t->tfl = (struct g_tfls){ .n = 0 };
	return x;
}

static struct g_operand
plane(struct g_tensor *x, struct hwc image, int32_t c)
{
	return (struct g_operand){
		.t = x, .view = VIEW_STRIDED, .type = x->shape.type,
		.shape = { .h = image.h, .w = image.w, .c = 1 },
		.offset = (int64_t)c * image.h * image.w,
		.stride = { image.w, 1, 1 },
	};
}

/* operations from `first` on go before all others */
static void
move_to_front(struct graph *g, size_t first, struct arena *a)
{
	size_t n = g->n_ops;
	struct g_op **op = anew(a, struct g_op *, n + 1);
	for (size_t i = 0; i < n; i++)
		op[i] = g->ops[(first + i) % n];
	for (size_t i = 0; i < n; i++) {
		g->ops[i] = op[i];
		op[i]->rec.index = (int)i;
	}
}

static void
swap_in(struct g_tensors *l, const struct g_tensor *from, struct g_tensor *to)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i] == from)
			l->v[i] = to;
}

static void
take_planes(struct border *b)
{
	struct part *p = b->p;
	bool in = b->t->io == IO_IN;
	struct g_tensor *x = add_planes(b);
	size_t first = p->g->n_ops;
	p->l->node = b->node;
	p->l->name = arena_printf(p->a, "%s/%s", x->name ? x->name : "", in ? "nhwc" : "nchw");
	for (int32_t c = 0; c < b->t->hwc.c; c++) {
		struct hwc image = b->t->hwc;
		struct g_operand there = plane(x, image, c);
		struct g_operand here = operand_box(b->t,
						    (struct hwc){ .h = image.h, .w = image.w,
								  .c = 1 },
						    (struct hwc){ .c = c });
		struct g_op *op = low_copy(p->l, in ? there : here, in ? here : there);
		G_CLEAR(op, G_OP_tfl);
		op->tfl = (struct g_tfls){ .n = 0 };
	}
	swap_in(in ? &b->node->in : &b->node->out, b->t, x);
	if (in)
		move_to_front(p->g, first, p->a);
}

/* ---- all of them ---------------------------------------------------------------- */

static void
apply(struct border *b)
{
	if (b->want->layout == LAYOUT_PLANES) {
		take_planes(b);
		return;
	}
	if (b->want->layout == LAYOUT_NHCWB16)
		G_PUT(b->t, TENSOR, layout, LAYOUT_NHCWB16);
	if (b->want->row_stride)
		G_PUT(b->t, TENSOR, row_stride, b->want->row_stride);
	if (b->want->pixel_stride)
		G_PUT(b->t, TENSOR, pixel_stride, b->want->pixel_stride);
}

static bool
take(struct part *p, const struct end_layouts *l, const char *what, const int *v, int n)
{
	if (!ends_exist(l, n, what, p->m->name, p->e))
		return false;
	for (int k = 0; k < n; k++) {
		const struct end_layout *x = ends_find(l, k);
		if (!x || (x->layout == LAYOUT_NHWC && !x->row_stride && !x->pixel_stride))
			continue;
		struct border b = { .p = p, .what = what, .k = k, .want = x,
				    .t = find_end(p, v[k]) };
		const char *why = obstacle(&b);
		if (why)
			return err_set(p->e, "%s: error: %s %d (%s) can't be %s%s: %s",
				       p->m->name, what, k,
				       text_plain(p->a, p->sg->tensor[v[k]].name),
				       end_names[x->layout],
				       x->row_stride || x->pixel_stride ? " with strides" : "",
				       why);
		apply(&b);
	}
	return true;
}

bool
take_layouts(struct part *p, const struct options *o)
{
	return take(p, &o->in, "input", p->sg->in, p->sg->n_in) &&
	       take(p, &o->out, "output", p->sg->out, p->sg->n_out);
}
