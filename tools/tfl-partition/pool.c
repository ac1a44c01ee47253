/* SPDX-License-Identifier: Apache-2.0 */
/* AVERAGE_POOL_2D, MAX_POOL_2D: nputools-lowering(7) 5.2. */
#include "part.h"

#include "lower/pool.h"

enum { MAX_SPANS = 2048 };

struct pool {
	const struct tfl_tensor *ifm, *ofm;
	struct yx kernel, stride;
	int padding, activation;
	struct window win;
};

/* rows, columns */
static void
axes_of(const struct pool *k, struct low_axis axis[2])
{
	const struct g_pad *pad = &k->win.pad;
	axis[0] = (struct low_axis){ .in = k->ifm->dim[1], .out = k->win.out.y,
				     .kernel = k->kernel.y, .stride = k->stride.y,
				     .before = pad->top, .after = pad->bottom };
	axis[1] = (struct low_axis){ .in = k->ifm->dim[2], .out = k->win.out.x,
				     .kernel = k->kernel.x, .stride = k->stride.x,
				     .before = pad->left, .after = pad->right };
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
	struct low_axis axis[2];
	axes_of(k, axis);
	bool plain = low_pool_is_plain(axis, average);
	int64_t n = low_pool_spans(&axis[0], plain, NULL);
	n *= (int64_t)low_pool_spans(&axis[1], plain, NULL) * k->ifm->dim[0];
	return n <= MAX_SPANS ? NULL
			      : part_say(p, "pooling would take %lld operations",
					 (long long)n);
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

static const char *
check_pool(const struct part *p, const struct tfl_op *op)
{
	struct pool k;
	return read_pool(p, op, &k);
}

static void
pool_spans(struct part *p, const struct pool *k, bool average,
	   const struct low_span *y, const struct low_span *x, struct g_operand ifm, struct g_operand ofm)
{
	struct hwc is = { .h = y->length, .w = x->length, .c = ifm.shape.c };
	struct hwc os = { .h = y->n, .w = x->n, .c = ofm.shape.c };
	struct hwc i0 = { .h = y->in, .w = x->in }, o0 = { .h = y->out, .w = x->out };
	struct g_op *o = low_pool(p->l, average, y, x, low_box(ifm, is, i0),
				  low_box(ofm, os, o0));
	op_clamp(o, quant_clamp(k->ofm, k->activation));
	/* zero points stay 0: the reference averages raw values; with
	 * padding the hardware divides by the samples it saw, but bands of
	 * rows in the middle may have none */
}

static bool
lower_pool(struct part *p, const struct tfl_op *op)
{
	struct pool k;
	(void)read_pool(p, op, &k);
	bool average = op->code == TFL_AVERAGE_POOL_2D;
	struct g_operand ifm = part_ifm(p, op->in[0]), ofm = part_ofm(p, op->out[0]);
	struct hwc is = { .h = k.ifm->dim[1], .w = k.ifm->dim[2],
			  .c = k.ifm->dim[3] };
	struct hwc os = { .h = k.win.out.y, .w = k.win.out.x, .c = is.c };
	struct low_axis axis[2];
	axes_of(&k, axis);
	bool plain = low_pool_is_plain(axis, average);
	struct low_span *y = anew(p->a, struct low_span, (size_t)os.h);
	struct low_span *x = anew(p->a, struct low_span, (size_t)os.w);
	int ny = low_pool_spans(&axis[0], plain, y);
	int nx = low_pool_spans(&axis[1], plain, x);
	for (int b = 0; b < k.ifm->dim[0]; b++) {
		struct g_operand from = low_box(ifm, is, (struct hwc){ .h = b * is.h });
		struct g_operand to = low_box(ofm, os, (struct hwc){ .h = b * os.h });
		for (int i = 0; i < ny; i++)
			for (int j = 0; j < nx; j++)
				pool_spans(p, &k, average, &y[i], &x[j], from, to);
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
