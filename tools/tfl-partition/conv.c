/* SPDX-License-Identifier: Apache-2.0 */
/* CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED: spec/operators.md 5.1. */
#include "part.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum {
	MAX_KERNEL_H = 64, MAX_KERNEL = 4096, MAX_STRIDE = 3,
	MAX_WEIGHT_SUM = 127 * 65536, /* accumulator safety, 4.9 */
};

/* what the three operators have in common once their options are read */
struct conv {
	const struct tfl_tensor *ifm, *weights, *bias, *ofm;
	int activation;
	struct yx kernel, stride, dilation;
	int padding;
	int32_t o, i;	     /* channels out, and in for one of them */
	int64_t strides[4];  /* of the weights' elements: O,H,W,I */
	bool float_product;  /* ifm scale times weight scale in float32 */
	enum g_op_kind kind;
};

/* ---- checks --------------------------------------------------------------- */

static const char *
check_weights(const struct part *p, const struct conv *c)
{
	const struct tfl_tensor *w = c->weights;
	if (!w->data.p)
		return "weights are not constant";
	if (w->type != TFL_INT8 && w->type != TFL_UINT8)
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
		if (z && c->ifm->type != TFL_UINT8)
			return part_say(p, "weights have zero point %" PRId64
					" with an %s IFM", z,
					tfl_type_name(c->ifm->type));
		if (z < 0 ? w->type == TFL_UINT8 || z < -128 : z > 255)
			return "a zero point of the weights is out of range";
	}
	return NULL;
}

static int64_t
weight_zero(const struct tfl_tensor *w, int o)
{
	return w->quant.n_zero == 0	? 0
	       : w->quant.n_zero == 1	? w->quant.zero[0]
					: w->quant.zero[o];
}

static int64_t
weight_at(const struct conv *c, int64_t at)
{
	return c->weights->type == TFL_INT8 ? (int8_t)c->weights->data.p[at]
					    : c->weights->data.p[at];
}

static const char *
check_weight_sums(const struct conv *c)
{
	int64_t n = (int64_t)c->kernel.y * c->kernel.x * c->i;
	if (n * 255 <= MAX_WEIGHT_SUM)
		return NULL;
	for (int o = 0; o < c->o; o++) {
		int64_t sum = 0, z = weight_zero(c->weights, o);
		for (int y = 0; y < c->kernel.y; y++)
			for (int x = 0; x < c->kernel.x; x++)
				for (int i = 0; i < c->i; i++)
					sum += llabs(weight_at(c, o * c->strides[0] +
							       y * c->strides[1] +
							       x * c->strides[2] +
							       i * c->strides[3]) - z);
		if (sum > MAX_WEIGHT_SUM)
			return "the weights of a channel sum to more than 8323072";
	}
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
		int64_t v = (int64_t)load_le64(b->data.p + 8 * (size_t)i);
		if (v < -((int64_t)1 << 39) || v >= (int64_t)1 << 39)
			return "a bias does not fit 40 bits";
	}
	return NULL;
}

/* real multiplier of channel o: spec/operators.md 3.2 */
static double
real_scale(const struct conv *c, int o)
{
	float si = quant_scale_f32(c->ifm), sw = quant_channel_scale(c->weights, o);
	double so = quant_scale(c->ofm);
	if (c->float_product)
		return (double)(si * sw) / so;
	return (double)si * (double)sw / so;
}

static bool
is_reduced(const struct conv *c)
{
	return c->ifm->type == TFL_INT16 && c->bias && c->bias->type == TFL_INT64;
}

static bool
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

static const char *
check_conv_common(const struct part *p, const struct tfl_op *op,
		  const struct conv *c)
{
	const char *why = check_maps(p, op, TYPE_MAPS);
	if (!why && c->ifm->type != c->ofm->type)
		why = "IFM and OFM differ in type";
	if (!why)
		why = check_activation(p, op, c->activation);
	if (!why)
		why = check_weights(p, c);
	if (!why)
		why = check_bias(p, c);
	if (!why)
		why = check_weight_sums(c);
	return why ? why : check_scales(c);
}

/* ---- reading the operators -------------------------------------------------- */

static struct yx
map_yx(const struct tfl_tensor *t)
{
	return (struct yx){ .y = t->dim[1], .x = t->dim[2] };
}

