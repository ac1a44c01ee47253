/* SPDX-License-Identifier: Apache-2.0 */
/* AVERAGE_POOL_2D, MAX_POOL_2D: nputools-lowering(7) 5.2. */
#include "../moves/move.h"

#include "lower/padding.h"
#include "tflite/fields.h"

/*
 * Zero points are left at 0, because the reference averages raw values.  With
 * padding the hardware divides by the number of samples inside the IFM; bands of
 * rows in the middle may have no padding.
 */
const char *
read_pool(const struct part *p, struct lop *o)
{
	const struct tfl_op *op = o->op;
	const struct tfl_tensor *ifm = o->ifm, *ofm = o->ofm;
	const char *why = check_options(p, op, &fb_Pool2DOptions) ?: check_ifm_ofm(p, o) ?:
			  check_same_quant(p, o);
	if (why)
		return why;
	const struct yx one = { .y = 1, .x = 1 };
	struct yx kernel = { .y = (int32_t)TFL_OPT(op, Pool2DOptions, filter_height),
			     .x = (int32_t)TFL_OPT(op, Pool2DOptions, filter_width) };
	struct yx stride = { .y = (int32_t)TFL_OPT(op, Pool2DOptions, stride_h),
			     .x = (int32_t)TFL_OPT(op, Pool2DOptions, stride_w) };
	int padding = (int)TFL_OPT(op, Pool2DOptions, padding);
	int activation = (int)TFL_OPT(op, Pool2DOptions, fused_activation_function);
	if (!family_rank(op, ifm) || !family_rank(op, ofm))
		return "IFM and OFM must have 4 dimensions";
	if (kernel.y < 1 || kernel.x < 1 || stride.y < 1 || stride.x < 1 ||
	    (padding != TFL_SAME && padding != TFL_VALID))
		return "window or stride is not positive";
	why = check_activation(p, op, activation);
	if (why)
		return why;
	struct window w = window_of(padding, (struct yx){ .y = ifm->dim[1], .x = ifm->dim[2] },
				    kernel, stride, one);
	o->end.clamped = true;
	o->end.clamp = quant_clamp(ofm, activation);
	o->pool = (struct low_pool){
		.average = op->code == TFL_AVERAGE_POOL_2D,
		.axis[0] = { .in = ifm->dim[1], .out = w.out.y, .kernel = kernel.y,
			     .stride = stride.y, .before = w.pad.top, .after = w.pad.bottom },
		.axis[1] = { .in = ifm->dim[2], .out = w.out.x, .kernel = kernel.x,
			     .stride = stride.x, .before = w.pad.left, .after = w.pad.right },
	};
	if (w.out.y != ofm->dim[1] || w.out.x != ofm->dim[2] || ifm->dim[0] != ofm->dim[0] ||
	    ifm->dim[3] != ofm->dim[3])
		return "the OFM's shape is not what the options give";
	return low_pool_check(p->a, &o->pool, ifm->dim[0]);
}

void
lower_pool(struct part *p, const struct lop *o)
{
	struct low_pool k = o->pool;
	const struct lop *pad = folded_pad(p, o->op);
	if (pad)
		(void)low_pool_takes_pad(&k, pad->own, INT64_MAX); /* it was compared before */
	struct nd in = nd_ifm(p, (pad ? pad : o)->op->in[0]), out = nd_ofm(p, o->op->out[0]);
	low_pool(p->l, &k, &in, &out, &o->end);
}
