/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks layouts of tensors that not only the NPU accesses.  The CPU and files of
 * constants need dense NHWC.  Inputs and outputs may have other layouts, which the
 * compiled file describes (nputools-ends(5)).
 */
#include "graph/check.h"

#include "graph/facts.h"

#include <inttypes.h>

enum { MOST_STRIDE = 1 << 30 };

static const char *
layout_text(const struct g_tensor *t)
{
	return tensor_has_strides(t) ? "has strides" : "is nhcwb16";
}

/* A pixel stride must hold all channels, and a row stride all pixels. */
static bool
check_strides(struct check *c, const struct g_tensor *t)
{
	int64_t e = graph_type_bytes(t->shape.type);
	int64_t row = t->row_stride, pixel = t->pixel_stride;
	if (!G_HAS(t, G_TENSOR_io) || t->layout != LAYOUT_NHWC || G_HAS(t, G_TENSOR_rows))
		return BAD(c, t, "t%d has strides, which only an input or output of "
				 "the model in nhwc can have", t->rec.id);
	if (!e || row < 0 || pixel < 0 || row > MOST_STRIDE || pixel > MOST_STRIDE ||
	    row % e || pixel % e)
		return BAD(c, t, "t%d: row-stride=%" PRId64 " pixel-stride=%" PRId64
			   ": bytes of whole elements, less than 2^30", t->rec.id, row,
			   pixel);
	struct g_stride s = tensor_strides(t);
	int64_t least = t->hwc.c * e, width = (t->hwc.w - 1) * s.x + least;
	if (s.x < least || s.y < width)
		return BAD(c, t, "t%d: row-stride=%" PRId64 " pixel-stride=%" PRId64
				 ": too small for a pixel of %" PRId64 " bytes or a "
				 "row of %" PRId64, t->rec.id,
			   s.y, s.x, least, width);
	return tensor_bytes(t) <= MOST_STRIDE ||
	       BAD(c, t, "t%d: its strides make it more than 1 GiB", t->rec.id);
}

static bool
check_list(struct check *c, const struct g_node *n, const struct g_tensors *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i]->layout != LAYOUT_NHWC || tensor_has_strides(l->v[i]))
			return BAD(c, n, "n%d runs on the CPU, which supports only "
					 "nhwc, but t%d %s", n->rec.id,
				   l->v[i]->rec.id, layout_text(l->v[i]));
	return true;
}

static bool
check_view(struct check *c, const struct g_op *op, const struct g_operand *o)
{
	const struct g_tensor *t = o->t;
	bool whole = o->view == VIEW_WHOLE || o->view == VIEW_BOX;
	if (!t || (t->layout == LAYOUT_NHWC && !tensor_has_strides(t)) ||
	    (whole && o->type == t->shape.type))
		return true;
	return BAD(c, op, "o%d views t%d linearly, which %s", op->rec.id, t->rec.id,
		   layout_text(t));
}

bool
check_layouts(struct check *c)
{
	const struct graph *g = c->g;
	for (size_t i = 0; i < g->n_tensors; i++) {
		const struct g_tensor *t = g->tensors[i];
		if (tensor_has_strides(t) && !check_strides(c, t))
			return false;
		if (t->layout != LAYOUT_NHWC && (tensor_is_const(t) || t->variable))
			return BAD(c, t, "t%d is nhcwb16, but a constant or variable "
					 "must be nhwc",
				   t->rec.id);
	}
	for (size_t i = 0; i < g->n_nodes; i++)
		if (g->nodes[i]->kind == NODE_CPU &&
		    (!check_list(c, g->nodes[i], &g->nodes[i]->in) ||
		     !check_list(c, g->nodes[i], &g->nodes[i]->out)))
			return false;
	for (size_t i = 0; i < g->n_ops; i++) {
		const struct g_op *op = g->ops[i];
		if (!check_view(c, op, &op->ifm) || !check_view(c, op, &op->ifm2) ||
		    !check_view(c, op, &op->ofm))
			return false;
	}
	return true;
}