static const char *
read_window(const struct part *p, const struct tfl_op *op, struct conv *c)
{
	if (c->ifm->rank != 4 || c->ofm->rank != 4 || c->weights->rank != 4)
		return "IFM, weights and OFM must have 4 dimensions";
	if (c->stride.y < 1 || c->stride.x < 1 || c->dilation.y < 1 ||
	    c->dilation.x < 1 || (c->padding != TFL_SAME && c->padding != TFL_VALID))
		return part_say(p, "%s has stride %dx%d, dilation %dx%d",
				tfl_op_label(op), c->stride.y, c->stride.x,
				c->dilation.y, c->dilation.x);
	if (c->dilation.y > 2 || c->dilation.x > 2)
		return part_say(p, "dilation %dx%d is larger than 2", c->dilation.y,
				c->dilation.x);
	int64_t kh = (int64_t)(c->kernel.y - 1) * c->dilation.y + 1;
	int64_t kw = (int64_t)(c->kernel.x - 1) * c->dilation.x + 1;
	if (kh < 1 || kw < 1 || kh > MAX_KERNEL_H || kh * kw > MAX_KERNEL)
		return part_say(p, "kernel %" PRId64 "x%" PRId64 " (dilated) is larger "
				"than 64 rows or 4096 elements", kh, kw);
	struct yx out = map_yx(c->ofm);
	if ((c->stride.y > MAX_STRIDE && out.y > 1) ||
	    (c->stride.x > MAX_STRIDE && out.x > 1))
		return part_say(p, "stride %dx%d is larger than 3", c->stride.y,
				c->stride.x);
	struct window w = window_of(c->padding, map_yx(c->ifm), c->kernel,
				    c->stride, c->dilation);
	if (w.out.y != out.y || w.out.x != out.x || c->ofm->dim[3] != c->o ||
	    c->ofm->dim[0] != c->ifm->dim[0])
		return "the OFM's shape is not what the options give";
	return NULL;
}

static const char *
read_conv2d(const struct part *p, const struct tfl_op *op, struct conv *c)
{
	*c = (struct conv){ .kind = OP_CONV };
	const char *why = check_arity(p, op, 2, 3, 1);
	if (!why)
		why = check_options(p, op, &fb_Conv2DOptions);
	if (why)
		return why;
	c->ifm = part_in(p, op, 0);
	c->weights = part_in(p, op, 1);
	c->bias = part_in(p, op, 2);
	c->ofm = part_out(p, op, 0);
	c->activation = (int)TFL_OPT(op, Conv2DOptions, fused_activation_function);
	c->padding = (int)TFL_OPT(op, Conv2DOptions, padding);
	c->stride.y = (int32_t)TFL_OPT(op, Conv2DOptions, stride_h);
	c->stride.x = (int32_t)TFL_OPT(op, Conv2DOptions, stride_w);
	c->dilation.y = (int32_t)TFL_OPT(op, Conv2DOptions, dilation_h_factor);
	c->dilation.x = (int32_t)TFL_OPT(op, Conv2DOptions, dilation_w_factor);
	const struct tfl_tensor *w = c->weights;
	if (w->rank == 4) {
		c->kernel = map_yx(w);
		c->o = w->dim[0];
		c->i = w->dim[3];
	}
	c->strides[3] = 1;
	c->strides[2] = c->i;
	c->strides[1] = (int64_t)c->kernel.x * c->i;
	c->strides[0] = c->kernel.y * c->strides[1];
	c->float_product = c->ifm->type == TFL_UINT8;
	why = read_window(p, op, c);
	if (!why && c->ifm->dim[3] != c->i)
		why = part_say(p, "grouped convolution: IFM depth %d, weights of %d",
			       c->ifm->dim[3], c->i);
	return why ? why : check_conv_common(p, op, c);
}

static const char *
read_depthwise(const struct part *p, const struct tfl_op *op, struct conv *c)
{
	*c = (struct conv){ .kind = OP_DEPTHWISE };
	const char *why = check_arity(p, op, 2, 3, 1);
	if (!why)
		why = check_options(p, op, &fb_DepthwiseConv2DOptions);
	if (why)
		return why;
	c->ifm = part_in(p, op, 0);
	c->weights = part_in(p, op, 1);
	c->bias = part_in(p, op, 2);
	c->ofm = part_out(p, op, 0);
	c->activation = (int)TFL_OPT(op, DepthwiseConv2DOptions, fused_activation_function);
	c->padding = (int)TFL_OPT(op, DepthwiseConv2DOptions, padding);
	c->stride.y = (int32_t)TFL_OPT(op, DepthwiseConv2DOptions, stride_h);
	c->stride.x = (int32_t)TFL_OPT(op, DepthwiseConv2DOptions, stride_w);
	c->dilation.y = (int32_t)TFL_OPT(op, DepthwiseConv2DOptions, dilation_h_factor);
	c->dilation.x = (int32_t)TFL_OPT(op, DepthwiseConv2DOptions, dilation_w_factor);
	if (c->weights->rank == 4) {
		c->kernel = map_yx(c->weights);
		c->o = c->weights->dim[3];
	}
	c->i = 1;
	c->strides[0] = 1;
	c->strides[2] = c->o;
	c->strides[1] = (int64_t)c->kernel.x * c->o;
	c->float_product = c->ifm->type == TFL_UINT8;
	why = read_window(p, op, c);
	if (why)
		return why;
	/* one input channel: every output channel reads it, as a convolution */
	if (c->ifm->dim[3] == 1)
		c->kind = OP_CONV;
	else if (c->ifm->dim[3] != c->o)
		return part_say(p, "depth multiplier %d with %d input channels",
				c->o / c->ifm->dim[3], c->ifm->dim[3]);
	return check_conv_common(p, op, c);
}

