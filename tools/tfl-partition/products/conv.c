/* SPDX-License-Identifier: Apache-2.0 */
/* CONV_2D, DEPTHWISE_CONV_2D, TRANSPOSE_CONV, FULLY_CONNECTED: nputools-lowering(7) 5.1. */
#include "base/fixed.h"
#include "conv.h"
#include "../moves/move.h"
#include "tflite/fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* the tensors and options of an operator that become members of struct low_conv */
struct filters {
	const struct tfl_tensor *ifm, *weights, *bias, *ofm;
	int activation, padding;
	bool float_product; /* the reference multiplies IFM scale and weight scale in float32 */
	/* INT16 without a bias is summed in 64 bits, as the options' bias type says */
	bool wide;
};

/* ---- constants ------------------------------------------------------------ */

static const char *
check_weights(const struct part *p, const struct filters *f, int32_t channels)
{
	const struct tfl_tensor *w = f->weights;
	if (!w->data.p)
		return "weights are not constant";
	bool halves = w->type == TFL_INT4 && f->ifm->type != TFL_UINT8;
	if (w->type != TFL_INT8 && w->type != TFL_UINT8 && !halves)
		return arena_printf(p->a, "weights are %s", tfl_type_name(w->type));
	if (w->is_sparse || w->quant.other || !w->quant.n_scale)
		return "weights are sparse or have no affine quantization";
	for (int i = 0; i < w->quant.n_scale; i++)
		if (!(w->quant.scale[i] > 0) || !isfinite(w->quant.scale[i]))
			return "a scale of the weights is not a positive number";
	if (w->quant.n_scale > 1 && w->quant.n_scale != channels)
		return "weights are quantized along another axis than channels";
	for (int i = 0; i < w->quant.n_zero; i++) {
		int64_t z = w->quant.zero[i];
		if (z < 0 ? w->type == TFL_UINT8 || z < -128 : z > 255)
			return "a zero point of the weights is out of range";
	}
	return NULL;
}

/* the sum of the magnitudes of a channel's weights */
static int64_t
weight_sum(const struct low_conv *c, int o)
{
	const struct low_weights *w = &c->weights;
	int64_t sum = 0, z = w->zero[w->n_zero > 1 ? o : 0];
	for (int y = 0; y < c->kernel.y; y++)
		for (int x = 0; x < c->kernel.x; x++)
			for (int i = 0; i < c->i; i++)
				sum += llabs(tfl_integer(w->type, w->v,
							 o * w->stride[0] + y * w->stride[1] +
							 x * w->stride[2] + i * w->stride[3]) - z);
	return sum;
}

/* the number of products that a sum has */
static int64_t
products_of(const struct low_conv *c)
{
	return (int64_t)c->kernel.y * c->kernel.x * c->i;
}

/* the real multiplier of channel o: nputools-lowering(7) 3.2 */
static double
real_scale(const struct filters *f, int o)
{
	float si = quant_scale_f32(f->ifm), sw = quant_channel_scale(f->weights, o);
	double so = quant_scale(f->ofm);
	if (f->float_product)
		return (double)(si * sw) / so;
	return (double)si * (double)sw / so;
}

/* INT16 with sums of 64 bits: multipliers are reduced to 15 bits */
static bool
is_reduced(const struct filters *f)
{
	if (f->ifm->type != TFL_INT16)
		return false;
	return f->bias ? f->bias->type == TFL_INT64 : f->wide;
}

