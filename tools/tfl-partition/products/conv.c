/* SPDX-License-Identifier: Apache-2.0 */
/* CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED: nputools-lowering(7) 5.1. */
#include "conv.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- checks --------------------------------------------------------------- */

static const char *
check_weights(const struct part *p, const struct conv *c)
{
	const struct tfl_tensor *w = c->weights;
	if (!w->data.p)
		return "weights are not constant";
	bool halves = w->type == TFL_INT4 && c->ifm->type != TFL_UINT8;
	if (w->type != TFL_INT8 && w->type != TFL_UINT8 && !halves)
		return part_say(p, "weights are %s", tfl_type_name(w->type));
	if (w->is_sparse || w->quant.other || !w->quant.n_scale)
		return "weights are sparse or have no affine quantization";
	for (int i = 0; i < w->quant.n_scale; i++)
		if (!(w->quant.scale[i] > 0) || !isfinite(w->quant.scale[i]))
			return "a scale of the weights is not a positive number";
	if (w->quant.n_scale > 1 && w->quant.n_scale != c->o)
		return "weights are quantized along another axis than channels";
	for (int i = 0; i < w->quant.n_zero; i++) {
		int64_t z = w->quant.zero[i];
		if (z < 0 ? w->type == TFL_UINT8 || z < -128 : z > 255)
			return "a zero point of the weights is out of range";
	}
	return NULL;
}

/*
 * the reference takes int8 weights as symmetric, except those of FULLY_CONNECTED with
 * one scale
 */
int64_t
weight_zero(const struct conv *c, int o)
{
	const struct tfl_tensor *w = c->weights;
	if (w->type != TFL_UINT8 && (c->kind != OP_FC || w->quant.n_scale > 1))
		return 0;
	return w->quant.n_zero == 0	? 0
	       : w->quant.n_zero == 1	? w->quant.zero[0]
					: w->quant.zero[o];
}

static int64_t
weight_at(const struct conv *c, int64_t at)
{
	return tfl_integer(c->weights->type, c->weights->data.p, at);
}

/* the sum of the magnitudes of a channel's weights */
static int64_t
weight_sum(const struct conv *c, int o)
{
	int64_t sum = 0, z = weight_zero(c, o);
	for (int y = 0; y < c->kernel.y; y++)
		for (int x = 0; x < c->kernel.x; x++)
			for (int i = 0; i < c->i; i++)
				sum += llabs(weight_at(c, o * c->strides[0] +
							  y * c->strides[1] +
							  x * c->strides[2] +
							  i * c->strides[3]) - z);
	return sum;
}

static const char *
check_weight_sums(const struct conv *c)
{
	int64_t n = (int64_t)c->kernel.y * c->kernel.x * c->i;
	if (n * 255 <= MAX_WEIGHT_SUM)
		return NULL;
	for (int o = 0; o < c->o; o++)
		if (weight_sum(c, o) > MAX_WEIGHT_SUM)
			return "the weights of a channel sum to more than 8323072";
	return NULL;
}

static const char *
check_bias(const struct part *p, const struct conv *c)
{
	const struct tfl_tensor *b = c->bias;
	if (!b)
		return NULL;
	if (!b->data.p || (b->type != TFL_INT32 && b->type != TFL_INT64))
		return part_say(p, "bias is %s%s", b->data.p ? "" : "not constant, ",
				tfl_type_name(b->type));
	if (tfl_elements(b) != c->o)
		return part_say(p, "bias has %" PRId64 " values for %d channels",
				tfl_elements(b), c->o);
	for (int i = 0; b->type == TFL_INT64 && i < c->o; i++) {
		int64_t v = tfl_integer(b->type, b->data.p, i);
		if (v < -((int64_t)1 << 39) || v >= (int64_t)1 << 39)
			return "a bias does not fit 40 bits";
	}
	return NULL;
}

/* the real multiplier of channel o: nputools-lowering(7) 3.2 */
static double
real_scale(const struct conv *c, int o)
{
	float si = quant_scale_f32(c->ifm), sw = quant_channel_scale(c->weights, o);
	double so = quant_scale(c->ofm);
	if (c->float_product)
		return (double)(si * sw) / so;
	return (double)si * (double)sw / so;
}

