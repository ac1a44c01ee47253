/* SPDX-License-Identifier: Apache-2.0 */
#include "lower/pool.h"

/* adjacent outputs of an axis that one operation computes */
struct span {
	int32_t out, n, in, length, kernel, stride, before, after;
};

enum { MAX_SPANS = 2048, MAX_PADDED = 8, MAX_STRIDE = 3 };

/*
 * Returns true if one operation computes the pool.  The hardware divides by the number
 * of samples inside the IFM for windows up to 8x8, and has strides up to 3.
 */
static bool
is_plain(const struct low_axis axis[2], bool average)
{
	bool padded = false, small = true, ok = true;
	for (int i = 0; i < 2; i++) {
		const struct low_axis *x = &axis[i];
		padded |= x->before || x->after;
		small &= x->kernel <= MAX_PADDED;
		ok = ok && x->before <= LOW_PAD && x->after <= LOW_PAD &&
		     (x->stride <= MAX_STRIDE || x->out == 1);
	}
	return ok && (!average || !padded || small);
}

/*
 * Returns the number of spans of an axis, and stores them in v unless v is NULL.  If
 * the pool is not plain, windows are clipped to the IFM, and adjacent windows with the
 * same extent and distance form one span.
 */
static int
find_spans(const struct low_axis *x, bool plain, struct span *v)
{
	struct span last = { .n = x->out, .length = x->in, .kernel = x->kernel,
				 .stride = x->out == 1 ? 1 : x->stride,
				 .before = x->before, .after = x->after };
	int n = 0;
	if (plain && v)
		*v = last;
	if (plain)
		return 1;
	last.n = 0;
	for (int32_t o = 0; o < x->out; o++) {
		int32_t lo = o * x->stride - x->before, hi = lo + x->kernel;
		lo = lo < 0 ? 0 : lo;
		hi = hi > x->in ? x->in : hi;
		struct span s = { .out = o, .n = 1, .in = lo, .kernel = hi - lo,
				  .length = hi - lo, .stride = 1 };
		if (last.n && s.kernel == last.kernel && x->stride <= MAX_STRIDE &&
		    s.in == last.in + last.n * x->stride) {
			last.n++;
			last.stride = x->stride;
			last.length += x->stride;
		} else {
			last = s;
			n++;
		}
		if (v)
			v[n - 1] = last;
	}
	return n;
}

struct npu_scale
low_mean(int64_t n)
{
	int k = 0;
	while (n > 1 && (n - 1) >> k)
		k++;
	uint64_t m = ((UINT64_C(1) << (31 + k)) + (UINT64_C(1) << k)) / (uint64_t)n;
	return (struct npu_scale){ .mult = (uint32_t)m, .shift = 31 + k };
}

struct g_op *
low_pool_window(struct lower *l, enum g_op_kind kind, struct g_operand ifm,
	   struct g_operand ofm, struct yx kernel)
{
	const struct yx one = { .y = 1, .x = 1 };
	struct g_op *op = low_op(l, kind, ifm, ofm);
	op_kernel(op, kernel, one, one, (struct g_pad){ 0 });
	return op;
}

const char *
low_pool_check(struct arena *a, const struct low_pool *p, int64_t images)
{
	int32_t rows = p->axis[0].kernel, columns = p->axis[1].kernel;
	if (rows > LOW_POOL_ROWS || (int64_t)rows * columns > LOW_POOL_WINDOW)
		return arena_printf(a, "window %dx%d is larger than 256 rows or 65536 elements",
				    rows, columns);
	bool plain = is_plain(p->axis, p->average);
	int64_t n = find_spans(&p->axis[0], plain, NULL) * images;
	n *= find_spans(&p->axis[1], plain, NULL);
	return n <= MAX_SPANS ? NULL
			      : arena_printf(a, "pooling would take %lld operations", (long long)n);
}

void
low_pool(struct lower *l, const struct low_pool *p, const struct nd *in,
	 const struct nd *out, const struct low_end *end)
{
	bool plain = is_plain(p->axis, p->average);
	struct span *y = anew(l->a, struct span, (size_t)p->axis[0].out);
	struct span *x = anew(l->a, struct span, (size_t)p->axis[1].out);
	int ny = find_spans(&p->axis[0], plain, y);
	int nx = find_spans(&p->axis[1], plain, x);
	for (int64_t b = 0; b < in->dim[0]; b++) {
		for (int i = 0; i < ny * nx; i++) {
			const struct span *v = &y[i / nx], *h = &x[i % nx];
			struct nd from = nd_part(in, 0, b, 1), to = nd_part(out, 0, b, 1);
			struct g_operand ifm, ofm;
			nd_slice(&from, 1, v->in, v->length, 1);
			nd_slice(&from, 2, h->in, h->length, 1);
			nd_slice(&to, 1, v->out, v->n, 1);
			nd_slice(&to, 2, h->out, h->n, 1);
			if (!nd_operand(&from, &ifm) || !nd_operand(&to, &ofm)) {
				low_refuse(l, "no NPU operation can address its tensors");
				return;
			}
			struct g_op *op =
			    low_op(l, p->average ? OP_AVGPOOL : OP_MAXPOOL, ifm, ofm);
			op_kernel(op, (struct yx){ .y = v->kernel, .x = h->kernel },
				  (struct yx){ .y = v->stride, .x = h->stride },
				  (struct yx){ .y = 1, .x = 1 },
				  (struct g_pad){ .top = v->before, .bottom = v->after,
						  .left = h->before, .right = h->after });
			if (p->average)
				op_scale(op, low_mean((int64_t)v->kernel * h->kernel), ROUND_TFL);
			op->ifm_zero = p->zero;
			low_finish(end, op);
		}
	}
}
