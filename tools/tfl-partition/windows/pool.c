/* SPDX-License-Identifier: Apache-2.0 */
/* AVERAGE_POOL_2D, MAX_POOL_2D: nputools-lowering(7) 5.2. */
#include "../moves/move.h"

#include "lower/pool.h"

enum { MAX_SPANS = 2048 };

struct pool {
	const struct tfl_tensor *ifm, *ofm;
	struct yx kernel, stride;
	int padding, activation;
	struct window win;
};

static struct low_pool
low_pool_of(const struct pool *k, bool average)
{
	const struct g_pad *pad = &k->win.pad;
	return (struct low_pool){
		.average = average,
		.axis[0] = { .in = k->ifm->dim[1], .out = k->win.out.y,
			     .kernel = k->kernel.y, .stride = k->stride.y,
			     .before = pad->top, .after = pad->bottom },
		.axis[1] = { .in = k->ifm->dim[2], .out = k->win.out.x,
			     .kernel = k->kernel.x, .stride = k->stride.x,
			     .before = pad->left, .after = pad->right },
	};
}

static const char *
check_window(const struct part *p, const struct pool *k, bool average)
{
	struct yx out = { .y = k->ofm->dim[1], .x = k->ofm->dim[2] };
	if (k->kernel.y > LOW_POOL_ROWS ||
	    (int64_t)k->kernel.y * k->kernel.x > LOW_POOL_WINDOW)
		return part_say(p, "window %dx%d is larger than 256 rows or 65536 "
				"elements", k->kernel.y, k->kernel.x);
	if (k->win.out.y != out.y || k->win.out.x != out.x ||
	    k->ifm->dim[0] != k->ofm->dim[0] || k->ifm->dim[3] != k->ofm->dim[3])
		return "the OFM's shape is not what the options give";
	struct low_pool q = low_pool_of(k, average);
	int64_t n = low_pool_count(&q) * k->ifm->dim[0];
	return n <= MAX_SPANS ? NULL
			      : part_say(p, "pooling would take %lld operations",
					 (long long)n);
}

static const char *
read_pool(const struct part *p, const struct tfl_op *op, struct pool *k)
{
	const char *why = check_options(p, op, &fb_Pool2DOptions) ?: check_ifm_ofm(p, op) ?:
			  check_same_quant(p, op);
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
	if (!family_rank(op, k->ifm) || !family_rank(op, k->ofm))
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

bool
max_pool_window(const struct part *p, const struct tfl_op *op, struct yx *kernel,
		struct g_pad *pad)
{
	struct pool k;
	if (op->code != TFL_MAX_POOL_2D || read_pool(p, op, &k))
		return false;
	*kernel = k.kernel;
	*pad = k.win.pad;
	return true;
}

FAMILY_CHECK(check_pool, struct pool, read_pool)

/*
 * Zero points are left at 0, because the reference averages raw values.  With
 * padding the hardware divides by the number of samples inside the IFM; bands of
 * rows in the middle may have no padding.
 */
static void
finish_pool(void *ctx, struct g_op *op)
{
	const struct pool *k = ctx;
	op_clamp(op, quant_clamp(k->ofm, k->activation));
}

/* Drops padding behind the IFM that no window reads. */
static void
drop_unread(struct low_axis *x)
{
	int64_t end = ((int64_t)x->out - 1) * x->stride + x->kernel;
	int64_t after = end - x->before - x->in;
	if (after < x->after)
		x->after = after > 0 ? (int32_t)after : 0;
}

static bool
lower_pool(struct part *p, const struct tfl_op *op)
{
	struct pool k;
	(void)read_pool(p, op, &k);
	int input = folded_pad(p, op, &k.win.pad);
	k.ifm = &p->sg->tensor[input];
	struct low_pool q = low_pool_of(&k, op->code == TFL_AVERAGE_POOL_2D);
	drop_unread(&q.axis[0]);
	drop_unread(&q.axis[1]);
	struct nd in = nd_ifm(p, input), out = nd_ofm(p, op->out[0]);
	return low_pool(p->l, &q, &in, &out, finish_pool, &k) ||
	       err_set(p->e, "operator %d: no NPU operation can address its tensors",
		       p->l->op_i);
}

const struct family family_pool = {
	.check = check_pool, .lower = lower_pool, .direct = true,
};