bool
is_reduced(const struct conv *c)
{
	if (c->ifm->type != TFL_INT16)
		return false;
	return c->bias ? c->bias->type == TFL_INT64 : c->wide;
}

bool
channel_scale(const struct conv *c, int o, struct npu_scale *s)
{
	if (!npu_quantise(real_scale(c, o), s))
		return false;
	if (is_reduced(c))
		*s = npu_scale_reduce(*s);
	return s->shift >= 0 && s->shift <= 63;
}

static const char *
check_scales(const struct conv *c)
{
	struct npu_scale s;
	int n = c->weights->quant.n_scale > 1 ? c->o : 1;
	for (int o = 0; o < n; o++)
		if (!channel_scale(c, o, &s))
			return "a scale of the output can't be expressed";
	return NULL;
}

/* The reference wraps scaled sums of 64 bits to 32 bits; the NPU saturates. */
static const char *
check_wide_sums(const struct conv *c)
{
	int64_t n = (int64_t)c->kernel.y * c->kernel.x * c->i;
	for (int o = 0; is_reduced(c) && o < c->o; o++) {
		double scale = real_scale(c, o);
		double bias = c->bias ? fabs((double)tfl_integer(c->bias->type,
								 c->bias->data.p, o)) : 0;
		if ((bias + (double)n * 255 * 32768) * scale >= 0x1p31 &&
		    (bias + (double)weight_sum(c, o) * 32768) * scale >= 0x1p31)
			return "scaled sums may exceed 32 bits, to which the reference wraps";
	}
	return NULL;
}

const char *
check_conv_common(const struct part *p, const struct tfl_op *op,
		  const struct conv *c)
{
	const char *why = check_fm(p, c->ifm, "IFM", TYPE_FM) ?:
			  check_fm(p, c->ofm, "OFM", TYPE_FM);
	if (!why && c->ifm->type != c->ofm->type)
		why = "IFM and OFM differ in type";
	return why ?: check_activation(p, op, c->activation) ?: check_weights(p, c) ?:
	       check_bias(p, c) ?: check_weight_sums(c) ?: check_scales(c) ?:
	       check_wide_sums(c);
}

/* ---- reading the operators -------------------------------------------------- */

static struct yx
fm_yx(const struct tfl_tensor *t)
{
	return (struct yx){ .y = t->dim[1], .x = t->dim[2] };
}

void
conv_take_filters(struct conv *c)
{
	c->kernel = fm_yx(c->weights);
	c->o = c->weights->dim[0];
	c->i = c->weights->dim[3];
	c->strides[3] = 1;
	c->strides[2] = c->i;
	c->strides[1] = (int64_t)c->kernel.x * c->i;
	c->strides[0] = c->kernel.y * c->strides[1];
}

struct window
conv_window(const struct conv *c)
{
	return window_of(c->padding, fm_yx(c->ifm), c->kernel, c->stride,
			 c->dilation);
}

static const char *
read_window(const struct part *p, const struct tfl_op *op, struct conv *c)
{
	if (!family_rank(op, c->ifm) || !family_rank(op, c->ofm) ||
	    c->weights->rank != 4)
		return "IFM, weights and OFM must have 4 dimensions";
	if (c->stride.y < 1 || c->stride.x < 1 || c->dilation.y < 1 ||
	    c->dilation.x < 1 || (c->padding != TFL_SAME && c->padding != TFL_VALID))
		return part_say(p, "%s has stride %dx%d, dilation %dx%d",
				tfl_op_label(op), c->stride.y, c->stride.x,
				c->dilation.y, c->dilation.x);
	if (c->kernel.y < 1 || c->kernel.x < 1)
		return part_say(p, "kernel %dx%d", c->kernel.y, c->kernel.x);
	struct yx out = fm_yx(c->ofm);
	struct window w = conv_window(c);
	if (w.out.y != out.y || w.out.x != out.x || c->ofm->dim[3] != c->o ||
	    c->ofm->dim[0] != c->ifm->dim[0])
		return "the OFM's shape is not what the options give";
	return NULL;
}

