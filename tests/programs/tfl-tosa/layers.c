/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of products: CONV_2D, DEPTHWISE_CONV_2D, TRANSPOSE_CONV, FULLY_CONNECTED. */
#include "turn.h"

#include "tflite/fields.h"

#include <string.h>

/* the common parts of the four operators */
struct layer {
	const struct tfl_tensor *x, *w, *b, *out; /* b NULL: none */
	int32_t channels;
	int activation;
};

static int
acc_of(const struct layer *y)
{
	return y->x->type == TFL_INT16 ? TOSA_INT48 : TOSA_INT32;
}

static bool
check_layer(struct turn *t, const struct layer *y)
{
	if ((y->x->type != TFL_INT8 && y->x->type != TFL_INT16) ||
	    y->w->type != TFL_INT8 || !y->w->data.p || (y->b && !y->b->data.p) ||
	    y->out->type != y->x->type)
		refuse(t, "maps other than of 8 or 16 bits, or weights that are computed");
	return !t->why;
}

/* x and the other operands: weights of these dimensions, bias, zero points */
static void
operands(struct turn *t, const struct layer *y, int x, const int32_t wd[4], int in[5])
{
	int64_t n = tfl_elements(y->w), *v = anew(t->g->a, int64_t, (size_t)n);
	int32_t nb = y->b ? y->channels : 1;
	int64_t *b = anew(t->g->a, int64_t, (size_t)nb);
	for (int64_t i = 0; i < n; i++)
		v[i] = number_of(y->w, i);
	for (int32_t i = 0; y->b && i < nb; i++)
		b[i] = number_of(y->b, i);
	in[0] = x;
	in[1] = gen_const(t->g, TOSA_INT8, 4, wd, v);
	in[2] = gen_const(t->g, acc_of(y), 1, &nb, b);
	in[3] = gen_number(t->g, tosa_of(y->x->type), zero_of(y->x));
	in[4] = gen_number(t->g, TOSA_INT8, zero_of(y->w));
}

/* converts the sums to the result's type, each channel with its own scale */
static int
finish(struct turn *t, const struct layer *y, int x)
{
	int n = y->w->quant.n_scale > 1 ? y->channels : 1;
	double *scale = anew(t->g->a, double, (size_t)n);
	for (int k = 0; k < n; k++)
		scale[k] = (double)scale_of(y->x, 0) * (double)scale_of(y->w, k) /
			   (double)scale_of(y->out, 0);
	return add_result(t, x, n, scale, y->out, y->activation);
}

static int
conv(struct turn *t, const struct layer *y, int code, int x, const int32_t wd[4],
     struct window *w)
{
	int in[5];
	operands(t, y, x, wd, in);
	const int32_t *list[3] = { w->pad, w->stride, w->dilation };
	fbw_off a = gen_attribute(t->g, &fb_TosaConv, 3, list, (int[]){ 4, 2, 2 }, 2,
				  (int64_t[]){ 0, acc_of(y) });
	return finish(t, y, gen_op(t->g, code, a, 5, in, acc_of(y), 4, y->out->dim));
}

static struct layer
layer_of(const struct turn *t, const struct tfl_op *op)
{
	bool bias = op->n_in > 2 && op->in[2] >= 0;
	const struct tfl_tensor *out = out_of(t, op);
	return (struct layer){ .x = in_of(t, op, 0), .w = in_of(t, op, 1),
			       .b = bias ? in_of(t, op, 2) : NULL, .out = out,
			       .channels = out->dim[out->rank - 1] };
}

int
turn_conv(struct turn *t, const struct tfl_op *op)
{
	struct layer y = layer_of(t, op);
	struct window w = {
		.kernel = { y.w->dim[1], y.w->dim[2] },
		.stride = { (int32_t)TFL_OPT(op, Conv2DOptions, stride_h),
			    (int32_t)TFL_OPT(op, Conv2DOptions, stride_w) },
		.dilation = { (int32_t)TFL_OPT(op, Conv2DOptions, dilation_h_factor),
			      (int32_t)TFL_OPT(op, Conv2DOptions, dilation_w_factor) } };
	y.activation = (int)TFL_OPT(op, Conv2DOptions, fused_activation_function);
	if (!check_layer(t, &y))
		return 0;
	int x = value_of(t, op->in[0]);
	x = fit_window(t, x, (int)TFL_OPT(op, Conv2DOptions, padding), y.out->dim + 1, &w);
	return conv(t, &y, TOSA_CONV2D, x, y.w->dim, &w);
}