static const char *
read_fc(const struct part *p, const struct tfl_op *op, struct conv *c)
{
	*c = (struct conv){ .kind = OP_FC };
	const char *why = check_arity(p, op, 2, 3, 1);
	if (!why)
		why = check_options(p, op, &fb_FullyConnectedOptions);
	if (why)
		return why;
	c->ifm = part_in(p, op, 0);
	c->weights = part_in(p, op, 1);
	c->bias = part_in(p, op, 2);
	c->ofm = part_out(p, op, 0);
	c->activation = (int)TFL_OPT(op, FullyConnectedOptions, fused_activation_function);
	c->kernel = c->stride = c->dilation = (struct yx){ .y = 1, .x = 1 };
	if (TFL_OPT(op, FullyConnectedOptions, weights_format))
		return "weights are shuffled";
	if (c->weights->rank != 2)
		return part_say(p, "weights have %d dimensions", c->weights->rank);
	c->o = c->weights->dim[0];
	c->i = c->weights->dim[1];
	c->strides[0] = c->i;
	c->strides[3] = 1;
	/* per channel the reference forms the product in double */
	c->float_product = c->ifm->type == TFL_UINT8 || c->weights->quant.n_scale <= 1;
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

/* ---- lowering --------------------------------------------------------------- */

static struct g_weights *
make_weights(struct part *p, const struct conv *c)
{
	struct g_weights *w = graph_add_g_weights(p->g);
	G_PUT(w, WEIGHTS, shape,
	      (struct g_shape){ .type = c->weights->type, .rank = 4,
				.dim = { c->o, c->kernel.y, c->kernel.x, c->i } });
	G_PUT(w, WEIGHTS, name, c->weights->name);
	G_PUT(w, WEIGHTS, source, (struct g_source){ .buffer = c->weights->buffer });
	int n = c->weights->quant.n_zero > 1 ? c->o : 1;
	int64_t *zero = anew(p->a, int64_t, (size_t)n);
	for (int o = 0; o < n; o++)
		zero[o] = weight_zero(c->weights, o);
	G_PUT(w, WEIGHTS, zero, (struct g_list){ .v = zero, .n = (size_t)n });
	int64_t *s = anew(p->a, int64_t, 4);
	memcpy(s, c->strides, sizeof(c->strides));
	if (c->kind == OP_DEPTHWISE || c->strides[3] != 1)
		G_PUT(w, WEIGHTS, strides, (struct g_list){ .v = s, .n = 4 });
	return w;
}

static struct g_scales *
make_scales(struct part *p, const struct conv *c)
{
	size_t n = (size_t)c->o;
	struct g_scales *s = graph_add_g_scales(p->g);
	int64_t *bias = anew(p->a, int64_t, n), *mult = anew(p->a, int64_t, n),
		*shift = anew(p->a, int64_t, n);
	for (size_t o = 0; o < n; o++) {
		struct npu_scale q;
		(void)channel_scale(c, (int)o, &q);
		mult[o] = q.mult;
		shift[o] = q.shift;
		if (c->bias)
			bias[o] = c->bias->type == TFL_INT32
				      ? (int32_t)load_le32(c->bias->data.p + 4 * o)
				      : (int64_t)load_le64(c->bias->data.p + 8 * o);
	}
	G_PUT(s, SCALES, bias, (struct g_list){ .v = bias, .n = n });
	G_PUT(s, SCALES, mult, (struct g_list){ .v = mult, .n = n });
	G_PUT(s, SCALES, shift, (struct g_list){ .v = shift, .n = n });
	return s;
}

static void
finish_conv(struct g_op *op, const struct conv *c, struct g_weights *w,
	    struct g_scales *s)
{
	op_zeros(op, quant_zero(c->ifm), quant_zero(c->ofm));
	op_clamp(op, quant_clamp(c->ofm, c->activation));
	op->round = is_reduced(c) ? ROUND_NATURAL : ROUND_TFL;
	G_PUT(op, OP, weights, w);
	G_PUT(op, OP, scales, s);
	if (c->ifm->type == TFL_INT16)
		G_PUT(op, OP, acc40, 1);
}

/* a PAD in front that was folded gives the padding and the true input */
static int
folded_pad(const struct part *p, const struct tfl_op *op, struct g_pad *pad)
{
	int producer = p->sg->tensor[op->in[0]].producer;
	if (producer < 0 || !p->op[producer].folded)
		return op->in[0];
	const struct tfl_op *before = &p->sg->op[producer];
	int64_t v[8];
	int n;
	(void)part_ints(part_in(p, before, 1), v, 8, &n);
	*pad = (struct g_pad){ .top = (int32_t)v[2], .bottom = (int32_t)v[3],
			       .left = (int32_t)v[4], .right = (int32_t)v[5] };
	return before->in[0];
}

static void
lower_windowed(struct part *p, const struct tfl_op *op, struct conv *c)
{
	struct window win = window_of(c->padding, map_yx(c->ifm), c->kernel,
				      c->stride, c->dilation);
	int input = folded_pad(p, op, &win.pad);
	const struct tfl_tensor *in = &p->sg->tensor[input];
	struct yx stride = c->stride;
	/* one row or column of output: any stride is stride 1 */
	if (win.out.y == 1)
		stride.y = 1;
	if (win.out.x == 1)
		stride.x = 1;
	struct g_operand ifm = part_ifm(p, input), ofm = part_ofm(p, op->out[0]);
	struct g_weights *w = make_weights(p, c);
	struct g_scales *s = make_scales(p, c);
	struct hwc is = { .h = in->dim[1], .w = in->dim[2], .c = in->dim[3] };
	struct hwc os = { .h = win.out.y, .w = win.out.x, .c = c->o };
	for (int b = 0; b < c->ifm->dim[0]; b++) {
		struct hwc ib = { .h = b * is.h }, ob = { .h = b * os.h };
		struct g_op *o = part_op(p, c->kind, part_box(ifm, is, ib),
					 part_box(ofm, os, ob));
		op_kernel(o, c->kernel, stride, c->dilation, win.pad);
		finish_conv(o, c, w, s);
	}
}

static const char *
check_conv2d(const struct part *p, const struct tfl_op *op)
{
	struct conv c;
	return read_conv2d(p, op, &c);
}

static bool
lower_conv2d(struct part *p, const struct tfl_op *op)
{
	struct conv c;
	(void)read_conv2d(p, op, &c);
	lower_windowed(p, op, &c);
	return true;
}

static const char *
check_depthwise(const struct part *p, const struct tfl_op *op)
{
	struct conv c;
	return read_depthwise(p, op, &c);
}

static bool
lower_depthwise(struct part *p, const struct tfl_op *op)
{
	struct conv c;
	(void)read_depthwise(p, op, &c);
	lower_windowed(p, op, &c);
	return true;
}

static const char *
check_fc(const struct part *p, const struct tfl_op *op)
{
	struct conv c;
	return read_fc(p, op, &c);
}

static bool
lower_fc(struct part *p, const struct tfl_op *op)
{
	struct conv c;
	(void)read_fc(p, op, &c);
	int32_t n = (int32_t)(tfl_elements(c.ifm) / c.i);
	struct hwc is = { .h = 1, .w = n, .c = c.i };
	struct hwc os = { .h = 1, .w = n, .c = c.o };
	struct g_op *o = part_op(p, OP_FC, part_view(p, part_ifm(p, op->in[0]), is),
				 part_view(p, part_ofm(p, op->out[0]), os));
	op_kernel(o, c.kernel, c.stride, c.dilation, (struct g_pad){ 0 });
	finish_conv(o, &c, make_weights(p, &c), make_scales(p, &c));
	return true;
}

const struct family conv_families[] = {
	{ .code = TFL_CONV_2D, .check = check_conv2d, .lower = lower_conv2d,
	  .direct = true },
	{ .code = TFL_DEPTHWISE_CONV_2D, .check = check_depthwise,
	  .lower = lower_depthwise, .direct = true },
	{ .code = TFL_FULLY_CONNECTED, .check = check_fc, .lower = lower_fc },
	{ .code = 0 },
};
