/* SPDX-License-Identifier: Apache-2.0 */
/* The channels of operands. */
#include "rewrite/channels.h"

#include "graph/facts.h"

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
		/* it may keep to some channels of the tensor's pixels */
		if ((o->shape.c > 1 && o->stride[2] != 1) ||
		    (o->shape.h > 1 && o->stride[0] % depth) ||
		    (o->shape.w > 1 && o->stride[1] % depth) ||
		    o->offset % depth + o->shape.c > depth)
			return false;
		*l = (struct lanes){ .first = (int32_t)(o->offset % depth), .n = o->shape.c };
		return true;
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