int
turn_depthwise(struct turn *t, const struct tfl_op *op)
{
	struct layer y = layer_of(t, op);
	struct window w = {
		.kernel = { y.w->dim[1], y.w->dim[2] },
		.stride = { (int32_t)TFL_OPT(op, DepthwiseConv2DOptions, stride_h),
			    (int32_t)TFL_OPT(op, DepthwiseConv2DOptions, stride_w) },
		.dilation = {
		    (int32_t)TFL_OPT(op, DepthwiseConv2DOptions, dilation_h_factor),
		    (int32_t)TFL_OPT(op, DepthwiseConv2DOptions, dilation_w_factor) } };
	y.activation = (int)TFL_OPT(op, DepthwiseConv2DOptions, fused_activation_function);
	if (!check_layer(t, &y))
		return 0;
	int32_t c = y.x->dim[3], wd[4] = { w.kernel[0], w.kernel[1], c, y.channels / c };
	int x = value_of(t, op->in[0]);
	x = fit_window(t, x, (int)TFL_OPT(op, DepthwiseConv2DOptions, padding),
		       y.out->dim + 1, &w);
	return conv(t, &y, TOSA_DEPTHWISE_CONV2D, x, wd, &w);
}

int
turn_transpose_conv(struct turn *t, const struct tfl_op *op)
{
	bool bias = op->n_in > 3 && op->in[3] >= 0;
	const struct tfl_tensor *out = out_of(t, op);
	struct layer y = { .x = in_of(t, op, 2), .w = in_of(t, op, 1),
			   .b = bias ? in_of(t, op, 3) : NULL, .out = out,
			   .channels = out->dim[3] };
	int32_t stride[2] = { (int32_t)TFL_OPT(op, TransposeConvOptions, stride_h),
			      (int32_t)TFL_OPT(op, TransposeConvOptions, stride_w) };
	bool same = !TFL_OPT(op, TransposeConvOptions, padding);
	int32_t pad[4];
	int in[5];
	y.activation = (int)TFL_OPT(op, TransposeConvOptions, fused_activation_function);
	if (!check_layer(t, &y))
		return 0;
	for (int i = 0; i < 2; i++) {
		int32_t all = (y.x->dim[1 + i] - 1) * stride[i] + y.w->dim[1 + i] -
			      out->dim[1 + i];
		int32_t before = same && all > 0 ? all / 2 : 0;
		pad[2 * i] = -before;
		pad[2 * i + 1] = before - all;
	}
	operands(t, &y, value_of(t, op->in[2]), y.w->dim, in);
	const int32_t *list[2] = { pad, stride };
	fbw_off a = gen_attribute(t->g, &fb_TosaTransposeConv, 2, list, (int[]){ 4, 2 }, 2,
				  (int64_t[]){ 0, acc_of(&y) });
	int r = gen_op(t->g, TOSA_TRANSPOSE_CONV2D, a, 5, in, acc_of(&y), 4, out->dim);
	return finish(t, &y, r);
}

/* a 1x1 convolution over rows [N,1,1,C] */
int
turn_full(struct turn *t, const struct tfl_op *op)
{
	struct layer y = layer_of(t, op);
	struct window w = { .kernel = { 1, 1 }, .stride = { 1, 1 }, .dilation = { 1, 1 } };
	y.activation = (int)TFL_OPT(op, FullyConnectedOptions, fused_activation_function);
	if (!check_layer(t, &y))
		return 0;
	int32_t depth = y.w->dim[1], rows = (int32_t)(tfl_elements(y.x) / depth);
	int32_t wd[4] = { y.channels, 1, 1, depth };
	int x = value_of(t, op->in[0]);
	x = add_reshape(t, x, 4, (int32_t[]){ rows, 1, 1, depth });
	struct tfl_tensor out = *y.out;
	out.rank = 4;
	memcpy(out.dim, (int32_t[]){ rows, 1, 1, y.channels }, 4 * sizeof(*out.dim));
	const struct tfl_tensor *said = y.out;
	y.out = &out;
	return add_reshape(t, conv(t, &y, TOSA_CONV2D, x, wd, &w), said->rank, said->dim);
}
