/* SPDX-License-Identifier: Apache-2.0 */
/* ADD, SUB, LEAKY_RELU, QUANTIZE; RESHAPE, PAD, STRIDED_SLICE. */
#include "turn.h"

#include "tflite/fields.h"

/* an operand of ADD or SUB in 32 bits, with the result's dimensions or dimensions of
 * 1 */
static int
addend(struct turn *t, const struct tfl_op *op, int k, double scale)
{
	const struct tfl_tensor *x = in_of(t, op, k), *out = out_of(t, op);
	int32_t dim[TFL_MAX_RANK];
	for (int i = 0; i < out->rank; i++) {
		int at = i - (out->rank - x->rank);
		dim[i] = at < 0 ? 1 : x->dim[at];
	}
	int v = add_reshape(t, value_of(t, op->in[k]), out->rank, dim);
	return add_rescale(t, v, &(struct rescale){ .type = TOSA_INT32, .n = 1,
						    .scale = &scale, .in_zero = zero_of(x) });
}

/* both operands at twice the larger scale, shifted left by 20 or 15, as in TFLite */
int
turn_sum(struct turn *t, const struct tfl_op *op)
{
	const struct tfl_tensor *a = in_of(t, op, 0), *b = in_of(t, op, 1);
	const struct tfl_tensor *out = out_of(t, op);
	if ((a->type != TFL_INT8 && a->type != TFL_INT16) || b->type != a->type ||
	    out->type != a->type) {
		refuse(t, "operands other than two of 8 or 16 bits");
		return 0;
	}
	bool sum = op->code == TFL_ADD;
	int activation = sum ? (int)TFL_OPT(op, AddOptions, fused_activation_function)
			     : (int)TFL_OPT(op, SubOptions, fused_activation_function);
	double sa = (double)scale_of(a, 0), sb = (double)scale_of(b, 0);
	double twice = 2 * (sa > sb ? sa : sb), left = a->type == TFL_INT8 ? 1 << 20 : 1 << 15;
	int in[2];
	in[0] = addend(t, op, 0, sa / twice * left);
	in[1] = addend(t, op, 1, sb / twice * left);
	int y = gen_op(t->g, sum ? TOSA_ADD : TOSA_SUB, 0, 2, in, TOSA_INT32, out->rank,
		       out->dim);
	double scale = twice / left / (double)scale_of(out, 0);
	return add_result(t, y, 1, &scale, out, activation);
}

/* the larger of x and alpha x, both in the result's scale */
int
turn_leaky_relu(struct turn *t, const struct tfl_op *op)
{
	const struct tfl_tensor *from = in_of(t, op, 0), *out = out_of(t, op);
	double alpha = TFL_OPT_FLOAT(op, LeakyReluOptions, alpha), one = 1;
	double identity = (double)scale_of(from, 0) / (double)scale_of(out, 0);
	if (alpha < 0 || alpha > 1 || tosa_of(from->type) == TOSA_UNKNOWN)
		refuse(t, "a slope that is not between 0 and 1");
	int x = value_of(t, op->in[0]), in[2];
	if (t->why)
		return 0;
	for (int i = 0; i < 2; i++) {
		double scale = i ? identity * alpha : identity;
		struct rescale r = { .type = TOSA_INT32, .n = 1, .scale = &scale,
				     .in_zero = zero_of(from) };
		in[i] = add_rescale(t, x, &r);
	}
	fbw_off a = gen_attribute(t->g, &fb_TosaNan, 0, NULL, NULL, 1, (int64_t[]){ 1 });
	int y = gen_op(t->g, TOSA_MAXIMUM, a, 2, in, TOSA_INT32, out->rank, out->dim);
	return add_result(t, y, 1, &one, out, TFL_ACT_NONE);
}

int
turn_quantize(struct turn *t, const struct tfl_op *op)
{
	const struct tfl_tensor *from = in_of(t, op, 0), *out = out_of(t, op);
	if (tosa_of(from->type) == TOSA_UNKNOWN || tosa_of(out->type) == TOSA_UNKNOWN)
		refuse(t, "it is of floats");
	int x = value_of(t, op->in[0]);
	if (t->why)
		return 0;
	double scale = (double)scale_of(from, 0) / (double)scale_of(out, 0);
	struct rescale r = { .type = tosa_of(out->type), .n = 1, .scale = &scale,
			     .in_zero = zero_of(from), .out_zero = zero_of(out),
			     .in_unsigned = from->type == TFL_UINT8,
			     .out_unsigned = out->type == TFL_UINT8 };
	return add_rescale(t, x, &r);
}

int
turn_reshape(struct turn *t, const struct tfl_op *op)
{
	const struct tfl_tensor *out = out_of(t, op);
	int x = value_of(t, op->in[0]);
	return t->why ? 0 : add_reshape(t, x, out->rank, out->dim);
}

int
turn_pad(struct turn *t, const struct tfl_op *op)
{
	const struct tfl_tensor *from = in_of(t, op, 0), *pad = in_of(t, op, 1);
	const struct tfl_tensor *out = out_of(t, op);
	int64_t v[2 * TFL_MAX_RANK];
	int in[3] = { value_of(t, op->in[0]) };
	if (!pad->data.p || from->type == TFL_UINT8)
		refuse(t, "padding that is computed, or of uint8");
	if (t->why)
		return 0;
	for (int i = 0; i < 2 * from->rank; i++)
		v[i] = number_of(pad, i);
	in[1] = gen_shape(t->g, 2 * from->rank, v);
	in[2] = gen_number(t->g, tosa_of(from->type), zero_of(from));
	return gen_op(t->g, TOSA_PAD, 0, 3, in, tosa_of(from->type), out->rank, out->dim);
}

int
turn_slice(struct turn *t, const struct tfl_op *op)
{
	const struct tfl_tensor *from = in_of(t, op, 0), *out = out_of(t, op);
	int64_t mask = TFL_OPT(op, StridedSliceOptions, begin_mask), first[TFL_MAX_RANK];
	int x = value_of(t, op->in[0]);
	for (int k = 1; k < 4; k++)
		if (!in_of(t, op, k)->data.p)
			refuse(t, "bounds that are computed");
	if (TFL_OPT(op, StridedSliceOptions, ellipsis_mask) ||
	    TFL_OPT(op, StridedSliceOptions, new_axis_mask) ||
	    TFL_OPT(op, StridedSliceOptions, shrink_axis_mask) || out->rank != from->rank)
		refuse(t, "axes that come and go");
	for (int i = 0; !t->why && i < from->rank; i++) {
		int64_t begin = number_of(in_of(t, op, 1), i);
		if (number_of(in_of(t, op, 3), i) != 1)
			refuse(t, "strides, which SLICE does not have");
		begin += begin < 0 ? from->dim[i] : 0;
		first[i] = mask >> i & 1 ? 0 : begin;
	}
	return t->why ? 0 : add_slice(t, x, first, out->dim);
}