/* splits IFM and OFM into groups of channels; each filter reads one group */
static const char *
read_groups(const struct part *p, struct conv *c)
{
	int32_t depth = c->ifm->dim[3];
	c->groups = c->i ? depth / c->i : 0;
	if (c->groups < 1 || c->groups * c->i != depth || c->o % c->groups)
		return part_say(p, "IFM depth %d, weights of %d for %d channels",
				depth, c->i, c->o);
	return NULL;
}

const char *
conv_read_operands(const struct part *p, const struct tfl_op *op,
		   const struct fb_table *options, int ifm, struct conv *c)
{
	c->ifm = part_in(p, op, ifm);
	c->weights = part_in(p, op, 1);
	c->bias = part_in(p, op, ifm ? ifm + 1 : 2);
	c->ofm = part_out(p, op, 0);
	c->float_product = c->ifm->type == TFL_UINT8;
	return check_options(p, op, options);
}

/* reads groups, if filters see some channels only, and checks the rules for all */
static const char *
read_rest(const struct part *p, const struct tfl_op *op, bool groups, struct conv *c)
{
	const char *why = groups ? read_groups(p, c) : NULL;
	return why ?: check_conv_common(p, op, c) ?: conv_check_shape(p, c);
}

static const char *
read_conv2d(const struct part *p, const struct tfl_op *op, struct conv *c)
{
	*c = (struct conv){ .kind = OP_CONV, .groups = 1 };
	const char *why = conv_read_operands(p, op, &fb_Conv2DOptions, 0, c);
	if (why)
		return why;
	c->activation = (int)TFL_OPT(op, Conv2DOptions, fused_activation_function);
	c->wide = TFL_OPT(op, Conv2DOptions, quantized_bias_type) != TFL_INT32;
	c->padding = (int)TFL_OPT(op, Conv2DOptions, padding);
	c->stride.y = (int32_t)TFL_OPT(op, Conv2DOptions, stride_h);
	c->stride.x = (int32_t)TFL_OPT(op, Conv2DOptions, stride_w);
	c->dilation.y = (int32_t)TFL_OPT(op, Conv2DOptions, dilation_h_factor);
	c->dilation.x = (int32_t)TFL_OPT(op, Conv2DOptions, dilation_w_factor);
	if (c->weights->rank == 4)
		conv_take_filters(c);
	return read_window(p, op, c) ?: read_rest(p, op, true, c);
}

static const char *
read_depthwise(const struct part *p, const struct tfl_op *op, struct conv *c)
{
	*c = (struct conv){ .kind = OP_DEPTHWISE, .groups = 1, .wide = true };
	const char *why = conv_read_operands(p, op, &fb_DepthwiseConv2DOptions, 0, c);
	if (why)
		return why;
	c->activation = (int)TFL_OPT(op, DepthwiseConv2DOptions, fused_activation_function);
	c->padding = (int)TFL_OPT(op, DepthwiseConv2DOptions, padding);
	c->stride.y = (int32_t)TFL_OPT(op, DepthwiseConv2DOptions, stride_h);
	c->stride.x = (int32_t)TFL_OPT(op, DepthwiseConv2DOptions, stride_w);
	c->dilation.y = (int32_t)TFL_OPT(op, DepthwiseConv2DOptions, dilation_h_factor);
	c->dilation.x = (int32_t)TFL_OPT(op, DepthwiseConv2DOptions, dilation_w_factor);
	if (c->weights->rank == 4) {
		c->kernel = fm_yx(c->weights);
		c->o = c->weights->dim[3];
	}
	c->i = 1;
	c->strides[0] = 1;
	c->strides[2] = c->o;
	c->strides[1] = (int64_t)c->kernel.x * c->o;
	why = read_window(p, op, c);
	if (why)
		return why;
	/* a single input channel: every output channel reads it, as in a convolution */
	int32_t depth = c->ifm->dim[3];
	if (depth == 1 || depth != c->o)
		c->kind = OP_CONV;
	return read_rest(p, op, depth > 1 && c->kind == OP_CONV, c);
}

