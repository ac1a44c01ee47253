/* SPDX-License-Identifier: Apache-2.0 */
#include "lower/pool.h"

enum { MAX_PADDED = 8, MAX_STRIDE = 3, MAX_PAD = 127 /* registers of 7 bits */ };

bool
low_pool_is_plain(const struct low_axis axis[2], bool average)
{
	bool padded = false, small = true, ok = true;
	for (int i = 0; i < 2; i++) {
		const struct low_axis *x = &axis[i];
		padded |= x->before || x->after;
		small &= x->kernel <= MAX_PADDED;
		ok = ok && x->before <= MAX_PAD && x->after <= MAX_PAD &&
		     (x->stride <= MAX_STRIDE || x->out == 1);
	}
	return ok && (!average || !padded || small);
}

/* output o: its window inside of the IFM */
static struct low_span
cut_window(const struct low_axis *x, int32_t o)
{
	int32_t lo = o * x->stride - x->before, hi = lo + x->kernel;
	lo = lo < 0 ? 0 : lo;
	hi = hi > x->in ? x->in : hi;
	return (struct low_span){ .out = o, .n = 1, .in = lo, .kernel = hi - lo,
				  .length = hi - lo, .stride = 1 };
}

int
low_pool_spans(const struct low_axis *x, bool plain, struct low_span *v)
{
	struct low_span last = { .n = x->out, .length = x->in, .kernel = x->kernel,
				 .stride = x->out == 1 ? 1 : x->stride,
				 .before = x->before, .after = x->after };
	int n = 0;
	if (plain && v)
		*v = last;
	if (plain)
		return 1;
	last.n = 0;
	for (int32_t o = 0; o < x->out; o++) {
		struct low_span s = cut_window(x, o);
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
low_pool(struct lower *l, bool average, const struct low_span *y,
	 const struct low_span *x, struct g_operand ifm, struct g_operand ofm)
{
	struct g_op *op = low_op(l, average ? OP_AVGPOOL : OP_MAXPOOL, ifm, ofm);
	op_kernel(op, (struct yx){ .y = y->kernel, .x = x->kernel },
		  (struct yx){ .y = y->stride, .x = x->stride },
		  (struct yx){ .y = 1, .x = 1 },
		  (struct g_pad){ .top = y->before, .bottom = y->after,
				  .left = x->before, .right = x->after });
	if (average)
		op_scale(op, low_mean((int64_t)y->kernel * x->kernel), ROUND_TFL);
	return op;
}
