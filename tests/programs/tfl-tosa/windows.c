/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels over rows and columns; AVERAGE_POOL_2D, MAX_POOL_2D, MEAN. */
#include "turn.h"

#include "tflite/fields.h"

#include <string.h>

int
fit_window(struct turn *t, int x, int padding, const int32_t out[2], struct window *w)
{
	const struct gen_tensor from = t->g->tensor[x];
	int32_t dim[4] = { from.dim[0], from.dim[1], from.dim[2], from.dim[3] };
	for (int i = 0; i < 2; i++) {
		int32_t reach = (w->kernel[i] - 1) * w->dilation[i] + 1;
		int32_t all = (out[i] - 1) * w->stride[i] + reach - from.dim[1 + i];
		bool pads = padding == 0 && all > 0; /* SAME */
		w->pad[2 * i] = pads ? all / 2 : 0;
		w->pad[2 * i + 1] = pads ? all - all / 2 : 0;
		if (all < 0)
			dim[1 + i] += all;
	}
	return add_slice(t, x, (int64_t[4]){ 0 }, dim);
}

int
turn_pool(struct turn *t, const struct tfl_op *op)
{
	const struct tfl_tensor *from = in_of(t, op, 0), *out = out_of(t, op);
	bool average = op->code == TFL_AVERAGE_POOL_2D;
	struct window w = {
		.kernel = { (int32_t)TFL_OPT(op, Pool2DOptions, filter_height),
			    (int32_t)TFL_OPT(op, Pool2DOptions, filter_width) },
		.stride = { (int32_t)TFL_OPT(op, Pool2DOptions, stride_h),
			    (int32_t)TFL_OPT(op, Pool2DOptions, stride_w) },
		.dilation = { 1, 1 } };
	int type = tosa_of(from->type), in[3];
	if (from->type != TFL_INT8 && from->type != TFL_INT16)
		refuse(t, "maps other than of 8 or 16 bits");
	int x = value_of(t, op->in[0]);
	if (t->why)
		return 0;
	in[0] = fit_window(t, x, (int)TFL_OPT(op, Pool2DOptions, padding), out->dim + 1, &w);
	for (int i = 1; average && i < 3; i++)
		in[i] = gen_number(t->g, type, zero_of(i == 1 ? from : out));
	const int32_t *list[3] = { w.kernel, w.stride, w.pad };
	fbw_off a = gen_attribute(t->g, &fb_TosaPool, 3, list, (int[]){ 2, 2, 4 }, 1,
				  (int64_t[]){ average ? TOSA_INT32 : 1 });
	int y = gen_op(t->g, average ? TOSA_AVG_POOL2D : TOSA_MAX_POOL2D, a,
		       average ? 3 : 1, in, type, 4, out->dim);
	return add_clamp(t, y, out,
			 (int)TFL_OPT(op, Pool2DOptions, fused_activation_function));
}

int
turn_mean(struct turn *t, const struct tfl_op *op)
{
	const struct tfl_tensor *from = in_of(t, op, 0), *axes = in_of(t, op, 1);
	const struct tfl_tensor *out = out_of(t, op);
	if (from->type != TFL_INT8 || !axes->data.p || from->rank > TOSA_MAX_RANK)
		refuse(t, "other than 8 bits, or axes that are computed");
	int x = value_of(t, op->in[0]);
	if (t->why)
		return 0;
	int32_t dim[TOSA_MAX_RANK];
	memcpy(dim, from->dim, sizeof(dim));
	int64_t count = 1;
	x = add_widen(t, x, zero_of(from));
	for (int64_t i = 0; i < tfl_elements(axes); i++) {
		int64_t axis = number_of(axes, i);
		axis += axis < 0 ? from->rank : 0;
		count *= dim[axis];
		dim[axis] = 1;
		fbw_off a = gen_attribute(t->g, &fb_TosaAxis, 0, NULL, NULL, 1, &axis);
		x = gen_op(t->g, TOSA_REDUCE_SUM, a, 1, &x, TOSA_INT32, from->rank, dim);
	}
	double scale = (double)scale_of(from, 0) / (double)scale_of(out, 0) / (double)count;
	return add_reshape(t, add_result(t, x, 1, &scale, out, TFL_ACT_NONE), out->rank,
			   out->dim);
}