bool
conv_read(const struct part *p, const struct tfl_op *op, struct conv *c)
{
	if (check_arity(p, op)) /* of an operator that no family has checked */
		return false;
	return op->code == TFL_CONV_2D ? !read_conv2d(p, op, c)
	       : op->code == TFL_DEPTHWISE_CONV_2D && !read_depthwise(p, op, c);
}

const char *
read_matrix(const struct part *p, const struct tfl_tensor *t, int32_t *rows,
	    int32_t *cols)
{
	if (t->rank < 2)
		return part_say(p, "weights have %d dimensions", t->rank);
	*rows = t->dim[0];
	*cols = t->dim[t->rank - 1];
	return tfl_elements(t) == (int64_t)*rows * *cols
		   ? NULL
		   : "weights have other dimensions than output and input";
}

static const char *
read_fc(const struct part *p, const struct tfl_op *op, struct conv *c)
{
	*c = (struct conv){ .kind = OP_FC, .groups = 1 };
	const char *why = conv_read_operands(p, op, &fb_FullyConnectedOptions, 0, c);
	if (why)
		return why;
	c->activation = (int)TFL_OPT(op, FullyConnectedOptions, fused_activation_function);
	c->kernel = c->stride = c->dilation = (struct yx){ .y = 1, .x = 1 };
	c->wide = TFL_OPT(op, FullyConnectedOptions, quantized_bias_type) != TFL_INT32;
	if (TFL_OPT(op, FullyConnectedOptions, weights_format))
		return "weights are shuffled";
	if (!c->weights->data.p)
		return check_computed(p, op);
	why = read_matrix(p, c->weights, &c->o, &c->i);
	if (why)
		return why;
	c->strides[0] = c->i;
	c->strides[3] = 1;
	/* for per-channel scales the reference computes the product in double */
	c->float_product |= c->weights->quant.n_scale <= 1;
	why = check_conv_common(p, op, c);
	if (why)
		return why;
	int64_t n = tfl_elements(c->ifm) / (c->i ? c->i : 1);
	if (c->i < 1 || n * c->i != tfl_elements(c->ifm) ||
	    n * c->o != tfl_elements(c->ofm) || n < 1 || n > 65536 ||
	    c->i > 65536)
		return "the shapes of IFM, weights and OFM do not match";
	return NULL;
}

/* ---- the families ------------------------------------------------------------- */

FAMILY_CHECK(check_conv2d, struct conv, read_conv2d)

static bool
lower_conv2d(struct part *p, const struct tfl_op *op)
{
	struct conv c;
	(void)read_conv2d(p, op, &c);
	lower_windows(p, op, &c);
	return true;
}

FAMILY_CHECK(check_depthwise, struct conv, read_depthwise)

static bool
lower_depthwise(struct part *p, const struct tfl_op *op)
{
	struct conv c;
	(void)read_depthwise(p, op, &c);
	lower_windows(p, op, &c);
	return true;
}

FAMILY_CHECK(check_fc, struct conv, read_fc)

static bool
lower_fc(struct part *p, const struct tfl_op *op)
{
	struct conv c;
	if (!part_in(p, op, 1)->data.p)
		return lower_computed(p, op);
	(void)read_fc(p, op, &c);
	int32_t n = (int32_t)(tfl_elements(c.ifm) / c.i);
	struct hwc is = { .h = 1, .w = n, .c = c.i }, os = { .h = 1, .w = n, .c = c.o };
	const int32_t from[4] = { 1, 1, n, c.i }, to[4] = { 1, 1, n, c.o };
	struct g_operand ofm = low_view(p->l, part_ofm(p, op->out[0]), os);
	struct g_operand ifm = low_view(p->l, part_ifm(p, op->in[0]), is);
	struct nd in = nd_operand_of(ifm, 4, from), out = nd_operand_of(ofm, 4, to);
	struct low_conv w = conv_whole(p, &c, (struct g_pad){ 0 });
	low_conv(p->l, &w, &in, &out, conv_made, &c);
	return true;
}

const struct family family_conv2d = {
	.check = check_conv2d, .lower = lower_conv2d, .direct = true,
};
const struct family family_depthwise = {
	.check = check_depthwise, .lower = lower_depthwise, .direct = true,
};
const struct family family_fc = { .check = check_fc, .lower = lower_fc };
