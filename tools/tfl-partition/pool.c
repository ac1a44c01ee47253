/* SPDX-License-Identifier: Apache-2.0 */
/* AVERAGE_POOL_2D, MAX_POOL_2D: nputools-lowering(7) 5.2. */
#include "part.h"

enum { MAX_POOL_H = 256, MAX_POOL = 65536, MAX_PADDED = 8, MAX_STRIDE = 3,
       MAX_PAD = 127, /* registers of 7 bits */
       MAX_SPANS = 2048 };

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

/* neighbouring outputs of an axis that one operation makes */
struct span {
	int32_t out, n, in, length, kernel, stride, before, after;
};

/*
 * The hardware divides by the samples it saw up to 8x8, and steps up to 3.
 * Beyond that windows are cut at the edges of the IFM, and all that have the
 * same extent and distance are one operation.
 */
static bool
is_plain(const struct pool *k, bool average)
{
	bool small = k->kernel.y <= MAX_PADDED && k->kernel.x <= MAX_PADDED;
	const struct g_pad *pad = &k->win.pad;
	return (!average || !is_padded(&k->win) || small) &&
	       pad->left <= MAX_PAD && pad->right <= MAX_PAD &&
	       (k->stride.y <= MAX_STRIDE || k->win.out.y == 1) &&
	       (k->stride.x <= MAX_STRIDE || k->win.out.x == 1);
}

/* output o of an axis: its window inside of the IFM */
static struct span
cut_window(int32_t o, int32_t in, int32_t kernel, int32_t stride, int32_t before)
{
	int32_t lo = o * stride - before, hi = lo + kernel;
	lo = lo < 0 ? 0 : lo;
	hi = hi > in ? in : hi;
	return (struct span){ .out = o, .n = 1, .in = lo, .kernel = hi - lo,
			      .length = hi - lo, .stride = 1 };
}

/* how many spans rows (or columns) take; into v unless that is NULL */
static int
spans_of(const struct pool *k, bool rows, bool average, struct span *v)
{
	int32_t in = k->ifm->dim[rows ? 1 : 2], out = rows ? k->win.out.y : k->win.out.x;
	int32_t kernel = rows ? k->kernel.y : k->kernel.x;
	int32_t stride = rows ? k->stride.y : k->stride.x;
	int32_t before = rows ? k->win.pad.top : k->win.pad.left;
	int32_t after = rows ? k->win.pad.bottom : k->win.pad.right;
	if (is_plain(k, average)) {
		if (v)
			*v = (struct span){ .n = out, .length = in, .kernel = kernel,
					    .stride = out == 1 ? 1 : stride,
					    .before = before, .after = after };
		return 1;
	}
	int n = 0;
	struct span last = { .n = 0 };
	for (int32_t o = 0; o < out; o++) {
		struct span s = cut_window(o, in, kernel, stride, before);
		bool more = last.n && s.kernel == last.kernel && stride <= MAX_STRIDE &&
			    s.in == last.in + last.n * stride;
		if (more) {
			last.n++;
			last.stride = stride;
			last.length += stride;
		} else {
			last = s;
			n++;
		}
		if (v)
			v[n - 1] = last;
	}
	return n;
}

static const char *
check_window(const struct part *p, const struct pool *k, bool average)
{
	struct yx out = { .y = k->ofm->dim[1], .x = k->ofm->dim[2] };
	if (k->kernel.y > MAX_POOL_H || (int64_t)k->kernel.y * k->kernel.x > MAX_POOL)
		return part_say(p, "window %dx%d is larger than 256 rows or 65536 "
				"elements", k->kernel.y, k->kernel.x);
	if (k->win.out.y != out.y || k->win.out.x != out.x ||
	    k->ifm->dim[0] != k->ofm->dim[0] || k->ifm->dim[3] != k->ofm->dim[3])
		return "the OFM's shape is not what the options give";
	int64_t n = spans_of(k, true, average, NULL);
	n *= (int64_t)spans_of(k, false, average, NULL) * k->ifm->dim[0];
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

/* (m, s) of ethosu-commands(7) 6.8: the mean of n, halves away from 0 */
struct npu_scale
pool_scale(int64_t n)
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

static void
pool_spans(struct part *p, const struct pool *k, bool average, const struct span *y,
	   const struct span *x, struct g_operand ifm, struct g_operand ofm)
{
	struct hwc is = { .h = y->length, .w = x->length, .c = ifm.shape.c };
	struct hwc os = { .h = y->n, .w = x->n, .c = ofm.shape.c };
	struct hwc i0 = { .h = y->in, .w = x->in }, o0 = { .h = y->out, .w = x->out };
	struct g_op *o = low_op(p->l, average ? OP_AVGPOOL : OP_MAXPOOL,
				 low_box(ifm, is, i0), low_box(ofm, os, o0));
	struct g_pad pad = { .top = y->before, .left = x->before,
			     .bottom = y->after, .right = x->after };
	op_kernel(o, (struct yx){ .y = y->kernel, .x = x->kernel },
		  (struct yx){ .y = y->stride, .x = x->stride },
		  (struct yx){ .y = 1, .x = 1 }, pad);
	op_clamp(o, quant_clamp(k->ofm, k->activation));
	/* zero points stay 0: the reference averages raw values; with
	 * padding the hardware divides by the samples it saw, but bands of
	 * rows in the middle may have none */
	if (average)
		op_scale(o, pool_scale((int64_t)y->kernel * x->kernel), ROUND_TFL);
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
	struct span *y = anew(p->a, struct span, (size_t)os.h);
	struct span *x = anew(p->a, struct span, (size_t)os.w);
	int ny = spans_of(&k, true, average, y), nx = spans_of(&k, false, average, x);
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
