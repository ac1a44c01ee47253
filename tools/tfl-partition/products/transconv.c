/* SPDX-License-Identifier: Apache-2.0 */
/* TRANSPOSE_CONV, the parts that are specific to TFLite: nputools-lowering(7) 3.2. */
#include "conv.h"
#include "../moves/move.h"

static int32_t
pad_before(int padding, int32_t out, int32_t k, int32_t stride)
{
	if (stride < 1)
		return 0;
	/* the padding is that of the convolution from OFM to IFM */
	return (int32_t)(tfl_padding_total(padding, out, ceil_div(out, stride), k, stride) / 2);
}

static const char *
read_transposed(const struct part *p, struct lop *o)
{
	const struct tfl_op *op = o->op;
	struct low_conv *c = &o->conv;
	struct filters f = { .wide = true };
	const char *why = read_filters(p, op, &fb_TransposeConvOptions, 2, &f);
	if (why)
		return why;
	f.activation = (int)TFL_OPT(op, TransposeConvOptions, fused_activation_function);
	f.padding = (int)TFL_OPT(op, TransposeConvOptions, padding);
	if (!family_rank(op, f.ifm) || !family_rank(op, f.ofm) || f.weights->rank != 4)
		return "IFM, weights and OFM must have 4 dimensions";
	if (f.padding != TFL_SAME && f.padding != TFL_VALID)
		return part_say(p, "padding %d is not supported", f.padding);
	*c = (struct low_conv){ .kind = OP_CONV, .groups = 1, .dilation = { .y = 1, .x = 1 } };
	c->stride.y = (int32_t)TFL_OPT(op, TransposeConvOptions, stride_h);
	c->stride.x = (int32_t)TFL_OPT(op, TransposeConvOptions, stride_w);
	take_kernel(c, f.weights);
	if (f.ifm->dim[3] != c->i || f.ofm->dim[3] != c->o ||
	    f.ifm->dim[0] != f.ofm->dim[0])
		return "the shapes of IFM, weights and OFM do not match";
	c->pad.top = pad_before(f.padding, f.ofm->dim[1], c->kernel.y, c->stride.y);
	c->pad.left = pad_before(f.padding, f.ofm->dim[2], c->kernel.x, c->stride.x);
	struct nd in = nd_shape(f.ifm), out = nd_shape(f.ofm);
	return low_transconv_check(p->a, c, &in, &out) ?: read_constants(p, &f, o);
}

static const char *
lower_transposed(struct part *p, const struct lop *o)
{
	struct low_conv c = stored_conv(p, o, 2);
	struct nd in = nd_ifm(p, o->op->in[2]), out = nd_ofm(p, o->op->out[0]);
	low_transconv(p->l, &c, &in, &out, &o->end);
	return NULL;
}

const struct family family_transposed = {
	.read = read_transposed, .lower = lower_transposed, .direct = true,
	.subtracts_zeros = true,
};