/* sets the other members of o->conv, which has its geometry, and o->end */
static const char *
read_constants(const struct part *p, const struct filters *f, struct lop *o)
{
	struct low_conv *c = &o->conv;
	const char *why = check_fm(p, f->ifm, "IFM", TYPE_FM) ?:
			  check_fm(p, f->ofm, "OFM", TYPE_FM);
	if (!why && f->ifm->type != f->ofm->type)
		why = "IFM and OFM differ in type";
	why = why ?: check_activation(p, o->op, f->activation) ?: check_weights(p, f, c->o);
	if (why)
		return why;

	/*
	 * the reference takes int8 weights as symmetric, except those of FULLY_CONNECTED with
	 * one scale
	 */
	const struct tfl_tensor *t = f->weights, *b = f->bias;
	struct low_weights *w = &c->weights;
	bool symmetric = t->type != TFL_UINT8 && (c->kind != OP_FC || t->quant.n_scale > 1);
	w->v = t->data.p;
	w->type = t->type == TFL_INT4 ? TFL_INT8 : t->type;
	w->name = t->name;
	w->n_zero = t->quant.n_zero > 1 ? c->o : 1;
	int64_t *zero = anew(p->a, int64_t, (size_t)w->n_zero);
	for (int32_t k = 0; k < w->n_zero && !symmetric && t->quant.n_zero; k++)
		zero[k] = t->quant.zero[k];
	w->zero = zero;
	c->ifm_zero = quant_zero(f->ifm);
	o->end.zero = quant_zero(f->ofm);
	o->end.clamped = true;
	o->end.clamp = quant_clamp(f->ofm, f->activation);

	int64_t *bias = anew(p->a, int64_t, (size_t)c->o);
	c->bias = bias;
	if (b && (!b->data.p || (b->type != TFL_INT32 && b->type != TFL_INT64)))
		return arena_printf(p->a, "bias is %s%s", b->data.p ? "" : "not constant, ",
				tfl_type_name(b->type));
	if (b && tfl_elements(b) != c->o)
		return arena_printf(p->a, "bias has %" PRId64 " values for %d channels",
				tfl_elements(b), c->o);
	for (int k = 0; b && k < c->o; k++) {
		bias[k] = tfl_integer(b->type, b->data.p, k);
		if (bias[k] < -((int64_t)1 << 39) || bias[k] >= (int64_t)1 << 39)
			return "a bias does not fit 40 bits";
	}
	for (int k = 0; products_of(c) * 255 > MAX_WEIGHT_SUM && k < c->o; k++)
		if (weight_sum(c, k) > MAX_WEIGHT_SUM)
			return "the weights of a channel sum to more than 8323072";

	struct npu_scale *scale = anew(p->a, struct npu_scale, (size_t)c->o);
	c->scale = scale;
	c->round = is_reduced(f) ? ROUND_NATURAL : ROUND_TFL;
	for (int k = 0; k < c->o; k++) {
		bool ok = npu_quantise(real_scale(f, k), &scale[k]);
		if (ok && is_reduced(f))
			scale[k] = npu_scale_reduce(scale[k]);
		if (!ok || scale[k].shift < 0 || scale[k].shift > 63)
			return "a scale of the output can't be expressed";
	}
	/* The reference wraps scaled sums of 64 bits to 32 bits; the NPU saturates. */
	for (int k = 0; is_reduced(f) && k < c->o; k++) {
		double real = real_scale(f, k), offset = fabs((double)bias[k]);
		if ((offset + (double)products_of(c) * 255 * 32768) * real >= 0x1p31 &&
		    (offset + (double)weight_sum(c, k) * 32768) * real >= 0x1p31)
			return "scaled sums may exceed 32 bits, to which the reference wraps";
	}
	return NULL;
}

/* ---- windows ---------------------------------------------------------------- */

static struct yx
fm_yx(const struct tfl_tensor *t)
{
	return (struct yx){ .y = t->dim[1], .x = t->dim[2] };
}

/* sets kernel, o, i and strides from dense weights in OHWI or, if deep, in 1HWO */
static void
take_kernel(struct low_conv *c, const struct tfl_tensor *weights, bool deep)
{
	int64_t *stride = c->weights.stride, depth = weights->dim[3];
	c->kernel = fm_yx(weights);
	c->o = weights->dim[deep ? 3 : 0];
	c->i = deep ? 1 : weights->dim[3];
	stride[3] = !deep;
	stride[2] = depth;
	stride[1] = (int64_t)c->kernel.x * depth;
	stride[0] = deep ? 1 : c->kernel.y * stride[1];
}

/* sets f, where ifm is the input of the IFM, and checks that the options exist */
static const char *
read_filters(const struct part *p, const struct tfl_op *op, const struct fb_table *options,
	     int ifm, struct filters *f)
{
	f->ifm = part_in(p, op, ifm);
	f->weights = part_in(p, op, 1);
	f->bias = part_in(p, op, ifm ? ifm + 1 : 2);
	f->ofm = part_out(p, op, 0);
	f->float_product = f->ifm->type == TFL_UINT8;
	return check_options(p, op, options);
}

