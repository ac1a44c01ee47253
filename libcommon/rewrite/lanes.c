/* SPDX-License-Identifier: Apache-2.0 */
/* The channels of operands, and the elements of weights. */
#include "rewrite/channels.h"

/* A strided view that keeps to some channels of the tensor's pixels. */
static bool
lanes_of_strides(const struct g_operand *o, struct lanes *l)
{
	int64_t depth = o->t->hwc.c;
	if ((o->shape.c > 1 && o->stride[2] != 1) ||
	    (o->shape.h > 1 && o->stride[0] % depth) || (o->shape.w > 1 && o->stride[1] % depth) ||
	    o->offset % depth + o->shape.c > depth)
		return false;
	*l = (struct lanes){ .first = (int32_t)(o->offset % depth), .n = o->shape.c };
	return true;
}

bool
lanes_of(const struct g_operand *o, struct lanes *l)
{
	int32_t depth = o->t->hwc.c;
	if (o->type != o->t->shape.type)
		return false;
	*l = (struct lanes){ .n = depth };
	switch (o->view) {
	case VIEW_WHOLE:
		return true;
	case VIEW_RESHAPE:
		return o->shape.c % depth == 0;
	case VIEW_BOX:
		*l = (struct lanes){ .first = o->start.c, .n = o->shape.c };
		return true;
	case VIEW_STRIDED:
		return lanes_of_strides(o, l);
	}
	return false;
}

bool
op_is_channelwise(const struct g_op *op)
{
	bool any = op->kind == OP_DEPTHWISE || op->kind == OP_MAXPOOL ||
		   op->kind == OP_AVGPOOL || op->kind == OP_COPY || op->kind == OP_RESIZE ||
		   op_is_elementwise(op->kind);
	return any && op->ifm.shape.c == op->ofm.shape.c;
}

bool
op_has_full_windows(const struct g_op *op)
{
	return !op->pad.top && !op->pad.left && !op->pad.bottom && !op->pad.right &&
	       op->upscale != UPSCALE_ZEROS;
}

bool
weight_reader_open(struct graph *g, const struct g_weights *w, struct weight_reader *r,
		   struct err *e)
{
	const int32_t *n = w->shape.dim;
	struct bytes b;
	if (!graph_source(g, &w->rec, &w->source, &b, e))
		return false;
	*r = (struct weight_reader){
		.is_signed = w->shape.type == TFL_INT8,
		.stride = { (int64_t)n[1] * n[2] * n[3], (int64_t)n[2] * n[3], n[3], 1 },
		.zero = w->zero.n ? w->zero.v : NULL, .zeros = w->zero.n > 1,
	};
	int64_t first = w->offset, last = w->offset;
	for (int k = 0; k < 4; k++) {
		if (w->strides.n)
			r->stride[k] = w->strides.v[k];
		int64_t reach = (n[k] - 1) * r->stride[k];
		first += min_i64(reach, 0);
		last += max_i64(reach, 0);
	}
	r->v = b.p + w->offset;
	return (first >= 0 && last < (int64_t)b.n) ||
	       graph_err(g, w, e, "w%d reaches outside of its data", w->rec.id);
}
