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
read_transposed(const struct part *p, const struct tfl_op *op, struct conv *c,
		struct g_pad *pad)
{
	*c = (struct conv){ .kind = OP_CONV, .groups = 1, .wide = true,
			    .dilation = { .y = 1, .x = 1 } };
	const char *why = conv_read_operands(p, op, &fb_TransposeConvOptions, 2, c);
	if (why)
		return why;
	c->activation = (int)TFL_OPT(op, TransposeConvOptions, fused_activation_function);
	c->padding = (int)TFL_OPT(op, TransposeConvOptions, padding);
	c->stride.y = (int32_t)TFL_OPT(op, TransposeConvOptions, stride_h);
	c->stride.x = (int32_t)TFL_OPT(op, TransposeConvOptions, stride_w);
	if (!family_rank(op, c->ifm) || !family_rank(op, c->ofm) || c->weights->rank != 4)
		return "IFM, weights and OFM must have 4 dimensions";
	if (c->padding != TFL_SAME && c->padding != TFL_VALID)
		return part_say(p, "padding %d is not supported", c->padding);
	conv_take_filters(c);
	if (c->ifm->dim[3] != c->i || c->ofm->dim[3] != c->o ||
	    c->ifm->dim[0] != c->ofm->dim[0])
		return "the shapes of IFM, weights and OFM do not match";
	*pad = (struct g_pad){
		.top = pad_before(c->padding, c->ofm->dim[1], c->kernel.y, c->stride.y),
		.left = pad_before(c->padding, c->ofm->dim[2], c->kernel.x, c->stride.x)
	};
	struct low_conv shape = conv_shape(c, *pad);
	struct nd in = nd_shape(c->ifm), out = nd_shape(c->ofm);
	return low_transconv_check(p->a, &shape, &in, &out) ?:
	       check_conv_common(p, op, c);
}

static bool
lower_transposed(struct part *p, const struct tfl_op *op)
{
	struct conv c;
	struct g_pad pad;
	(void)read_transposed(p, op, &c, &pad);
	struct low_conv w = conv_whole(p, &c, pad);
	struct nd in = nd_ifm(p, op->in[2]), out = nd_ofm(p, op->out[0]);
	low_transconv(p->l, &w, &in, &out, conv_made, &c);
	return true;
}

static const char *
check_transposed(const struct part *p, const struct tfl_op *op)
{
	struct conv c;
	struct g_pad pad;
	return read_transposed(p, op, &c, &pad);
}

const struct family family_transposed = {
	.check = check_transposed, .lower = lower_transposed, .direct = true,
};