const char *
read_conv(const struct part *p, struct lop *o)
{
	const struct tfl_op *op = o->op;
	struct low_conv *c = &o->conv;
	bool deep = op->code == TFL_DEPTHWISE_CONV_2D;
	struct filters f = { 0 };
	const char *why = read_filters(p, op, deep ? &fb_DepthwiseConv2DOptions
						   : &fb_Conv2DOptions, 0, &f);
	if (why)
		return why;
#define OPTION(name) (int32_t)(deep ? TFL_OPT(op, DepthwiseConv2DOptions, name)              \
				    : TFL_OPT(op, Conv2DOptions, name))
	*c = (struct low_conv){ .kind = OP_CONV, .groups = 1, .i = 1 };
	f.wide = deep || TFL_OPT(op, Conv2DOptions, quantized_bias_type) != TFL_INT32;
	f.activation = OPTION(fused_activation_function);
	f.padding = OPTION(padding);
	c->stride = (struct yx){ .y = OPTION(stride_h), .x = OPTION(stride_w) };
	c->dilation = (struct yx){ .y = OPTION(dilation_h_factor), .x = OPTION(dilation_w_factor) };
#undef OPTION
	if (f.weights->rank == 4)
		take_kernel(c, f.weights, deep);
	if (!family_rank(op, f.ifm) || !family_rank(op, f.ofm) || f.weights->rank != 4)
		return "IFM, weights and OFM must have 4 dimensions";
	if (c->stride.y < 1 || c->stride.x < 1 || c->dilation.y < 1 ||
	    c->dilation.x < 1 || (f.padding != TFL_SAME && f.padding != TFL_VALID))
		return arena_printf(p->a, "%s has stride %dx%d, dilation %dx%d",
				tfl_op_label(op), c->stride.y, c->stride.x,
				c->dilation.y, c->dilation.x);
	if (c->kernel.y < 1 || c->kernel.x < 1)
		return arena_printf(p->a, "kernel %dx%d", c->kernel.y, c->kernel.x);
	struct yx extent = fm_yx(f.ofm);
	struct window w = window_of(f.padding, fm_yx(f.ifm), c->kernel, c->stride,
				    c->dilation);
	c->pad = w.pad;
	if (w.out.y != extent.y || w.out.x != extent.x || f.ofm->dim[3] != c->o ||
	    f.ofm->dim[0] != f.ifm->dim[0])
		return "the OFM's shape is not what the options give";
	int32_t depth = f.ifm->dim[3];
	if (deep && depth > 1 && depth == c->o) {
		c->kind = OP_DEPTHWISE;
	} else if (!deep || depth > 1) {
		/* each filter reads one group of channels; if deep, a single channel */
		c->groups = c->i ? depth / c->i : 0;
		if (c->groups < 1 || c->groups * c->i != depth || c->o % c->groups)
			return arena_printf(p->a, "IFM depth %d, weights of %d for %d channels",
					depth, c->i, c->o);
	}
	struct nd in = nd_shape(f.ifm), out = nd_shape(f.ofm);
	return read_constants(p, &f, o) ?: low_conv_check(p->a, c, &in, &out) ?: check_large(c);
}

const char *
read_matrix(const struct part *p, const struct tfl_tensor *t, int32_t *rows,
	    int32_t *cols)
{
	if (t->rank < 2)
		return arena_printf(p->a, "weights have %d dimensions", t->rank);
	*rows = t->dim[0];
	*cols = t->dim[t->rank - 1];
	return tfl_elements(t) == (int64_t)*rows * *cols
		   ? NULL
		   : "weights have other dimensions than output and input";
}

/* ---- TRANSPOSE_CONV: nputools-lowering(7) 3.2 ---------------------------------------- */

static int32_t
pad_before(int padding, int32_t out, int32_t k, int32_t stride)
{
	if (stride < 1)
		return 0;
	/* the padding is that of the convolution from OFM to IFM */
	const int32_t in = (int32_t)ceil_div_i64(out, stride);
	return (int32_t)(tfl_padding_total(padding, out, in, k, stride) / 2);
}

