/* SPDX-License-Identifier: Apache-2.0 */
/* AVG_POOL2D, MAX_POOL2D. */
#include "part.h"

enum { MAX_POOL_H = 256, MAX_POOL = 65536, MAX_PADDED = 8, MAX_STRIDE = 3,
       MAX_PAD = 127, MAX_OPS = 2048, MAX_EXTENT = 65536 };

/* neighbouring results of an axis that one operation makes */
struct span {
	int64_t out, n, in, length, kernel, stride, before, after;
};

struct pool {
	struct tosa_window k;
	struct nd in, out;
	bool average, plain;
};

/*
 * The hardware divides by the samples it saw up to 8x8, and steps up to 3.
 * Beyond that windows are cut at the edges, and all that have the same extent and
 * distance are one operation.
 */
static bool
is_plain(const struct pool *q)
{
	const struct tosa_window *k = &q->k;
	bool padded = k->before[0] || k->before[1] || k->after[0] || k->after[1];
	bool small = k->kernel[0] <= MAX_PADDED && k->kernel[1] <= MAX_PADDED;
	bool ok = !q->average || !padded || small;
	for (int i = 0; i < 2; i++)
		ok = ok && k->before[i] <= MAX_PAD && k->after[i] <= MAX_PAD &&
		     (k->stride[i] <= MAX_STRIDE || q->out.dim[1 + i] == 1);
	return ok;
}

static struct span
cut_window(const struct pool *q, int i, int64_t o)
{
	int64_t lo = o * q->k.stride[i] - q->k.before[i], hi = lo + q->k.kernel[i];
	lo = lo < 0 ? 0 : lo;
	hi = hi > q->in.dim[1 + i] ? q->in.dim[1 + i] : hi;
	return (struct span){ .out = o, .n = 1, .in = lo, .kernel = hi - lo,
			      .length = hi - lo, .stride = 1 };
}

static int
spans_of(const struct pool *q, int i, struct span *v)
{
	int64_t out = q->out.dim[1 + i], stride = q->k.stride[i];
	int n = 0;
	if (q->plain) {
		v[0] = (struct span){ .n = out, .length = q->in.dim[1 + i],
				      .kernel = q->k.kernel[i],
				      .stride = out == 1 ? 1 : stride,
				      .before = q->k.before[i], .after = q->k.after[i] };
		return 1;
	}
	for (int64_t o = 0; o < out; o++) {
		struct span s = cut_window(q, i, o), *last = n ? &v[n - 1] : NULL;
		if (last && s.kernel == last->kernel && stride <= MAX_STRIDE &&
		    s.in == last->in + last->n * stride) {
			last->n++;
			last->stride = stride;
			last->length += stride;
		} else {
			v[n++] = s;
		}
	}
	return n;
}

/* the mean of n, halves away from 0 */
static struct npu_scale
mean_of(int64_t n)
{
	int k = 0;
	while (n > 1 && (n - 1) >> k)
		k++;
	uint64_t m = ((UINT64_C(1) << (31 + k)) + (UINT64_C(1) << k)) / (uint64_t)n;
	return (struct npu_scale){ .mult = (uint32_t)m, .shift = 31 + k };
}

static bool
run_spans(struct part *p, const struct pool *q, const struct nd *in, const struct nd *out,
	  const struct span *y, const struct span *x, const struct tail *t, int32_t zero)
{
	struct nd from = *in, to = *out;
	struct g_operand ifm, ofm;
	nd_slice(&from, 1, y->in, y->length, 1);
	nd_slice(&from, 2, x->in, x->length, 1);
	nd_slice(&to, 1, y->out, y->n, 1);
	nd_slice(&to, 2, x->out, x->n, 1);
	if (!nd_operand(&from, &ifm) || !nd_operand(&to, &ofm))
		return false;
	struct g_op *op = low_op(p->l, q->average ? OP_AVGPOOL : OP_MAXPOOL, ifm, ofm);
	op_kernel(op, (struct yx){ .y = (int32_t)y->kernel, .x = (int32_t)x->kernel },
		  (struct yx){ .y = (int32_t)y->stride, .x = (int32_t)x->stride },
		  (struct yx){ .y = 1, .x = 1 },
		  (struct g_pad){ .top = (int32_t)y->before, .bottom = (int32_t)y->after,
				  .left = (int32_t)x->before, .right = (int32_t)x->after });
	tail_finish(p, t, op);
	op_zeros(op, zero, (int32_t)t->zero);
	if (q->average)
		op_scale(op, mean_of(y->kernel * x->kernel), ROUND_TFL);
	return true;
}

static const char *
run(struct part *p, const struct pool *q, const struct tail *t, int32_t zero)
{
	struct span *y = anew(p->a, struct span, (size_t)q->out.dim[1]);
	struct span *x = anew(p->a, struct span, (size_t)q->out.dim[2]);
	int ny = spans_of(q, 0, y), nx = spans_of(q, 1, x);
	if (ny * nx * q->in.dim[0] > MAX_OPS)
		return say(p, "it would take %lld operations",
			   (long long)(ny * nx * q->in.dim[0]));
	for (int64_t b = 0; b < q->in.dim[0]; b++) {
		struct nd from = q->in, to = q->out;
		nd_slice(&from, 0, b, 1, 1);
		nd_slice(&to, 0, b, 1, 1);
		for (int i = 0; i < ny; i++)
			for (int k = 0; k < nx; k++)
				if (!run_spans(p, q, &from, &to, &y[i], &x[k], t, zero))
					return "its tensors are parts of others";
	}
	return NULL;
}

static const char *
lower_pool(struct part *p, const struct tosa_op *op, bool average)
{
	struct pool q = { .k = tosa_window_of(p->t, op), .average = average };
	struct nd v = value_of(p, op->in[0]);
	struct tail t = tail_of(p, op->out[0], 0);
	struct nd out = result_place(p, t.out);
	int32_t zero = average ? (int32_t)tosa_zero_of(p->t, op, 1) : 0;
	if (average)
		t.zero = tosa_zero_of(p->t, op, 2);
	if (q.k.kernel[0] > MAX_POOL_H || (int64_t)q.k.kernel[0] * q.k.kernel[1] > MAX_POOL)
		return say(p, "a window of %dx%d, the NPU takes 256 rows and 65536 "
			   "elements", q.k.kernel[0], q.k.kernel[1]);
	for (int k = 0; k < 4; k++)
		if (v.dim[k] > MAX_EXTENT)
			return "a dimension of more than 65536";
	q.in = readable_map(p, &v);
	q.out = room_map(p, &out);
	q.plain = is_plain(&q);
	const char *why = run(p, &q, &t, zero);
	deliver_map(p, &q.out, &out);
	return why;
}

const char *
lower_avg_pool(struct part *p, const struct tosa_op *op)
{
	return lower_pool(p, op, true);
}

const char *
lower_max_pool(struct part *p, const struct tosa_op *op)
{
	return lower_pool(p, op, false);
}
