/* SPDX-License-Identifier: Apache-2.0 */
/* AVERAGE_POOL_2D, MAX_POOL_2D: spec/operators.md 5.2. */
#include "part.h"

enum { MAX_POOL_H = 256, MAX_POOL = 65536, MAX_PADDED = 8, MAX_STRIDE = 3 };

struct pool {
	const struct tfl_tensor *ifm, *ofm;
	struct yx kernel, stride;
	int padding, activation;
	struct window win;
};

static bool
is_padded(const struct window *w)
{
	return w->pad.top || w->pad.left || w->pad.bottom || w->pad.right;
}

static const char *
check_window(const struct part *p, const struct pool *k, bool average)
{
	struct yx out = { .y = k->ofm->dim[1], .x = k->ofm->dim[2] };
	if (k->kernel.y > MAX_POOL_H || (int64_t)k->kernel.y * k->kernel.x > MAX_POOL)
		return part_say(p, "window %dx%d is larger than 256 rows or 65536 "
				"elements", k->kernel.y, k->kernel.x);
	if ((k->stride.y > MAX_STRIDE && out.y > 1) ||
	    (k->stride.x > MAX_STRIDE && out.x > 1))
		return part_say(p, "stride %dx%d is larger than 3", k->stride.y,
				k->stride.x);
	if (k->win.out.y != out.y || k->win.out.x != out.x ||
	    k->ifm->dim[0] != k->ofm->dim[0] || k->ifm->dim[3] != k->ofm->dim[3])
		return "the OFM's shape is not what the options give";
	if (average && is_padded(&k->win) &&
	    (k->kernel.y > MAX_PADDED || k->kernel.x > MAX_PADDED))
		return part_say(p, "padded average over %dx%d is larger than 8x8",
				k->kernel.y, k->kernel.x);
	return NULL;
}

static const char *
read_pool(const struct part *p, const struct tfl_op *op, struct pool *k)
{
	const char *why = check_arity(p, op, 1, 1, 1);
	if (!why)
		why = check_options(p, op, &fb_Pool2DOptions);
	if (!why)
		why = check_maps(p, op, TYPE_MAPS);
	if (!why)
		why = check_same_quant(p, op);
	if (why)
		return why;
	*k = (struct pool){
		.ifm = part_in(p, op, 0), .ofm = part_out(p, op, 0),
		.kernel.y = (int32_t)TFL_OPT(op, Pool2DOptions, filter_height),
		.kernel.x = (int32_t)TFL_OPT(op, Pool2DOptions, filter_width),
		.stride.y = (int32_t)TFL_OPT(op, Pool2DOptions, stride_h),
		.stride.x = (int32_t)TFL_OPT(op, Pool2DOptions, stride_w),
		.padding = (int)TFL_OPT(op, Pool2DOptions, padding),
		.activation = (int)TFL_OPT(op, Pool2DOptions, fused_activation_function),
	};
	if (k->ifm->rank != 4 || k->ofm->rank != 4)
		return "IFM and OFM must have 4 dimensions";
	if (k->kernel.y < 1 || k->kernel.x < 1 || k->stride.y < 1 ||
	    k->stride.x < 1 || (k->padding != TFL_SAME && k->padding != TFL_VALID))
		return "window or stride is not positive";
	why = check_activation(p, op, k->activation);
	if (why)
		return why;
	k->win = window_of(k->padding,
			   (struct yx){ .y = k->ifm->dim[1],
				       .x = k->ifm->dim[2] },
			   k->kernel, k->stride, (struct yx){ .y = 1, .x = 1 });
	return check_window(p, k, op->code == TFL_AVERAGE_POOL_2D);
}

/* (m, s) of spec/command-stream.md 6.8: the mean of n, halves away from 0 */
static struct npu_scale
mean_scale(int64_t n)
{
	int k = 0;
	while (n > 1 && ((n - 1) >> k))
		k++;
	uint64_t m = (((uint64_t)1 << (31 + k)) + ((uint64_t)1 << k)) / (uint64_t)n;
	return (struct npu_scale){ .mult = (uint32_t)m, .shift = 31 + k };
}

static const char *
check_pool(const struct part *p, const struct tfl_op *op)
{
	struct pool k;
	return read_pool(p, op, &k);
}

static bool
lower_pool(struct part *p, const struct tfl_op *op)
{
	struct pool k;
	(void)read_pool(p, op, &k);
	bool average = op->code == TFL_AVERAGE_POOL_2D;
	struct yx stride = { .y = k.win.out.y == 1 ? 1 : k.stride.y,
			     .x = k.win.out.x == 1 ? 1 : k.stride.x };
	struct g_operand ifm = part_ifm(p, op->in[0]), ofm = part_ofm(p, op->out[0]);
	struct hwc is = { .h = k.ifm->dim[1], .w = k.ifm->dim[2],
			  .c = k.ifm->dim[3] };
	struct hwc os = { .h = k.win.out.y, .w = k.win.out.x, .c = is.c };
	for (int b = 0; b < k.ifm->dim[0]; b++) {
		struct hwc ib = { .h = b * is.h }, ob = { .h = b * os.h };
		struct g_op *o = part_op(p, average ? OP_AVGPOOL : OP_MAXPOOL,
					 part_box(ifm, is, ib),
					 part_box(ofm, os, ob));
		op_kernel(o, k.kernel, stride, (struct yx){ .y = 1, .x = 1 }, k.win.pad);
		op_clamp(o, quant_clamp(k.ofm, k.activation));
		/* zero points stay 0: the reference averages raw values; with
		 * padding the hardware divides by the samples it saw */
		if (average && is_padded(&k.win))
			op_scale(o, (struct npu_scale){ .mult = 1 }, ROUND_TFL);
		else if (average)
			op_scale(o, mean_scale((int64_t)k.kernel.y * k.kernel.x),
				 ROUND_TFL);
	}
	return true;
}

const struct family pool_families[] = {
	{ .code = TFL_AVERAGE_POOL_2D, .check = check_pool, .lower = lower_pool,
	  .direct = true },
	{ .code = TFL_MAX_POOL_2D, .check = check_pool, .lower = lower_pool,
	  .direct = true },
	{ .code = 0 },
};