const char *
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
		return arena_printf(p->a, "padding %d is not supported", f.padding);
	*c = (struct low_conv){ .kind = OP_CONV, .groups = 1, .dilation = { .y = 1, .x = 1 } };
	c->stride.y = (int32_t)TFL_OPT(op, TransposeConvOptions, stride_h);
	c->stride.x = (int32_t)TFL_OPT(op, TransposeConvOptions, stride_w);
	take_kernel(c, f.weights, false);
	if (f.ifm->dim[3] != c->i || f.ofm->dim[3] != c->o ||
	    f.ifm->dim[0] != f.ofm->dim[0])
		return "the shapes of IFM, weights and OFM do not match";
	c->pad.top = pad_before(f.padding, f.ofm->dim[1], c->kernel.y, c->stride.y);
	c->pad.left = pad_before(f.padding, f.ofm->dim[2], c->kernel.x, c->stride.x);
	struct nd in = nd_shape(f.ifm), out = nd_shape(f.ofm);
	return low_transconv_check(p->a, c, &in, &out) ?: read_constants(p, &f, o);
}

void
lower_transposed(struct part *p, const struct lop *o)
{
	struct low_conv c = stored_conv(p, o, 2);
	struct nd in = nd_ifm(p, o->op->in[2]), out = nd_ofm(p, o->op->out[0]);
	low_transconv(p->l, &c, &in, &out, &o->end);
}

/* ---- FULLY_CONNECTED ---------------------------------------------------------- */

const char *
read_fc(const struct part *p, struct lop *o)
{
	const struct tfl_op *op = o->op;
	struct low_conv *c = &o->conv;
	struct filters f = { 0 };
	const char *why = read_filters(p, op, &fb_FullyConnectedOptions, 0, &f);
	if (why)
		return why;
	f.activation = (int)TFL_OPT(op, FullyConnectedOptions, fused_activation_function);
	f.wide = TFL_OPT(op, FullyConnectedOptions, quantized_bias_type) != TFL_INT32;
	if (TFL_OPT(op, FullyConnectedOptions, weights_format))
		return "weights are shuffled";
	if (!f.weights->data.p)
		return read_computed(p, o);
	*c = (struct low_conv){ .kind = OP_FC, .groups = 1 };
	c->kernel = c->stride = c->dilation = (struct yx){ .y = 1, .x = 1 };
	why = read_matrix(p, f.weights, &c->o, &c->i);
	if (why)
		return why;
	c->weights.stride[0] = c->i;
	c->weights.stride[3] = 1;
	/* for per-channel scales the reference computes the product in double */
	f.float_product |= f.weights->quant.n_scale <= 1;
	why = read_constants(p, &f, o);
	if (why)
		return why;
	int64_t n = tfl_elements(f.ifm) / (c->i ? c->i : 1);
	if (c->i < 1 || n * c->i != tfl_elements(f.ifm) ||
	    n * c->o != tfl_elements(f.ofm) || n < 1 || n > 65536 ||
	    c->i > 65536)
		return "the shapes of IFM, weights and OFM do not match";
	return NULL;
}

void
lower_fc(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	if (!part_in(p, op, 1)->data.p) {
		lower_computed(p, o);
		return;
	}
	const struct low_conv *c = &o->conv;
	int32_t n = (int32_t)(tfl_elements(o->ifm) / c->i);
	struct hwc is = { .h = 1, .w = n, .c = c->i }, os = { .h = 1, .w = n, .c = c->o };
	const int32_t from[4] = { 1, 1, n, c->i }, to[4] = { 1, 1, n, c->o };
	struct g_operand ofm = low_view(p->l, part_ofm(p, op->out[0]), os);
	struct g_operand ifm = low_view(p->l, part_ifm(p, op->in[0]), is);
	struct nd in = nd_operand_of(ifm, 4, from), out = nd_operand_of(ofm, 4, to);
	struct low_conv w = stored_conv(p, o, 0);
	low_conv(p->l, &w, &in, &out, &o->end);
}
